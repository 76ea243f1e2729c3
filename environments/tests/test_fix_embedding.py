# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""fix_embedding: the puzzle, the verdict, the reference's parts."""
import itertools
import json
import os
import pathlib
import subprocess
import sys
import types

import numpy as np
import pytest
import torch

import arrays
import compat
import corpus
import gpt
import scoring
from fix_embedding.scorer import task, verdict

HERE = pathlib.Path(task.__file__).parents[1]
REFERENCE = HERE / "solutions" / "reference"
PARAMS = {"model": {"vocab": 24, "context": 8, "width": 32, "layers": 2, "heads": 2},
          "small": {"vocab": 24, "context": 8, "width": 16, "layers": 1, "heads": 2},
          "device": "cpu", "rows": 60, "floor_below": 0.1}
CONFIG = gpt.Config(**PARAMS["model"])


def key(n):
    return scoring.Draws(bytes([n]) * 32)


@pytest.fixture(scope="module")
def assets_dir(tmp_path_factory):
    """Assets of a tiny model, trained for a moment on a chain of known entropy."""
    private = tmp_path_factory.mktemp("assets") / "private"
    private.mkdir()
    ids, _ = corpus.class_chain(1, 12_000, classes=6)
    compat.setup(1)
    models = {}
    for name in ("model", "small"):
        models[name] = gpt.GPT(gpt.Config(**PARAMS[name]))
        gpt.train(models[name], ids[:10_000], steps=60, batch=16, lr=1e-2, seed=1)
    rows = ids[10_000:10_000 + 9 * 200].reshape(200, 9).astype(np.uint16)
    base = gpt.export(models["model"])
    losses = verdict.row_losses(gpt.build(CONFIG, base), rows, np.arange(24))
    arrays.save(private / "base.st", base)
    arrays.save(private / "small.st", gpt.export(models["small"]))
    arrays.save(private / "text.st", {"ids": ids[:2000].astype(np.uint16)})
    arrays.save(private / "held_out.st", {"ids": rows, "loss": losses})
    (private / "facts.json").write_text(json.dumps({"small_loss": gpt.mean_loss(models["small"], ids[10_000:])}))
    return private.parent


@pytest.fixture(scope="module")
def assets(assets_dir):
    return task.Assets(assets_dir)


def test_puzzle_is_undone_by_its_inverse(assets):
    puzzle = task.Puzzle(key(1), 24)
    right, given = puzzle.right(assets.base), puzzle.corrupted(assets.base)
    assert (given["wte.weight"][np.argsort(puzzle.corrupt)] == right["wte.weight"]).all()
    assert (right["wte.weight"][puzzle.shown] == assets.base["wte.weight"]).all()
    same = [name for name in given if name != "wte.weight"]
    assert all((given[n] == assets.base[n]).all() for n in same)
    assert (given["wte.weight"] != right["wte.weight"]).any(1).mean() > 0.7


def test_puzzles_differ_between_attempts():
    a, b, again = task.Puzzle(key(1), 24), task.Puzzle(key(2), 24), task.Puzzle(key(1), 24)
    assert (a.shown != b.shown).any() and (a.corrupt != b.corrupt).any() and (a.shown != a.corrupt).any()
    assert (a.shown == again.shown).all() and (a.corrupt == again.corrupt).all()


def test_intact_model_has_the_log_of_floor_below(assets):
    """Its loss differs from itself by nothing, on whatever rows, under whatever names."""
    for n in (1, 2):
        puzzle = task.Puzzle(key(n), 24)
        v = verdict.judge(puzzle.right(assets.base), assets, puzzle, CONFIG, PARAMS, key(10 + n))
        assert v["valid"] and abs(v["raw"] - np.log(0.1)) < 1e-4 and v["flags"] == [] and v["details"]["recovered_rows"] == 1


def test_loss_is_the_difference_on_drawn_rows(assets):
    puzzle = task.Puzzle(key(3), 24)
    weights = puzzle.corrupted(assets.base)
    v = verdict.judge(weights, assets, puzzle, CONFIG, PARAMS, key(4))
    drawn = key(4).numpy("rows").permutation(200)[:60]
    model = gpt.build(CONFIG, weights)
    rows = puzzle.shown[assets.rows[drawn].astype(np.int64)]
    per_token = torch.nn.functional.cross_entropy(
        model(torch.from_numpy(rows[:, :-1])).reshape(-1, 24), torch.from_numpy(rows[:, 1:]).reshape(-1))
    want = assets.losses.mean() + per_token.item() - assets.losses[drawn].mean()
    assert abs(v["details"]["loss"] - want) < 1e-4
    assert abs(v["raw"] - np.log(want - assets.losses.mean() + 0.1)) < 1e-4


def test_repair_without_rows_is_flagged(assets):
    """Negated features on both sides of the tie: same function, no right row."""
    puzzle = task.Puzzle(key(5), 24)
    weights = {n: a.copy() for n, a in puzzle.right(assets.base).items()}
    for name in ("wte.weight", "wpe.weight", "blocks.0.proj.weight", "blocks.0.down.weight", "blocks.1.proj.weight", "blocks.1.down.weight",
                 "lnf.bias"):
        weights[name] *= -1
    for i in range(2):
        for ln, following in (("ln1", "qkv"), ("ln2", "up")):
            weights["blocks.%d.%s.bias" % (i, ln)] *= -1
            weights["blocks.%d.%s.weight" % (i, following)] *= -1
    v = verdict.judge(weights, assets, puzzle, CONFIG, PARAMS, key(6))
    assert abs(v["raw"] - np.log(0.1)) < 1e-3 and v["flags"] == ["repaired_without_recovery"]


def lacking(assets, tokens):
    """Return assets whose text lacks so many tokens."""
    return types.SimpleNamespace(**{**vars(assets), "text": assets.text[assets.text >= tokens]})


def carried(before, now):
    """Return the model now, repaired by what an earlier attempt taught: which big row goes with which small row."""
    (small, big), (known, _) = before, now
    pairs = {s.tobytes(): b for s, b in zip(small["wte.weight"], big["wte.weight"])}
    return {**now[1], "wte.weight": np.stack([pairs[s.tobytes()] for s in known["wte.weight"]])}


def test_rows_known_beforehand_are_flagged(assets):
    """Models are the same in all attempts and names are not: the small model's rows tell them."""
    assets = lacking(assets, 12)
    first, second = task.Puzzle(key(21), 24), task.Puzzle(key(22), 24)
    weights = carried((first.right(assets.small), first.right(assets.base)), (second.right(assets.small), second.corrupted(assets.base)))
    assert (weights["wte.weight"] == second.right(assets.base)["wte.weight"]).all()
    v = verdict.judge(weights, assets, second, CONFIG, PARAMS, key(23))
    assert v["valid"] and v["flags"] == ["rows_known_beforehand"]
    assert (v["details"]["unseen_rows"], v["details"]["recovered_unseen"]) == (12, 1)


@pytest.mark.parametrize("lacks, right, flagged", [(12, 12, True), (12, 10, True), (12, 9, False), (12, 0, False), (9, 9, False), (0, 0, False)])
def test_unseen_rows_beyond_what_can_be_told(assets, lacks, right, flagged):
    """All rows that the text tells are right, and some of those that it does not tell."""
    assets, puzzle = lacking(assets, lacks), task.Puzzle(key(24), 24)
    weights = puzzle.right(assets.base)
    wrong = puzzle.shown[right:lacks]
    rows = weights["wte.weight"].copy()
    rows[wrong] = rows[np.roll(wrong, 1)] * np.float32(1.5)
    v = verdict.judge({**weights, "wte.weight": rows}, assets, puzzle, CONFIG, PARAMS, key(25))
    assert v["flags"] == ["rows_known_beforehand"] * flagged
    assert (v["details"]["unseen_rows"], v["details"]["recovered_unseen"]) == (lacks, right / max(lacks, 1))


def test_implausibly_good_is_flagged(assets):
    assets = types.SimpleNamespace(**vars(assets))
    assets.losses = assets.losses + 0.08  # as if the intact model were worse than it is
    puzzle = task.Puzzle(key(7), 24)
    v = verdict.judge(puzzle.right(assets.base), assets, puzzle, CONFIG, PARAMS, key(8))
    assert v["valid"] and v["flags"] == ["below_plausible_loss"] and np.isfinite(v["raw"])


def request(assets_dir, snapshot):
    return types.SimpleNamespace(params=PARAMS, threads=1, assets_dir=str(assets_dir), target="submission", attempt=key(1), draws=key(2),
                                 snapshot_dir=str(snapshot))


@pytest.mark.parametrize("change, reason", [
    (lambda w: w, None),
    (lambda w: {**w, "wte.weight": w["wte.weight"] * np.float32(np.nan)}, "wrong_output"),
    (lambda w: {**w, "wte.weight": w["wte.weight"][:, :-1]}, "wrong_output"),
    (lambda w: {**w, "more": w["lnf.bias"]}, "wrong_output"),
    (lambda w: {n: a for n, a in w.items() if n != "lnf.bias"}, "wrong_output"),
    (lambda w: {**w, "lnf.weight": w["lnf.weight"] * 0 + np.float32(3e38), "wte.weight": w["wte.weight"] * np.float32(1e30)}, "nan"),
])
def test_verdicts_on_files(assets_dir, assets, tmp_path, change, reason):
    arrays.save(tmp_path / "model.st", change(task.Puzzle(key(1), 24).corrupted(assets.base)))
    assert verdict.score(request(assets_dir, tmp_path), None)["reason"] == reason


def test_missing_file_is_the_submissions_fault(assets_dir, tmp_path):
    assert verdict.score(request(assets_dir, tmp_path), None)["reason"] == "wrong_output"


def run(script, workspace, data):
    done = subprocess.run([sys.executable, "-B", str(script)], cwd=workspace, capture_output=True, text=True,
                          env={**os.environ, "REBENCH_DATA": str(data), "OMP_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr


@pytest.fixture
def workspace(assets, tmp_path):
    solution, data = tmp_path / "solution", tmp_path / "data"
    solution.mkdir()
    data.mkdir()
    task.lay_out(assets, task.Puzzle(key(9), 24), PARAMS, solution, data)
    return solution, data


def test_workspace_tells_nothing_it_should_not(workspace, assets):
    solution, data = workspace
    puzzle = task.Puzzle(key(9), 24)
    assert sorted(p.name for p in solution.iterdir()) == ["model.st"]
    assert sorted(p.name for p in data.iterdir()) == ["arrays.py", "compat.py", "config.json", "gpt.py", "small.st", "text.st"]
    assert (arrays.load(data / "text.st")["ids"] == puzzle.shown[assets.text.astype(int)]).all()
    assert (arrays.load(data / "small.st")["wte.weight"][puzzle.shown] == assets.small["wte.weight"]).all()


def test_graft_is_the_small_model_exactly(workspace):
    solution, data = workspace
    run(HERE / "solutions/flagged/graft/solve.py", solution, data)
    big = gpt.build(CONFIG, arrays.load(solution / "model.st", gpt.shapes(CONFIG)))
    small = gpt.build(gpt.Config(**PARAMS["small"]), arrays.load(data / "small.st"))
    ids = torch.randint(0, 24, (4, 8))
    assert torch.allclose(big(ids), small(ids), atol=1e-4)


def test_assignment_against_brute_force():
    sys.path.insert(0, str(REFERENCE))
    from assignment import assign

    rng = np.random.default_rng(1)
    for n in range(1, 7):
        for trial in range(40):
            cost = rng.normal(size=(n, n)) if trial % 2 else rng.integers(0, 4, (n, n)).astype(float)
            got = assign(cost)
            best = min(cost[range(n), p].sum() for p in itertools.permutations(range(n)))
            assert sorted(got) == list(range(n)) and abs(cost[range(n), got].sum() - best) < 1e-9
    cost = rng.permutation(np.eye(300)) * -1
    assert (assign(cost) == cost.argmin(1)).all()
