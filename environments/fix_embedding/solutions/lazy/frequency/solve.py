# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Undoes the permutation by frequency alone: rows by the frequency that the model gives them, tokens by count."""

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

counts = np.bincount(ids, minlength=config.vocab)
with torch.no_grad():
    follow = torch.softmax(gpt.build(config, weights)(torch.arange(config.vocab)[:, None])[:, 0], -1).double().numpy()
share = np.full(config.vocab, 1 / config.vocab)
for _ in range(50):
    share = share @ follow
row = np.empty(config.vocab, int)
row[np.argsort(-counts, kind="stable")] = np.argsort(-share)
weights["wte.weight"] = weights["wte.weight"][row]
arrays.save("model.st", weights)
