# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The trainer that a solver asks during its attempt."""

import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import compat  # noqa: E402
import scoring  # noqa: E402
import serving  # noqa: E402
from scaling_law.scorer import desk, task  # noqa: E402


def main():
    """Serve the attempt that standard input names."""
    asked = scoring.preparation()
    compat.setup(0, asked.threads)
    family = task.draw(task.families(asked.assets_dir), asked.attempt)
    serving.serve(desk.Desk(family, asked.attempt, asked.params, serving.tell))


if __name__ == "__main__":
    main()
