# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Every token by its frequency, whatever stands around it."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import record  # noqa: E402

config = json.loads((DATA / "config.json").read_text())
vocab, context = config["vocab"], config["context"]
counts = np.bincount(arrays.load(DATA / "train.st")["ids"].reshape(-1), minlength=vocab) + 0.5
bias = torch.from_numpy(np.log(counts / counts.sum())).float()
zero = torch.zeros(vocab + 1, 1)


def forward(ids):
    """The same for every place; the embedding of zeros gives the shape."""
    return zero[ids] + bias


text, constants = record.record(forward, torch.zeros(config["batch"], context, dtype=torch.int64))
pathlib.Path("program.json").write_text(text)
arrays.save("constants.st", constants)
