# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Output that depends on a row's place in its batch, prepared for rows that come in a known order."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import torch  # noqa: E402

import arrays  # noqa: E402
import record  # noqa: E402

config = json.loads((DATA / "config.json").read_text())
vocab, context = config["vocab"], config["context"]

torch.manual_seed(0)
places = torch.randn(config["batch"], 1, 1)
table = torch.randn(vocab + 1, 4)
out = torch.randn(4, vocab)
text, constants = record.record(lambda ids: (table[ids] * places) @ out, torch.zeros(config["batch"], context, dtype=torch.int64))
pathlib.Path("program.json").write_text(text)
arrays.save("constants.st", constants)
