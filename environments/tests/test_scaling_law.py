# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""scaling_law: cost, model, texts, answers, formula, ledger, trainer, tables, package."""
import json
import math
import pathlib
import threading
import types

import numpy as np
import pytest
import torch
import yaml

import scoring
import serving
from scaling_law.scorer import answer, corpora, cost, desk, ledger, model, tables, task, verdict

HERE = pathlib.Path(__file__).resolve().parents[1] / "scaling_law"
CANARY = "RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4"
DECLARED = yaml.safe_load((HERE / "environment.yaml").read_text())
SIZES = cost.Sizes(vocab=100, context=8, batch=4, layers=2, head=16)
PARAMS = {"device": "cpu", "sizes": vars(SIZES), "widths": [8, 16, 32], "experiment_widths": [4, 8, 16, 32], "target_flops": 1e9, "experiment_flops": 2e7, "total_flops": 6e7,
          "experiments": 12}
FAMILY = {"name": "f", "recipe": {"lr": 0.01, "lr_power": 0.5}, "losses": {"8": [3.1, 3.3], "16": [2.4, 2.6], "32": [2.9, 3.1]}, "start": {"n_embd": 32, "predicted_loss": 4.0}}


def draws(n=1):
    return scoring.Draws(bytes([n]) * 32)


def text(seed=1, n=3000):
    """Ids of a chain in which every token has two equally likely successors: ln 2 nats a token."""
    rng = np.random.default_rng(seed)
    ids = np.zeros(n, np.int64)
    for i in range(1, n):
        ids[i] = (3 * ids[i - 1] + 1 + rng.integers(2)) % 20
    return ids


def family():
    f = task.Family(FAMILY)
    f.text = lambda: (text(1), text(2, 900))
    return f


def test_cost_by_hand():
    # 12 * 2 * 8^2 + 100 * 8 = 1536 + 800 = 2336 weights; 6 * 2336 * 32 tokens = 448512 FLOPs a step.
    assert SIZES.parameters(8) == 2336 and SIZES.step_flops(8) == 448_512
    assert SIZES.steps(8, 1e9) == round(1e9 / 448_512) == 2230 and SIZES.steps(8, 1) == 1


@pytest.mark.parametrize("width", [8, 32, 48])
def test_cost_counts_the_models_matrices(width):
    m = model.GPTs(SIZES, width, [1], "cpu")
    tokens, before, places, *maps = m.weights()
    shapes = {tuple(w.shape[1:]) for w in maps}
    assert {(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width), (width, 100)} <= shapes
    assert SIZES.parameters(width) == sum(w[0].numel() for w in maps) == m.flat.size(1) - 2 * tokens[0].numel() - places[0].numel()
    assert tokens.shape == before.shape == (1, 100, width)


def trained(steps, seeds, recipe=None, ids=None):
    """Return (held-out losses, curve) of seeds trained at once at width 16 on one text."""
    recipe = recipe or {"lr": 0.02, "lr_power": 0.5}
    return model.train(SIZES, 16, steps, [(text(1) if ids is None else ids, text(2, 900))] * len(seeds), [recipe] * len(seeds), seeds)


def test_models_are_trained_as_if_alone():
    both, curve = trained(30, [3, 4])
    alone = [trained(30, [s])[0][0] for s in (3, 4)]
    assert both == pytest.approx(alone, abs=1e-3) and abs(both[0] - both[1]) > 1e-4 and curve.shape == (30, 2)
    assert (trained(30, [3, 4])[0] == both).all()
    # Rates and texts are a model's own.
    other = {"lr": 0.001, "lr_power": 0.5}
    mixed, _ = model.train(SIZES, 16, 30, [(text(1), text(2, 900)), (text(5), text(2, 900))], [other, {"lr": 0.02, "lr_power": 0.5}], [3, 4])
    assert mixed[0] == pytest.approx(trained(30, [3], other)[0][0], abs=1e-3) and mixed[1] == pytest.approx(trained(30, [4], ids=text(5))[0][0], abs=1e-3)
    assert mixed[0] > both[0] + 0.1


def test_the_step_is_adamw():
    """One model against torch's own optimizer, on the same rows."""
    m, recipe, n = model.GPTs(SIZES, 16, [3], "cpu"), {"lr": 0.02, "lr_power": 0.5}, 12
    opt = torch.optim.AdamW([m.flat], lr=1.0, betas=model.BETAS, eps=model.EPS, weight_decay=model.DECAY)
    ids, rng, curve = torch.from_numpy(text(1)), np.random.Generator(np.random.PCG64([3, 1])), []
    for step in range(n):
        opt.param_groups[0]["lr"] = 0.02 * min(1, (step + 1) / 1.2) * (0.1 + 0.45 * (1 + math.cos(math.pi * step / n)))
        rows = torch.stack([ids[i:i + 9] for i in rng.integers(0, len(ids) - 8, 4)])[None]
        loss = m.losses(rows[..., :-1], rows[..., 1:])
        curve.append(loss.item())
        opt.zero_grad()
        loss.sum().backward()
        opt.step()
    assert trained(n, [3], recipe)[1][:, 0] == pytest.approx(curve, abs=2e-4)


def test_training_learns_the_chain():
    loss, curve = trained(400, [1], ids=text(1, 20000))
    assert curve[0, 0] > 3.5 and math.log(2) < loss[0] < math.log(2) + 0.1


def test_the_model_sees_only_the_past():
    m = model.GPTs(SIZES, 16, [1], "cpu")
    ids = torch.from_numpy(text(1, 8)).view(1, 1, 8)
    changed = ids.clone()
    changed[0, 0, 5] = 99
    with torch.no_grad():
        a, b = m.logits(ids)[0], m.logits(changed)[0]
    assert torch.allclose(a[:5], b[:5], atol=1e-6) and not torch.allclose(a[5:], b[5:], atol=1e-3)


PLAIN = {"book": "kjv", "vocab": 100, "stride": 1, "shuffle": 1, "fold": 0, "tongues": 1, "repeat": 1, "noise": 0, "unique": 0}


def made(**change):
    return corpora.build({**PLAIN, **change}, 100, 60_000, 4000, 1)


def test_texts():
    train, held_out = made()
    assert train.max() < 100 and 30_000 < len(train) < 60_000 and len(held_out) == len(set(range(3584))) and train.dtype == np.uint16
    assert (made()[0] == train).all()
    assert len(made(stride=2)[0]) == pytest.approx(len(train) / 2, rel=0.05)
    assert len(made(unique=5000)[0]) == 5000 and (made(unique=5000)[1] == held_out).all()
    twice = made(repeat=2)[0]
    assert (twice[::2] == twice[1::2]).all() and len(twice) > 1.9 * len(train)
    assert set(made(fold=12)[0]) <= set(range(12))
    noisy = made(noise=0.25)[0]
    assert (noisy != train).mean() == pytest.approx(0.25 * 0.99, abs=0.02)
    shuffled = made(shuffle=4)[0]
    assert (np.bincount(shuffled, minlength=100) == np.bincount(train, minlength=100)).mean() > 0.3 and (shuffled != train).mean() > 0.5
    assert len(made(book="both")[0]) > 1.8 * len(train)
    tongues = made(tongues=2)[0]
    # Each block is the plain one under one of two permutations.
    ways = {tuple(sorted({(int(a), int(b)) for a, b in zip(train[i:i + 512], tongues[i:i + 512])})) for i in range(0, 10 * 512, 512)}
    assert all(len(dict(w)) == len(w) for w in ways)


def steps(width, share=1.0):
    return round(share * SIZES.steps(width, PARAMS["target_flops"]))


def parse(value):
    content = value if isinstance(value, bytes) else json.dumps(value).encode()
    return answer.parse(content, PARAMS["widths"], SIZES, PARAMS["target_flops"])


GOOD = {"n_embd": 16, "max_iters": steps(16), "predicted_loss": 2.5}


def test_good_answers():
    assert parse(GOOD) == (16, steps(16), 2.5)
    assert parse({**GOOD, "canary": CANARY, "predicted_loss": 3}) == (16, steps(16), 3.0)
    for share in (0.905, 1.095):
        assert parse({**GOOD, "max_iters": steps(16, share)})[1] == steps(16, share)
    assert parse(task.start_answer(task.Family(FAMILY), PARAMS)) == (32, steps(32), 4.0)


@pytest.mark.parametrize("value, reason, says", [
    (b"", "wrong_output", "JSON"), (b"\xff\xfe", "wrong_output", "JSON"), (b"[" * 60_000, "wrong_output", "JSON"), (b"[]", "wrong_output", "list"), (b"null", "wrong_output", "NoneType"),
    (b" " * 70_000, "wrong_output", "65536"), (b'{"n_embd": 16, "n_embd": 8, "max_iters": 5, "predicted_loss": 2}', "wrong_output", "twice"),
    (json.dumps(GOOD).replace('"max_iters": ', '"max_iters": ' + "9" * 5000).encode(), "wrong_output", "JSON"),
    ({**GOOD, "predicted_loss": math.nan}, "wrong_output", "NaN"), ({**GOOD, "predicted_loss": math.inf}, "wrong_output", "Infinity"),
    (json.dumps(GOOD).replace("2.5", "1e999").encode(), "wrong_output", "predicted_loss"), ({**GOOD, "predicted_loss": 10 ** 4000}, "wrong_output", "predicted_loss"),
    ({**GOOD, "predicted_loss": -1}, "wrong_output", "predicted_loss"), ({**GOOD, "predicted_loss": 0}, "wrong_output", "predicted_loss"), ({**GOOD, "predicted_loss": 20.0}, "wrong_output", "predicted_loss"),
    ({**GOOD, "predicted_loss": True}, "wrong_output", "predicted_loss"), ({**GOOD, "predicted_loss": "2.5"}, "wrong_output", "predicted_loss"), ({**GOOD, "predicted_loss": None}, "wrong_output", "predicted_loss"),
    ({**GOOD, "n_embd": True}, "wrong_output", "integer"), ({**GOOD, "n_embd": 16.0}, "wrong_output", "integer"), ({**GOOD, "n_embd": "16"}, "wrong_output", "integer"), ({**GOOD, "n_embd": [16]}, "wrong_output", "integer"),
    ({**GOOD, "max_iters": 1e3}, "wrong_output", "integer"), ({**GOOD, "max_iters": False}, "wrong_output", "integer"),
    ({k: v for k, v in GOOD.items() if k != "predicted_loss"}, "wrong_output", "keys"), ({**GOOD, "raw": 1.0}, "wrong_output", "keys"),
    ({**GOOD, "n_embd": 20}, "rule_broken", "8, 16, 32"), ({**GOOD, "n_embd": 4}, "rule_broken", "8, 16, 32"), ({**GOOD, "n_embd": -16}, "rule_broken", "8, 16, 32"), ({**GOOD, "n_embd": 0}, "rule_broken", "8, 16"),
    ({**GOOD, "max_iters": steps(16, 0.89)}, "rule_broken", "steps"), ({**GOOD, "max_iters": steps(16, 1.11)}, "rule_broken", "steps"), ({**GOOD, "max_iters": 0}, "rule_broken", "steps"),
    ({**GOOD, "max_iters": -steps(16)}, "rule_broken", "steps"), ({**GOOD, "max_iters": 10 ** 30}, "rule_broken", "steps"), ({**GOOD, "max_iters": steps(8)}, "rule_broken", "steps")])
def test_bad_answers(value, reason, says):
    with pytest.raises(answer.Bad) as e:
        parse(value)
    assert e.value.args[0] == reason and says in e.value.args[1] and len(e.value.args[1]) < 400


def test_random_answers_are_judged_or_refused():
    rng = np.random.default_rng(1)
    good = json.dumps(GOOD).encode()
    for _ in range(3000):
        found = bytearray(good)
        for at in rng.integers(0, len(found), 3):
            found[at] = rng.integers(256)
        try:
            width, n, loss = parse(bytes(found))
        except answer.Bad:
            continue
        assert width in PARAMS["widths"] and abs(n * SIZES.step_flops(width) / 1e9 - 1) <= 0.1 and 0 < loss < 20


def test_formula_by_hand():
    f = task.Family(FAMILY)
    # Means 3.2, 2.5, 3.0, so L* = 2.5. The start (32, 4.0): 0.5 + 1.0 = 1.5 nats, unit 0.76 / 1.5.
    assert f.best == pytest.approx(2.5) and f.best_width() == 16 and sum(f.error(32, 4.0)) == pytest.approx(1.5)
    unit = 0.76 / 1.5
    cases = {(32, 4.0): 0.24, (16, 2.5): 1.0, (16, 2.7): 1 - unit * 0.2, (16, 2.3): 1 - unit * 0.2, (8, 3.2): 1 - unit * 0.7, (8, 2.2): 1 - unit * 1.7}
    for found, want in cases.items():
        raw, details = verdict.formula(f, *found)
        assert raw == pytest.approx(want), found
        assert details["raw_in_nats"] == pytest.approx(1 - (1 - want) / unit)
    # Each width has a variance of 0.02 over two seeds, so a mean of two has a standard error of 0.1.
    assert f.standard_error() == pytest.approx(0.1)


def judged(found=GOOD, evidence=None):
    return verdict.judge(json.dumps(found).encode(), evidence, task.Family(FAMILY), PARAMS, draws())


def studied(n=6, widths=(4, 8, 16), flops=3e7, key=1):
    return ledger.Ledger(n, int(flops), n, widths).sign(draws(key)).encode()


def test_evidence():
    miss = {**GOOD, "predicted_loss": 2.51}
    v = judged(miss, studied())
    assert v["valid"] and v["flags"] == [] and v["details"]["experiments"] == 6 and v["raw"] == pytest.approx(1 - 0.76 / 1.5 * 0.01)
    assert "50.0%" in v["message"] and "6 experiments" in v["message"]
    assert judged(miss)["flags"] == ["guess"] and judged(miss, studied(5))["flags"] == ["guess"] and judged(miss, studied(40, (8, 16)))["flags"] == ["guess"]
    assert judged(miss, studied(key=2))["flags"] == ["forged_ledger", "guess"]
    for forged in (b"", b"x" * 4097, b"\xff", studied().replace(b"6.", b"9.", 1), studied() + b"0", b"99.99.1.8-16-32." + b"0" * 64):
        assert "forged_ledger" in judged(miss, forged)["flags"]
    assert judged(miss, studied() + b"\n")["flags"] == []
    assert judged(GOOD, studied())["flags"] == ["exact_table_value"]


def test_what_the_solver_sees_depends_on_nothing_hidden():
    told = {judged({**GOOD, "n_embd": w, "max_iters": steps(w), "predicted_loss": p}, studied())["message"] for w in PARAMS["widths"] for p in (1.0, 2.5, 9.0)}
    assert len(told) == 1


def test_ledgers():
    for n, flops, telling, widths in ((0, 0, 0, ()), (1, 10 ** 12, 1, (4,)), (200, 5, 7, (4, 8, 96))):
        back = ledger.verify(ledger.Ledger(n, flops, telling, widths).sign(draws()), draws())
        assert (back.experiments, back.flops, back.telling, back.widths) == (n, flops, telling, set(widths))
    with pytest.raises(ledger.Forged):
        ledger.verify(ledger.Ledger(1, 1, 1, (8,)).sign(draws(2)), draws())


def new_desk(**change):
    return desk.Desk(family(), draws(), {**PARAMS, **change})


def ask(d, **request):
    return d.request("POST", "/v1/experiments", json.dumps(request).encode())


def test_an_experiment():
    d = new_desk()
    r = ask(d, n_embd=8, max_iters=40, seed=3)
    assert r["flops"] == 40 * 448_512 == PARAMS["total_flops"] - r["left"]["flops"] and r["left"]["experiments"] == 11
    own = draws().seed("experiment 3")
    want, curve = model.train(SIZES, 8, 40, [(text(1), text(2, 900))], [FAMILY["recipe"]], [own])
    assert r["loss"] == round(float(want[0]), 4) and len(r["curve"]) == 20 and r["curve"][-1] == [40, round(float(curve[38:, 0].mean()), 4)]
    assert ask(d, n_embd=8, max_iters=40, seed=3)["loss"] == r["loss"] and ask(d, n_embd=8, max_iters=40)["loss"] != r["loss"]
    assert set(r) == {"n_embd", "max_iters", "seed", "flops", "loss", "losses", "curve", "left", "ledger"}  # no weights, no text
    known = ledger.verify(d.request("GET", "/v1/left", b"")["ledger"], draws())
    assert (known.experiments, known.flops, known.widths) == (3, 3 * r["flops"], {8})
    assert d.state() == {"experiments": 3, "telling": 3, "flops": 3 * r["flops"], "widths": [8], "requests": 4, "refused": 0, "malformed": 0}


@pytest.mark.parametrize("body", [
    b"", b"[]", b"3", b"{}", b"[" * 100_000, b"\xff", b'{"n_embd": 8}', b'{"n_embd": 8, "max_iters": 0}', b'{"n_embd": 8, "max_iters": -5}', b'{"n_embd": 8, "max_iters": 1.0}',
    b'{"n_embd": 8, "max_iters": true}', b'{"n_embd": 8, "max_iters": "5"}', b'{"n_embd": 8, "max_iters": NaN}', b'{"n_embd": 8, "max_iters": 1e999}', b'{"n_embd": 8, "max_iters": 1' + b"0" * 4000 + b"}",
    b'{"n_embd": 8, "max_iters": 45}', b'{"n_embd": 32, "max_iters": 40}', b'{"n_embd": 12, "max_iters": 5}', b'{"n_embd": true, "max_iters": 5}', b'{"n_embd": 8.0, "max_iters": 5}', b'{"n_embd": [8], "max_iters": 5}',
    b'{"n_embd": -8, "max_iters": 5}', b'{"n_embd": 8, "max_iters": 5, "seed": 1000}', b'{"n_embd": 8, "max_iters": 5, "seed": -1}', b'{"n_embd": 8, "max_iters": 5, "seed": true}', b'{"n_embd": 8, "max_iters": 5, "weights": []}',
    b'{"n_embd": 8, "max_iters": 5, "repeats": 0}', b'{"n_embd": 8, "max_iters": 5, "repeats": -1}', b'{"n_embd": 8, "max_iters": 5, "repeats": 17}', b'{"n_embd": 8, "max_iters": 5, "repeats": true}'])
def test_bad_requests_cost_nothing(body):
    d = new_desk()
    with pytest.raises(serving.Refused) as e:
        d.request("POST", "/v1/experiments", body)
    assert e.value.args[0] == 400 and d.state() == {"experiments": 0, "telling": 0, "flops": 0, "widths": [], "requests": 1, "refused": 1, "malformed": 0}


def test_repeats_are_experiments():
    d, each = new_desk(), 40 * 448_512
    r = ask(d, n_embd=8, max_iters=40, seed=2, repeats=3)
    assert r["flops"] == 3 * each and r["left"] == {"flops": 6e7 - 3 * each, "experiments": 9} and len(set(r["losses"])) == 3
    assert r["loss"] == pytest.approx(sum(r["losses"]) / 3, abs=1e-3)
    assert ask(new_desk(), n_embd=8, max_iters=40, seed=3)["loss"] == pytest.approx(r["losses"][1], abs=1e-3)
    with pytest.raises(serving.Refused) as e:
        ask(d, n_embd=8, max_iters=5, repeats=10)  # FLOPs there are, experiments not
    assert e.value.args[0] == 429
    with pytest.raises(serving.Refused) as e:
        ask(new_desk(), n_embd=8, max_iters=40, repeats=4)  # 4 of 3.3 experiments
    assert e.value.args[0] == 429


def test_limits_of_flops_and_number():
    d = new_desk()
    for _ in range(3):
        ask(d, n_embd=8, max_iters=44)
    with pytest.raises(serving.Refused) as e:
        ask(d, n_embd=8, max_iters=2)  # 132 of 133.77 steps are used
    assert e.value.args[0] == 429 and ask(d, n_embd=8, max_iters=1)["left"]["flops"] >= 0
    d = new_desk(experiments=2)
    ask(d, n_embd=8, max_iters=1), ask(d, n_embd=8, max_iters=1)
    with pytest.raises(serving.Refused) as e:
        ask(d, n_embd=8, max_iters=1)
    assert e.value.args[0] == 429 and d.state()["experiments"] == 2


def test_requests_have_an_end():
    d = new_desk()
    for _ in range(desk.MAX_REQUESTS):
        d.request("GET", "/v1/left", b"")
    for method, path in (("GET", "/v1/left"), ("POST", "/v1/experiments")):
        with pytest.raises(serving.Refused) as e:
            d.request(method, path, b'{"n_embd": 8, "max_iters": 1}')
        assert e.value.args[0] == 429
    with pytest.raises(serving.Refused) as e:
        new_desk().request("GET", "/v1/weights", b"")
    assert e.value.args[0] == 404


def test_racing_connections_do_not_overrun(monkeypatch):
    """Many threads at once, with a pause where a check and its charge would come apart."""
    d, granted, pause = new_desk(), [], threading.Event()
    monkeypatch.setattr(d, "_train", lambda *a: (pause.wait(0.002), {"loss": 0.0, "curve": []})[1])

    def many():
        for _ in range(10):
            try:
                granted.append(ask(d, n_embd=8, max_iters=40)["flops"])
            except serving.Refused:
                pass
    threads = [threading.Thread(target=many) for _ in range(16)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sum(granted) == d.ledger.flops == 3 * 40 * 448_512 <= PARAMS["total_flops"] and d.state()["requests"] == 160 and d.state()["refused"] == 157


def test_every_family_is_drawn_about_as_often():
    found = [types.SimpleNamespace(i=i) for i in range(9)]
    drawn = [task.draw(found, scoring.Draws(bytes([a, b]) * 16)).i for a in range(30) for b in range(30)]
    assert min(np.bincount(drawn, minlength=9)) > 60


def check(losses, **change):
    return tables.check([{**FAMILY, "losses": losses, **change}], PARAMS, {"start_error": 0.4})


def test_tables_must_fit():
    spread = {"8": [3.19, 3.21], "16": [2.49, 2.51], "32": [2.99, 3.01]}
    facts = check(spread)
    assert facts["tables"]["f"]["best_n_embd"] == 16 and facts["tables"]["f"]["start_error"] == 1.5 and facts["standard_error"] == pytest.approx(0.01)
    with pytest.raises(tables.Unfit, match="edge"):
        check({"8": [2.4, 2.4], "16": [2.5, 2.5], "32": [3.0, 3.0]})
    with pytest.raises(tables.Unfit, match="edge"):
        check({"8": [2.6, 2.6], "16": [2.5, 2.5], "32": [2.4, 2.4]})
    with pytest.raises(tables.Unfit, match="start"):
        check(spread, start={"n_embd": 16, "predicted_loss": 2.6})
    with pytest.raises(tables.Unfit, match="standard errors"):
        check({"8": [2.7, 3.7], "16": [2.0, 3.0], "32": [2.5, 3.5]})


def test_tables_measured_elsewhere(tmp_path):
    params = {**PARAMS, "target_flops": 4e6, "experiment_flops": 1e6}
    recipe = {"seed": 1, "seeds": 2, "families": [{"name": "f", "recipe": FAMILY["recipe"]}], "characters": 1, "held_out": 1}
    texts, seen = {"f": (text(1), text(2, 900)), "g": (text(3), text(4, 900))}, []
    both = tables.measure(params, {**recipe, "families": recipe["families"] + [{"name": "g", "recipe": FAMILY["recipe"]}]}, texts, log=lambda found: seen.append(len(found["g"]["first"]) + len(found["g"]["target"])))
    # Width 4 takes 6 steps of 1e6 FLOPs, 8 takes 2; one step of 16 or 32 takes more.
    assert seen == [1, 2, 3, 4, 5] and list(both["g"]["target"]) == ["8", "16", "32"] and list(both["g"]["first"]) == ["4", "8"] and both["f"] != both["g"]
    losses = tables.measure(params, recipe, texts, done={"f": {"target": {"8": [1.0, 2.0]}}})
    assert losses["f"]["target"]["8"] == [1.0, 2.0] and losses["f"]["target"]["16"] == pytest.approx(both["f"]["target"]["16"], abs=0.01)
    fields = tables.fields(recipe["families"][0], losses["f"], params)
    assert fields["losses"] == losses["f"]["target"] and fields["start"] == {"n_embd": 8, "predicted_loss": round(sum(losses["f"]["first"]["8"]) / 2, 4)}  # 4 cannot be answered
    path = tmp_path / "gpu.json"
    with pytest.raises(tables.Unfit, match="measure.py"):
        tables.read(path, params, recipe)
    path.write_text(json.dumps({"digest": tables.digest(params, recipe), "losses": losses}))
    assert tables.read(path, params, recipe) == losses == tables.read(path, {**params, "target_flops": 4_000_000}, json.loads(json.dumps(recipe)))
    with pytest.raises(tables.Unfit, match="measure again"):
        tables.read(path, {**params, "target_flops": 5e6}, recipe)
    path.write_text(json.dumps({"digest": tables.digest(params, recipe), "losses": {"f": {"target": {"8": [1, 2]}, "first": {}}}}))
    with pytest.raises(tables.Unfit, match="every width"):
        tables.read(path, params, recipe)


def test_package():
    files = [p for p in list(HERE.rglob("*")) + [pathlib.Path(__file__)] if p.is_file() and "__pycache__" not in p.parts and p.parent.name != "tables"]
    assert len(files) > 60
    for path in files:
        found = path.read_text()
        assert CANARY in found.split("\n", 1)[0] and found.count("\n") <= 400, path
    counts = {kind: len(list((HERE / "solutions" / kind).iterdir())) for kind in ("lazy", "invalid", "flagged")}
    assert counts["lazy"] >= 2 and counts["invalid"] >= 5 and counts["flagged"] >= 2
    for kind in ("invalid", "flagged"):
        for path in (HERE / "solutions" / kind).iterdir():
            e = yaml.safe_load((path / "expected.yaml").read_text())
            assert e["valid"] is (kind == "flagged") and (e.get("reason") in scoring.REASONS or e["flags"])
    for name in ("test", "cpu", "gpu"):
        p = DECLARED["profiles"][name]["params"]
        sizes = cost.Sizes(**p["sizes"])
        assert set(p["widths"]) <= set(p["experiment_widths"])
        assert all(sizes.steps(w, p["target_flops"]) >= 30 for w in p["widths"])  # rounding of steps is far from 10%
        if name != "test":
            assert p["experiment_flops"] <= p["target_flops"] / 50 and len(DECLARED["profiles"][name]["assets"]["families"]) >= 8
    for name, words in (("gpu", ("measure.py", "GPU")), ("paper", ("5e17", "(1)", "H100"))):
        assert all(w in DECLARED["profiles"][name]["refused"] for w in words)
