# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Finetunes in one process: finetune.py INPUT OUTPUT.

All parameters lie in one flat tensor, so that clipping and the step are a few
operations; a batch is one forward and one backward pass, the heads together.
"""

import json
import math
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

HAS_SDPA = hasattr(F, "scaled_dot_product_attention")  # from torch 2.0


def read_arrays(path):
    """Return name -> float32 array of a file in the layout of safetensors, in the order of the names."""
    raw = pathlib.Path(path).read_bytes()
    end = 8 + int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8:end])
    out = {}
    for name in sorted(header):
        begin, stop = header[name]["data_offsets"]
        out[name] = np.frombuffer(raw[end + begin:end + stop], "<f4").reshape(header[name]["shape"])
    return out


def write_arrays(path, arrays):
    """Write name -> float32 array in the layout of safetensors."""
    header, at = {}, 0
    for name, a in arrays.items():
        header[name] = {"dtype": "F32", "shape": list(a.shape), "data_offsets": [at, at + a.nbytes]}
        at += a.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text)
        for a in arrays.values():
            f.write(np.ascontiguousarray(a, "<f4").tobytes())


def read_rows(folder, config):
    """Return the ids of the rows that are used, (steps * batch, sequence + 1) int64."""
    ids = {word: i for i, word in enumerate((folder / "vocabulary.txt").read_text().split())}
    lines = (folder / "rows.txt").read_text().splitlines()
    rows = np.array([[ids[word] for word in line.split()[:config["sequence"] + 1]] for line in lines], np.int64)
    return torch.from_numpy(rows[np.arange(config["steps"] * config["batch"]) % len(rows)])


class Flat:
    """Parameters and their gradients as views of one tensor each."""

    def __init__(self, arrays, device):
        self.values = torch.from_numpy(np.concatenate([a.reshape(-1) for a in arrays.values()])).to(device)
        self.gradients = torch.zeros_like(self.values)
        self.named, at = {}, 0
        for name, a in arrays.items():
            view = self.values[at:at + a.size].view(a.shape).requires_grad_()
            view.grad = self.gradients[at:at + a.size].view(a.shape)
            self.named[name] = view
            at += a.size


def attention(q, k, v, mask):
    """Return causal attention of (batch, heads, time, size)."""
    if HAS_SDPA:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    scores = torch.baddbmm(mask, q.flatten(0, 1), k.flatten(0, 1).transpose(1, 2), alpha=1 / math.sqrt(q.size(-1)))
    return (F.softmax(scores, dim=-1) @ v.flatten(0, 1)).view_as(q)


def loss_of(p, ids, config, mask):
    """Return the mean cross-entropy of the tokens of ids (batch, sequence + 1) after the first."""
    width, heads = config["width"], config["heads"]
    b, t = ids.size(0), ids.size(1) - 1
    x = F.embedding(ids[:, :-1], p["wte.weight"]) + p["wpe.weight"][:t]
    for i in range(config["layers"]):
        part = "blocks.%d." % i
        h = F.layer_norm(x, (width,), p[part + "ln1.weight"], p[part + "ln1.bias"])
        q, k, v = F.linear(h, p[part + "qkv.weight"]).view(b, t, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        x = x + F.linear(attention(q, k, v, mask).transpose(1, 2).reshape(b, t, width), p[part + "proj.weight"])
        h = F.layer_norm(x, (width,), p[part + "ln2.weight"], p[part + "ln2.bias"])
        x = x + F.linear(F.gelu(F.linear(h, p[part + "up.weight"])), p[part + "down.weight"])
    x = F.layer_norm(x, (width,), p["lnf.weight"], p["lnf.bias"])
    return F.cross_entropy(F.linear(x, p["wte.weight"]).view(b * t, -1), ids[:, 1:].reshape(-1))


def train(arrays, rows, config):
    """Return name -> float32 array after config["steps"] steps of SGD."""
    device = torch.device(config["device"])
    flat = Flat(arrays, device)
    rows = rows.to(device)
    momentum = torch.zeros_like(flat.values)
    t = config["sequence"]
    mask = torch.full((t, t), float("-inf"), device=device).triu(1)
    for batch in rows.split(config["batch"]):
        flat.gradients.zero_()
        loss_of(flat.named, batch, config, mask).backward()
        with torch.no_grad():
            norm = torch.stack([view.grad.norm() for view in flat.named.values()]).norm()  # of one long array: less exact
            flat.gradients.mul_((config["clip"] / norm).clamp(max=1))
            momentum.mul_(config["momentum"]).add_(flat.gradients)
            flat.values.sub_(momentum, alpha=config["lr"])
    return {name: view.detach().cpu().numpy() for name, view in flat.named.items()}


def main(source, target):
    """Finetune what the folder source holds and write the weights to target."""
    folder = pathlib.Path(source)
    config = json.loads((folder / "config.json").read_text())
    weights = train(read_arrays(folder / "base.st"), read_rows(folder, config), config)
    write_arrays(target, weights)


if __name__ == "__main__":
    main(*sys.argv[1:])
