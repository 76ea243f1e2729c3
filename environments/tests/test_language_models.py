# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Corpus, tokenizer, tiny GPT."""
import itertools
import math
import pathlib

import numpy as np
import pytest
import torch

import bpe
import compat
import corpus
import gpt

CANARY = "RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4"
COMMON = pathlib.Path(corpus.__file__).parent


def test_canary_in_every_file():
    import lzma
    for path in COMMON.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            first = lzma.open(path, "rt").readline() if path.suffix == ".xz" else path.read_text().split("\n", 1)[0]
            assert CANARY in first, path


def test_texts_are_whole():
    kjv, austen = corpus.text("kjv"), corpus.text("austen")
    assert kjv.count("\n") == 31_102  # verses of the King James Bible
    assert kjv.startswith("In the beginning God created the heaven and the earth.\n") and kjv.endswith("Amen.\n")
    assert austen.startswith("EMMA\n") and len(austen) == 4_007_099
    assert corpus.text("kjv", 1000) == kjv[:1000][:kjv[:1000].rfind("\n") + 1]


def test_encoding_round_trip_and_size():
    tok, part = bpe.load(), corpus.text("kjv", 40_000) + corpus.text("austen", 40_000)
    ids = tok.encode(part)
    assert tok.size == 1024 and max(ids) < 1024 and tok.decode(ids) == part
    assert len(part) / len(ids) > 2.5
    small = bpe.load(256)
    assert small.size == 256 and small.symbols == tok.symbols[:256] and small.decode(small.encode(part)) == part
    with pytest.raises(ValueError, match="tokenizer of 20 tokens"):
        bpe.load(20)
    with pytest.raises(ValueError, match="'€' has no token"):
        tok.encode("€")


def brute_merges(text, size):
    """Byte-pair training as its definition says, recounting after every merge."""
    words = [[c for c in piece] for piece in bpe._PIECE.findall(text)]
    symbols = sorted(set(text))
    merges = []
    while len(symbols) < size:
        counts = {}
        for w in words:
            for pair in zip(w, w[1:]):
                counts[pair] = counts.get(pair, 0) + 1
        best = min(counts, key=lambda p: (-counts[p], symbols.index(p[0]), symbols.index(p[1])))
        merges.append(best)
        symbols.append(best[0] + best[1])
        for w in words:
            i = 0
            while i < len(w) - 1:
                if (w[i], w[i + 1]) == best:
                    w[i:i + 2] = [best[0] + best[1]]
                i += 1
    return symbols


def test_training_agrees_with_brute_force():
    text = corpus.text("kjv", 3000)
    assert bpe.train(text, 90).symbols == brute_merges(text, 90)


def test_committed_tokenizer_has_the_corpus_characters():
    tok = bpe.load()
    single = [s for s in tok.symbols if len(s) == 1]
    assert single == sorted(set(corpus.text("kjv")) | set(corpus.text("austen")))


def test_relabelling_is_a_permutation_that_rows_follow():
    p = corpus.relabelling(np.random.default_rng(0), 10, fixed=2)
    assert sorted(p) == list(range(10)) and p[8] == 8 and p[9] == 9
    ids, table = np.array([3, 9, 0], np.uint16), np.arange(20.0).reshape(10, 2)
    shown = corpus.relabel(ids, p)
    assert shown.dtype == np.uint16
    assert (corpus.relabel_rows(table, p)[shown] == table[ids]).all()


def test_split_deals_every_block_once():
    ids = np.arange(1000)
    parts = corpus.split(ids, 10, [0.5, 0.3, 0.1], seed=4)
    assert [len(p) for p in parts] == [500, 300, 100]
    seen = np.concatenate(parts)
    assert len(set(seen)) == 900
    assert all((np.diff(p.reshape(-1, 10), axis=1) == 1).all() for p in parts)
    assert all((p == q).all() for p, q in zip(parts, corpus.split(ids, 10, [0.5, 0.3, 0.1], seed=4)))


def test_class_chain_has_the_entropy_it_states():
    ids, entropy = corpus.class_chain(3, 200_000)
    cls, counts = ids // 4, np.zeros((4, 4, 4))
    np.add.at(counts, (cls[:-2], cls[1:-1], cls[2:]), 1)
    rows = counts / np.maximum(counts.sum(-1, keepdims=True), 1)
    measured = -(counts * np.log(np.maximum(rows, 1e-12))).sum() / counts.sum() + math.log(4)
    assert abs(measured - entropy) < 0.01


def test_attention_by_hand():
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 5, 4).unbind(0)
    out = compat.causal_attention(q, k, v)
    for h, t in itertools.product(range(2), range(5)):
        w = torch.softmax((k[0, h, :t + 1] @ q[0, h, t]) / 2, 0)
        assert torch.allclose(out[0, h, t], w @ v[0, h, :t + 1], atol=1e-6)


SMALL = gpt.Config(vocab=16, context=8, width=16, layers=2, heads=2)


def test_model_is_causal_and_weights_round_trip():
    compat.setup(1)
    model = gpt.GPT(SMALL)
    ids = torch.randint(0, 16, (2, 8))
    changed = ids.clone()
    changed[:, 5:] = (changed[:, 5:] + 1) % 16
    assert torch.allclose(model(ids)[:, :5], model(changed)[:, :5], atol=1e-6)
    weights = gpt.export(model)
    assert {n: (str(a.dtype), a.shape) for n, a in weights.items()} == gpt.shapes(SMALL)
    assert torch.equal(gpt.build(SMALL, weights)(ids), model(ids))


def test_loss_of_a_uniform_model_is_log_vocabulary():
    model = gpt.GPT(SMALL)
    torch.nn.init.zeros_(model.wte.weight)
    assert abs(gpt.mean_loss(model, np.arange(100) % 16) - math.log(16)) < 1e-6


def test_training_approaches_the_entropy_and_repeats():
    ids, entropy = corpus.class_chain(5, 60_000)
    losses = []
    for _ in range(2):
        compat.setup(7)
        model = gpt.GPT(SMALL)
        gpt.train(model, ids[:50_000], steps=300, batch=32, lr=1e-2, seed=1)
        losses.append(gpt.mean_loss(model, ids[50_000:]))
    assert losses[0] == losses[1]
    assert entropy - 0.05 < losses[0] < entropy + 0.1 < math.log(16)


def test_greedy_generation_follows_the_argmax():
    compat.setup(2)
    model = gpt.GPT(SMALL)
    out = gpt.generate(model, torch.tensor([[1, 2, 3]]), 7)
    assert out.shape == (1, 10)
    for t in range(3, 10):
        assert out[0, t] == model(out[:, max(0, t - 8):t])[0, -1].argmax()
