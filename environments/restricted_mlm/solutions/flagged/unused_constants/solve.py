# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Adds an array nobody uses."""

import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402

import arrays  # noqa: E402

constants = arrays.load("constants.st")
constants["note"] = np.zeros(64, np.float32)
arrays.save("constants.st", constants)
