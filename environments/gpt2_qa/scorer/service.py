# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The judge that a solver asks during its attempt."""

import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import scoring  # noqa: E402
import serving  # noqa: E402
from gpt2_qa.scorer import oracle, task  # noqa: E402


def main():
    """Serve the attempt that standard input names."""
    asked = scoring.preparation()
    desk = oracle.Desk(task.Assets(asked.assets_dir), task.Puzzle(asked.attempt), asked.attempt.numpy("preferences"), asked.params["pairs"], serving.tell)
    serving.serve(desk)


if __name__ == "__main__":
    main()
