# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Measuring a family's table, and what every table must be like."""

import hashlib
import json
import statistics

from scaling_law.scorer import cost, model, task


KINDS = ("target", "first")


class Unfit(Exception):
    """A table with which the task would mean nothing; says why."""


def measure(params, recipe, texts, device="cpu", done=None, log=None):
    """Train every family; return name -> {"target": width -> losses, "first": width -> losses}, held-out, one a seed.

    target: the widths that may be answered, at the target; first: the widths of
    experiments, at the FLOPs of the largest experiment. texts: name -> (training
    ids, held-out ids). All families and seeds of a width are trained at once.
    done: what an earlier call has measured; log(found) is called with all that is
    known after each width.
    """
    sizes, families = cost.Sizes(**params["sizes"]), recipe["families"]
    out = {f["name"]: {kind: dict((done or {}).get(f["name"], {}).get(kind, {})) for kind in KINDS} for f in families}
    models = [(f, 1000 * recipe["seed"] + i) for f in families for i in range(recipe["seeds"])]
    for kind, width in [("first", w) for w in params["experiment_widths"]] + [("target", w) for w in params["widths"]]:
        if all(str(width) in found[kind] for found in out.values()):
            continue
        # As an experiment must: not more than the limit.
        steps = int(params["experiment_flops"] // sizes.step_flops(width)) if kind == "first" else sizes.steps(width, params["target_flops"])
        if steps < 1:
            continue
        losses, _ = model.train(sizes, width, steps, [texts[f["name"]] for f, _ in models], [f["recipe"] for f, _ in models], [seed for _, seed in models], device)
        for i, f in enumerate(families):
            out[f["name"]][kind][str(width)] = [float(x) for x in losses[i * recipe["seeds"]:(i + 1) * recipe["seeds"]]]
        if log:
            log(out)
    return out


def fields(declared, measured, params):
    """Return the entry of families.json of a declared family: its start is the best width of its largest experiments, and the loss there."""
    first = {w: statistics.fmean(measured["first"][str(w)]) for w in params["widths"] if str(w) in measured["first"]}
    width = min(first, key=first.get)
    return {"name": declared["name"], "recipe": declared["recipe"], "losses": measured["target"], "start": {"n_embd": width, "predicted_loss": round(first[width], 4)}}


def check(found, params, recipe):
    """Return facts about all tables; raises Unfit unless each has its best width inside and a start that is clearly wrong."""
    facts = {"families": len(found), "target_flops": params["target_flops"], "tables": {}}
    for family in map(task.Family, found):
        start, se, best = sum(family.error(*family.start)), family.standard_error(), family.best_width()
        if best in (min(family.mean), max(family.mean)):
            raise Unfit("%s: the best width is %d, at the edge of the table" % (family.name, best))
        if start < recipe["start_error"] or start < 10 * se:
            raise Unfit("%s: the start's error is %.3f nats, expected at least %g and 10 standard errors of %.3f" % (family.name, start, recipe["start_error"], se))
        facts["tables"][family.name] = {"best_n_embd": best, "best_loss": round(family.best, 4), "start": family.start, "start_error": round(start, 4),
                                        "standard_error": round(se, 5), "loss": {str(w): round(m, 4) for w, m in family.mean.items()}}
    facts["standard_error"] = round(statistics.fmean(t["standard_error"] for t in facts["tables"].values()), 5)
    return facts


def digest(params, recipe):
    """Return what a table depends on, as a hex digest: sizes, widths, target, families and how text is made."""
    said = {"params": {k: params[k] for k in ("sizes", "widths", "target_flops", "experiment_widths", "experiment_flops")}, "recipe": {k: recipe[k] for k in ("seed", "seeds", "families", "characters", "held_out")}}
    return hashlib.sha256(json.dumps(_plain(said), sort_keys=True).encode()).hexdigest()


def _plain(value):
    """Return value with whole numbers as integers: 2e10 arrives as 20000000000 from one reader and as a float from another."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read(path, params, recipe):
    """Return what measure returned, of a file that measure.py wrote; raises Unfit when it is of another profile or incomplete."""
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        raise Unfit("%s: missing: measure.py makes it on a machine with a GPU" % path) from None
    if found.get("digest") != digest(params, recipe):
        raise Unfit("%s: measured for other sizes, families or targets than environment.yaml has: measure again, or remove it where no GPU is needed" % path)
    out = found["losses"]
    if set(out) != {f["name"] for f in recipe["families"]}:
        raise Unfit("%s: expected every family" % path)
    for name, losses in out.items():
        if sorted(map(int, losses["target"])) != sorted(params["widths"]) or any(len(each) != recipe["seeds"] for kind in KINDS for each in losses[kind].values()):
            raise Unfit("%s: %s: expected %d seeds of every width" % (path, name, recipe["seeds"]))
    return out
