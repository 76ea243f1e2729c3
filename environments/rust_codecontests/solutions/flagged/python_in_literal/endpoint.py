# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The endpoint from a solution's side: problems, chat completions, answers. Standard library only."""

import http.client
import json
import os
import socket


class EndpointError(Exception):
    """The endpoint refused: args are the HTTP status and its message. 429: no completions are left."""


class _Connection(http.client.HTTPConnection):
    """HTTP over a Unix socket, or over a connected descriptor ("fd:3")."""

    def __init__(self, where):
        super().__init__("endpoint")
        self._where = where

    def connect(self):
        """Connect, once for a descriptor."""
        if self._where.startswith("fd:"):
            self.sock = socket.socket(fileno=os.dup(int(self._where[3:])))
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.connect(self._where)


class Endpoint:
    """where: a socket's path or fd:N; default $REBENCH_ENDPOINT. Not for several threads at once: lock it."""

    def __init__(self, where=None):
        self._connection = _Connection(where or os.environ["REBENCH_ENDPOINT"])

    def problems(self):
        """Return the problems: {"id", "title", "statement", "examples": [{"input", "output"}]} each."""
        return self._ask("GET", "/v1/problems")["problems"]

    def chat(self, messages, n=1):
        """Return n replies (texts) to a conversation, [{"role", "content"}]. Each counts as a completion."""
        asked = {"model": "simulated-coder", "messages": messages, "n": n}
        return [c["message"]["content"] for c in self._ask("POST", "/v1/chat/completions", json.dumps(asked))["choices"]]

    def answer(self, ident, source):
        """Hand in a Rust program for a problem; a later one replaces it."""
        self._ask("PUT", "/v1/answers/" + ident, source)

    def _ask(self, method, path, body=None):
        data = body.encode() if body is not None else None
        self._connection.request(method, path, data, {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        reply = json.loads(response.read())
        if response.status != 200:
            raise EndpointError(response.status, reply["error"]["message"])
        return reply
