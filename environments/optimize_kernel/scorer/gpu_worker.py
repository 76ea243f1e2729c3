# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Calls a solution inside its sandbox (gpu profiles).

As worker.py: nothing here is trusted, solution and reference both run behind
it, and the protocol is the same, with descriptors of device memory, and an
answer that also tells the device: {"done", "dtype", "shape", "device"}.
"""

import importlib.util
import inspect
import json
import socket
import sys
import traceback

sys.path.insert(0, __file__.rsplit("/", 1)[0])

import torch  # noqa: E402
from share import Memory, synchronize  # noqa: E402


def load(path):
    """Return prefix_sum of the solution, as a function of (x, out)."""
    sys.path.insert(0, path.rsplit("/", 1)[0])
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["solution"] = module
    spec.loader.exec_module(module)
    function = module.prefix_sum
    try:
        takes = len(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        takes = 2
    return function if takes >= 2 else (lambda x, out: function(x))


def deliver(result, out):
    """Bring the result into out; return what the scorer is told about it."""
    if result is None or result is out:
        result = out
    if type(result) is not torch.Tensor:
        return {"dtype": type(result).__name__[:64], "shape": [], "device": ""}
    told = {"dtype": str(result.dtype).replace("torch.", "")[:64], "shape": list(result.shape[:8]), "device": str(result.device)[:64]}
    same = result.dtype == out.dtype and result.shape == out.shape and result.device == out.device
    if same and (result.data_ptr() != out.data_ptr() or result.stride() != out.stride()):
        out.copy_(result)
    return told


def serve(sock, function, x, out):
    """Answer requests until the socket closes."""
    for line in sock.makefile("rb"):
        ask = json.loads(line)
        told = {}
        if "go" in ask:
            n = ask["n"]
            told = deliver(function(x[:n], out[:n]), out[:n])
        synchronize()
        told["done"] = ask["go"] if "go" in ask else ask["null"]
        sock.sendall(json.dumps(told).encode() + b"\n")


def main():
    """Set up buffers and solution, then serve."""
    sock = socket.socket(fileno=3)
    try:
        line, fds, _, _ = socket.recv_fds(sock, 4096, 2)
        length = json.loads(line)["n_max"]
        x, out = (Memory(length, fd).tensor for fd in fds)
        function = load(sys.argv[1])
        sock.sendall(b'{"ready": true}\n')
        serve(sock, function, x, out)
    except BaseException as e:
        text = traceback.format_exc()[-1500:].encode("ascii", "replace").decode()
        sock.sendall(json.dumps({"failed": text, "memory": isinstance(e, MemoryError)}).encode() + b"\n")
        raise SystemExit(1)


main()
