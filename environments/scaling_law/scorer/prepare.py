# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Lays out what a solver begins with: the answer of a first look, sizes and limits."""

import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import scoring  # noqa: E402
from scaling_law.scorer import task  # noqa: E402


def main():
    """Prepare what standard input asks for."""
    asked = scoring.preparation()
    out = pathlib.Path(asked.out_dir)
    for name in ("solution", "data"):
        (out / name).mkdir()
    family = task.draw(task.families(asked.assets_dir), asked.attempt)
    task.lay_out(family, asked.params, out / "solution", out / "data")


if __name__ == "__main__":
    main()
