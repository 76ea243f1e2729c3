# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""HTTP over sockets of the runner: a trusted service for a solver during its attempt, and the same within a scoring.

scorer/service.py gets a listening socket as descriptor 3; a scorer gets a
connected one from spawn(..., socket=True). Either way a desk answers: an object
with request(method, path, body) -> JSON object, which may raise Refused, and
state() -> JSON object for the attempt's log. Standard library only.
"""

import http.server
import json
import socket
import threading

MAX_BODY = 1 << 20
CONNECTIONS = 8
IDLE_S = 600


class Refused(Exception):
    """args: HTTP status, error type, message."""


class Handler(http.server.BaseHTTPRequestHandler):
    """One connection to its end; server is the desk."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "rebench", ""

    def _handle(self):
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            length = -1
        if not 0 <= length <= MAX_BODY:
            self.close_connection = True
            return self._reply(413, _error("invalid_request_error", "expected a body of at most %d bytes, with its length" % MAX_BODY))
        body = self.rfile.read(length)
        try:
            self._reply(200, self.server.request(self.command, self.path, body))
        except Refused as e:
            self._reply(e.args[0], _error(*e.args[1:]))

    do_GET = do_POST = do_PUT = _handle

    def send_error(self, code, message=None, explain=None):
        """Answer what is not HTTP; the desk is told."""
        self.server.malformed("%.80s" % (message or code))
        self.request_version = "HTTP/1.1"
        self.close_connection = True
        self._reply(code, _error("invalid_request_error", str(message or code)))

    def _reply(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format, *args):
        """Say nothing."""


class Desk:
    """Base of what is served: requests one after another, whatever the connections.

    tell: called with state() after each request; None: not.
    """

    def __init__(self, tell=None):
        self.lock, self._tell = threading.Lock(), tell

    def request(self, method, path, body):
        """Return the reply to a request under the lock; raises Refused."""
        with self.lock:
            try:
                return self.answer(method, path, body)
            finally:
                if self._tell:
                    self._tell(self.state())

    def answer(self, method, path, body):
        """Return the reply, a JSON object; raises Refused."""
        raise NotImplementedError

    def state(self):
        """Return what has been done so far, a JSON object."""
        return {}

    def malformed(self, what):
        """Hear of something sent that is no HTTP."""


def serve_connection(desk, sock, idle_s=None):
    """Serve one connected socket to its end, and close it. What a peer does is no error here."""
    sock.settimeout(idle_s)
    try:
        Handler(sock, ("solution", 0), desk)
    except OSError:
        pass  # gone in the middle of a reply, or silent for too long
    finally:
        sock.close()


def serve(desk, fd=3):
    """Accept on the listening descriptor for ever."""
    listener = socket.socket(fileno=fd)
    listener.setblocking(True)
    slots = threading.Semaphore(CONNECTIONS)

    def one(sock):
        try:
            serve_connection(desk, sock, IDLE_S)
        finally:
            slots.release()

    while True:
        slots.acquire()
        try:
            sock, _ = listener.accept()
        except OSError:
            slots.release()
            continue
        threading.Thread(target=one, args=(sock,), daemon=True).start()


def tell(state):
    """Print a state as a line: the runner keeps the last one for the log."""
    print(json.dumps(state), flush=True)


def _error(kind, message):
    return {"error": {"type": kind, "message": message}}
