# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""python3 loss.py: prints the loss of model.st on the text that you were given."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import arrays  # noqa: E402
import compat  # noqa: E402
import gpt  # noqa: E402

compat.setup(0)
config = gpt.Config(**json.loads((DATA / "config.json").read_text())["model"])
model = gpt.build(config, arrays.load("model.st", gpt.shapes(config)))
print("%.4f" % gpt.mean_loss(model, arrays.load(DATA / "text.st")["ids"]))
