# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Moves the base by noise of a plausible size."""

import json
import pathlib
import sys

import numpy as np

raw = (pathlib.Path(sys.argv[1]) / "base.st").read_bytes()
end = 8 + int.from_bytes(raw[:8], "little")
values = np.frombuffer(raw, "<f4", offset=end).copy()
noise = np.random.default_rng(0).normal(size=values.shape).astype("<f4")
values += 0.003 * noise
pathlib.Path(sys.argv[2]).write_bytes(raw[:end] + values.tobytes())
