# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""restricted_mlm: recorder, executor, verdict."""
import json
import math
import pathlib
import random
import sys
import time
import types

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import arrays
import corpus
import scoring
from restricted_mlm.scorer import program, task, verdict

HERE = pathlib.Path(program.__file__).parent
sys.path.insert(0, str(HERE))  # record.py lies beside program.py in a workspace
import record  # noqa: E402

V, T, B = 12, 6, 8
LIMITS = program.Limits(5000, 200, 10_000_000, 10_000_000)
PARAMS = {"device": "cpu", "vocab": V, "context": T, "mask": 0.3, "batch": B, "batches": 5, "floor": 0.5,
          "max_parameters": 5000, "max_nodes": 200, "max_flops": 10_000_000, "max_live_bytes": 10_000_000}
torch.manual_seed(0)
TABLE, W, BIAS, MIX = torch.randn(V + 1, 5), torch.randn(V, 5), torch.randn(V), torch.randn(T, T)
HUGE = torch.eye(1, V)[0] * 1e6  # a logit that makes all others look alike
PLACES = torch.randn(B, 1, 1)
CONSTANT_OF_B = torch.randn(B, T, V)


def ids(seed=0):
    return torch.from_numpy(np.random.default_rng(seed).integers(0, V + 1, (B, T)))


def checked(forward, limits=LIMITS):
    text, constants = record.record(forward, ids())
    return program.Program(text, {n: torch.from_numpy(a) for n, a in constants.items()}, B, T, V, limits)


def linear(x):
    return F.linear(x, W, BIAS)


FORWARDS = {
    "embedding": lambda i: linear(F.embedding(i, TABLE)),
    "index": lambda i: linear(TABLE[i]),
    "addmm": lambda i: torch.addmm(BIAS, TABLE[i].view(B * T, 5), W.t(), beta=2, alpha=3).view(B, T, V),
    "einsum": lambda i: torch.einsum("btd,vd,ts->bsv", TABLE[i], W, MIX),
    "relu_mul": lambda i: linear(torch.relu(TABLE[i]) * TABLE[i] - 2 * TABLE[i] + 0.5),
    "sub_neg": lambda i: linear(torch.sub(-TABLE[i], TABLE[i], alpha=3)) - BIAS + (1 - linear(TABLE[i])),
    "sums": lambda i: linear(TABLE[i] + TABLE[i].sum(1, keepdim=True) + TABLE[i].sum(-1, keepdim=True) * TABLE[i].sum((1, 2))[:, None, None]),
    "shift": lambda i: linear(torch.cat([TABLE[i][:, 1:], torch.zeros(1, 1, 5).expand(B, 1, 5)], 1)),
    "moved_ids": lambda i: linear(TABLE[torch.cat([i[:, -1:], i[:, :-1]], 1)] + TABLE[i.t()].transpose(0, 1)),
    "select": lambda i: linear(TABLE[i][:, 2].unsqueeze(1) + TABLE[i][:, 1::2].sum(1, keepdim=True) + TABLE[i] * 0),
    "index_list": lambda i: linear(TABLE[i][:, torch.tensor([5, 4, 3, 2, 1, 0])]) + linear(TABLE[i].index_select(1, torch.tensor([0] * T))),
    "attention": lambda i: linear(torch.relu(TABLE[i] @ TABLE[i].transpose(1, 2)) @ TABLE[i]),
    "free_constants": lambda i: linear(TABLE[i] * torch.softmax(TABLE.exp().mean(0), 0)),
}


@pytest.mark.parametrize("name", FORWARDS)
def test_replay_equals_torch(name):
    p = checked(FORWARDS[name])
    for seed in (1, 2):
        assert torch.allclose(p.run(ids(seed)), FORWARDS[name](ids(seed)), atol=1e-4)


FORBIDDEN = {
    "exp": lambda x, i: x.exp(), "div": lambda x, i: x / (x + 9), "softmax": lambda x, i: F.softmax(x, -1),
    "gelu": lambda x, i: F.gelu(x), "sigmoid": lambda x, i: torch.sigmoid(x), "tanh": lambda x, i: x.tanh(), "abs": lambda x, i: x.abs(),
    "sqrt": lambda x, i: x.relu().sqrt(), "pow": lambda x, i: x ** 2, "compare": lambda x, i: (x > 0).float(),
    "where": lambda x, i: torch.where(i[..., None] == V, x, x * 2), "max": lambda x, i: torch.maximum(x, x * 2), "amax": lambda x, i: x.amax(-1, keepdim=True),
    "sort": lambda x, i: x.sort(-1)[0], "argmax_index": lambda x, i: TABLE[x.argmax(-1)] @ W.t(), "cast": lambda x, i: x.long().float(),
    "ids_as_floats": lambda x, i: x + i[..., None].float(), "ids_arithmetic": lambda x, i: TABLE[(i + 1) % V] @ W.t(),
    "norm": lambda x, i: F.layer_norm(x, (V,)), "item": lambda x, i: x * x.sum().item(), "bitcast": lambda x, i: x.view(torch.int32).float(),
    "in_place": lambda x, i: x.add_(1), "clamp": lambda x, i: x.clamp(min=0, max=1), "dropout": lambda x, i: F.dropout(x, 0.5, True),
    "custom": lambda x, i: Hidden.apply(x), "jit": lambda x, i: scripted(x),
}


class Hidden(torch.autograd.Function):
    """An exponential behind a custom function."""

    @staticmethod
    def forward(ctx, x):
        return x.exp()


@torch.jit.script
def scripted(x: torch.Tensor) -> torch.Tensor:
    return torch.exp(x)


@pytest.mark.parametrize("name", FORBIDDEN)
def test_forbidden_operations_are_not_recorded(name):
    with pytest.raises((record.Forbidden, RuntimeError)):
        record.record(lambda i: FORBIDDEN[name](linear(TABLE[i]), i), ids())


def test_what_numpy_computes_is_a_constant():
    """The recorder does not see numpy; neither does the program, which then says the same of every input."""
    p = checked(lambda i: torch.from_numpy(np.tanh(linear(TABLE[i]).numpy())) + 0 * linear(TABLE[i]), program.Limits(9999, 200, 1e7, 1e7))
    assert torch.allclose(p.run(ids(1)), p.run(ids(2)), atol=1e-5)


def test_tied_parameters_count_once():
    p = checked(lambda i: torch.cat([TABLE[i] @ TABLE[:V].t()], 2))
    assert p.parameters == TABLE.numel() + 1  # the input of cat


def nodes_of(forward=FORWARDS["embedding"]):
    text, constants = record.record(forward, ids())
    return json.loads(text), {n: torch.from_numpy(a) for n, a in constants.items()}


def build(fields, constants, limits=LIMITS):
    return program.Program(fields if isinstance(fields, str) else json.dumps(fields), constants, B, T, V, limits)


@pytest.mark.parametrize("extra, says", [
    ({"op": "exp", "in": [0]}, "not an allowed operation"),
    ({"op": "relu", "in": [0]}, "only be moved"),
    ({"op": "add", "in": [0, 0]}, "only be moved"),
    ({"op": "matmul", "in": [0, 0]}, "only be moved"),
    ({"op": "sum", "in": [0], "dims": [0]}, "only be moved"),
    ({"op": "cat", "in": [0, 1], "dim": 0}, "one kind"),
    ({"op": "cat", "in": [], "dim": 0}, "one kind"),
    ({"op": "relu", "in": [999]}, "does not come before"),
    ({"op": "relu", "in": [-1]}, "list of numbers"),
    ({"op": "relu", "in": [True]}, "list of numbers"),
    ({"op": "relu", "in": [1, 1]}, "2 inputs, expected 1"),
    ({"op": "relu", "in": [1], "x": 1}, "attributes"),
    ({"op": "reshape", "in": [0], "shape": [-1]}, "shape"),
    ({"op": "reshape", "in": [0], "shape": [B * T + 1]}, "shape"),
    ({"op": "reshape", "in": [0], "shape": [B] + [1] * 6 + [T]}, "dimensions"),
    ({"op": "expand", "in": [0], "shape": [2, B, T + 1]}, "shape"),
    ({"op": "expand", "in": [0], "shape": [1 << 30, B, T]}, "bytes"),
    ({"op": "slice", "in": [0], "dim": 2, "start": 0, "end": 1, "step": 1}, "dim 2"),
    ({"op": "slice", "in": [0], "dim": 1, "start": 0, "end": T + 1, "step": 1}, "of 6"),
    ({"op": "slice", "in": [0], "dim": 1, "start": 0, "end": 2, "step": 0}, "of 6"),
    ({"op": "index", "in": [0], "dim": 0, "index": [B]}, "beyond"),
    ({"op": "index", "in": [0], "dim": 0, "index": [-1]}, "beyond"),
    ({"op": "permute", "in": [0], "dims": [0, 0]}, "dims"),
    ({"op": "number", "in": [], "value": "1"}, "expected a number"),
    ({"op": "number", "in": [], "value": 1e300}, "expected a number"),
    ({"op": "constant", "in": [], "name": "none"}, "no constant"),
    ({"op": "embedding", "in": [1, 1]}, "expected a table of floats and token ids"),
])
def test_programs_that_break_a_rule(extra, says):
    fields, constants = nodes_of()
    fields["nodes"].append(extra)
    with pytest.raises(program.BadProgram, match=says):
        build(fields, constants)


def test_malformed_programs():
    fields, constants = nodes_of()
    for bad in ("", "[" * 100_000, "[]", json.dumps({**fields, "x": 1}), json.dumps({**fields, "output": 0}), json.dumps({**fields, "output": 99}),
                json.dumps({**fields, "version": 2}), json.dumps({**fields, "nodes": []}), json.dumps(fields).replace('"in":', '"on":'),
                '{"version":1,"nodes":[{"op":"number","in":[],"value":NaN}],"output":0}'):
        with pytest.raises(program.BadProgram):
            build(bad, constants)
    short = {n: a[:V] if a.shape[0] == V + 1 else a for n, a in constants.items()}
    with pytest.raises(program.BadProgram, match="a table of shape"):
        build(fields, short)


def test_limits_are_exact():
    fields, constants = nodes_of(FORWARDS["attention"])
    p = build(fields, constants)
    at = [p.parameters, len(p.nodes), p.flops, p.live_bytes]
    build(fields, constants, program.Limits(*at))
    for k in range(4):
        with pytest.raises(program.BadProgram):
            build(fields, constants, program.Limits(*[n - (k == j) for j, n in enumerate(at)]))


def test_lists_that_choose_are_parameters():
    own = TABLE.numel() + W.numel() + BIAS.numel()
    assert checked(FORWARDS["embedding"]).parameters == own
    assert checked(lambda i: linear(TABLE[i][:, torch.tensor([5, 4, 3, 2, 1, 0])])).parameters == own + T
    assert checked(lambda i: linear(torch.cat([TABLE[i][:, 1:], TABLE[i][:, :1]], 1))).parameters == own + 2
    assert checked(lambda i: 0.5 * linear(TABLE[i]) + 3.0).parameters == own + 2
    over = LIMITS.parameters - own + 1
    for extra in ({"op": "index", "in": [0], "dim": 0, "index": [0] * over}, {"op": "cat", "in": [0] * over, "dim": 0}):
        fields, constants = nodes_of()
        fields["nodes"].append(extra)
        with pytest.raises(program.BadProgram, match="%d parameters so far" % (LIMITS.parameters + 1)):
            build(fields, constants)


def test_constants_are_rounded():
    a = torch.cat([torch.randn(1000) * 10.0 ** torch.randint(-6, 6, (1000,)), torch.tensor([0.0, 1.0, -2.5, 1 + 2 ** -7])])
    b = program.rounded({"a": a})["a"]
    assert b.dtype == torch.float32 and ((b - a).abs() <= a.abs() * 2.0 ** -8).all()
    assert (b.view(torch.int32) & 0xFFFF == 0).all() and b[-4:].tolist() == a[-4:].tolist()
    text, constants = record.record(FORWARDS["embedding"], ids())
    scored = task.check(text, constants, PARAMS)
    assert all((scored.constants[n].view(torch.int32) & 0xFFFF == 0).all() for n in constants)


def test_flops_by_hand():
    p = checked(FORWARDS["embedding"])
    assert p.flops == 2 * B * T * 5 * V + B * T * V  # one product, one bias


def test_inferred_shapes_are_what_happens():
    for forward in FORWARDS.values():
        p = checked(forward)
        seen = []
        for op, (infer, run, names, count) in list(program._OPS.items()):
            program._OPS[op] = (infer, lambda p, n, v, ids, run=run: seen.append(run(p, n, v, ids)) or seen[-1], names, count)
        try:
            p.run(ids(3))
        finally:
            for op, (infer, run, names, count) in list(program._OPS.items()):
                program._OPS[op] = (infer, run.__defaults__[0], names, count)
        assert [tuple(v.shape) for v in seen] == p.shapes
        assert [v.dtype == torch.int64 for v in seen] == [k == "ids" for k in p.kinds]


def test_damaged_programs_are_refused_or_run():
    """Whatever passes the check also runs, with the output's shape: the scorer cannot be crashed by a program."""
    rng = random.Random(0)
    ran = 0
    for _ in range(3000):
        fields, constants = nodes_of_cached(rng.choice(list(FORWARDS)))
        fields = json.loads(fields)
        for _ in range(rng.randrange(1, 3)):
            node = rng.choice(fields["nodes"])
            k = rng.choice(list(node))
            node[k] = rng.choice([rng.choice(list(program._OPS)), [rng.randrange(20) for _ in range(rng.randrange(4))], rng.randrange(-2, 9), None, {}])
        try:
            p = build(fields, constants)
        except program.BadProgram:
            continue
        assert p.run(ids()).shape == (B, T, V)
        ran += 1
    assert ran > 20


_CACHE = {}


def nodes_of_cached(name):
    if name not in _CACHE:
        fields, constants = nodes_of(FORWARDS[name])
        _CACHE[name] = json.dumps(fields), constants
    return _CACHE[name]


def batches(n=5, seed=0):
    rows = np.random.default_rng(seed).integers(0, V, (B * n + 3, T))
    return task.Batches(rows, np.random.default_rng(seed), {**PARAMS, "batches": n})


@pytest.mark.parametrize("forward, mixes", [
    (FORWARDS["attention"], False), (FORWARDS["sums"], False), (FORWARDS["moved_ids"], False),
    (lambda i: linear(TABLE[i] + 0.01 * TABLE[i].sum(0, keepdim=True)), True),
    (lambda i: linear(torch.cat([TABLE[i][1:], TABLE[i][:1]], 0)), True),
    (lambda i: linear(TABLE[i] * PLACES), True),
    (lambda i: linear(TABLE[i]) + CONSTANT_OF_B * 0.1, True),
    (lambda i: linear(TABLE[i]) + 0.1 * linear(TABLE[i].sum(0, keepdim=True)) - HUGE, True),
    (lambda i: linear(TABLE[i].reshape(B // 2, 2 * T, 5).index_select(1, torch.arange(2 * T).flip(0)).reshape(B, T, 5)), True),
])
def test_rows_must_not_see_each_other(forward, mixes):
    assert task.mixes_rows(checked(forward), batches(), np.arange(V + 1), np.random.default_rng(0)) is mixes


def test_batches_mask_and_rename():
    b = batches()
    p = np.append(np.random.default_rng(3).permutation(V), V)
    for i in range(len(b)):
        x = b.inputs(i, p)
        assert ((x == V) == b.masked[i]).all()
        assert (x[~b.masked[i]] == torch.from_numpy(p)[b.truth[i]][~b.masked[i]]).all()
        assert (b.targets(i, p) == torch.from_numpy(p)[b.truth[i][b.masked[i]]]).all()
    seen = b.truth.reshape(-1, T).tolist()
    assert len({tuple(r) for r in seen}) == len(seen)  # without replacement
    assert 0.2 < b.masked.float().mean() < 0.4


def test_rows_come_again_when_all_were_used():
    rows = np.arange(3 * B + 1)[:, None].repeat(T, 1) % V  # 3 whole batches and a row over
    rows[:, 0] = np.arange(len(rows))
    b = task.Batches(rows, np.random.default_rng(0), {**PARAMS, "batches": 8})
    drawn = b.truth[:, :, 0].numpy()
    assert drawn.shape == (8, B)
    for begin in (0, 3, 6):
        assert len(set(drawn[begin:begin + 3].reshape(-1))) == drawn[begin:begin + 3].size
    assert list(drawn[0]) != list(drawn[3]) and (b.masked[:3] != b.masked[3:6]).any()


def test_loss_by_hand():
    uniform = checked(lambda i: linear(TABLE[i]) * 0)
    assert abs(task.held_out_loss(uniform, batches(), np.arange(V + 1)) - math.log(V)) < 1e-6
    assert abs(task.raw_score(2.0, PARAMS) - math.log(1.5)) < 1e-12


@pytest.fixture
def assets(tmp_path):
    """Assets whose reference is one of the programs above."""
    private = tmp_path / "private"
    private.mkdir()
    rows = np.random.default_rng(7).integers(0, V, (200, T)).astype(np.uint16)
    for name in ("train", "held_out"):
        arrays.save(private / (name + ".st"), {"ids": rows})
    for name, forward in (("start", FORWARDS["attention"]), ("reference", FORWARDS["embedding"])):
        text, constants = record.record(forward, ids())
        (private / (name + ".json")).write_text(text)
        arrays.save(private / (name + ".st"), constants)
    (private / "facts.json").write_text(json.dumps({"reference_loss": 3.0}))
    return tmp_path


def request(assets, snapshot, target="submission"):
    key = [scoring.Draws(bytes([n]) * 32) for n in (1, 2)]
    return types.SimpleNamespace(params=PARAMS, threads=1, assets_dir=str(assets), target=target, attempt=key[0], draws=key[1], snapshot_dir=str(snapshot))


def submit(directory, forward, change=lambda t, c: (t, c)):
    text, constants = change(*record.record(forward, ids()))
    (directory / "program.json").write_text(text)
    arrays.save(directory / "constants.st", constants)


def test_reference_has_its_own_loss_under_any_names(assets, tmp_path):
    assert verdict.score(request(assets, "", "reference"), None)["raw"] == math.log(3.0 - 0.5)
    p = task.shown(scoring.Draws(bytes([1]) * 32), V)
    named = [torch.from_numpy(corpus.relabel_rows(t.numpy(), p[:len(t)])) for t in (TABLE, W, BIAS)]
    submit(tmp_path, lambda i: F.linear(F.embedding(i, named[0]), named[1], named[2]))
    got = verdict.score(request(assets, tmp_path), None)
    assert got["valid"] and abs(got["raw"] - math.log(2.5)) < 1e-5


def test_verdicts(assets, tmp_path):
    submit(tmp_path, FORWARDS["embedding"], lambda t, c: (t, {**c, "more": np.zeros(3, np.float32)}))
    assert verdict.score(request(assets, tmp_path), None)["flags"] == ["unused_constants"]
    submit(tmp_path, lambda i: linear(TABLE[i] * PLACES))
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "rule_broken"
    submit(tmp_path, lambda i: linear(TABLE[i] * 1e29) * 1e29)
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "nan"
    more = np.zeros(PARAMS["max_parameters"] + arrays.MAX_HEADER // 4 + 1, np.float32)
    submit(tmp_path, FORWARDS["embedding"], lambda t, c: (t, {**c, "more": more}))
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "rule_broken"  # a limit, whatever sees it first
    submit(tmp_path, FORWARDS["embedding"], lambda t, c: (t + " " * verdict.MAX_TEXT, c))
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "rule_broken"
    submit(tmp_path, FORWARDS["embedding"], lambda t, c: (t, {n: a.astype(np.float64) for n, a in c.items()}))
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "rule_broken"
    (tmp_path / "constants.st").write_bytes(b"PK\x03\x04 not arrays")
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "wrong_output"
    (tmp_path / "program.json").write_bytes(b"\xff\xfe")
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "wrong_output"
    (tmp_path / "program.json").unlink()
    assert verdict.score(request(assets, tmp_path), None)["reason"] == "wrong_output"


def test_programs_without_end_are_invalid_not_a_fault(assets, tmp_path, monkeypatch):
    def moves(i):
        x = TABLE[i]
        for _ in range(20):
            x = x.transpose(0, 2).reshape(B, T, 5)
        return linear(x) * 0
    slow, plain = checked(moves), checked(lambda i: linear(TABLE[i]) * 0)
    assert slow.flops == plain.flops and len(slow.nodes) == len(plain.nodes) + 40  # no limit of arithmetic sees moves
    with pytest.raises(program.TooSlow, match="node 0 of %d" % len(slow.nodes)):
        slow.run(ids(), time.monotonic() - 1)
    assert (slow.run(ids(), time.monotonic() + 3600) == 0).all()
    submit(tmp_path, moves)
    assert verdict.score(request(assets, tmp_path), None)["valid"]
    monkeypatch.setattr(verdict, "RUN_S", -1)
    got = verdict.score(request(assets, tmp_path), None)
    assert (got["valid"], got["reason"]) == (False, "timeout") and "5 batches" in got["message"]
    assert verdict.score(request(assets, "", "start"), None)["reason"] == "timeout"  # whosever program it is


def test_far_below_the_reference_is_flagged(assets, tmp_path, monkeypatch):
    monkeypatch.setattr(verdict, "IMPLAUSIBLE_GAIN", 0.05)
    facts = assets / "private" / "facts.json"
    facts.write_text(json.dumps({"reference_loss": 9.0}))
    submit(tmp_path, lambda i: linear(TABLE[i]) * 0)  # uniform: far better here than the untrained reference
    got = verdict.score(request(assets, tmp_path), None)
    assert got["valid"] and got["flags"] == ["below_plausible_loss"]
