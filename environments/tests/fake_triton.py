# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Runs the source of a Triton kernel on the processor, one thread per program.

Covers what solutions/reference/solution_gpu.py uses. Types are checked as
Triton has them (int32 and int64, literals taking the other side's type where
they fit, wraparound). Programs switch only at atomic operations, in an order
drawn from a seed, so that interleavings can be repeated; a bound on the number
of programs alive stands for the size of the device.
"""
import functools
import random
import sys
import threading
import types

import numpy as np


class Value:
    """A scalar or block of integers or booleans."""

    def __init__(self, array):
        self.array = np.asarray(array)

    def to(self, dtype):
        """Convert, with wraparound."""
        return Value(self.array.astype(dtype))

    def __bool__(self):
        assert self.array.ndim == 0, "a block as a condition"
        return bool(self.array)

    def __invert__(self):
        return Value(~self.array)


def _pair(a, b):
    """Bring two operands to one type, as Triton does."""
    if not isinstance(a, Value):
        (b, a) = _pair(b, a)
        return a, b
    if isinstance(b, Value):
        dtype = np.promote_types(a.array.dtype, b.array.dtype)
        return a.array.astype(dtype), b.array.astype(dtype)
    assert isinstance(b, int), b
    fits = -2**31 <= b < 2**31
    dtype = a.array.dtype if a.array.dtype != np.bool_ and (fits or a.array.dtype == np.int64) else np.int32 if fits else np.int64
    return a.array.astype(dtype), np.asarray(b, dtype)


def _binary(operation, left):
    def method(self, other):
        if isinstance(other, Pointer):
            return NotImplemented
        a, b = _pair(self, other) if left else _pair(other, self)
        with np.errstate(over="ignore"):
            return Value(operation(a, b))
    return method


for _name, _operation in {"add": np.add, "sub": np.subtract, "mul": np.multiply, "and": np.bitwise_and, "or": np.bitwise_or,
                          "xor": np.bitwise_xor, "lshift": np.left_shift, "rshift": np.right_shift}.items():
    setattr(Value, "__%s__" % _name, _binary(_operation, True))
    setattr(Value, "__r%s__" % _name, _binary(_operation, False))
for _name, _operation in {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
                          "ge": np.greater_equal}.items():
    setattr(Value, "__%s__" % _name, _binary(_operation, True))


class Pointer:
    """Points into a numpy array."""

    def __init__(self, memory, at=0):
        self.memory = memory
        self.at = np.asarray(at)

    def __add__(self, offset):
        return Pointer(self.memory, self.at + (offset.array if isinstance(offset, Value) else offset))


class Schedule:
    """Lets one program run at a time, switching at atomics."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._turn = threading.Condition()
        self._waiting = set()
        self._running = None
        self.switches = 0

    def _choose(self):
        self._running = self._random.choice(sorted(self._waiting)) if self._waiting else None
        self._turn.notify_all()

    def switch(self):
        """Called by the running program: maybe another one goes on."""
        me = threading.get_ident()
        with self._turn:
            self.switches += 1
            if self.switches > 2_000_000:
                raise RuntimeError("no end in sight: the programs wait for each other")
            self._choose()
            while self._running != me:
                self._turn.wait()

    def run(self, programs, alive):
        """Run programs (functions), at most alive of them at a time, in order of their start."""
        queue, errors, threads = list(programs), [], []
        lock = threading.Lock()

        def worker():
            me = threading.get_ident()
            with self._turn:
                self._waiting.add(me)
                ready.release()
                while self._running != me:
                    self._turn.wait()
            try:
                while True:
                    with lock:
                        if not queue or errors:
                            break
                        program = queue.pop(0)
                    program()
            except BaseException as e:
                errors.append(e)
            with self._turn:
                self._waiting.discard(me)
                self._choose()

        ready = threading.Semaphore(0)
        for _ in range(alive):
            threads.append(threading.Thread(target=worker, daemon=True))
            threads[-1].start()
            ready.acquire()
        with self._turn:
            self._choose()
        for t in threads:
            t.join(60)
        if errors:
            raise errors[0]
        assert not any(t.is_alive() for t in threads), "the programs hang"


class _Jit:
    """A kernel or a function called by kernels."""

    schedule = None
    alive = 8

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self._function = function

    def __call__(self, *arguments):
        return self._function(*arguments)

    def __getitem__(self, grid):
        def launch(*arguments, num_warps=4, **constants):
            assert num_warps in (1, 2, 4, 8, 16, 32)
            wrapped = [Pointer(a.numpy()) if hasattr(a, "numpy") else Value(np.int32(a)) for a in arguments]
            programs = [functools.partial(self._function, *wrapped, **constants) for _ in range(grid[0])]
            _Jit.schedule.run(programs, min(_Jit.alive, grid[0]))
        return launch


def _atomic(operation):
    def method(pointer, value, sem="acq_rel"):
        assert pointer.at.ndim == 0 and sem in ("relaxed", "acquire", "release", "acq_rel")
        _Jit.schedule.switch()
        at, memory = int(pointer.at), pointer.memory
        assert 0 <= at < memory.size, "atomic outside of the memory"
        old = memory[at]
        new = value.array.astype(memory.dtype) if isinstance(value, Value) else np.asarray(value, memory.dtype)
        memory[at] = operation(old, new)
        return Value(np.asarray(old))
    return method


def _load(pointer, mask, other):
    inside = mask.array
    at = np.where(inside, pointer.at, 0)
    assert (at >= 0).all() and (at < max(pointer.memory.size, 1)).all(), "load outside of the memory"
    return Value(np.where(inside, pointer.memory[at], np.asarray(other, pointer.memory.dtype)))


def _store(pointer, value, mask):
    at = pointer.at[mask.array]
    assert (at >= 0).all() and (at < pointer.memory.size).all(), "store outside of the memory"
    assert value.array.dtype == pointer.memory.dtype
    pointer.memory[at] = value.array[mask.array]


def _where(condition, a, b):
    left, right = _pair(a, b)
    return Value(np.where(condition.array, left, right))


def _total(value, axis):
    with np.errstate(over="ignore"):
        return Value(value.array.sum(axis=axis, dtype=value.array.dtype))


def install(seed, alive):
    """Put the modules triton and triton.language in place, with a fresh schedule; return the schedule."""
    tl = types.ModuleType("triton.language")
    tl.constexpr, tl.int32, tl.int64 = int, np.int32, np.int64
    tl.arange = lambda a, b: Value(np.arange(a, b, dtype=np.int32))
    tl.cumsum = lambda v, axis: Value(np.cumsum(v.array, axis=axis, dtype=v.array.dtype))
    tl.sum, tl.where, tl.load, tl.store = _total, _where, _load, _store
    tl.atomic_add, tl.atomic_xchg = _atomic(lambda old, new: old + new), _atomic(lambda old, new: new)
    triton = types.ModuleType("triton")
    triton.jit, triton.language = _Jit, tl
    triton.cdiv = lambda a, b: -(-a // b)
    sys.modules["triton"], sys.modules["triton.language"] = triton, tl
    _Jit.schedule, _Jit.alive = Schedule(seed), alive
    return _Jit.schedule
