# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The text of a family: a book as token ids, made harder or easier to predict.

A family's text is a dictionary, applied in this order:

    book     kjv, austen or both (one after the other)
    vocab    tokens of the tokenizer
    stride   only every stride-th token is kept (1: all)
    shuffle  tokens are put in random order within blocks of so many (1: not)
    fold     ids become ids modulo fold under a random order (0: not)
    tongues  blocks of 512 tokens are written in so many languages: permutations of the ids
    repeat   every token is written so many times (1: once)
    noise    share of tokens that are replaced by uniformly drawn ones
    unique   only so many tokens of training text, repeated for ever (0: all)
"""

import numpy as np

import corpus

HELD_OUT = 0.08
BLOCK = 512


def build(text, vocab, characters, held_out, seed):
    """Return (training ids, held-out ids), uint16 below vocab, of a family's text; held_out: tokens at most."""
    rng = np.random.Generator(np.random.PCG64(seed))
    names = corpus.NAMES if text["book"] == "both" else (text["book"],)
    ids = np.concatenate([corpus.tokens(n, characters, text["vocab"]) for n in names]).astype(np.int64)
    ids = ids[::text["stride"]]
    if text["shuffle"] > 1:
        rows = ids[:len(ids) // text["shuffle"] * text["shuffle"]].reshape(-1, text["shuffle"])
        ids = rng.permuted(rows, axis=1).reshape(-1)
    if text["fold"]:
        ids = rng.permutation(vocab)[ids] % text["fold"]
    if text["tongues"] > 1:
        tongues = np.stack([rng.permutation(vocab) for _ in range(text["tongues"])])
        blocks = ids[:len(ids) // BLOCK * BLOCK].reshape(-1, BLOCK)
        ids = tongues[rng.integers(0, len(tongues), len(blocks))[:, None], blocks].reshape(-1)
    ids = np.repeat(ids, text["repeat"])
    if text["noise"]:
        noisy = rng.random(len(ids)) < text["noise"]
        ids = np.where(noisy, rng.integers(0, vocab, len(ids)), ids)
    train, rest = corpus.split(ids.astype(np.uint16), BLOCK, [1 - HELD_OUT, HELD_OUT], seed)
    return train[:text["unique"] or None], rest[:held_out]
