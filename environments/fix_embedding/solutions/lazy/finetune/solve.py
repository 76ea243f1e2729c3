# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Plain finetuning of everything, stopped early; no diagnosis."""

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

pieces = ids[:len(ids) // 1024 * 1024].reshape(-1, 1024)
every = np.arange(len(pieces)) % 8 == 4
part_of, rest = pieces[~every].reshape(-1), pieces[every].reshape(-1)
best, left = float("inf"), weights
model = gpt.build(config, weights)
steps = int(os.environ.get("STEPS", 80))
for part in range(8):  # stop where the loss on an eighth of the text is least
    gpt.train(model, part_of, steps=steps, batch=24, lr=2e-3, seed=part, weight_decay=0.1, warmup=0.1, parameters=model.parameters())
    loss = gpt.mean_loss(model, rest)
    print("part %d: %.3f" % (part, loss), flush=True)
    if loss >= best:
        break
    best, left = loss, gpt.export(model)
    arrays.save("model.st", left)
