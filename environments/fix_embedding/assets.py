# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains the intact model and the small one, and deals the corpus.

Nothing here is public: what a solver gets depends on its attempt (scorer/prepare.py).
"""

import json
import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(_ENVIRONMENTS / "common"))

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import corpus  # noqa: E402
import gpt  # noqa: E402

SIZES = ("vocab", "context", "width", "layers", "heads")


def trained(sizes, recipe, ids, seed):
    """Return a model trained by a recipe: steps, batch, lr."""
    torch.manual_seed(seed)
    model = gpt.GPT(gpt.Config(**{k: sizes[k] for k in SIZES}))
    gpt.train(model, ids, seed=seed, log=lambda step, loss: print("step", step, "loss %.3f" % loss, file=sys.stderr), **recipe)
    return model


def losses(model, rows):
    """Return the mean loss of each row, float64."""
    out = []
    with torch.no_grad():
        for part in torch.from_numpy(rows.astype(np.int64)).split(64):
            logits = model(part[:, :-1])
            loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), part[:, 1:].reshape(-1), reduction="none")
            out.append(loss.view(len(part), -1).double().mean(1))
    return torch.cat(out).numpy()


def main():
    """Build what standard input asks for and print facts about it."""
    asked = json.load(sys.stdin)
    params, recipe = asked["params"], asked["assets"]
    private = pathlib.Path(asked["out_dir"]) / "private"
    private.mkdir()
    compat.setup(recipe["seed"], recipe["threads"])
    ids = np.concatenate([corpus.tokens(name, recipe["characters"], params["model"]["vocab"]) for name in corpus.NAMES])
    share = (params["text_tokens"] + 1024) / len(ids)  # whole blocks, of which the last is cut
    train, text, held_out = corpus.split(ids, 1024, [recipe["train"], share, recipe["held_out"]], seed=recipe["seed"])
    text = text[:params["text_tokens"]]
    big = trained(params["model"], recipe["model"], train, recipe["seed"] + 1)
    small = trained(params["small"], recipe["small"], train, recipe["seed"] + 2)
    width = params["model"]["context"] + 1
    rows = held_out[:len(held_out) // width * width].reshape(-1, width)
    intact = losses(big, rows)
    facts = {"intact_loss": float(intact.mean()), "small_loss": gpt.mean_loss(small, held_out), "train_tokens": len(train),
             "held_out_rows": len(rows), "parameters": sum(p.numel() for p in big.parameters()), **compat.versions()}
    arrays.save(private / "base.st", gpt.export(big))
    arrays.save(private / "small.st", gpt.export(small))
    arrays.save(private / "text.st", {"ids": text})
    arrays.save(private / "held_out.st", {"ids": rows, "loss": intact})
    (private / "facts.json").write_text(json.dumps(facts))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
