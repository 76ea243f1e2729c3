# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Measures the tables of a profile outside the runner, on a GPU for instance.

    python3 environments/scaling_law/measure.py gpu --device cuda

writes tables/gpu.json, which assets.py reads. Widths that the file has already
are kept, so that a broken run can be continued. Tables decide scores: keep the
file out of a public repository.
"""

import argparse
import json
import os
import pathlib
import sys
import time

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent), str(_HERE.parent / "common")]

import yaml  # noqa: E402

import compat  # noqa: E402
from scaling_law.scorer import corpora, tables  # noqa: E402


def main():
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("profile")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path)
    asked = parser.parse_args()
    profile = yaml.safe_load((_HERE / "environment.yaml").read_text())["profiles"][asked.profile]
    params, recipe = profile["params"], profile["assets"]
    out = asked.out or _HERE / "tables" / (asked.profile + ".json")
    compat.setup(recipe["seed"], asked.threads)
    device = compat.device(asked.device)
    digest, losses = tables.digest(params, recipe), {}
    if out.exists():
        before = json.loads(out.read_text())
        if before["digest"] == digest:
            losses = before["losses"]
    texts = {f["name"]: corpora.build(f["text"], params["sizes"]["vocab"], recipe["characters"], recipe["held_out"], recipe["seed"]) for f in recipe["families"]}
    begin = time.monotonic()

    def keep(found):
        widths = {kind: sorted(map(int, each)) for kind, each in next(iter(found.values())).items()}
        print("%.0f s: widths %s" % (time.monotonic() - begin, widths), flush=True)
        new = out.with_suffix(".new")
        new.write_text(json.dumps({"digest": digest, "losses": found, **compat.versions()}, indent=1))
        os.replace(new, out)

    losses = tables.measure(params, recipe, texts, device, losses, keep)
    found = [tables.fields(f, losses[f["name"]], params) for f in recipe["families"]]
    print(json.dumps(tables.check(found, params, recipe), indent=1))


if __name__ == "__main__":
    main()
