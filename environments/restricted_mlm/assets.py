# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Deals the corpus, counts the start's model, trains the reference's, and measures both.

Nothing here is public: what a solver gets depends on its attempt (scorer/prepare.py).
"""

import json
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent), str(_HERE.parent / "common"), str(_HERE / "scorer"), str(_HERE / "solutions" / "reference")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import corpus  # noqa: E402
import record  # noqa: E402
import solve  # noqa: E402
from restricted_mlm.scorer import task  # noqa: E402


def bigrams(text, vocab, smooth):
    """Return (left, right, unigram): log p(token | its left or right neighbour) - log p(token), and log p(token).

    Tables are (vocab + 1, vocab), by neighbour and token; the last row, of a masked neighbour, is 0.
    """
    counts = np.zeros((vocab + 1, vocab))
    np.add.at(counts, (text[:-1], text[1:]), 1.0)
    unigram = np.bincount(text, minlength=vocab) + 0.5
    share = unigram / unigram.sum()
    tables = []
    for c in (counts, np.vstack([counts[:vocab].T, np.zeros((1, vocab))])):
        table = np.log((c + smooth * share) / (c.sum(1, keepdims=True) + smooth)) - np.log(share)
        table[vocab] = 0
        tables.append(table)
    return tables[0], tables[1], np.log(share)


def low_rank(table, share, rank):
    """Return (a, b) with a @ b.T near table in least squares weighted by how often each row comes."""
    weight = np.sqrt(np.append(share, 1e-6))[:, None]
    u, s, v = np.linalg.svd(table * weight, full_matrices=False)
    a, b = u[:, :rank] * s[:rank] / weight, v[:rank].T
    a[-1] = 0
    return torch.from_numpy(a).float(), torch.from_numpy(b).float()


def counted(text, vocab, rank):
    """Return the start's forward: the product of both neighbours' bigram tables, of low rank."""
    left, right, log_share = bigrams(text, vocab, smooth=50.0)
    (la, lb), (ra, rb) = (low_rank(t, np.exp(log_share), rank) for t in (left, right))
    bias = torch.from_numpy(log_share).float()
    edge = torch.zeros(1, 1, rank)

    def forward(ids):
        pad = edge.expand(ids.size(0), 1, rank)
        from_left = torch.cat([pad, la[ids][:, :-1]], 1)
        from_right = torch.cat([ra[ids][:, 1:], pad], 1)
        return from_left @ lb.t() + from_right @ rb.t() + bias

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
    start = record.record(counted(train.reshape(-1), vocab, recipe["start_rank"]), example)
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
