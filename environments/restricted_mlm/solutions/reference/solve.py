# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains a window model: a token's neighbours, embedded, through one hidden layer of ReLU and past it.

Only the places that are asked for are computed in training: a window at a time,
drawn from the text, its neighbours masked as often as the scorer masks them. A
recorded program computes all places of a row at once, by shifts.
"""

import json
import os
import pathlib
import sys

if "REBENCH_DATA" in os.environ:
    sys.path.insert(0, os.environ["REBENCH_DATA"])

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import record  # noqa: E402


def shift(x, by):
    """Return x (rows, context, width) moved by places along the row, zeros moving in."""
    edge = torch.zeros(1, 1, x.size(2), device=x.device).expand(x.size(0), abs(by), x.size(2))
    return torch.cat([edge, x[:, :-by]], 1) if by > 0 else torch.cat([x[:, -by:], edge], 1)


class Model(nn.Module):
    """ids (rows, context) in [0, vocab] -> logits (rows, context, vocab)."""

    def __init__(self, vocab, share, width, hidden, narrow, reach):
        super().__init__()
        self.vocab = vocab
        self.places = [d for k in range(1, reach + 1) for d in (k, -k)]
        seen = len(self.places) * width
        self.embedding = nn.Parameter(torch.randn(vocab + 1, width) * 0.5)
        self.up, self.down = nn.Linear(seen, hidden), nn.Linear(hidden, narrow)
        self.past = nn.Linear(seen, narrow, bias=False)  # what neighbours say one by one
        self.out = nn.Parameter(torch.randn(vocab, narrow) * 0.1)
        self.bias = nn.Parameter(torch.from_numpy(np.log(share)).float())
        nn.init.normal_(self.up.weight, std=2 / seen ** 0.5)
        nn.init.normal_(self.past.weight, std=2 / seen ** 0.5)
        nn.init.normal_(self.down.weight, std=hidden ** -0.5)

    def logits(self, near):
        """Return the logits of places, (..., vocab), whose neighbours are embedded as near (..., places * width)."""
        return (self.down(F.relu(self.up(near))) + self.past(near)) @ self.out.t() + self.bias

    def windows(self, near, inside):
        """Return logits (n, vocab) of single places: near ids (n, places), inside (n, places) says which lie in the row."""
        return self.logits((self.embedding[near] * inside[..., None]).reshape(len(near), -1))

    def forward(self, ids):
        x = self.embedding[ids]
        return self.logits(torch.cat([shift(x, d) for d in self.places], 2))


def recipe(max_parameters):
    """Return (sizes, training) that fit."""
    if max_parameters >= 300_000:
        return dict(width=32, hidden=288, narrow=112, reach=4), dict(steps=16000, batch=512, lr=6e-3)
    return dict(width=14, hidden=56, narrow=28, reach=3), dict(steps=2500, batch=512, lr=6e-3)


def train(rows, config, seed=0, device="cpu", log=print):
    """Return a Model trained on rows (n, context), int64."""
    sizes, training = recipe(config["max_parameters"])
    torch.manual_seed(seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    vocab, context, n = config["vocab"], config["context"], training["batch"]
    share = (np.bincount(rows.reshape(-1), minlength=vocab) + 0.5) / (rows.size + vocab / 2)
    model = Model(vocab, share, **sizes).to(device)
    opt = torch.optim.Adam(model.parameters(), lr=training["lr"], betas=(0.9, 0.99))
    places, steps = np.array(model.places), training["steps"]
    for step in range(steps):
        for group in opt.param_groups:
            group["lr"] = training["lr"] * min(1, (step + 1) / 100) * (1 - step / steps)
        row, at = rng.integers(0, len(rows), n), rng.integers(0, context, n)
        to = at[:, None] - places
        inside = (to >= 0) & (to < context)
        near = np.where(rng.random(to.shape) < config["mask"], vocab, rows[row[:, None], np.clip(to, 0, context - 1)])
        near, inside, truth = (torch.from_numpy(a).to(device) for a in (near, inside.astype(np.float32), rows[row, at]))
        loss = F.cross_entropy(model.windows(near, inside), truth)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 500 == 0:
            log("step %d loss %.3f" % (step, loss.item()))
    return model.cpu().eval()


def recorded(model, config):
    """Return (program text, constants) of a model."""
    return record.record(model, torch.zeros(config["batch"], config["context"], dtype=torch.int64))


def main():
    """Train on the data and write program.json and constants.st."""
    data = pathlib.Path(os.environ["REBENCH_DATA"])
    config = json.loads((data / "config.json").read_text())
    compat.setup(0)
    rows = arrays.load(data / "train.st")["ids"].astype(np.int64)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    text, constants = recorded(train(rows, config, device=device, log=lambda s: print(s, flush=True)), config)
    pathlib.Path("program.json").write_text(text)
    arrays.save("constants.st", constants)


if __name__ == "__main__":
    main()
