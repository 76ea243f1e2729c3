# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""GPU memory shared between processes through file descriptors (CUDA driver API).

Used by the scorer and, as /harness/share.py, beside each solution. Unlike
legacy CUDA IPC handles, descriptors cross user and pid namespaces, and a process
has exactly the buffers that it was sent. Structures and constants follow cuda.h
of CUDA 12 (CUmemAllocationProp, CUmemAccessDesc).
"""

import ctypes

import torch

_PINNED = 1  # CU_MEM_ALLOCATION_TYPE_PINNED
_POSIX_FD = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_DEVICE = 1  # CU_MEM_LOCATION_TYPE_DEVICE
_READ_WRITE = 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE
_MINIMUM = 0  # CU_MEM_ALLOC_GRANULARITY_MINIMUM

_u64 = ctypes.c_ulonglong  # CUdeviceptr, CUmemGenericAllocationHandle


class _Location(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("id", ctypes.c_int)]


class _AllocFlags(ctypes.Structure):
    _fields_ = [("compression", ctypes.c_ubyte), ("rdma", ctypes.c_ubyte), ("usage", ctypes.c_ushort), ("reserved", ctypes.c_ubyte * 4)]


class AllocationProp(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = [("type", ctypes.c_int), ("handle_types", ctypes.c_int), ("location", _Location),
                ("win32", ctypes.c_void_p), ("flags", _AllocFlags)]


class AccessDesc(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("location", _Location), ("flags", ctypes.c_int)]


class CudaError(Exception):
    """A driver call failed."""


def _driver():
    """Return libcuda with the calls used here; torch has created the primary context."""
    lib = ctypes.CDLL("libcuda.so.1")
    size = ctypes.c_size_t
    for name, types in {
        "cuMemGetAllocationGranularity": [ctypes.POINTER(size), ctypes.POINTER(AllocationProp), ctypes.c_int],
        "cuMemCreate": [ctypes.POINTER(_u64), size, ctypes.POINTER(AllocationProp), _u64],
        "cuMemExportToShareableHandle": [ctypes.c_void_p, _u64, ctypes.c_int, _u64],
        "cuMemImportFromShareableHandle": [ctypes.POINTER(_u64), ctypes.c_void_p, ctypes.c_int],
        "cuMemAddressReserve": [ctypes.POINTER(_u64), size, size, _u64, _u64],
        "cuMemMap": [_u64, size, size, _u64, _u64],
        "cuMemSetAccess": [_u64, size, ctypes.POINTER(AccessDesc), size],
    }.items():
        function = getattr(lib, name)
        function.argtypes = types
        function.restype = ctypes.c_int
    return lib


class Memory:
    """Shared device memory of the current device.

    fd: the descriptor to send, owned by the creator; tensor: int32, shape (length,).
    Memory stays mapped until the process ends.
    """

    def __init__(self, length, fd=None):
        torch.cuda.init()
        torch.cuda.synchronize()
        self._cuda = _driver()
        self._location = _Location(_DEVICE, torch.cuda.current_device())
        prop = AllocationProp(type=_PINNED, handle_types=_POSIX_FD, location=self._location)
        granularity = ctypes.c_size_t()
        self._call("cuMemGetAllocationGranularity", ctypes.byref(granularity), ctypes.byref(prop), _MINIMUM)
        size = -(-length * 4 // granularity.value) * granularity.value
        handle = _u64()
        if fd is None:
            self._call("cuMemCreate", ctypes.byref(handle), size, ctypes.byref(prop), 0)
            made = ctypes.c_int()
            self._call("cuMemExportToShareableHandle", ctypes.byref(made), handle, _POSIX_FD, 0)
            fd = made.value
        else:
            self._call("cuMemImportFromShareableHandle", ctypes.byref(handle), ctypes.c_void_p(fd), _POSIX_FD)
        self.fd = fd
        self.tensor = torch.as_tensor(_View(self._map(handle, size), length), device="cuda")

    def _map(self, handle, size):
        address = _u64()
        self._call("cuMemAddressReserve", ctypes.byref(address), size, 0, 0, 0)
        self._call("cuMemMap", address, size, 0, handle, 0)
        access = AccessDesc(self._location, _READ_WRITE)
        self._call("cuMemSetAccess", address, size, ctypes.byref(access), 1)
        return address.value

    def _call(self, name, *arguments):
        status = getattr(self._cuda, name)(*arguments)
        if status != 0:
            raise CudaError("%s: CUDA driver error %d" % (name, status))


class _View:
    """Tells torch about memory that it did not allocate."""

    def __init__(self, address, length):
        self.__cuda_array_interface__ = {"shape": (length,), "typestr": "<i4", "data": (address, False), "version": 2}


def device():
    """Return the torch device of the memory."""
    return torch.device("cuda", torch.cuda.current_device())


def synchronize():
    """Wait until the device has done all work of this process."""
    torch.cuda.synchronize()


def description():
    """Return name and software of the device, for the log."""
    return {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cuda": torch.version.cuda}
