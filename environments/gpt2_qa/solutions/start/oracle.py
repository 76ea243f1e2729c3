# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The judge from a solver's side. Standard library only."""

import http.client
import json
import os
import socket


class Refused(Exception):
    """args: HTTP status and message. 429: no pairs are left."""


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket, or over a connected descriptor ("fd:3")."""

    def __init__(self, where):
        super().__init__("judge")
        self._where = where

    def connect(self):
        """Connect, once for a descriptor."""
        if self._where.startswith("fd:"):
            self.sock = socket.socket(fileno=os.dup(int(self._where[3:])))
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(self._where)


class Oracle:
    """where: a socket's path or fd:N; default $REBENCH_SERVICE."""

    def __init__(self, where=None):
        self._connection = _Connection(where or os.environ["REBENCH_SERVICE"])

    def left(self):
        """Return how many pairs may still be asked."""
        return self._ask("GET", "/v1/left")["left"]

    def prefers(self, questions, a, b):
        """Return for each pair whether answer a is preferred: questions are row numbers of questions.st, a and b lists of lists of ids."""
        out = []
        for i in range(0, len(questions), 250):
            pairs = [{"question": int(q), "a": [int(t) for t in x], "b": [int(t) for t in y]}
                     for q, x, y in zip(questions[i:i + 250], a[i:i + 250], b[i:i + 250])]
            out += [p == "a" for p in self._ask("POST", "/v1/judge", {"pairs": pairs})["prefers"]]
        return out

    def _ask(self, method, path, value=None):
        self._connection.request(method, path, json.dumps(value).encode() if value is not None else None)
        response = self._connection.getresponse()
        reply = json.loads(response.read())
        if response.status != 200:
            raise Refused(response.status, reply["error"]["message"])
        return reply
