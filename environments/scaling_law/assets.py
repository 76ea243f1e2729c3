# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Makes the hidden families' texts and measures their tables: losses at the target for every width and seed.

Nothing here is public. Tables are measured here, on one thread, unless measure.py
has written tables/PROFILE.json, on a GPU for instance.
"""

import json
import pathlib
import sys

_ENVIRONMENTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ENVIRONMENTS), str(_ENVIRONMENTS / "common")]

import arrays  # noqa: E402
import compat  # noqa: E402
from scaling_law.scorer import corpora, tables  # noqa: E402


def main():
    """Build what standard input asks for and print facts about it."""
    asked = json.load(sys.stdin)
    params, recipe = asked["params"], asked["assets"]
    private = pathlib.Path(asked["out_dir"]) / "private"
    private.mkdir()
    compat.setup(recipe["seed"], recipe["threads"])
    texts = {}
    for f in recipe["families"]:
        texts[f["name"]] = corpora.build(f["text"], params["sizes"]["vocab"], recipe["characters"], recipe["held_out"], recipe["seed"])
        arrays.save(private / (f["name"] + ".st"), dict(zip(("train", "held_out"), texts[f["name"]])))
    elsewhere = pathlib.Path(__file__).parent / "tables" / (asked["profile"] + ".json")
    if recipe.get("measured") == "elsewhere" or elsewhere.exists():
        losses = tables.read(elsewhere, params, recipe)
    else:
        losses = tables.measure(params, recipe, texts)
    found = [tables.fields(f, losses[f["name"]], params) for f in recipe["families"]]
    (private / "families.json").write_text(json.dumps(found))
    facts = {**tables.check(found, params, recipe), **compat.versions()}
    (private / "facts.json").write_text(json.dumps(facts))
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
