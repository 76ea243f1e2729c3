# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Trains the model to improve and the supervised one, and deals the questions.

Nothing here is public: what a solver gets depends on its attempt (scorer/prepare.py).
"""

import copy
import json
import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import gpt  # noqa: E402
from gpt2_qa.scorer import grammar, play  # noqa: E402


def main():
    """Build what standard input asks for and print facts about it."""
    asked = json.load(sys.stdin)
    params, recipe = asked["params"], asked["assets"]
    private = pathlib.Path(asked["out_dir"]) / "private"
    private.mkdir()
    compat.setup(recipe["seed"], recipe["threads"])
    rng, generator = np.random.default_rng(recipe["seed"]), torch.Generator().manual_seed(recipe["seed"])
    questions = grammar.all_questions()
    questions = questions[rng.permutation(len(questions))]
    given, held_out = questions[:params["questions"]], questions[params["questions"]:]
    short = np.full((len(given), grammar.ANSWER), grammar.END, np.int64)
    short[:, 0] = grammar.right(given)
    many = np.concatenate([given] * 8)
    noisy = grammar.corpus_answers(many, rng, recipe["correct"], recipe["slip"])
    model = gpt.GPT(gpt.Config(vocab=grammar.VOCAB, context=grammar.PROMPT + grammar.ANSWER, **params["model"]))
    # Copying the asked word first: from the noisy corpus alone it is learned slowly.
    play.supervise(model, torch.from_numpy(given), torch.from_numpy(short), generator=generator, **recipe["copying"])
    loss = play.supervise(model, torch.from_numpy(many), torch.from_numpy(noisy), generator=generator, **recipe["corpus"])
    supervised = copy.deepcopy(model)
    play.supervise(supervised, torch.from_numpy(given), torch.from_numpy(short), generator=generator, **recipe["supervised"])
    ask = torch.from_numpy(held_out[:500])
    facts = {"corpus_loss": loss, "questions": len(given), "held_out": len(held_out), "parameters": sum(p.numel() for p in model.parameters()), **compat.versions()}
    for name, m in (("base", model), ("supervised", supervised)):
        first = play.answers(m, ask).numpy()
        facts[name + "_right"] = float((first == grammar.right(held_out[:500])[:, None]).any(1).mean())
        arrays.save(private / (name + ".st"), gpt.export(m))
    arrays.save(private / "questions.st", {"given": given, "held_out": held_out})
    (private / "facts.json").write_text(json.dumps(facts))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
