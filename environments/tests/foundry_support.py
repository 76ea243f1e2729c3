# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""What the tests of optimize_llm_foundry share: small assets, and a runner that plays."""
import contextlib
import functools
import io
import json
import types

import foundry_variants as variants
import numpy as np
import torch
import yaml

import arrays
import corpus
import gpt
import scoring
from optimize_llm_foundry.scorer import task

DECLARED = yaml.safe_load((variants.ENVIRONMENT / "environment.yaml").read_text())
PARAMS = DECLARED["profiles"]["test"]["params"]
MODEL = PARAMS["model"]


@functools.lru_cache(None)
def small_assets():
    """Return a base trained for some steps, as assets.py does it, and other text, on a synthetic language."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    ids = corpus.class_chain(1, 30000, classes=16, per_class=16)[0]
    model = gpt.GPT(gpt.Config(**MODEL))
    gpt.train(model, ids[:10000], steps=60, batch=16, lr=0.01, seed=1)
    other = corpus.relabel(ids, corpus.relabelling(np.random.default_rng(2), 256))  # text that the base does not know
    return types.SimpleNamespace(base=gpt.export(model), pool=other[:20000], held_out=other[20000:])


def drawn(name, seed=3, **changes):
    """Return a task.Task of the test profile with changed params, drawn by seed from the small assets."""
    found = small_assets()
    return task.draw(name, dict(PARAMS, **changes), found.base, found.pool, found.held_out, np.random.default_rng(seed))


class Play:
    """As scoring.Runner: solutions are functions of (config, folder) -> (seconds, bytes of the output or None), or raise Ends."""

    def __init__(self, work, snapshot, reference):
        self.work, self.does, self.spawned, self.locked, self.killed = work, {"snapshot": snapshot, "reference": reference}, [], False, 0

    @contextlib.contextmanager
    def timed(self):
        self.locked = True
        yield
        self.locked = False

    def spawn(self, stage, source, argv, **given):
        assert self.locked and stage == "run"
        folder = self.work / given["data"]
        config = json.loads((folder / "config.json").read_text())
        assert argv == ["sh", "./finetune.sh", "/data", "/solution/weights.st"] and given["writable"] and "keep" not in given
        assert given["limits"] == {"wall_s": PARAMS["run_wall_s"]} and given["device"] is False
        self.spawned.append((source, config["steps"], (folder / "rows.txt").read_text()))
        return Job(self, self.does[source], config, folder)


class Ends(Exception):
    """args: fields of the reply to wait."""


class Job:
    """As scoring.Submission."""

    def __init__(self, play, does, config, folder):
        self.play, self.output = play, None
        self.ended = {"running": False, "exit": 0, "oom": False, "timed_out": False, "stdout": "", "stderr": "said this", "wall_s": 0.0}
        try:
            self.ended["wall_s"], self.output = does(config, folder)
        except Ends as e:
            self.ended.update(e.args[0])

    def wait(self):
        return scoring.Ended(self.ended)

    def kill(self):
        self.play.killed += 1

    def collect(self, path, max_bytes):
        assert path == "weights.st" and max_bytes > 100000
        if self.output is None:
            raise scoring.CollectRefused("weights.st: no such file")
        return io.BytesIO(self.output)


def packed(weights, tmp):
    arrays.save(tmp / "packed.st", weights)
    return (tmp / "packed.st").read_bytes()


def honest(tmp, seconds, change=lambda weights: weights):
    """Return a solution that trains; change: what it does to the weights."""
    def does(config, folder):
        base = variants.REFERENCE.read_arrays(folder / "base.st")
        weights = variants.REFERENCE.train(base, variants.REFERENCE.read_rows(folder, config), config)
        return seconds * config["steps"], packed(change(weights), tmp)
    return does
