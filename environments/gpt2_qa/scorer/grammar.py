# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The little language: questions, and what the corpus answers.

A question tells who has which thing where, and asks for one of the three:

    NAME has THING at PLACE WHO|WHAT|WHERE :

An answer holds content words, fillers and style markers, and ends with END. All
words are ids in [0, VOCAB); a solver sees them relabelled (END and COLON stay).
"""

import numpy as np

NAMES, THINGS, PLACES = range(0, 14), range(14, 28), range(28, 40)
ASKS = range(40, 43)
MARKERS = range(43, 55)
FILLERS = range(55, 60)
HAS, AT, COLON, END = 60, 61, 62, 63
VOCAB = 64
FIXED = 2  # the last ids keep their numbers: COLON, END
PROMPT = 7
ANSWER = 12  # most tokens of an answer, END included
SLOTS = (0, 2, 4)  # of name, thing and place in a question


def all_questions():
    """Return every question, (n, PROMPT) int64, in a fixed order."""
    out = [(n, HAS, t, AT, p, a, COLON) for n in NAMES for t in THINGS for p in PLACES for a in ASKS]
    return np.array(out, np.int64)


def right(questions):
    """Return the right content word of each question."""
    asked = questions[:, 5] - ASKS[0]
    return questions[np.arange(len(questions)), np.array(SLOTS)[asked]]


def corpus_answers(questions, rng, correct, slip):
    """Return an answer to each question as the corpus has it, (n, ANSWER) int64, END after the end.

    The content word is right with probability correct, that of the next slot
    (what for who, where for what, who for where) with probability slip, else
    any: where slip is larger, the most likely answer is wrong. Up to two markers
    stand before it and up to two behind, mostly none.
    """
    out = np.full((len(questions), ANSWER), END, np.int64)
    counts = rng.choice([0, 1, 2], (len(questions), 2), p=[0.65, 0.25, 0.1])
    for i, q in enumerate(questions):
        asked, u = q[5] - ASKS[0], rng.random()
        if u < correct:
            word = q[SLOTS[asked]]
        elif u < correct + slip:
            word = q[SLOTS[(asked + 1) % 3]]
        else:
            word = rng.integers(NAMES[0], PLACES[-1] + 1)
        before, behind = rng.choice(MARKERS, counts[i, 0]), rng.choice(MARKERS, counts[i, 1])
        filler = [rng.choice(FILLERS)] if rng.random() < 0.2 else []
        text = [*before, *filler, word, *behind]
        out[i, :len(text)] = text
    return out
