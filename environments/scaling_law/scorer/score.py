# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Scores one submission of scaling_law: an answer against its family's table, higher is better."""

import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import scoring  # noqa: E402
from scaling_law.scorer import verdict  # noqa: E402

if __name__ == "__main__":
    scoring.main(verdict.score)
