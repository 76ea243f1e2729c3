# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The small model inside the big one, then finetuned on the text, stopped early."""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import gpt  # noqa: E402

compat.setup(0)
sizes = json.loads((DATA / "config.json").read_text())
config = gpt.Config(**sizes["model"])
weights = arrays.load("model.st", gpt.shapes(config))
ids = arrays.load(DATA / "text.st")["ids"]

small = gpt.Config(**sizes["small"])
s = arrays.load(DATA / "small.st", gpt.shapes(small))
copies = config.width // small.width
d, D = small.width // small.heads, config.width // config.heads
new = {name: np.zeros_like(a) for name, a in weights.items()}
new["wte.weight"] = np.tile(s["wte.weight"], copies)  # repeated entries leave mean and variance of the norms as they are
new["wpe.weight"] = np.tile(s["wpe.weight"], copies)
for name in ("blocks.0.ln1", "blocks.0.ln2", "lnf"):
    for part in (".weight", ".bias"):
        new[name + part] = np.tile(s[name + part], copies) / (copies if name == "lnf" else 1)
qkv, proj = new["blocks.0.qkv.weight"], new["blocks.0.proj.weight"]
for h in range(small.heads):
    for k in range(3):
        rows = s["blocks.0.qkv.weight"][k * small.width + h * d:k * small.width + (h + 1) * d]
        rows = rows * (D / d) ** 0.5 if k == 0 else rows  # scores are divided by the root of the head's width
        qkv[k * config.width + h * D:k * config.width + h * D + d] = np.tile(rows, copies) / copies
    proj[:, h * D:h * D + d] = np.tile(s["blocks.0.proj.weight"][:, h * d:(h + 1) * d], (copies, 1))
wide = 4 * small.width
new["blocks.0.up.weight"][:wide] = np.tile(s["blocks.0.up.weight"], copies) / copies
new["blocks.0.down.weight"][:, :wide] = np.tile(s["blocks.0.down.weight"], (copies, 1))

pieces = ids[:len(ids) // 1024 * 1024].reshape(-1, 1024)
every = np.arange(len(pieces)) % 8 == 4
model = gpt.build(config, new)
best = float("inf")
for part in range(8):  # stop where the loss on an eighth of the text is least
    loss = gpt.mean_loss(model, pieces[every].reshape(-1))
    print("part %d: %.3f" % (part, loss), flush=True)
    if loss >= best:
        break
    best = loss
    arrays.save("model.st", gpt.export(model))
    gpt.train(model, pieces[~every].reshape(-1), steps=40, batch=24, lr=2e-4, seed=part)
