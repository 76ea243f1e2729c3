# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""As optimize_kernel/scorer/cuda_share.py, with shared memory of the processor, for tests without a GPU."""
import mmap
import os

import numpy as np
import torch


class Memory:
    """Shared memory as an int32 tensor."""

    def __init__(self, length, fd=None):
        if fd is None:
            fd = os.memfd_create("share")
            os.ftruncate(fd, length * 4)
        self.fd = fd
        self.tensor = torch.from_numpy(np.frombuffer(mmap.mmap(fd, length * 4), dtype=np.int32))


def device():
    """The processor."""
    return torch.device("cpu")


def synchronize():
    """Nothing runs by itself here."""


def description():
    """For the log."""
    return {"torch": torch.__version__}
