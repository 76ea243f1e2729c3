# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The corpus as token ids, and the secret relabelling of ids.

Models know these texts by heart. A solver therefore gets ids only, relabelled
by a permutation of its attempt, and never a decoder or text. numpy only.
"""

import lzma
import pathlib

import numpy as np

import bpe

CORPUS = pathlib.Path(__file__).with_name("texts")
NAMES = ("kjv", "austen")


def text(name, characters=None):
    """Return a corpus: "kjv" (one verse a line) or "austen" (one paragraph a line).

    characters: cut after the last whole line within so many.
    """
    if name not in NAMES:
        raise ValueError("corpus %r, expected one of %s" % (name, ", ".join(NAMES)))
    with lzma.open(CORPUS / (name + ".txt.xz"), "rt", encoding="ascii") as f:
        f.readline()  # the canary
        found = f.read(-1 if characters is None else characters)
    return found if characters is None else found[:found.rfind("\n") + 1]


def tokens(name, characters=None, vocab=1024):
    """Return a corpus as uint16 ids of the committed tokenizer, or of its first vocab tokens."""
    return np.array(bpe.load(vocab).encode(text(name, characters)), np.uint16)


def split(ids, block, fractions, seed=0):
    """Deal ids, in consecutive blocks, to parts of the given fractions; return one array a part.

    Blocks keep text together but spread every book over all parts. Which block
    goes where follows from seed.
    """
    blocks = np.asarray(ids)[:len(ids) // block * block].reshape(-1, block)
    order = np.random.Generator(np.random.PCG64(seed)).permutation(len(blocks))
    ends = np.floor(np.cumsum(fractions) * len(blocks) + 1e-9).astype(int)
    return [blocks[np.sort(part)].reshape(-1) for part in np.split(order, ends)[:len(fractions)]]


def relabelling(rng, vocab, fixed=0):
    """Return a permutation p of range(vocab), int64: id i is shown as p[i]. The last fixed ids stay."""
    free = vocab - fixed
    return np.concatenate([rng.permutation(free), np.arange(free, vocab)]).astype(np.int64)


def relabel(ids, p):
    """Return ids as shown under p, with their dtype."""
    return p[np.asarray(ids)].astype(np.asarray(ids).dtype)


def relabel_rows(rows, p):
    """Return a table with one row a token, such as an embedding, as it must be under p: new[p[i]] = old[i]."""
    out = np.empty_like(rows)
    out[p] = rows
    return out


def class_chain(seed, length, classes=4, per_class=4):
    """Return (ids, entropy): an order-2 chain over classes with exactly known entropy, for tests.

    Each class is drawn given the two before it, then one of its per_class tokens
    uniformly. entropy is the conditional entropy of a token given two, in nats.
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    table = rng.dirichlet(np.full(classes, 0.5), size=(classes, classes))
    state = np.full((classes, classes), 1 / classes ** 2)
    for _ in range(500):  # stationary law of pairs of classes
        state = np.einsum("ij,ijk->jk", state, table)
    rows = -(table * np.log(np.maximum(table, 1e-300))).sum(-1)
    entropy = float((state * rows).sum() + np.log(per_class))
    a, b, out = 0, 0, np.empty(length, np.int64)
    cumulative = table.cumsum(-1)
    for i, u in enumerate(rng.random(length)):
        a, b = b, min(int(np.searchsorted(cumulative[a, b], u)), classes - 1)
        out[i] = b
    return out * per_class + rng.integers(0, per_class, length), entropy
