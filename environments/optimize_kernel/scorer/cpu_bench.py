# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Times solutions on the processor.

One trial of one solution, whose sandbox has been stopped since its last answer:
  1. let it map all pages of the shared buffers, which hold an older input, and stop it
  2. write a fresh input and a poisoned output into them
  3. evict them from the caches, look for bytes that nobody asked for
  4. read the clock, ask, let the sandbox run on
  5. read the answer, stop the sandbox, read the clock
  6. compare every element, the sandbox still stopped
No code of the solution runs between the writing of the input and the first
reading of the clock, nor after the second. So the input needs no copy and no
new mapping inside the timed section: mapping 68 MB costs as much as the kernel.

All solutions have the same two buffers, since the pages that one happens to get
make it faster or slower than another by up to 15%. The submission goes first
on an input: the buffers hold the reference's answer to it only afterwards, and
the next trial's input is another.
"""

import ctypes
import fcntl
import math
import mmap
import os
import pathlib
import time

import numpy as np

from optimize_kernel.scorer import bench, definition
from optimize_kernel.scorer.channel import Channel, ReferenceFailed, Refused

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_F_SEAL_FUTURE_WRITE = 0x10  # linux/fcntl.h: our mapping keeps writing, no other can start to
_SC_LEVEL3_CACHE_SIZE = 194  # glibc, bits/confname.h


def last_level_cache_bytes():
    """Return the size of the last-level cache of core 0; 32 MiB where nothing tells it."""
    sizes = []
    for path in pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        if text[:-1].isdigit() and text[-1] in "KM":
            sizes.append(int(text[:-1]) << (10 if text[-1] == "K" else 20))
    if not sizes:
        sizes.append(ctypes.CDLL(None).sysconf(_SC_LEVEL3_CACHE_SIZE))
    return max(sizes) if max(sizes) > 0 else 32 << 20


def choose_n(params, cache_bytes):
    """Return the base number of elements.

    A number, or "auto": 10^7, and more until input and output together are
    cache_multiple times the last-level cache, rounded up to a million, at most
    n_max.
    """
    n = params["n"]
    if n != "auto":
        return int(n)
    by_cache = math.ceil(params["cache_multiple"] * cache_bytes / 8 / 1e6) * 10**6
    return min(max(10**7, by_cache), params["n_max"])


class Buffer:
    """Shared memory of a fixed size, seen by the scorer as an int32 array."""

    def __init__(self, name, length, read_only):
        self.fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, length * 4)
        self._map = mmap.mmap(self.fd, length * 4)
        self.array = np.frombuffer(self._map, dtype=np.int32)
        self.array[:] = 0  # takes the pages here, on the scorer's account
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals | (_F_SEAL_FUTURE_WRITE if read_only else 0))


class Solution:
    """One solution in its sandbox, stopped except while it works.

    job: a scoring.Submission. Before each trial all pages are mapped again, since
    another solution can have them unmapped everywhere (by punching holes, or by
    collapsing them to huge pages) and so slow this one. Having run just before
    also makes a solution faster by some percent, so all do.
    """

    def __init__(self, job, source, sink, params, evict):
        self._job = job
        self._channel = Channel(job)
        self._params = params
        self._evict = evict
        self._input = source
        self._output = sink
        self._channel.open({"n_max": source.array.size}, [source.fd, sink.fd], params["start_wall_s"])
        job.stop()

    def kill(self):
        """End the sandbox."""
        self._job.kill()

    def null_ms(self):
        """Return what asking and answering take without a call, from cold caches as in a trial. For trusted solutions."""
        self._evict()
        return self._timed("null", {})[0]

    def assert_stops(self):
        """Check that the runner's STOP stops, with a solution that we trust."""
        counter = self._output.array
        counter[0] = 0
        self._channel.send(b'{"spin": true}\n')
        self._job.cont()
        deadline = time.monotonic() + 5
        while counter[0] == 0:
            if time.monotonic() > deadline:
                raise ReferenceFailed("a sandbox that was told to continue does not run")
            time.sleep(0.001)
        self._job.stop()
        before = int(counter[0])
        time.sleep(0.01)
        if int(counter[0]) != before:
            raise ReferenceFailed("a sandbox that was told to stop runs on: no timing here can be trusted")

    def run(self, x, poison):
        """Run one trial on x; return (milliseconds, output as a private copy).

        Raises Refused when no answer comes or one of the wrong kind.
        """
        self._timed("touch", {})
        self._input.array[:x.size] = x
        self._output.array[:] = poison
        self._evict()
        ms, told = self._timed("go", {"n": x.size})
        if told.get("dtype") != "int32" or told.get("shape") != [x.size]:
            raise Refused("wrong_output", "returned %.60s of shape %.60s, expected int32 of shape (%d,)" % (
                told.get("dtype"), told.get("shape"), x.size))
        return ms, self._output.array[:x.size].copy()

    def _timed(self, operation, fields):
        question, nonce = self._channel.prepare(operation, fields)
        self._channel.nothing_unasked()
        start = time.monotonic_ns()
        self._channel.send(question)
        self._job.cont()
        told = self._channel.answer(nonce, self._params["trial_wall_s"])
        self._job.stop()
        stop = time.monotonic_ns()
        self._channel.nothing_unasked()
        return (stop - start) / 1e6, told


class Bench(bench.Bench):
    """The bench of the cpu profiles."""

    def __init__(self, request, runner, sources, params):
        super().__init__(sources, params)
        self._runner = runner
        self._draws = request.draws
        self._cache = last_level_cache_bytes()
        self._n = choose_n(params, self._cache)
        self._flush = np.zeros(2 * self._cache // 8, np.int64)
        length = self._n + params["tail"]
        self._buffers = (Buffer("input", length, read_only=True), Buffer("output", length, read_only=False))

    def start(self, source, entry, trusted):
        """Start a solution's sandbox, see bench.Bench."""
        argv = ["python3", "-I", "-B", "/harness/worker.py", "/solution/" + entry]
        job = self._runner.spawn("run", source, argv, socket=True, files={"worker.py": _WORKER.read_bytes()})
        solution = Solution(job, *self._buffers, self.params, self._flush.sum)
        if trusted:
            solution.assert_stops()
        return solution

    def draw(self, label):
        """Return (x, poison) of the named trial."""
        generator = self._draws.numpy(label)
        n = self._n + int(generator.integers(self.params["tail"] + 1))
        return definition.draw_input(generator, n), definition.draw_poison(generator, n)

    def expected(self, x):
        """Return the right output."""
        return definition.masked_prefix_sum(x)

    def first_difference(self, got, expected):
        """Return the index of the first wrong element, or None."""
        return definition.first_difference(got, expected)

    def details(self):
        """Return sizes, versions and the memory floor."""
        return dict(super().details(), elements=self._n, cache_bytes=self._cache, numpy=np.__version__)
