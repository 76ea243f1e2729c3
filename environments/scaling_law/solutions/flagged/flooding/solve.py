# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Floods the trainer with what is no request, with bad requests and with open connections; then it must still answer, and refuse."""

import contextlib
import os
import socket

import trainer


def connect():
    """Return a raw connection."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(5)
    s.connect(os.environ["REBENCH_SERVICE"])
    return s


for junk in (b"\0" * 70_000, b"GET " + b"/" * 70_000, b"POST /v1/experiments HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
             b"POST /v1/experiments HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"POST /v1/experiments HTTP/1.1\r\nContent-Length: 9\r\n\r\n" + b"[" * 9):
    with contextlib.suppress(OSError), connect() as s:
        s.sendall(junk)
        s.recv(1000)
t, refused = trainer.Trainer(), 0
with contextlib.suppress(trainer.Refused):
    while refused < 5000:
        try:
            t.run(16, 0)
        except trainer.Refused as e:
            refused += 1
            if e.args[0] == 429:
                raise
assert refused < 5000, "requests without end are served"
try:
    t.run(16, 20)
except trainer.Refused:
    trainer.write_answer(16, 2.61)
