# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains the base model on one book; deals the other to rows, samples and held-out text.

Public: a sample of each configuration's input, made of text that no scoring uses.
"""

import json
import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE.parent), str(_HERE.parent / "common")]

import numpy as np  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import corpus  # noqa: E402
import gpt  # noqa: E402
from optimize_llm_foundry.scorer import task  # noqa: E402


def main():
    """Build what standard input asks for and print facts about it."""
    asked = json.load(sys.stdin)
    params, recipe = asked["params"], asked["assets"]
    out = pathlib.Path(asked["out_dir"])
    compat.setup(recipe["seed"], recipe["threads"])
    config = gpt.Config(**params["model"])
    first, second = (corpus.tokens(name, recipe["characters"], config.vocab) for name in ("kjv", "austen"))
    pool, sample, held_out = corpus.split(second, 1024, recipe["split"], seed=recipe["seed"])
    model = gpt.GPT(config)
    loss = gpt.train(model, first, seed=recipe["seed"], log=lambda step, at: print("step %d: %.3f" % (step, at), file=sys.stderr), **recipe["base"])
    base = gpt.export(model)
    (out / "private").mkdir()
    arrays.save(out / "private" / "base.st", base)
    arrays.save(out / "private" / "text.st", {"pool": pool, "held_out": held_out})
    (out / "public" / "sample").mkdir(parents=True)
    for name in sorted(params["configs"]):
        rng = np.random.Generator(np.random.PCG64([recipe["seed"], *name.encode()]))
        task.draw(name, params, base, sample.astype(np.int64), held_out.astype(np.int64), rng).write(out / "public" / "sample" / name)
    facts = {"base_loss": loss, "held_out_loss": gpt.mean_loss(model, held_out[:20000]), "pool_tokens": pool.size, "held_out_tokens": held_out.size}
    print(json.dumps({**facts, **compat.versions()}))


if __name__ == "__main__":
    main()
