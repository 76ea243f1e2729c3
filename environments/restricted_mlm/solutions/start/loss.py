# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""python3 loss.py: checks program.json as the scorer does, and prints its loss on 20 batches of the text that you have."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import program  # noqa: E402

config = json.loads((DATA / "config.json").read_text())
vocab, context = config["vocab"], config["context"]
limits = program.Limits(*(config["max_" + name] for name in ("parameters", "nodes", "flops", "live_bytes")))
constants = program.rounded({name: torch.from_numpy(a) for name, a in arrays.load("constants.st").items()})
checked = program.Program(pathlib.Path("program.json").read_text(), constants, config["batch"], context, vocab, limits)
rows = torch.from_numpy(arrays.load(DATA / "train.st")["ids"].astype(np.int64))
generator = torch.Generator().manual_seed(0)
total = count = 0
for _ in range(20):
    truth = rows[torch.randint(len(rows), (config["batch"],), generator=generator)]
    masked = torch.rand(truth.shape, generator=generator) < config["mask"]
    logits = checked.run(torch.where(masked, torch.full_like(truth, vocab), truth))
    total += torch.nn.functional.cross_entropy(logits[masked], truth[masked], reduction="sum").item()
    count += int(masked.sum())
print("parameters %d, nodes %d, operations %d, live bytes %d" % (checked.parameters, len(checked.nodes), checked.flops, checked.live_bytes))
print("loss %.4f" % (total / count))
