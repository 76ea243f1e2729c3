# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Raw arrays in files: how weights cross from a submission to a scorer.

The layout is that of safetensors (https://github.com/huggingface/safetensors,
its README): 8 bytes, the header's length as an unsigned little-endian integer;
the header, JSON of name -> {"dtype", "shape", "data_offsets": [begin, end]};
then the arrays' bytes, little-endian, row-major. Nothing in it is executed.
load() treats a file as hostile. numpy only.
"""

import json
import math
import struct

import numpy as np

_DTYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32,
           "I16": np.int16, "U16": np.uint16, "U8": np.uint8, "BOOL": np.bool_}
_NAMES = {np.dtype(v): k for k, v in _DTYPES.items()}
MAX_HEADER = 1 << 20
MAX_ARRAYS = 10_000


class BadArrays(ValueError):
    """The file is not what was asked for; the text says where, what was found, what was expected."""


class TooLarge(BadArrays):
    """More bytes than are allowed."""


def save(path, arrays):
    """Write name -> array to the file path. Names are sorted: equal arrays give equal bytes."""
    header, blobs, at = {}, [], 0
    for name in sorted(arrays):
        a = np.asarray(arrays[name])
        if a.dtype not in _NAMES:
            raise BadArrays("%s: found dtype %s, expected one of %s" % (name, a.dtype, ", ".join(_DTYPES)))
        blob = a.astype(a.dtype.newbyteorder("<"), copy=False).tobytes()
        header[name] = {"dtype": _NAMES[a.dtype], "shape": list(a.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        f.writelines(blobs)


def load(source, expected=None, max_bytes=1 << 30, finite=True):
    """Return name -> array (own memory, native order) from a path or an open binary file.

    expected: None, or name -> (dtype, shape); then exactly these arrays must be
    there. finite: floats may not be NaN or infinite. Raises BadArrays, TooLarge for the size of the file.
    """
    if hasattr(source, "read"):
        raw = source.read(max_bytes + 1)
    else:
        with open(source, "rb") as f:
            raw = f.read(max_bytes + 1)
    if len(raw) > max_bytes:
        raise TooLarge("file: more than %d bytes" % max_bytes)
    header, data = _header(raw)
    if expected is not None:
        _compare(header, expected)
    out = {}
    for name, (dtype, shape, begin, end) in header.items():
        a = np.frombuffer(data[begin:end], np.dtype(dtype).newbyteorder("<")).astype(dtype).reshape(shape)
        if finite and a.dtype.kind == "f" and not np.isfinite(a).all():
            raise BadArrays("%s: holds values that are not finite" % _short(name))
        out[name] = a
    return out


def _header(raw):
    if len(raw) < 8:
        raise BadArrays("file: %d bytes, expected a header length of 8 bytes" % len(raw))
    (size,) = struct.unpack_from("<Q", raw)
    if size > MAX_HEADER or 8 + size > len(raw):
        raise BadArrays("header: length %d, expected at most %d and within the file" % (size, MAX_HEADER))
    try:
        fields = json.loads(raw[8:8 + size].decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as e:
        raise BadArrays("header: not JSON: %.100s" % e) from None
    if not isinstance(fields, dict) or len(fields) > MAX_ARRAYS:
        raise BadArrays("header: expected an object of at most %d arrays" % MAX_ARRAYS)
    fields.pop("__metadata__", None)
    data = memoryview(raw)[8 + size:]
    out = {name: _entry(name, fields[name], len(data)) for name in fields}
    at = 0
    for name, (_, _, begin, end) in sorted(out.items(), key=lambda item: item[1][2:]):
        if begin != at:
            raise BadArrays("%s: begins at byte %d, expected %d" % (_short(name), begin, at))
        at = end
    if at != len(data):
        raise BadArrays("data: %d bytes, the header describes %d" % (len(data), at))
    return out, data


def _entry(name, entry, size):
    where = _short(name)
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        raise BadArrays("%s: expected dtype, shape and data_offsets" % where)
    dtype, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in _DTYPES:
        raise BadArrays("%s: found dtype %.40r, expected one of %s" % (where, dtype, ", ".join(_DTYPES)))
    if not _integers(shape) or len(shape) > 8:
        raise BadArrays("%s: shape: expected at most 8 integers, none negative" % where)
    if not _integers(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
        raise BadArrays("%s: data_offsets: expected begin <= end <= %d" % (where, size))
    if offsets[1] - offsets[0] != math.prod(shape) * np.dtype(_DTYPES[dtype]).itemsize:
        raise BadArrays("%s: %d bytes do not fit its shape" % (where, offsets[1] - offsets[0]))
    return _DTYPES[dtype], tuple(shape), offsets[0], offsets[1]


def _compare(header, expected):
    missing, extra = sorted(set(expected) - set(header)), sorted(set(header) - set(expected))
    if missing or extra:
        raise BadArrays("arrays: missing %s; not expected %s" % (
            [_short(n) for n in missing[:5]] or "none", [_short(n) for n in extra[:5]] or "none"))
    for name, (dtype, shape) in expected.items():
        found = header[name][:2]
        if np.dtype(found[0]) != np.dtype(dtype) or found[1] != tuple(shape):
            raise BadArrays("%s: found %s %s, expected %s %s" % (
                _short(name), np.dtype(found[0]), list(found[1]), np.dtype(dtype), list(shape)))


def _integers(value):
    return isinstance(value, list) and all(type(v) is int and 0 <= v < 1 << 40 for v in value)


def _unique(pairs):
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a key occurs twice")
    return out


def _short(name):
    return ascii(name)[:60]
