# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The endpoint for practice during an attempt: other problems, and tests that show which programs are right."""

import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import scoring  # noqa: E402
import serving  # noqa: E402
from rust_codecontests.scorer import families, problems, standin, verdict  # noqa: E402
from rust_codecontests.scorer.endpoint import Desk  # noqa: E402


def desk(asked):
    """Return the Desk of an attempt, given its scoring.Preparation."""
    params = asked.params
    drawn = problems.draw(asked.attempt, families.PRACTICE, params["practice"], params["hidden_tests"])
    model = standin.Model(drawn, asked.attempt, params["practice_completions"], params["kinds"])
    shown = [{**p.shown(), "tests": [{"input": t.input, "output": t.output} for t in p.hidden]} for p in drawn]
    return Desk(model, {"problems": shown, "completions": model.cap, "label": verdict.LABEL}, tell=serving.tell)


if __name__ == "__main__":
    serving.serve(desk(scoring.preparation()))
