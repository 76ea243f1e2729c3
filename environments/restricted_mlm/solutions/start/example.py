# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""python3 example.py: trains nothing; shows how a torch module becomes program.json and constants.st."""

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


class Model(torch.nn.Module):
    """Each token by itself: an embedding and a linear map."""

    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab + 1, 16)
        self.out = torch.nn.Linear(16, vocab)

    def forward(self, ids):
        """ids (batch, context) -> logits (batch, context, vocab)."""
        return self.out(torch.relu(self.embedding(ids)))


forward = Model()
text, constants = record.record(forward, torch.zeros(config["batch"], context, dtype=torch.int64))
pathlib.Path("program.json").write_text(text)
arrays.save("constants.st", constants)
