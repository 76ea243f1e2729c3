# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Runs solutions on one task each: a sandbox and a copy of the solution of its own for every run.

The clock is the runner's: from the start of the sandbox's first process to the
end of its last one. The result is read after that, so nothing can be written
late, and nothing of a run is there in the next one.
"""

from typing import NamedTuple

import numpy as np

import arrays
import scoring

OUTPUT = "weights.st"
COMMAND = ["sh", "./finetune.sh", "/data", "/solution/" + OUTPUT]


class Refused(Exception):
    """args: reason, message. The submission's fault."""


class ReferenceFailed(Exception):
    """The trusted run failed: a fault of the machine, no verdict."""


class Run(NamedTuple):
    """seconds, and what came out: name -> float32 array."""

    seconds: float
    weights: dict


def shapes(base):
    """Return name -> (dtype, shape) as arrays.load expects it."""
    return {name: ("float32", a.shape) for name, a in base.items()}


def read(job, base):
    """Return the weights that a finished run left. Raises Refused."""
    most = sum(a.nbytes for a in base.values()) + arrays.MAX_HEADER
    try:
        with job.collect(OUTPUT, most) as f:
            weights = arrays.load(f, shapes(base), most, finite=False)
    except scoring.CollectRefused as e:
        raise Refused("wrong_output", "output: %s" % e) from None
    except arrays.BadArrays as e:
        raise Refused("wrong_output", "%s: %s" % (OUTPUT, e)) from None
    for name, a in weights.items():
        if not np.isfinite(a).all():
            raise Refused("nan", "%s: holds values that are not finite" % name)
    return weights


def start(runner, source, folder, params):
    """Start a solution ("snapshot" or "reference") on the input in the work folder; return its scoring.Submission."""
    return runner.spawn("run", source, COMMAND, limits={"wall_s": params["run_wall_s"]}, writable=True, data=folder,
                        device=params["device"] == "cuda")


def finish(job, source, base):
    """Await a started solution; return its Run.

    Raises Refused when it failed, and ReferenceFailed when that is the reference.
    """
    ended = job.wait()
    try:
        if not ended.ok:
            reason, message = ended.reason()
            raise Refused(reason, "%s\n%s" % (message, (ended.stderr or ended.stdout or "").strip()[-1000:]))
        return Run(ended.wall_s, read(job, base))
    except Refused as e:
        if source == "reference":
            raise ReferenceFailed("%s: %s" % e.args) from e
        raise


def run_pair(runner, order, folder, base, params):
    """Run both solutions on the same input; return source -> Run. Raises Refused and ReferenceFailed.

    order: the sources, the second one to run after the end of the first; with
    params["together"] beside it, for tests in which times do not matter.
    """
    if not params.get("together"):
        done = {}
        for source in order:
            if source == "reference" and params["warm_up"]:
                warm_up(runner, params)
            done[source] = finish(start(runner, source, folder, params), source, base)
        return done
    jobs = {source: start(runner, source, folder, params) for source in order}
    try:
        return {source: finish(job, source, base) for source, job in jobs.items()}
    finally:
        for job in jobs.values():
            job.kill()


def warm_up(runner, params):
    """Have the reference's libraries in the page cache, untimed.

    A submission can drop them from it (posix_fadvise) to slow the reference
    that it is compared with; before the first run they may never have been read.
    """
    job = runner.spawn("run", "reference", ["python3", "-c", "import torch"], limits={"wall_s": params["run_wall_s"]})
    ended = job.wait()
    if not ended.ok:
        raise ReferenceFailed("warm-up: %s: %s" % (ended.reason()[1], ended.stderr[-1000:]))
