# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Bigram tables of both neighbours by counting, of the highest rank that fits."""

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
rows = arrays.load(DATA / "train.st")["ids"].astype(np.int64)
flat = rows.reshape(-1)  # consecutive rows mostly continue each other
share = (np.bincount(flat, minlength=vocab) + 0.5) / (len(flat) + vocab / 2)


def table(distance):
    """Return log p(token | the token that stands so far before it, after it where negative) - log p(token)."""
    counts = np.zeros((vocab + 1, vocab))
    before, after = flat[:-abs(distance)], flat[abs(distance):]
    np.add.at(counts, (before, after) if distance > 0 else (after, before), 1.0)
    out = np.log((counts + 50 * share) / (counts.sum(1, keepdims=True) + 50)) - np.log(share)
    out[vocab] = 0
    return out


def low_rank(a, rank):
    """Return factors of a's best approximation, weighted by how often each row comes."""
    weight = np.sqrt(np.append(share, 1e-6))[:, None]
    u, s, v = np.linalg.svd(a * weight, full_matrices=False)
    left = u[:, :rank] * s[:rank] / weight
    left[vocab] = 0
    return torch.from_numpy(left).float(), torch.from_numpy(v[:rank].T.copy()).float()


def shift(x, by):
    """Return x (rows, context, width) moved by places along the row, zeros moving in."""
    edge = torch.zeros(1, 1, x.size(2)).expand(x.size(0), abs(by), x.size(2))
    return torch.cat([edge, x[:, :-by]], 1) if by > 0 else torch.cat([x[:, -by:], edge], 1)


bias = torch.from_numpy(np.log(share)).float()
rank = (config["max_parameters"] - 4 * vocab) // (4 * vocab + 4)
factors = {d: low_rank(table(d), rank) for d in (1, -1)}


def forward(ids):
    """The product of what both neighbours say."""
    return sum(shift(a[ids], d) @ b.t() for d, (a, b) in factors.items()) + bias


text, constants = record.record(forward, torch.zeros(config["batch"], context, dtype=torch.int64))
pathlib.Path("program.json").write_text(text)
arrays.save("constants.st", constants)
