"""Conventional numpy computation of the score@k table, to compare its speed with Go's.

For every alias and time limit of the 1,808 published rows and k = 1, 2, 4 ... up
to the smallest number of attempts and 128 (47 suite cells): the mean over
environments of the without-replacement score@k, and a 95% percentile interval from
5,000 bootstrap replicates, each of which resamples every environment's scores.

Two ways of writing the same computation:
  loop        one replicate at a time, the way analysis scripts usually do it
  vectorized  all replicates of a cell as one (replicates, n) array, sorted at once

Usage: numpy_score_at_k.py [loop|vectorized] [runs.jsonl]
Prints the CPU seconds of one thread to stderr and the table as CSV to stdout.
"""

import json
import math
import os
import sys
import time

# One thread, also in the linear algebra library.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np

REPLICATES = 5000
HIDDEN = "ai_rd_small_scaling_law"  # its last score counts, so every k is the mean


def weights(n: int, k: int) -> np.ndarray:
    """Weight of each ascending score in the expected best of k out of n."""
    return np.array([math.comb(i - 1, k - 1) / math.comb(n, k) for i in range(1, n + 1)])


def loop(cells: list[tuple[np.ndarray, int]], rng: np.random.Generator) -> np.ndarray:
    out = np.empty(REPLICATES)
    prepared = [(x, weights(len(x), k)) for x, k in cells]
    for b in range(REPLICATES):
        total = 0.0
        for x, w in prepared:
            resample = rng.choice(x, size=len(x), replace=True)
            total += np.dot(np.sort(resample), w)
        out[b] = total / len(prepared)
    return out


def vectorized(cells: list[tuple[np.ndarray, int]], rng: np.random.Generator) -> np.ndarray:
    total = np.zeros(REPLICATES)
    for x, k in cells:
        resamples = x[rng.integers(0, len(x), size=(REPLICATES, len(x)))]
        resamples.sort(axis=1)
        total += resamples @ weights(len(x), k)
    return total / len(cells)


def main() -> None:
    method = {"loop": loop, "vectorized": vectorized}[sys.argv[1] if len(sys.argv) > 1 else "loop"]
    here = os.path.dirname(os.path.abspath(__file__))
    default = os.path.join(here, "../../../data/published/metr_re_bench_runs.jsonl")
    with open(sys.argv[2] if len(sys.argv) > 2 else default, encoding="utf-8") as f:
        rows = [json.loads(line) for line in f]
    table: dict[tuple[str, int], dict[str, list[float]]] = {}
    for row in rows:
        key = (row["alias"], row["time_limit"])
        table.setdefault(key, {}).setdefault(row["task_family"], []).append(row["score"])

    rng = np.random.default_rng(0)
    start = time.process_time()
    lines = []
    for (alias, limit), environments in sorted(table.items()):
        k, smallest = 1, min(len(x) for x in environments.values())
        while k <= min(smallest, 128):
            cells = [
                (np.array(environments[name]), 1 if name == HIDDEN else k)
                for name in sorted(environments)
            ]
            point = np.mean([np.dot(np.sort(x), weights(len(x), ke)) for x, ke in cells])
            low, high = np.percentile(method(cells, rng), [2.5, 97.5])
            lines.append(f"{alias},{limit},{k},{point:.6f},{low:.6f},{high:.6f}")
            k *= 2
    seconds = time.process_time() - start
    print("alias,time_limit_s,k,score,low,high")
    print("\n".join(lines))
    print(f"{len(lines)} suite cells, {seconds:.3f} CPU seconds", file=sys.stderr)


if __name__ == "__main__":
    main()
