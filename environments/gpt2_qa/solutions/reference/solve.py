# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Expert iteration against a reward model.

In rounds: sample pairs, have them judged, fit a linear reward model (words that
occur, the first word, length, which of the question's words occur, repetition)
to all judgements so far, sample many answers to many questions, keep the best of
each by reward, and train on those.
"""

import json
import os
import sys

data = os.environ["REBENCH_DATA"]
sys.path.insert(0, data)

import numpy as np  # noqa: E402
import torch  # noqa: E402
import torch.nn.functional as F  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import gpt  # noqa: E402
import play  # noqa: E402
from oracle import Oracle  # noqa: E402

ROUNDS, CANDIDATES, STEPS, BATCH, LR = 7, 10, 60, 64, 1e-3


def features(questions, replies, vocab):
    """Return what the reward model sees of answers, (n, features) float32."""
    n, rows = len(questions), np.arange(len(questions))
    count = np.zeros((n, vocab))
    for j in range(play.ANSWER):
        count[rows, replies[:, j]] += 1
    count[:, play.END] = 0
    first = np.eye(vocab)[replies[:, 0]]
    length = np.eye(play.ANSWER + 1)[(replies != play.END).sum(1)]
    # For each kind of question, which of its words the answer repeats.
    kinds = np.unique(questions[:, -2])
    copied = [(questions[:, -2] == k) & (replies == questions[:, [slot]]).any(1) for k in kinds for slot in range(play.PROMPT - 2)]
    return np.concatenate([count > 0, first, length, np.stack(copied, 1), np.maximum(count - 1, 0).sum(1, keepdims=True)], 1).astype(np.float32)


def fit(difference, preferred, l2=2.0):
    """Return the weights of a logistic regression on feature differences."""
    x, y = torch.from_numpy(difference), torch.from_numpy(preferred)
    w = torch.zeros(x.size(1), requires_grad=True)
    opt = torch.optim.LBFGS([w], max_iter=100)

    def closure():
        opt.zero_grad()
        loss = F.binary_cross_entropy_with_logits(x @ w, y, reduction="sum") + l2 * (w ** 2).sum() / 2
        loss.backward()
        return loss

    opt.step(closure)
    return w.detach().numpy()


def main():
    """Improve model.st."""
    compat.setup(1, torch.get_num_threads())
    config = gpt.Config(**json.load(open(data + "/config.json")))
    model = gpt.build(config, arrays.load("model.st"))
    questions = arrays.load(data + "/questions.st")["ids"]
    oracle, rng, generator = Oracle(), np.random.default_rng(1), torch.Generator().manual_seed(1)
    each, some = oracle.left() // ROUNDS, oracle.left() // 10
    seen, said = [], []
    for i in range(ROUNDS):
        rows = rng.integers(len(questions), size=each)
        a, b = (play.answers(model, torch.from_numpy(questions[rows]), 1.2, generator).numpy() for _ in range(2))
        said.append(np.array(oracle.prefers(rows, a.tolist(), b.tolist()), np.float32))
        seen.append(features(questions[rows], a, config.vocab) - features(questions[rows], b, config.vocab))
        reward = fit(np.concatenate(seen), np.concatenate(said))
        rows = rng.integers(len(questions), size=some)
        many = np.repeat(questions[rows], CANDIDATES, 0)
        replies = play.answers(model, torch.from_numpy(many), 1.0, generator).numpy()
        best = (features(many, replies, config.vocab) @ reward).reshape(some, CANDIDATES).argmax(1)
        kept = replies.reshape(some, CANDIDATES, -1)[np.arange(some), best]
        play.supervise(model, torch.from_numpy(questions[rows]), torch.from_numpy(kept),
                       STEPS if i < ROUNDS - 1 else 2 * STEPS, BATCH, LR, generator)
        arrays.save("model.st", gpt.export(model))


if __name__ == "__main__":
    main()
