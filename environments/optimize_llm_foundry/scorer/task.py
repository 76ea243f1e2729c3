# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""What is given to a solution for one run: a base model, rows of words, a vocabulary, a configuration. numpy only."""

import json
import pathlib
import shutil
import string

import numpy as np

import arrays
import corpus

INPUTS = ("base.st", "rows.txt", "vocabulary.txt", "config.json")


class Assets:
    """The private assets. base: name -> float32 array; pool: 1-d token ids that rows are cut from; held_out: 1-d token ids."""

    def __init__(self, directory):
        private = pathlib.Path(directory) / "private"
        self.base = arrays.load(private / "base.st")
        text = arrays.load(private / "text.st")
        self.pool, self.held_out = (text[name].astype(np.int64) for name in ("pool", "held_out"))


class Task:
    """One run's input, and what judging its result takes.

    name: of the configuration; config: as the solution reads it; base and
    held_out: under the names that tokens have in this run.
    """

    def __init__(self, name, config, base, held_out, rows, words):
        self.name, self.config, self.base, self.held_out = name, config, base, held_out
        self.rows, self.words = rows, words

    def write(self, folder):
        """Make the new directory folder and write the input to it."""
        folder = pathlib.Path(folder)
        folder.mkdir()
        arrays.save(folder / "base.st", self.base)
        (folder / "vocabulary.txt").write_text("".join(word + "\n" for word in self.words))
        (folder / "rows.txt").write_text("".join(" ".join(self.words[i] for i in row) + "\n" for row in self.rows))
        (folder / "config.json").write_text(json.dumps(self.config, indent=1) + "\n")


def draw_words(rng, count):
    """Return distinct words of four to six letters, drawn uniformly of their length."""
    letters, words = np.array(list(string.ascii_lowercase)), {}
    while len(words) < count:
        words["".join(rng.choice(letters, rng.integers(4, 7)))] = None
    return list(words)


def draw(name, params, base, pool, held_out, rng):
    """Return the Task of the named configuration, with rows, names of tokens and words drawn by rng.

    Rows are windows of pool (1-d ids) at uniformly drawn places. Token i is
    called p[i] under a drawn permutation p, in rows, embedding and held_out alike.
    """
    model = params["model"]
    config = dict(params["configs"][name], device=params["device"], **model)
    if not 1 <= config["sequence"] <= model["context"]:
        raise ValueError("config %s: sequence %d, expected 1 to %d" % (name, config["sequence"], model["context"]))
    p = corpus.relabelling(rng, model["vocab"])
    places = rng.integers(0, len(pool) - model["context"], params["rows"])
    rows = p[pool[places[:, None] + np.arange(model["context"] + 1)]]
    named = dict(base, **{"wte.weight": corpus.relabel_rows(base["wte.weight"], p)})
    return Task(name, config, named, p[held_out], rows, draw_words(rng, model["vocab"]))


def remove(folder):
    """Remove a written input."""
    shutil.rmtree(folder)
