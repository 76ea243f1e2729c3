"""tuner: random search over the parameters that a solution declares.

The solution's parameters.json maps each name (but those that begin with an
underscore, which are notes) to an object with `value`, the
setting in force, and either `choices`, a list, or `min` and `max` with `type`
("int", the default, or "float") and `scale` ("linear", the default, or "log").
The tuner scores the solution as it is, then settings drawn at random, and
leaves the best one in place. It stops when every setting was tried, when the
score is hidden, or when the time is over.
"""

import json
import math
import os
import random
import subprocess
import sys
import time

FILE = "parameters.json"


def draw(rng, name, p):
    if "choices" in p:
        return rng.choice(p["choices"])
    low, high = p["min"], p["max"]
    if p.get("scale") == "log":
        v = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        v = rng.uniform(low, high)
    if p.get("type", "int") == "int":
        v = min(high, max(low, round(v)))
    return v


def write(params):
    tmp = FILE + ".new"
    with open(tmp, "w") as f:
        json.dump(params, f, indent=2)
        f.write("\n")
    os.replace(tmp, FILE)


def score():
    """Return the reply of one scoring, waiting while the runner is busy."""
    while True:
        out = subprocess.run(["score", "--json"], stdout=subprocess.PIPE).stdout
        reply = json.loads(out) if out else {"ok": False, "error": "no answer"}
        if reply["ok"] or reply["error"] not in ("busy", "runner"):
            return reply
        time.sleep(1)


def main():
    with open(FILE) as f:
        declared = json.load(f)
    params = {k: p for k, p in declared.items() if not k.startswith("_")}
    rng = random.Random(int(os.environ["REBENCH_SEED"]))
    better = min if os.environ["REBENCH_DIRECTION"] == "min" else max
    best, best_params = None, params
    seen = set()
    fresh = True
    while fresh:
        seen.add(json.dumps(params, sort_keys=True))
        reply = score()
        if not reply["ok"]:
            print("tuner: stopped: %s" % reply["error"], file=sys.stderr)
            break
        entry = reply["entry"]
        values = {k: p["value"] for k, p in params.items()}
        print(json.dumps({"values": values, "valid": entry["valid"], "score": entry["score"]}), flush=True)
        if entry["valid"] and entry["score"] is None:
            print("tuner: the score is hidden, there is nothing to search by", file=sys.stderr)
            break
        if entry["valid"] and (best is None or better(best, entry["score"]) != best):
            best, best_params = entry["score"], params
        fresh = False
        for _ in range(1000):
            params = {k: dict(p, value=draw(rng, k, p)) for k, p in params.items()}
            if json.dumps(params, sort_keys=True) not in seen:
                fresh = True
                write(params)
                break
    write(best_params)
    return 0


sys.exit(main())
