# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The scorer's side of the contract between runner and scorer.

A scorer is trusted code in a sandbox of its own. It reads one request from
standard input, asks the runner over descriptor 3 to run the submission in
further sandboxes, compares what comes back as plain data, and prints one JSON
object as its last line. environments/README.md describes the protocol.

Only the standard library is imported here; numpy only inside Draws.numpy.
"""

import base64
import contextlib
import hashlib
import hmac
import json
import math
import os
import random
import socket
import struct
import sys
import time
import traceback

REASONS = ("nan", "timeout", "oom", "wrong_output", "rule_broken", "hidden", "error")

# Longest reply line: two outputs of 64 KiB, escaped.
_MAX_LINE = 4 << 20


class RunnerError(Exception):
    """The runner refused a request or failed: the scorer's fault, never the submission's."""


class CollectRefused(Exception):
    """The submission's file is missing, too large, or not a plain file: the submission's fault."""


class Request:
    """What to score.

    Attributes: environment, profile, purpose ("score" | "calibrate" |
    "rescore"), target ("submission" | "start" | "reference") as strings; params
    and calibration as parsed JSON (calibration may be None); snapshot_dir,
    reference_dir, start_dir, assets_dir (None without assets) and work_dir
    as paths; threads and gpus, how many compute threads and leased GPUs there
    are; draws, a Draws of this scoring alone; attempt, a Draws that all scorings
    of an attempt and its prepare.py share.
    """

    def __init__(self, fields):
        self.environment = fields["environment"]
        self.profile = fields["profile"]
        self.params = fields["params"]
        self.purpose = fields["purpose"]
        self.target = fields["target"]
        self.calibration = fields["calibration"]
        self.snapshot_dir = fields["snapshot_dir"]
        self.reference_dir = fields["reference_dir"]
        self.start_dir = fields["start_dir"]
        self.assets_dir = fields["assets_dir"]
        self.work_dir = fields["work_dir"]
        self.threads = int(fields["threads"])
        self.gpus = int(fields["gpus"])
        self.draws = Draws(bytes.fromhex(fields["draw_key"]))
        self.attempt = Draws(bytes.fromhex(fields["attempt_key"]))


class Preparation:
    """What scorer/prepare.py is asked for.

    Attributes: environment, profile; params as parsed JSON; attempt, a Draws;
    assets_dir (None without assets); out_dir, where solution/ and data/ are to
    be made; threads.
    """

    def __init__(self, fields):
        self.environment = fields["environment"]
        self.profile = fields["profile"]
        self.params = fields["params"]
        self.attempt = Draws(bytes.fromhex(fields["attempt_key"]))
        self.assets_dir = fields["assets_dir"]
        self.out_dir = fields["out_dir"]
        self.threads = int(fields["threads"])


class Draws:
    """All randomness of one scoring, derived from its secret 32-byte key.

    Every draw is named, so that adding one does not change the others.
    """

    def __init__(self, key):
        if len(key) != 32:
            raise ValueError("draw key of %d bytes, expected 32" % len(key))
        self._key = key

    def bytes(self, label):
        """Return 32 bytes: HMAC-SHA256(key, label)."""
        return hmac.new(self._key, label.encode(), hashlib.sha256).digest()

    def seed(self, label):
        """Return an integer in [0, 2**63)."""
        return int.from_bytes(self.bytes(label)[:8], "big") >> 1

    def python(self, label):
        """Return a random.Random of its own."""
        return random.Random(self.bytes(label))

    def numpy(self, label):
        """Return a numpy Generator (PCG64) of its own."""
        import numpy

        words = struct.unpack(">8I", self.bytes(label))
        return numpy.random.Generator(numpy.random.PCG64(numpy.random.SeedSequence(words)))


class Ended:
    """How a sandbox ended, or that it still runs.

    running (bool); exit (0..255 or None); signal (number or None); oom and
    timed_out (its memory or wall limit was reached); limit (text: which other
    limit, or None); stdout and stderr (text, at most 64 KiB each) with
    stdout_bytes and stderr_bytes written in all; wall_s (stopped time left
    out); cpu_s and memory_peak_bytes (None when unknown).
    """

    FIELDS = ("running", "exit", "signal", "oom", "timed_out", "limit", "stdout", "stderr",
              "stdout_bytes", "stderr_bytes", "wall_s", "cpu_s", "memory_peak_bytes")

    def __init__(self, reply):
        for name in self.FIELDS:
            setattr(self, name, reply.get(name))

    @property
    def ok(self):
        """The program exited with 0 by itself."""
        return not self.running and self.exit == 0 and not (self.oom or self.timed_out or self.limit)

    def reason(self):
        """Return (reason, message) for a sandbox that did not end well."""
        if self.oom:
            return "oom", "the submission ran out of memory"
        if self.timed_out:
            return "timeout", "the submission ran out of time"
        if self.limit:
            return "error", "the submission passed a limit: %s" % self.limit
        if self.signal:
            return "error", "the submission died from signal %d" % self.signal
        return "error", "the submission exited with status %s" % self.exit


class Submission:
    """One sandbox that runs a solution's code."""

    def __init__(self, runner, handle, sock):
        self._runner = runner
        self.handle = handle
        self.socket = sock  # socket.socket or None; the other end is the program's descriptor 3

    def stop(self):
        """Stop every thread and process of the sandbox; they are stopped on return."""
        self._runner._ask({"op": "signal", "handle": self.handle, "signal": "STOP"})

    def cont(self):
        """Let a stopped sandbox run on."""
        self._runner._ask({"op": "signal", "handle": self.handle, "signal": "CONT"})

    def kill(self):
        """End every process of the sandbox; none is left on return."""
        self._runner._ask({"op": "signal", "handle": self.handle, "signal": "KILL"})

    def wait(self, timeout_s=None):
        """Wait for the end, at most timeout_s seconds; return an Ended."""
        return Ended(self._runner._ask({"op": "wait", "handle": self.handle, "timeout_s": timeout_s})[0])

    def collect(self, path, max_bytes):
        """Return an open binary file, a sealed copy of path in a writable /solution.

        Raises CollectRefused when it is missing, larger than max_bytes, or no
        regular file with one link.
        """
        reply, fds = self._runner._ask(
            {"op": "collect", "handle": self.handle, "path": path, "max_bytes": int(max_bytes)}, want_fd=True, refusable=True)
        if "refused" in reply:
            raise CollectRefused(reply["refused"])
        return os.fdopen(fds[0], "rb")


class Runner:
    """The runner's control socket."""

    def __init__(self, fd=3):
        self._sock = socket.socket(fileno=fd)
        self._sock.setblocking(True)
        self._buffer = b""

    def spawn(self, stage, source, argv, *, env=None, limits=None, writable=False, keep=None,
              socket=False, files=None, data=None, device=False):
        """Start a sandbox and return its Submission.

        stage: "build" or "run" (for the log). source: what /solution shows:
        "snapshot", "start", "reference", or "work:NAME". argv: the command; it
        starts in /solution. env: additional variables. limits: wall_s,
        memory_mb, pids, cpus; absent ones come from the profile, none can
        exceed the machine's. writable: /solution is a private copy that may be
        written; keep names that copy for later "work:NAME". socket: give the
        program a socket as descriptor 3. files: {name: bytes}, shown read-only
        below /harness, 8 MiB together. data: a directory below work_dir, a
        copy of which is shown read-only as /data. device: bind the leased GPUs.
        """
        ask = {"op": "spawn", "stage": stage, "source": source, "argv": list(argv), "env": dict(env or {}),
               "limits": dict(limits or {}), "writable": bool(writable), "socket": bool(socket),
               "device": bool(device)}
        if keep is not None:
            ask["keep"] = keep
        if data is not None:
            ask["data"] = data
        if files:
            ask["files"] = {name: base64.b64encode(content).decode() for name, content in files.items()}
        reply, fds = self._ask(ask, want_fd=bool(socket))
        return Submission(self, reply["handle"], _stream(fds[0]) if socket else None)

    @contextlib.contextmanager
    def timed(self):
        """Hold the machine-wide timing lock; waiting for it is not charged to the solver."""
        self._ask({"op": "timed", "acquire": True})
        try:
            yield
        finally:
            self._ask({"op": "timed", "acquire": False})

    def _ask(self, message, want_fd=False, refusable=False):
        self._sock.sendall(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        fds = []
        while b"\n" not in self._buffer:
            if len(self._buffer) > _MAX_LINE:
                raise RunnerError("reply too long")
            chunk, got, _, _ = socket.recv_fds(self._sock, 1 << 16, 4)
            fds.extend(got)
            if not chunk:
                raise RunnerError("the runner closed the control socket")
            self._buffer += chunk
        line, self._buffer = self._buffer.split(b"\n", 1)
        reply = json.loads(line)
        if not reply.get("ok") and not (refusable and "refused" in reply):
            raise RunnerError("%s: %s" % (message["op"], reply.get("error", "no reason given")))
        if want_fd and reply.get("ok") and len(fds) != 1:
            raise RunnerError("%s: expected one descriptor, got %d" % (message["op"], len(fds)))
        return reply, fds


def _stream(fd):
    sock = socket.socket(fileno=fd)
    sock.setblocking(True)
    return sock


def preparation():
    """Read what to prepare from standard input."""
    return Preparation(json.loads(sys.stdin.buffer.read()))


def request():
    """Read the request from standard input."""
    return Request(json.loads(sys.stdin.buffer.read()))


def valid(raw, *, message="", flags=(), trials=(), paired_reference_raw=None, details=None):
    """Return the verdict on a valid submission. raw must be finite."""
    raw = float(raw)
    if not math.isfinite(raw):
        raise ValueError("raw score %r is not finite: an invalid submission, or a fault of the scorer" % raw)
    if paired_reference_raw is not None:
        paired_reference_raw = float(paired_reference_raw)
        if not math.isfinite(paired_reference_raw):
            raise ValueError("paired reference %r is not finite" % paired_reference_raw)
    return {"valid": True, "raw": raw, "reason": None, "message": message, "flags": list(flags),
            "trials": list(trials), "paired_reference_raw": paired_reference_raw, "details": details or {}}


def invalid(reason, message, *, flags=(), trials=(), details=None):
    """Return the verdict on an invalid submission; message is shown to the solver."""
    if reason not in REASONS:
        raise ValueError("reason %r, expected one of %s" % (reason, ", ".join(REASONS)))
    return {"valid": False, "raw": None, "reason": reason, "message": message, "flags": list(flags),
            "trials": list(trials), "paired_reference_raw": None, "details": details or {}}


def main(score):
    """Run score(request, runner), which returns valid(...) or invalid(...), and print its verdict.

    Any exception is a fault of the scorer: it goes to standard error and the
    exit status is 1.
    """
    try:
        verdict = json.dumps(score(request(), Runner()), allow_nan=False)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    print(verdict, flush=True)


def now():
    """Return the trusted clock in seconds: monotonic, not slewed."""
    return time.clock_gettime(time.CLOCK_MONOTONIC_RAW)
