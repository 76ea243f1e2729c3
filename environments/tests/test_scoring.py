# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The scorer's side of the contract, against a runner that a thread plays."""
import base64
import hashlib
import hmac
import json
import os
import socket
import threading

import pytest

import scoring


class Played:
    """A control socket whose other end answers from a list."""

    def __init__(self, *answers):
        ours, theirs = socket.socketpair()
        self.runner = scoring.Runner(ours.detach())
        self.asked = []
        self._thread = threading.Thread(target=self._answer, args=(theirs, answers), daemon=True)
        self._thread.start()

    def _answer(self, sock, answers):
        with sock, sock.makefile("rb") as lines:
            for answer in answers:
                self.asked.append(json.loads(lines.readline()))
                fds = answer.pop("fds", [])
                raw = json.dumps(answer).encode() + b"\n"
                half = len(raw) // 2  # a reply may come in pieces
                socket.send_fds(sock, [raw[:half]], fds)
                sock.sendall(raw[half:])
                for fd in fds:
                    os.close(fd)

    def done(self):
        self._thread.join(5)
        return self.asked


def test_spawn_sends_all_fields():
    mine, other = socket.socketpair()
    played = Played({"ok": True, "handle": 4, "fds": [other.detach()]})
    job = played.runner.spawn("run", "snapshot", ["python3", "x.py"], env={"A": "b"}, limits={"wall_s": 2}, writable=True, keep="built",
                              socket=True, files={"x.py": b"\x00\xff"}, data="rows", device=True)
    assert job.handle == 4
    job.socket.sendall(b"hello")
    assert mine.recv(5) == b"hello"
    assert played.done() == [{
        "op": "spawn", "stage": "run", "source": "snapshot", "argv": ["python3", "x.py"], "env": {"A": "b"}, "limits": {"wall_s": 2},
        "writable": True, "keep": "built", "socket": True, "files": {"x.py": base64.b64encode(b"\x00\xff").decode()}, "data": "rows", "device": True}]


def test_operations():
    read, write = os.pipe()
    os.write(write, b"collected")
    os.close(write)
    ended = {"ok": True, "running": False, "exit": 0, "signal": None, "oom": False, "timed_out": False, "limit": None, "stdout": "o", "stderr": "e",
             "stdout_bytes": 1, "stderr_bytes": 1, "wall_s": 0.5, "cpu_s": None, "memory_peak_bytes": 7}
    played = Played({"ok": True, "handle": 1}, {"ok": True}, {"ok": True}, ended, {"ok": True, "fds": [read]}, {"ok": True}, {"ok": True}, {"ok": True})
    job = played.runner.spawn("build", "start", ["true"])
    assert job.socket is None
    job.stop()
    job.cont()
    end = job.wait(1.5)
    assert end.ok and end.stdout == "o" and end.cpu_s is None and end.memory_peak_bytes == 7
    with job.collect("out.bin", 100) as f:
        assert f.read() == b"collected"
    with played.runner.timed():
        pass
    job.kill()
    assert played.done()[1:] == [
        {"op": "signal", "handle": 1, "signal": "STOP"}, {"op": "signal", "handle": 1, "signal": "CONT"},
        {"op": "wait", "handle": 1, "timeout_s": 1.5}, {"op": "collect", "handle": 1, "path": "out.bin", "max_bytes": 100},
        {"op": "timed", "acquire": True}, {"op": "timed", "acquire": False}, {"op": "signal", "handle": 1, "signal": "KILL"}]


def test_refusals_and_faults_are_told_apart():
    played = Played({"ok": True, "handle": 1}, {"ok": False, "refused": "x: a symbolic link"}, {"ok": False, "error": "no such handle"})
    job = played.runner.spawn("run", "snapshot", ["true"])
    with pytest.raises(scoring.CollectRefused, match="symbolic link"):
        job.collect("x", 10)
    with pytest.raises(scoring.RunnerError, match="no such handle"):
        job.stop()
    played.done()
    with pytest.raises((scoring.RunnerError, BrokenPipeError)):
        job.wait()


def test_missing_descriptor_is_a_fault():
    with pytest.raises(scoring.RunnerError, match="expected one descriptor"):
        Played({"ok": True, "handle": 1}).runner.spawn("run", "snapshot", ["true"], socket=True)


@pytest.mark.parametrize("fields, reason", [
    ({"oom": True}, "oom"), ({"timed_out": True}, "timeout"), ({"limit": "99 files"}, "error"), ({"signal": 11}, "error"), ({"exit": 3}, "error")])
def test_ended_gives_a_reason(fields, reason):
    end = scoring.Ended(dict({"running": False, "exit": None}, **fields))
    assert not end.ok
    assert end.reason()[0] == reason and "the submission" in end.reason()[1]


def test_running_is_not_ok():
    assert not scoring.Ended({"running": True, "exit": 0}).ok


def test_draws_are_named_and_repeatable():
    draws = scoring.Draws(bytes(range(32)))
    assert draws.bytes("rows") == hmac.new(bytes(range(32)), b"rows", hashlib.sha256).digest()
    assert draws.seed("rows") == int.from_bytes(draws.bytes("rows")[:8], "big") >> 1
    assert draws.python("rows").random() == scoring.Draws(bytes(range(32))).python("rows").random()
    assert draws.python("rows").random() != draws.python("cols").random()
    assert draws.numpy("rows").integers(1 << 60) == draws.numpy("rows").integers(1 << 60)
    assert draws.numpy("rows").integers(1 << 60) != scoring.Draws(bytes(32)).numpy("rows").integers(1 << 60)
    with pytest.raises(ValueError):
        scoring.Draws(b"short")


def test_verdicts():
    assert scoring.valid(1, flags=("a",), trials=(1,), paired_reference_raw=2, details={"k": 1}) == {
        "valid": True, "raw": 1.0, "reason": None, "message": "", "flags": ["a"], "trials": [1], "paired_reference_raw": 2.0, "details": {"k": 1}}
    assert scoring.invalid("timeout", "too slow") == {
        "valid": False, "raw": None, "reason": "timeout", "message": "too slow", "flags": [], "trials": [], "paired_reference_raw": None, "details": {}}
    for bad in (float("nan"), float("inf"), -float("inf")):
        with pytest.raises(ValueError):
            scoring.valid(bad)
        with pytest.raises(ValueError):
            scoring.valid(0, paired_reference_raw=bad)
    with pytest.raises(ValueError):
        scoring.invalid("bored", "")
