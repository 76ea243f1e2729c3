# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Prints some questions with the model's greedy answer and two samples, as ids."""

import os
import sys

data = os.environ["REBENCH_DATA"]
sys.path.insert(0, data)

import json  # noqa: E402

import torch  # noqa: E402

import arrays  # noqa: E402
import gpt  # noqa: E402
import play  # noqa: E402

model = gpt.build(gpt.Config(**json.load(open(data + "/config.json"))), arrays.load("model.st"))
questions = torch.from_numpy(arrays.load(data + "/questions.st")["ids"])[:8]
for q, *replies in zip(questions.tolist(), *(play.answers(model, questions, t).tolist() for t in (0, 1, 1))):
    print(q, *([t for t in r if t != play.END] for r in replies), sep="   ")
