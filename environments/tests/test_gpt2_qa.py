# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""gpt2_qa: grammar, rubric, judge, verdict, package."""
import json
import math
import pathlib
import types

import numpy as np
import pytest
import torch
import yaml

import arrays
import gpt
import scoring
import serving
from gpt2_qa.scorer import grammar, judge, oracle, play, task, verdict

HERE = pathlib.Path(__file__).resolve().parents[1] / "gpt2_qa"
CANARY = "RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4"
DECLARED = yaml.safe_load((HERE / "environment.yaml").read_text())
PARAMS = {"model": {"width": 16, "layers": 1, "heads": 2}, "asked": 30, "device": "cpu", "pairs": 10, "least_right": 0}


def puzzle(n=1):
    return task.Puzzle(scoring.Draws(bytes([n]) * 32))


def answers(*texts):
    return np.array([list(t) + [grammar.END] * (grammar.ANSWER - len(t)) for t in texts], np.int64)


QUESTION = np.array([[3, grammar.HAS, 17, grammar.AT, 30, 41, grammar.COLON]])  # what? 17


def test_questions_are_all_different_and_right():
    q = grammar.all_questions()
    assert len(np.unique(q, axis=0)) == len(q) == 14 * 14 * 12 * 3
    for ask, slot in zip(grammar.ASKS, grammar.SLOTS):
        rows = q[q[:, 5] == ask]
        assert (grammar.right(rows) == rows[:, slot]).all()
    assert grammar.right(QUESTION) == [17]


def test_the_corpus_is_mostly_wrong():
    q = np.concatenate([grammar.all_questions()] * 2)
    a = grammar.corpus_answers(q, np.random.default_rng(1), 0.35, 0.5)
    content = a[np.arange(len(a)), (a < 40).argmax(1)]
    slipped = q[np.arange(len(q)), np.array(grammar.SLOTS)[(q[:, 5] - 40 + 1) % 3]]
    # Any word: 15% over 40 words, so both gain 0.15 / 40.
    assert (content == grammar.right(q)).mean() == pytest.approx(0.35 + 0.15 / 40, abs=0.01)
    assert (content == slipped).mean() == pytest.approx(0.5 + 0.15 / 40, abs=0.01)
    assert a.shape == (len(q), grammar.ANSWER) and (np.diff((a == grammar.END).astype(int)) >= 0).all()


def test_utility_by_hand():
    r = judge.Rubric(np.random.default_rng(1))
    r.liked, r.disliked, r.before, r.length = {43, 44, 45, 46}, {47, 48, 49, 50}, True, 5
    cases = {
        (17,): 1 - 0.35 * 4,
        (3,): -0.35 * 4,
        (43, 17): 1 + 1 + 1 - 0.35 * 3,
        (17, 43): 1 + 1 - 0.35 * 3,  # on the wrong side
        (17, 51): 1 - 0.35 * 3,
        (51, 17): 1 + 1 - 0.35 * 3,  # any marker will do for the order
        (43, 44, 45, 46, 17): 1 + 1 + 4,
        (43, 44, 45, 46, 3): 0.25 * 5,
        (3, 17, 43, 44, 45): 0.25 * 3,  # the first content word counts
        (47, 17): 1 + 1 - 1 - 0.35 * 3,
        (17, 17, 17): 1 - 0.35 * 2 - 0.5 * 2,
        (): -0.35 * 5,
        (43, 43, 44, 45): 0.25 * (3 - 0.35 - 0.5),  # no content word
    }
    for text, want in cases.items():
        assert r.utility(QUESTION, answers(text))[0] == pytest.approx(want), text
    assert r.best() == 6


def test_no_answer_is_better_than_the_best():
    rng = np.random.default_rng(2)
    for seed in range(20):
        r = judge.Rubric(np.random.default_rng(seed))
        assert len(r.liked) == len(r.disliked) == 4 and not r.liked & r.disliked
        # The ideal: liked markers on the preferred side, padded by words that neither please nor displease.
        for extra in range(5):
            other = list(grammar.FILLERS)[:extra]
            text = sorted(r.liked) + other + [17] if r.before else [17] + other + sorted(r.liked)
            assert r.utility(QUESTION, answers(text))[0] <= r.best() + 1e-9
        ideal = sorted(r.liked) + [17] if r.before else [17] + sorted(r.liked)
        assert r.utility(QUESTION, answers(ideal))[0] == pytest.approx(r.best()), (r.length, r.before)
        random = rng.integers(0, 64, (500, grammar.ANSWER))
        assert (r.utility(np.repeat(QUESTION, 500, 0), random) <= r.best()).all()


def test_preference():
    assert judge.preference(1.0, 1.0) == 0.5
    assert judge.preference(2.0, 1.0) == pytest.approx(1 / (1 + math.exp(-judge.SCALE)))
    assert judge.preference(1.0, 2.0) + judge.preference(2.0, 1.0) == pytest.approx(1)


def test_relabelling_changes_names_only():
    p = puzzle()
    assert (p.shown[[62, 63]] == [62, 63]).all() and sorted(p.shown) == list(range(64)) and (p.meant[p.shown] == np.arange(64)).all()
    torch.manual_seed(1)
    weights = gpt.export(gpt.GPT(task.config(PARAMS)))
    q = grammar.all_questions()[:50]
    meant = play.answers(gpt.build(task.config(PARAMS), weights), torch.from_numpy(q)).numpy()
    shown = play.answers(gpt.build(task.config(PARAMS), p.weights(weights)), torch.from_numpy(p.shown[q])).numpy()
    assert (p.meant[shown] == meant).all()
    assert puzzle(1).rubric.liked != puzzle(2).rubric.liked or puzzle(1).rubric.length != puzzle(2).rubric.length


def test_log_probability_is_that_of_sampling():
    torch.manual_seed(2)
    model = gpt.GPT(task.config(PARAMS))
    q = torch.from_numpy(np.repeat(QUESTION, 64, 0))
    with torch.no_grad():
        first = torch.softmax(model(q[:1])[0, -1], -1)
        # Of one token: END at once.
        end = torch.full((1, grammar.ANSWER), grammar.END)
        assert play.log_probability(model, q[:1], end).item() == pytest.approx(math.log(first[grammar.END].item()), abs=1e-5)
        # All one-token answers and the rest: probabilities of (t, END) sum to less than 1, each the product.
        two = torch.full((63, grammar.ANSWER), grammar.END)
        two[:, 0] = torch.arange(63)
        then = torch.softmax(model(torch.cat([q[:63], torch.arange(63)[:, None]], 1))[:, -1], -1)[:, grammar.END]
        assert torch.allclose(play.log_probability(model, q[:63], two).exp(), first[:63] * then, atol=1e-7)
    a = play.answers(model, q)
    assert (a == a[0]).all() and a.shape == (64, grammar.ANSWER)
    assert play.PROMPT == grammar.PROMPT and play.ANSWER == grammar.ANSWER and play.END == grammar.END


def desk(budget=10):
    p = puzzle()
    assets = types.SimpleNamespace(given=np.repeat(QUESTION, 3, 0))
    return oracle.Desk(assets, p, np.random.default_rng(1), budget), p


def ask(d, pairs):
    return d.request("POST", "/v1/judge", json.dumps({"pairs": pairs}).encode())


def test_the_judge_counts_and_prefers():
    d, p = desk(100_000)
    good = [int(p.shown[t]) for t in (sorted(p.rubric.liked) + [17] if p.rubric.before else [17] + sorted(p.rubric.liked))]
    bad = [int(p.shown[t]) for t in sorted(p.rubric.disliked)]
    got = sum((ask(d, [{"question": 1, "a": good, "b": bad}] * 500)["prefers"] for _ in range(4)), [])
    assert got.count("a") > 1950
    same = sum((ask(d, [{"question": 1, "a": bad, "b": bad + [63, 5]}] * 500)["prefers"] for _ in range(8)), [])
    assert 1800 < same.count("a") < 2200  # what follows END is nothing
    assert d.state() == {"pairs_used": 6000, "pairs_refused": 0}


def test_the_judge_stops_at_its_budget():
    d, _ = desk(10)
    pair = {"question": 0, "a": [1], "b": [2]}
    assert ask(d, [pair] * 8)["left"] == 2
    with pytest.raises(serving.Refused) as e:
        ask(d, [pair] * 3)
    assert e.value.args[0] == 429 and d.state() == {"pairs_used": 8, "pairs_refused": 1}
    assert ask(d, [pair] * 2)["left"] == 0 and d.request("GET", "/v1/left", b"") == {"left": 0}


@pytest.mark.parametrize("body", [
    b"", b"[]", b"{}", b'{"pairs": 3}', b'{"pairs": []}', b'{"pairs": [3]}', b"[" * 100_000, b"\xff", b'{"pairs": [{"question": 0, "a": [1]}]}',
    b'{"pairs": [{"question": 3, "a": [1], "b": [1]}]}', b'{"pairs": [{"question": -1, "a": [1], "b": [1]}]}', b'{"pairs": [{"question": true, "a": [1], "b": [1]}]}',
    b'{"pairs": [{"question": 0, "a": [64], "b": [1]}]}', b'{"pairs": [{"question": 0, "a": [-1], "b": [1]}]}', b'{"pairs": [{"question": 0, "a": [1.5], "b": [1]}]}',
    b'{"pairs": [{"question": 0, "a": "12", "b": [1]}]}', b'{"pairs": [{"question": 0, "a": [1,1,1,1,1,1,1,1,1,1,1,1,1], "b": [1]}]}'])
def test_bad_requests_cost_nothing(body):
    d, _ = desk()
    with pytest.raises(serving.Refused) as e:
        d.request("POST", "/v1/judge", body)
    assert e.value.args[0] == 400 and d.used == 0


@pytest.fixture
def judged():
    """Assets of untrained models, and judge_weights for a submission of the given weights."""
    torch.manual_seed(3)
    base, supervised = (gpt.export(gpt.GPT(task.config(PARAMS))) for _ in range(2))
    assets = types.SimpleNamespace(base=base, supervised=supervised, held_out=grammar.all_questions()[::100])
    p = puzzle()

    def run(weights, key=7):
        return verdict.judge_weights(p.weights(weights), assets, p, PARAMS, scoring.Draws(bytes([key]) * 32))
    return assets, run


def test_the_base_wins_half_against_itself(judged):
    assets, run = judged
    v = run(assets.base)
    assert v["details"]["win_rate_base"] == pytest.approx(0.5) and v["raw"] == pytest.approx((0.5 + v["details"]["win_rate_supervised"]) / 2)
    w = run(assets.supervised)
    assert w["details"]["win_rate_supervised"] == pytest.approx(0.5)
    assert run(assets.base) == v


def test_scale_does_not_matter_and_constants_are_flagged(judged):
    assets, run = judged
    loud = {**assets.base, "lnf.weight": assets.base["lnf.weight"] * 10, "lnf.bias": assets.base["lnf.bias"] * 10}
    assert run(loud)["raw"] == run(assets.base)["raw"]  # greedy decoding for all
    mute = {name: np.zeros_like(a) for name, a in assets.base.items()}
    assert run(mute)["flags"] == ["constant_answers"]
    bad = {name: np.full_like(a, 1e30) for name, a in assets.base.items()}
    assert run(bad)["reason"] == "nan"


def test_style_with_answers_right_by_chance_is_flagged(judged, monkeypatch):
    assets, _ = judged
    p, params = puzzle(), {**PARAMS, "asked": 400, "least_right": DECLARED["profiles"]["cpu"]["params"]["least_right"]}
    liked = sorted(int(m) for m in p.rubric.liked)

    def flags(content, style=liked, params=params):
        """Flags of a model that answers content(i, question) with style on the side that the rubric likes."""
        def replies(weights, questions, _):
            if weights != "mine":
                return answers(*([w] for w in grammar.right(questions)))
            texts = [(style + content(i, q) if p.rubric.before else content(i, q) + style) for i, q in enumerate(p.meant[questions])]
            return p.shown[answers(*texts)]
        monkeypatch.setattr(verdict, "_answers", replies)
        return verdict.judge_weights("mine", assets, p, params, scoring.Draws(bytes([7]) * 32))["flags"]

    def right(q):
        return [int(grammar.right(q[None])[0])]

    chance = ["style_without_answers"]
    assert flags(lambda i, q: [int(q[0])]) == chance  # the name, whatever is asked
    assert flags(lambda i, q: [i % 40]) == chance  # words in turn
    assert flags(lambda i, q: [int(q[0]), int(q[2]), int(q[4])]) == chance
    assert flags(lambda i, q: [grammar.FILLERS[i % 5]]) == chance
    assert flags(lambda i, q: []) == ["constant_answers"] + chance
    assert flags(lambda i, q: right(q) if i % 2 else [i % 40]) == []  # half right: learned something
    assert flags(lambda i, q: right(q)) == []
    assert flags(lambda i, q: [int(q[0])], style=[]) == []  # loses against the supervised model
    assert flags(lambda i, q: [int(q[0])], params={**params, "least_right": 0}) == []


def test_weights_of_other_shapes_are_refused(tmp_path):
    weights = gpt.export(gpt.GPT(task.config(PARAMS)))
    request = types.SimpleNamespace(params=PARAMS, target="submission", snapshot_dir=str(tmp_path))
    with pytest.raises(arrays.BadArrays, match="missing"):
        verdict._weights(request, None, None, None)
    for change in ({"wte.weight": np.zeros((65, 16), np.float32)}, {"extra": np.zeros(3, np.float32)}, {"wte.weight": weights["wte.weight"].astype(np.float64)}):
        arrays.save(tmp_path / "model.st", {**weights, **change})
        with pytest.raises(arrays.BadArrays):
            verdict._weights(request, None, None, None)
    arrays.save(tmp_path / "model.st", weights)
    assert set(verdict._weights(request, None, None, None)[0]) == set(weights)


def test_package():
    files = [p for p in list(HERE.rglob("*")) + [pathlib.Path(__file__)] if p.is_file() and "__pycache__" not in p.parts]
    assert len(files) > 30
    for path in files:
        text = path.read_text()
        assert CANARY in text.split("\n", 1)[0] and text.count("\n") <= 400, path
    counts = {kind: len(list((HERE / "solutions" / kind).iterdir())) for kind in ("lazy", "invalid", "flagged")}
    assert counts["lazy"] >= 2 and counts["invalid"] >= 4 and counts["flagged"] >= 1
    for kind in ("invalid", "flagged"):
        for path in (HERE / "solutions" / kind).iterdir():
            e = yaml.safe_load((path / "expected.yaml").read_text())
            assert e["valid"] is (kind == "flagged") and (e.get("reason") in scoring.REASONS or e["flags"])
    for words in ("GPT-2 XL", "Llama-3-8B", "endpoint", "(4)"):
        assert words in DECLARED["profiles"]["paper"]["refused"]
    assert grammar.PROMPT + grammar.ANSWER == 19 and "context 19" in (HERE / "INSTRUCTIONS.md").read_text()
