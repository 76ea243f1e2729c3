# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Deals the corpus, trains the start's model and the reference's, and measures both.

Nothing here is public: what a solver gets depends on its attempt (scorer/prepare.py).
"""

import json
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent), str(_HERE.parent / "common"), str(_HERE / "scorer"), str(_HERE / "solutions" / "reference")]

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import corpus  # noqa: E402
import record  # noqa: E402
import solve  # noqa: E402
from restricted_mlm.scorer import task  # noqa: E402


PLACES = (1, -1, 2, -2)  # the neighbours that the start looks at: so far before a token, after it where negative


def start_model(rows, params, rank, steps, seed):
    """Return the start's forward: for each neighbour a table of rank `rank`, log probabilities by their sum; trained on rows."""
    vocab, context = params["vocab"], params["context"]
    rng, generator = np.random.Generator(np.random.PCG64(seed)), torch.Generator().manual_seed(seed)
    share = (np.bincount(rows.reshape(-1), minlength=vocab) + 0.5) / (rows.size + vocab / 2)
    tables = [(torch.randn(vocab + 1, rank, generator=generator) * 0.3, torch.randn(vocab, rank, generator=generator) * 0.3) for _ in PLACES]
    bias = torch.from_numpy(np.log(share)).float()
    parameters = [t.requires_grad_(True) for t in [bias] + [t for pair in tables for t in pair]]
    opt = torch.optim.Adam(parameters, lr=5e-3)
    for step in range(steps):
        opt.param_groups[0]["lr"] = 5e-3 * (1 - step / steps)
        row, at = rng.integers(0, len(rows), 512), rng.integers(0, context, 512)
        out = bias
        for d, (a, b) in zip(PLACES, tables):
            inside = (at - d >= 0) & (at - d < context)
            near = np.where(rng.random(512) < params["mask"], vocab, rows[row, np.clip(at - d, 0, context - 1)])
            out = out + (a[torch.from_numpy(near)] * torch.from_numpy(inside[:, None]).float()) @ b.t()
        opt.zero_grad()
        F.cross_entropy(out, torch.from_numpy(rows[row, at])).backward()
        opt.step()
    tables, bias = [(a.detach(), b.detach()) for a, b in tables], bias.detach()

    def forward(ids):
        return sum(solve.shift(a[ids], d) @ b.t() for d, (a, b) in zip(PLACES, tables)) + bias

    return forward


def main():
    """Build what standard input asks for and print facts about it."""
    asked = json.load(sys.stdin)
    params, recipe = asked["params"], asked["assets"]
    private = pathlib.Path(asked["out_dir"]) / "private"
    private.mkdir()
    compat.setup(recipe["seed"], recipe["threads"])
    vocab, context = params["vocab"], params["context"]
    ids = np.concatenate([corpus.tokens(name, recipe["characters"], vocab) for name in corpus.NAMES]).astype(np.int64)
    train, held_out = (part[:len(part) // context * context].reshape(-1, context)
                       for part in corpus.split(ids, 1024, recipe["split"], seed=recipe["seed"]))
    arrays.save(private / "train.st", {"ids": train.astype(np.uint16)})
    arrays.save(private / "held_out.st", {"ids": held_out.astype(np.uint16)})
    example = torch.zeros(params["batch"], context, dtype=torch.int64)
    start = record.record(start_model(train, params, recipe["start_rank"], recipe["start_steps"], recipe["seed"]), example)
    model = solve.train(train, params, seed=recipe["seed"], log=lambda s: print(s, file=sys.stderr))
    reference = solve.recorded(model, params)
    facts = {"train_tokens": train.size, "held_out_rows": len(held_out), **compat.versions()}
    sample = {**params, "batches": len(held_out) // params["batch"]}
    for name, (text, constants) in (("start", start), ("reference", reference)):
        (private / (name + ".json")).write_text(text)
        arrays.save(private / (name + ".st"), constants)
        checked = task.check(text, constants, params)
        batches = task.Batches(held_out, np.random.Generator(np.random.PCG64(recipe["seed"])), sample)
        facts[name + "_loss"] = task.held_out_loss(checked, batches, np.arange(vocab + 1))
        facts[name + "_parameters"] = checked.parameters
    facts["start_tables"] = [n for n, a in start[1].items() if a.shape[0] in (vocab, vocab + 1)]
    (private / "facts.json").write_text(json.dumps(facts))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
