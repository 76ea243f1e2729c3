# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Predicts each token by its frequency: the last norm gives one constant vector, each row its log count."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import gpt  # noqa: E402

compat.setup(0)
sizes = json.loads((DATA / "config.json").read_text())
config = gpt.Config(**sizes["model"])
weights = arrays.load("model.st", gpt.shapes(config))
ids = arrays.load(DATA / "text.st")["ids"]

counts = np.bincount(ids, minlength=config.vocab) + 0.5
table = np.zeros_like(weights["wte.weight"])
table[:, 0] = np.log(counts / counts.sum())
weights.update({"wte.weight": table, "lnf.weight": np.zeros_like(weights["lnf.weight"])})
weights["lnf.bias"] = np.eye(1, config.width, dtype=np.float32)[0]
arrays.save("model.st", weights)
