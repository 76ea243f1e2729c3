# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Makes the workspace of one attempt: text under the attempt's own names of tokens, and the start's program."""

import json
import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import numpy as np  # noqa: E402

import arrays  # noqa: E402
import scoring  # noqa: E402
from restricted_mlm.scorer import task  # noqa: E402

TOLD = ("vocab", "context", "batch", "mask", "floor", "max_parameters", "max_nodes", "max_flops", "max_live_bytes")


def lay_out(assets, p, params, solution, data):
    """Write what a solver begins with, under the naming p, to the directories solution and data."""
    text, constants = assets.solution("start")
    (solution / task.PROGRAM).write_text(text)
    arrays.save(solution / task.CONSTANTS, task.relabelled(constants, assets.facts["start_tables"], p))
    arrays.save(data / "train.st", {"ids": p[assets.train].astype(np.uint16)})
    (data / "config.json").write_text(json.dumps({name: params[name] for name in TOLD}, indent=1) + "\n")
    here, common = pathlib.Path(__file__).parent, pathlib.Path(arrays.__file__).parent
    for module in (here / "program.py", here / "record.py", common / "arrays.py", common / "compat.py"):
        (data / module.name).write_bytes(module.read_bytes())


def main():
    """Prepare what standard input asks for."""
    asked = scoring.preparation()
    out = pathlib.Path(asked.out_dir)
    for name in ("solution", "data"):
        (out / name).mkdir()
    p = task.shown(asked.attempt, asked.params["vocab"])
    lay_out(task.Assets(asked.assets_dir), p, asked.params, out / "solution", out / "data")


if __name__ == "__main__":
    main()
