# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The compiled kernels against the definition, element by element and byte by byte."""
import ctypes

import numpy as np
import pytest
from kernel_support import SOLUTIONS, build, one_pass

GUARD = 0x5A5A5A5A


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    directory = build(SOLUTIONS / "reference", tmp_path_factory.mktemp("reference"))
    lib = ctypes.CDLL(str(directory / "libprefix_sum.so"))
    lib.prefix_sum_variant.restype = ctypes.c_char_p
    return lib


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return ctypes.CDLL(str(build(SOLUTIONS / "reference", tmp_path_factory.mktemp("copy")) / "libcopy.so"))


def variants(lib):
    names, k = [], 0
    while lib.prefix_sum_variant(k) is not None:
        names.append(lib.prefix_sum_variant(k))
        k += 1
    return names


def call(function, x, offset, *leading):
    """Run function into a guarded buffer at an element offset from a 64-byte boundary."""
    raw = np.full(x.size + 64, GUARD, np.int32)
    first = (-raw.ctypes.data % 64) // 4 + offset
    y = raw[first:first + x.size]
    status = function(*leading, ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), ctypes.c_size_t(x.size))
    assert (raw[:first] == GUARD).all() and (raw[first + x.size:] == GUARD).all(), "wrote outside of the output"
    return y, status


def inputs(rng):
    for n in list(range(0, 140)) + [255, 256, 257, 1023, 4097, 20_001]:
        yield rng.integers(-10, 10, n).astype(np.int32)
        yield rng.integers(-2**31, 2**31, n).astype(np.int32)
    for value in (0, 1, -1, -2**31, 2**31 - 1):
        yield np.full(333, value, np.int32)


def test_every_variant(reference):
    names = variants(reference)
    assert names[-1] == b"scalar"
    for x in inputs(np.random.default_rng(7)):
        expected = one_pass(x)
        for name in names:
            for offset in (0, 1, 7, 15):
                y, status = call(reference.prefix_sum_with, x, offset, name)
                assert status == 0 and np.array_equal(y, expected), (name, x.size, offset)


def test_dispatch_and_unknown_variant(reference):
    x = np.random.default_rng(8).integers(-10, 10, 100_003).astype(np.int32)
    assert np.array_equal(call(reference.prefix_sum, x, 0)[0], one_pass(x))
    assert call(reference.prefix_sum_with, x, 0, b"mmx")[1] == -1


@pytest.mark.parametrize("name", ["start", "lazy/branches", "lazy/flags", "lazy/threads", "lazy/unrolled"])
def test_other_compiled_solutions(name, tmp_path):
    lib = ctypes.CDLL(str(build(SOLUTIONS / name, tmp_path / "s") / "libprefix_sum.so"))
    rng = np.random.default_rng(9)
    for n in list(range(0, 40)) + [1001, 65_537]:
        x = rng.integers(-10, 10, n).astype(np.int32)
        assert np.array_equal(call(lib.prefix_sum, x, 0)[0], one_pass(x)), n


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_copy(copy, threads):
    rng = np.random.default_rng(10)
    for n in [0, 1, 15, 16, 17, 1024, 5000, 300_001]:
        for offset in (0, 3):
            x = rng.integers(-2**31, 2**31, n).astype(np.int32)
            y, status = call(lambda a, b, k: copy.copy_threads(a, b, ctypes.c_size_t(k.value * 4), threads), x, offset)
            assert status == 0 and np.array_equal(y, x)
    assert copy.copy_threads(None, None, ctypes.c_size_t(0), 0) == -1
    assert copy.copy_threads(None, None, ctypes.c_size_t(0), 65) == -1
