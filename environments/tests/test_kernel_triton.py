# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The logic of the Triton reference under many interleavings, without Triton and without a GPU."""
import importlib.util
import sys

import fake_triton
import numpy as np
import pytest
from kernel_support import SOLUTIONS, one_pass

torch = pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def reference():
    saved = {name: sys.modules.get(name) for name in ("triton", "triton.language")}

    def load(seed, alive, part=8, parts=3):
        schedule = fake_triton.install(seed, alive)
        spec = importlib.util.spec_from_file_location("kernel_reference_gpu", SOLUTIONS / "reference/solution_gpu.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        module.PART, module.PARTS = part, parts
        return module, schedule

    yield load
    for name, module in saved.items():
        if module is None:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module


def run(module, x):
    out = torch.full((x.size,), 1 << 30, dtype=torch.int32)
    module.prefix_sum(torch.from_numpy(x), out)
    return out.numpy()


@pytest.mark.parametrize("alive", [1, 2, 5, 16])
def test_interleavings(reference, alive):
    rng = np.random.default_rng(alive)
    for seed in range(25):
        module, _ = reference(seed, alive)
        x = rng.integers(-10, 10, int(rng.integers(1, 400))).astype(np.int32)
        assert np.array_equal(run(module, x), one_pass(x)), (seed, x.size)


def test_look_back_over_aggregates(reference):
    """With all tiles alive at once, some look back over tiles that have no state yet."""
    kinds = set()
    for seed in range(30):
        module, _ = reference(seed, alive=20, part=4, parts=2)
        signed = module._signed28

        def spy(word, shift):
            kinds.add("aggregate")
            return signed(word, shift)

        module._signed28 = spy
        x = np.random.default_rng(seed).integers(-10, 10, 8 * 19 + 3).astype(np.int32)
        assert np.array_equal(run(module, x), one_pass(x))
    assert kinds == {"aggregate"}


@pytest.mark.parametrize("fill", [9, -10, 0, 1, -1])
def test_extremes(reference, fill):
    module, _ = reference(1, alive=6, part=16, parts=4)
    x = np.full(700, fill, np.int32)
    assert np.array_equal(run(module, x), one_pass(x))


def test_large_elements_and_wraparound(reference):
    """Elements up to 4,095 in size fit the words of a tile of 2^15, larger ones those of a small tile; sums wrap."""
    module, _ = reference(3, alive=4, part=4096, parts=8)
    for value in (4095, -4095):
        x = np.where(np.arange(100_003) % 3 == 0, 1, value).astype(np.int32)
        assert np.array_equal(run(module, x), one_pass(x))
    module, _ = reference(4, alive=4, part=4, parts=2)
    x = np.where(np.arange(2_000) % 5 == 0, 1, -2**23).astype(np.int32)
    y = one_pass(x)
    assert (np.diff(y.astype(np.int64)) > 2**31).any()  # it does wrap
    assert np.array_equal(run(module, x), y)


def test_scratch_is_reused_and_empty_input(reference):
    module, _ = reference(5, alive=3)
    rng = np.random.default_rng(12)
    for n in (100, 97, 100, 500, 100):
        x = rng.integers(-10, 10, n).astype(np.int32)
        assert np.array_equal(run(module, x), one_pass(x))
    assert run(module, np.zeros(0, np.int32)).size == 0


def test_the_shipped_sizes(reference):
    module, _ = reference(6, alive=3, part=None, parts=None)
    spec = importlib.util.spec_from_file_location("fresh", SOLUTIONS / "reference/solution_gpu.py")
    fresh = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(fresh)
    assert fresh.PART & (fresh.PART - 1) == 0  # tl.arange needs a power of two
    assert 10 * fresh.PART * fresh.PARTS < 2**27  # sums of a tile fit 28 bits with a sign
    x = np.random.default_rng(13).integers(-10, 10, 3 * fresh.PART * fresh.PARTS + 41).astype(np.int32)
    assert np.array_equal(run(fresh, x), one_pass(x))
