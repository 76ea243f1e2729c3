# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Times solutions on the processor.

One trial of one solution, whose sandbox has been stopped since its last answer:
  1. write a fresh input and a poisoned output into the shared buffers
  2. evict them from the caches, look for bytes that nobody asked for
  3. read the clock, ask, let the sandbox run on
  4. read the answer, stop the sandbox, read the clock
  5. compare every element, the sandbox still stopped
No code of the solution runs between the writing of the input and the first
reading of the clock, nor after the second. So the input needs no copy and no
new mapping inside the timed section: mapping 68 MB costs as much as the kernel.
"""

import ctypes
import fcntl
import json
import math
import mmap
import os
import pathlib
import secrets
import socket
import time

import numpy as np

import definition
from verdict import ReferenceFailed, Refused

_WORKER = pathlib.Path(__file__).with_name("worker.py")
_F_SEAL_FUTURE_WRITE = 0x10  # linux/fcntl.h: our mapping keeps writing, no other can start to
_MAX_LINE = 4096
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
    """One solution in its sandbox, stopped except while it works."""

    def __init__(self, runner, source, entry, length, limits, params):
        self._params = params
        self.input = Buffer("input", length, read_only=True)
        self.output = Buffer("output", length, read_only=False)
        self._job = runner.spawn("run", source, ["python3", "-I", "-B", "/harness/worker.py", "/solution/" + entry],
                                 limits=limits, socket=True, files={"worker.py": _WORKER.read_bytes()})
        self._sock = self._job.socket
        hello = json.dumps({"n_max": length}).encode() + b"\n"
        socket.send_fds(self._sock, [hello], [self.input.fd, self.output.fd])
        told = self._answer(params["start_wall_s"])
        self._job.stop()
        if told.get("ready") is not True:
            raise Refused("rule_broken", "unexpected message before the first call: %.200r" % told)

    def kill(self):
        """End the sandbox."""
        self._job.kill()

    def null_ms(self):
        """Return what asking and answering alone takes. For trusted solutions."""
        return self._timed("null", {})[0]

    def assert_stops(self):
        """Check that the runner's STOP stops, with a solution that we trust."""
        self.output.array[0] = 0
        self._sock.sendall(b'{"spin": 1}\n')
        self._job.cont()
        deadline = time.monotonic() + 5
        while self.output.array[0] == 0:
            if time.monotonic() > deadline:
                raise ReferenceFailed("a sandbox that was told to continue does not run")
            time.sleep(0.001)
        self._job.stop()
        before = int(self.output.array[0])
        time.sleep(0.01)
        if int(self.output.array[0]) != before:
            raise ReferenceFailed("a sandbox that was told to stop runs on: no timing here can be trusted")

    def run(self, x, poison, evict):
        """Run one trial on x; return (milliseconds, output as a private copy).

        Raises Refused when no answer comes or one of the wrong kind.
        """
        n = x.size
        self.input.array[:n] = x
        self.output.array[:] = poison
        evict()
        ms, told = self._timed("go", {"n": n})
        if told.get("dtype") != "int32" or told.get("shape") != [n]:
            raise Refused("wrong_output", "returned %.60s of shape %.60s, expected int32 of shape (%d,)" % (
                told.get("dtype"), told.get("shape"), n))
        return ms, self.output.array[:n].copy()

    def _timed(self, operation, fields):
        nonce = secrets.token_hex(8)
        ask = json.dumps(dict(fields, **{operation: nonce})).encode() + b"\n"
        self._nothing_unasked()
        start = time.monotonic_ns()
        self._sock.sendall(ask)
        self._job.cont()
        told = self._answer(self._params["trial_wall_s"])
        self._job.stop()
        stop = time.monotonic_ns()
        if told.get("done") != nonce:
            raise Refused("rule_broken", "answered something that was not asked: %.200r" % told)
        self._nothing_unasked()
        return (stop - start) / 1e6, told

    def _nothing_unasked(self):
        """The sandbox is stopped, so what lies in the socket now was sent without being asked."""
        self._sock.setblocking(False)
        try:
            extra = self._sock.recv(_MAX_LINE)
        except BlockingIOError:
            return
        finally:
            self._sock.setblocking(True)
        if not extra:
            self._ended()
        raise Refused("rule_broken", "sent a message that nobody asked for: %.200r" % extra)

    def _answer(self, wall_s):
        """Return the next message; raises Refused when none comes in time."""
        deadline = time.monotonic() + wall_s
        line = b""
        try:
            while not line.endswith(b"\n"):
                self._sock.settimeout(max(deadline - time.monotonic(), 1e-3))
                part = self._sock.recv(_MAX_LINE)
                if not part:
                    self._ended()
                line += part
                if len(line) > _MAX_LINE:
                    raise Refused("rule_broken", "an answer of more than %d bytes" % _MAX_LINE)
        except TimeoutError:
            self._ended(timed_out=True)
        except ConnectionError:
            self._ended()
        finally:
            self._sock.setblocking(True)
        try:
            told = json.loads(line)
        except ValueError:
            told = None
        if not isinstance(told, dict):
            raise Refused("rule_broken", "an answer that is not one JSON object: %.200r" % line)
        if "failed" in told:
            self._failed(told["failed"])
        return told

    def _failed(self, text):
        ended = self._job.wait(2)
        if not ended.running and (ended.oom or ended.timed_out):
            raise Refused(*ended.reason())
        raise Refused("error", "the solution failed: %.1500s" % text)

    def _ended(self, timed_out=False):
        """Raise Refused for a sandbox that fell silent."""
        ended = self._job.wait(0 if timed_out else 5)
        if ended.running:
            self._job.kill()
            if timed_out:
                raise Refused("timeout", "no answer within the time limit")
            raise Refused("rule_broken", "closed its control socket")
        reason, message = ended.reason()
        text = (ended.stderr or "").strip()[-500:]
        raise Refused(reason, message + ("\n" + text if text else ""))


class Bench:
    """Submission, reference and the memory floor, each in its sandbox."""

    def __init__(self, request, runner, sources, params):
        self._draws = request.draws
        self._runner = runner
        self._sources = sources
        self._params = params
        self._cache = last_level_cache_bytes()
        self._n = choose_n(params, self._cache)
        self._length = self._n + params["tail"]
        self._flush = np.zeros(2 * self._cache // 8, np.int64)
        self._solutions = []
        self._floor_ms = {"one": [], "all": []}

    def __enter__(self):
        try:
            self._reference = self._trusted(self._sources["reference"], "solution.py")
            self._reference.assert_stops()
            self._reference_null = [self._reference.null_ms() for _ in range(5)]
            self._floor = self._trusted(self._sources["reference"], "copy_floor.py")
            self._submission = self._start(self._sources["submission"], self._params["entry"])
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for solution in self._solutions:
            solution.kill()

    def _start(self, source, entry):
        solution = Solution(self._runner, source, entry, self._length, {}, self._params)
        self._solutions.append(solution)
        return solution

    def _trusted(self, source, entry):
        try:
            return self._start(source, entry)
        except Refused as e:
            raise ReferenceFailed("%s: %s" % (entry, e.message)) from e

    def _evict(self):
        self._flush.sum()

    def _draw(self, label):
        generator = self._draws.numpy(label)
        n = self._n + int(generator.integers(self._params["tail"] + 1))
        return definition.draw_input(generator, n), definition.draw_poison(generator, n)

    def trial(self, label):
        """Time reference and submission on the same fresh input; return (submission_ms, reference_ms)."""
        x, poison = self._draw(label)
        expected = definition.masked_prefix_sum(x)
        reference_ms = self._checked(self._reference, x, poison, expected, trusted=True)
        return self._checked(self._submission, x, poison, expected, trusted=False), reference_ms

    def extra(self, index):
        """Time the memory floor beside every third pair, on one core and on all in turn."""
        if index % 3:
            return
        x, poison = self._draw("floor %d" % index)
        for cores in ("one", "all"):
            self._floor_ms[cores].append(self._checked(self._floor, x, poison, x, trusted=True))

    def details(self):
        """Return sizes and the memory floor: the faster median of one core and of all."""
        floor = {cores: float(np.median(ms)) for cores, ms in self._floor_ms.items()}
        return {"elements": self._n, "cache_bytes": self._cache, "numpy": np.__version__,
                "floor_ms": min(floor.values()), "floor_one_core_ms": floor["one"], "floor_all_cores_ms": floor["all"],
                "floor_best_ms": min(min(ms) for ms in self._floor_ms.values()),
                "hand_over_ms": float(np.median(self._reference_null))}

    def _checked(self, solution, x, poison, expected, trusted):
        try:
            ms, got = solution.run(x, poison, self._evict)
        except Refused as e:
            if trusted:
                raise ReferenceFailed(e.message) from e
            raise
        wrong = definition.first_difference(got, expected)
        if wrong is None:
            return ms
        if trusted:
            raise ReferenceFailed("element %d is %d, expected %d" % (wrong, got[wrong], expected[wrong]))
        untouched = int((got == poison).sum())
        raise Refused("wrong_output", "element %d of %d is %d, expected %d%s" % (
            wrong, expected.size, got[wrong], expected[wrong],
            "; %d elements had not been written when the answer came" % untouched if untouched else ""))
