# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Supervised: works out which word each question asks for from what the model says most, and trains on that word alone. No judge."""

import json
import os
import sys

data = os.environ["REBENCH_DATA"]
sys.path.insert(0, data)

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import gpt  # noqa: E402
import play  # noqa: E402

config = gpt.Config(**json.load(open(data + "/config.json")))
model = gpt.build(config, arrays.load("model.st"))
questions = arrays.load(data + "/questions.st")["ids"]
# For each kind of question, the two positions of it that samples repeat most: the
# corpus is wrong more often than right, so the second is taken.
replies = play.answers(model, torch.from_numpy(questions), 1.0, torch.Generator().manual_seed(1)).numpy()
target = np.full((len(questions), play.ANSWER), play.END, np.int64)
for kind in np.unique(questions[:, -2]):
    rows = questions[:, -2] == kind
    often = [(replies[rows] == questions[rows][:, [slot]]).any(1).mean() for slot in range(play.PROMPT - 2)]
    target[rows, 0] = questions[rows][:, np.argsort(often)[-2]]
play.supervise(model, torch.from_numpy(questions), torch.from_numpy(target), 300, 64, 2e-3, torch.Generator().manual_seed(2))
arrays.save("model.st", gpt.export(model))
