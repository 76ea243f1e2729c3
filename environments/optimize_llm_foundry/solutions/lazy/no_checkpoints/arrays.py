# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Arrays in files: 8 bytes, the length of the header; the header as JSON; then the bytes of the arrays. The layout of safetensors."""

import json
import pathlib

import numpy as np


def read(path):
    """Return name -> float32 array."""
    raw = pathlib.Path(path).read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    out = {}
    for name, entry in json.loads(raw[8:end]).items():
        begin, stop = entry["data_offsets"]
        out[name] = np.frombuffer(raw[end + begin:end + stop], "<f4").reshape(entry["shape"])
    return out


def write(path, arrays):
    """Write name -> float32 array."""
    header, blobs, at = {}, [], 0
    for name, a in arrays.items():
        blobs.append(np.ascontiguousarray(a, "<f4").tobytes())
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + len(blobs[-1])]}
        at += len(blobs[-1])
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + b"".join(blobs))
