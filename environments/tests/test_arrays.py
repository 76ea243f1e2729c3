# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Raw arrays: what is written comes back, and no file makes the reader do more than refuse."""
import io
import json
import random
import struct

import numpy as np
import pytest

import arrays

SAMPLE = {"b": np.arange(6, dtype=np.float32).reshape(2, 3), "a": np.array([1, -2], np.int64), "e": np.zeros((0, 4), np.uint8)}


def raw(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def one(**change):
    return {"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **change}}


def test_round_trip(tmp_path):
    path = tmp_path / "w"
    arrays.save(path, SAMPLE)
    got = arrays.load(path, {n: (a.dtype, a.shape) for n, a in SAMPLE.items()})
    assert set(got) == set(SAMPLE)
    for name, a in SAMPLE.items():
        assert got[name].dtype == a.dtype and got[name].shape == a.shape and (got[name] == a).all()
    got["b"][0, 0] = 7  # own memory
    again = tmp_path / "again"
    arrays.save(again, dict(reversed(SAMPLE.items())))
    assert again.read_bytes() == path.read_bytes()


def test_bytes_are_as_specified():
    want = raw(one(), struct.pack("<2f", 1.5, -2))
    assert arrays.load(io.BytesIO(want))["x"].tolist() == [1.5, -2]


@pytest.mark.parametrize("content, says", [
    (b"", "header length"),
    (struct.pack("<Q", 1 << 62), "header: length"),
    (raw(b"{"), "not JSON"),
    (raw(b"[" * 200_000), "not JSON"),
    (raw(b"\xff\xfe"), "not JSON"),
    (raw([1]), "expected an object"),
    (raw(b'{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'), "twice"),
    (raw({"x": 3}), "expected dtype"),
    (raw(one(dtype="O")), "dtype 'O'"),
    (raw(one(dtype=["F32"])), "dtype"),
    (raw(one(shape=[-2])), "shape"),
    (raw(one(shape=[True, 2]), b"0" * 8), "shape"),
    (raw(one(shape=[2.0]), b"0" * 8), "shape"),
    (raw(one(shape=[3]), b"0" * 8), "do not fit"),
    (raw(one(shape=[1 << 39] * 8), b"0" * 8), "do not fit"),
    (raw(one(data_offsets=[0, 16]), b"0" * 8), "data_offsets"),
    (raw(one(data_offsets=[8, 0]), b"0" * 8), "data_offsets"),
    (raw(one(), b"0" * 9), "data: 9 bytes"),
    (raw(one(), struct.pack("<2f", 1, float("nan"))), "not finite"),
    (raw({**one(), "y": one()["x"]}, b"0" * 8), "begins at byte"),
])
def test_hostile_files_are_refused(content, says):
    with pytest.raises(arrays.BadArrays, match=says):
        arrays.load(io.BytesIO(content))


def test_expectations_are_compared():
    content = raw(one(), bytes(8))
    for expected, says in (({}, "not expected"), ({"y": ("float32", (2,))}, "missing"),
                           ({"x": ("float32", (1, 2))}, r"found float32 \[2\], expected float32 \[1, 2\]"),
                           ({"x": ("int32", (2,))}, "expected int32")):
        with pytest.raises(arrays.BadArrays, match=says):
            arrays.load(io.BytesIO(content), expected)
    with pytest.raises(arrays.TooLarge, match="more than 20 bytes"):
        arrays.load(io.BytesIO(content), max_bytes=20)


def test_damaged_files_never_raise_anything_else(tmp_path):
    path = tmp_path / "w"
    arrays.save(path, SAMPLE)
    good, rng = path.read_bytes(), random.Random(1)
    for _ in range(3000):
        bad = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        bad = bad[:rng.randrange(len(bad) + 1)] if rng.random() < 0.3 else bad
        try:
            arrays.load(io.BytesIO(bytes(bad)))
        except arrays.BadArrays:
            pass
