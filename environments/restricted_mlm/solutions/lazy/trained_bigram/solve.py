# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The low-rank tables of both neighbours, trained by gradient instead of counted."""

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
torch.manual_seed(0)
torch.set_num_threads(1)
rank = (config["max_parameters"] - 4 * vocab) // (4 * vocab + 4)
rows = torch.from_numpy(arrays.load(DATA / "train.st")["ids"].astype(np.int64))
parameters = [torch.nn.Parameter(torch.randn(n, rank) * 0.3) for n in (vocab + 1, vocab, vocab + 1, vocab)] + [torch.nn.Parameter(torch.zeros(vocab))]
left, left_out, right, right_out, bias = parameters
edge = torch.zeros(1, 1, rank)


def hidden(ids):
    """Return what the left and the right neighbour say, (rows, context, rank) each."""
    pad = edge.expand(ids.size(0), 1, rank)
    return torch.cat([pad, left[ids][:, :-1]], 1), torch.cat([right[ids][:, 1:], pad], 1)


def logits(a, b):
    """Return the sum of both, (..., vocab)."""
    return a @ left_out.t() + b @ right_out.t() + bias


def forward(ids):
    """Everything."""
    return logits(*hidden(ids))


steps = int(os.environ.get("STEPS", 2000 if vocab > 256 else 400))
opt = torch.optim.Adam(parameters, lr=5e-3)
for step in range(steps):
    opt.param_groups[0]["lr"] = 5e-3 * (1 - step / steps)
    truth = rows[torch.randint(len(rows), (96,))]
    masked = torch.rand(truth.shape) < config["mask"]
    a, b = hidden(torch.where(masked, torch.full_like(truth, vocab), truth))
    loss = torch.nn.functional.cross_entropy(logits(a[masked], b[masked]), truth[masked])
    opt.zero_grad()
    loss.backward()
    opt.step()

text, constants = record.record(forward, torch.zeros(config["batch"], context, dtype=torch.int64))
pathlib.Path("program.json").write_text(text)
arrays.save("constants.st", constants)
