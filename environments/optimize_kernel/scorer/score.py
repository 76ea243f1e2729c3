# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Scores one submission of optimize_kernel: ln(milliseconds), lower is better."""

import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import scoring  # noqa: E402
from optimize_kernel.scorer import verdict  # noqa: E402


def open_bench(request, runner, sources, params):
    """Return the context manager that runs solutions on the profile's device."""
    if params["device"] == "cpu":
        from optimize_kernel.scorer import cpu_bench

        return cpu_bench.Bench(request, runner, sources, params)
    if params["device"] == "cuda":
        from optimize_kernel.scorer import gpu_bench

        return gpu_bench.Bench(request, runner, sources, params)
    raise ValueError("params.device: found %r, expected cpu or cuda" % params["device"])


if __name__ == "__main__":
    scoring.main(lambda request, runner: verdict.score(request, runner, open_bench))
