# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains a convolutional masked language model: shifts, linear maps, ReLU.

Every layer sees a token and its two neighbours, and adds to the residual
stream; without a norm, the added part begins at zero. The output uses the
tokens' embedding again, which leaves most of the parameters to the layers.
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


class Model(nn.Module):
    """ids (rows, context) in [0, vocab] -> logits (rows, context, vocab)."""

    def __init__(self, vocab, context, width, inner, layers):
        super().__init__()
        self.vocab = vocab
        self.wte = nn.Embedding(vocab + 1, width)
        self.wpe = nn.Parameter(torch.zeros(context, width))
        self.up = nn.ModuleList(nn.Linear(3 * width, inner) for _ in range(layers))
        self.down = nn.ModuleList(nn.Linear(inner, width) for _ in range(layers))
        self.out = nn.Linear(width, width)
        self.bias = nn.Parameter(torch.zeros(vocab))
        nn.init.normal_(self.wte.weight, std=0.5)
        for layer in self.down:
            nn.init.zeros_(layer.weight)
            nn.init.zeros_(layer.bias)

    def hidden(self, ids):
        """Return the residual stream, (rows, context, width)."""
        x = self.wte(ids) + self.wpe
        edge = torch.zeros(1, 1, x.size(2), device=x.device).expand(x.size(0), 1, x.size(2))
        for up, down in zip(self.up, self.down):
            near = torch.cat([torch.cat([edge, x[:, :-1]], 1), x, torch.cat([x[:, 1:], edge], 1)], 2)
            x = x + down(F.relu(up(near)))
        return self.out(x)

    def logits(self, hidden):
        """Return logits for any (..., width)."""
        return hidden @ self.wte.weight[:self.vocab].t() * 0.3 + self.bias

    def forward(self, ids):
        return self.logits(self.hidden(ids))


def recipe(max_parameters):
    """Return (sizes, training) that fit."""
    if max_parameters >= 300_000:
        return dict(width=64, inner=192, layers=4), dict(steps=4000, batch=96, lr=3e-3)
    return dict(width=24, inner=64, layers=2), dict(steps=1200, batch=64, lr=6e-3)


def train(rows, config, seed=0, device="cpu", log=print):
    """Return a Model trained on rows (n, context), int64."""
    sizes, training = recipe(config["max_parameters"])
    torch.manual_seed(seed)
    rng = np.random.Generator(np.random.PCG64(seed))
    model = Model(config["vocab"], config["context"], **sizes).to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=training["lr"], betas=(0.9, 0.99), weight_decay=0.01)
    text = torch.from_numpy(np.ascontiguousarray(rows).reshape(-1))
    offsets, steps = torch.arange(config["context"]), training["steps"]
    for step in range(steps):
        for group in opt.param_groups:
            group["lr"] = training["lr"] * min(1, (step + 1) / 50) * (1 - step / steps)
        starts = torch.from_numpy(rng.integers(0, len(text) - len(offsets), training["batch"]))
        truth = text[starts[:, None] + offsets]
        masked = torch.from_numpy(rng.random(truth.shape) < config["mask"])
        ids = torch.where(masked, torch.full_like(truth, config["vocab"]), truth)
        loss = F.cross_entropy(model.logits(model.hidden(ids.to(device))[masked.to(device)]), truth[masked].to(device))
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
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
