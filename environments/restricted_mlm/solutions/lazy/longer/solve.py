# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains the start on, as it is: the same tables of four neighbours, more steps."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402

config = json.loads((DATA / "config.json").read_text())
vocab, context = config["vocab"], config["context"]
torch.manual_seed(0)
torch.set_num_threads(1)
rng = np.random.default_rng(0)
rows = arrays.load(DATA / "train.st")["ids"].astype(np.int64)
constants = arrays.load("constants.st")
tensors = {name: torch.from_numpy(a.copy()) for name, a in constants.items()}
tables = [n for n in sorted(constants, key=lambda n: int(n[1:])) if constants[n].ndim == 2 and len(constants[n]) >= vocab]  # by turns of a neighbour and of the token
bias = next(t for t in tensors.values() if t.shape == (vocab,)).requires_grad_(True)
pairs = [(tensors[a].requires_grad_(True), tensors[b].requires_grad_(True)) for a, b in zip(tables[::2], tables[1::2])]
assert [len(t) for pair in pairs for t in pair] == [vocab + 1, vocab] * 4
steps, rate = int(os.environ.get("STEPS", 8000 if vocab > 256 else 800)), 3e-3
opt = torch.optim.Adam([bias] + [t for pair in pairs for t in pair], lr=rate)
for step in range(steps):
    opt.param_groups[0]["lr"] = rate * (1 - step / steps)
    row, at = rng.integers(0, len(rows), 512), rng.integers(0, context, 512)
    out = bias
    for d, (a, b) in zip((1, -1, 2, -2), pairs):
        inside = (at - d >= 0) & (at - d < context)
        near = np.where(rng.random(512) < config["mask"], vocab, rows[row, np.clip(at - d, 0, context - 1)])
        out = out + (a[torch.from_numpy(near)] * torch.from_numpy(inside[:, None]).float()) @ b.t()
    opt.zero_grad()
    torch.nn.functional.cross_entropy(out, torch.from_numpy(rows[row, at])).backward()
    opt.step()
arrays.save("constants.st", {name: t.detach().numpy() for name, t in tensors.items()})
