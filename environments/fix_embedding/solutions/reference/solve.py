# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Finds which row of the embedding belongs to which token, and puts the rows back.

Solved as a substitution cipher is. A guess at the rows makes a model; on the
text, that model says at each place which row it expects next, and by the
gradient of its loss which row it would rather have been given. Together with
the small model's embedding, which is intact (a linear map takes right rows near
to it), this gives a log likelihood of every row for every token. The best
assignment is the next guess. The first guess sorts both sides by frequency.
"""

import json
import os
import pathlib
import sys

DATA = pathlib.Path(os.environ["REBENCH_DATA"])
sys.path.insert(0, str(DATA))

import numpy as np  # noqa: E402
import torch  # noqa: E402

import arrays  # noqa: E402
import compat  # noqa: E402
import gpt  # noqa: E402
from assignment import assign  # noqa: E402

EMBEDDING = "wte.weight"
TRIES = 5  # one in ten leads nowhere where text is short
OWN_WEIGHT = 0.3  # of what a row's own gradient says: a quadratic guess, less to be trusted


def by_frequency(model, counts):
    """Return for each token the row of the same rank: rows by the frequency that the model itself gives them."""
    with torch.no_grad():
        rows = torch.arange(len(counts), device=model.wte.weight.device)[:, None]
        follow = torch.softmax(model(rows)[:, 0].float(), -1).double().cpu().numpy()
    share = np.full(len(counts), 1 / len(counts))
    for _ in range(50):
        share = share @ follow
    row = np.empty(len(counts), int)
    row[np.argsort(-counts, kind="stable")] = np.argsort(-share)
    return row


class Small:
    """What the small model's embedding says."""

    def __init__(self, target, rows):
        self.target = target
        scaled = (rows - rows.mean(0)) / rows.std(0)
        self.x = np.c_[scaled, np.ones(len(rows)), np.log(np.linalg.norm(rows, axis=1))]

    def likelihood(self, row, counts):
        """Return token by row the log likelihood, by a linear map fitted to the guess row."""
        x, weight = self.x[row], np.minimum(counts, 20) / 20 + 0.02
        fold = np.arange(len(row)) % 2
        rest = np.empty_like(self.target)
        for k in (0, 1):  # what a map leaves unexplained is measured on tokens that it was not fitted to
            rest[fold == k] = self.target[fold == k] - x[fold == k] @ self._fit(x[fold != k], weight[fold != k], self.target[fold != k])
        scale = np.sqrt((weight[:, None] * rest ** 2).sum(0) / weight.sum())
        a, b = self.target / scale, self.x @ self._fit(x, weight, self.target) / scale
        return -0.5 * ((a * a).sum(1)[:, None] - 2 * a @ b.T + (b * b).sum(1))

    @staticmethod
    def _fit(x, weight, y):
        wx = x * weight[:, None]
        return np.linalg.solve(wx.T @ x + 30 * np.eye(x.shape[1]), wx.T @ y)


def expected_rows(model, windows):
    """Return token by token j the sum, over the places of a token, of the log probability of j there."""
    vocab = model.config.vocab
    total = torch.zeros(vocab, vocab)
    with torch.no_grad():
        for part in windows.split(16):
            logp = torch.log_softmax(model(part[:, :-1]).float(), -1).reshape(-1, vocab)
            total.index_add_(0, part[:, 1:].reshape(-1).cpu(), logp.cpu())
    return total.double().numpy()


def wanted_rows(model, windows, rows):
    """Return token by row the change of log likelihood if that row stood for the token as an input, to second order.

    The second derivative is taken as the sum of squared gradients.
    """
    own = model.wte.weight.detach()
    g, h = torch.zeros(own.shape), torch.zeros(own.shape)
    for part in windows.split(16):
        x = own[part[:, :-1]].requires_grad_(True)
        hidden = x + model.wpe.weight[:x.size(1)]
        for block in model.blocks:
            hidden = block(hidden)
        logits = model.lnf(hidden) @ own.t()
        loss = torch.nn.functional.cross_entropy(logits.reshape(-1, len(own)), part[:, 1:].reshape(-1), reduction="sum")
        grad, = torch.autograd.grad(loss, x)
        at, grad = part[:, :-1].reshape(-1).cpu(), grad.reshape(-1, own.size(1)).cpu()
        g.index_add_(0, at, grad)
        h.index_add_(0, at, grad ** 2)
    g, h, own, to = g.numpy(), h.numpy(), own.cpu().numpy(), rows
    first = g @ to.T - (g * own).sum(1)[:, None]
    second = h @ (to ** 2).T - 2 * (h * own) @ to.T + (h * own ** 2).sum(1)[:, None]
    return -first - 0.5 * second


def improve(weights, config, ids, row, small, device, rounds, own_weight):
    """Return a better guess than row: for each token its row."""
    rows, t = weights[EMBEDDING], config.context + 1
    windows = torch.from_numpy(ids[:len(ids) // t * t].astype(np.int64)).view(-1, t).to(device)
    counts = np.bincount(ids, minlength=config.vocab)
    for _ in range(rounds):
        model = gpt.build(config, {**weights, EMBEDDING: rows[row]}).to(device)
        score = np.empty((config.vocab, config.vocab))
        score[:, row] = expected_rows(model, windows)
        score += small.likelihood(row, counts)
        if own_weight:
            score += own_weight * wanted_rows(model, windows, rows)
        new = assign(-score)
        moved = int((new != row).sum())
        row = new
        print("%d tokens of text: %d rows moved" % (len(ids), moved), flush=True)
        if moved <= len(row) // 250:
            break
    return row


def first_rows(weights, config, ids, counts, small, device, attempt):
    """Return a guess from a part of the text; each attempt but the first begins with other frequencies."""
    if attempt:
        counts = np.random.default_rng(attempt).poisson(counts)
    row = by_frequency(gpt.build(config, weights).to(device), counts)
    pieces = ids[:len(ids) // 1024 * 1024].reshape(-1, 1024)
    for count, rounds in ((10, 8), (20, 8)):  # a part of the text is enough to begin with
        row = improve(weights, config, pieces[::max(1, len(pieces) // count)].reshape(-1), row, small, device, rounds, own_weight=0)
    return row


def main():
    """Read model.st and the data, write model.st."""
    sizes = json.loads((DATA / "config.json").read_text())
    compat.setup(0)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    config = gpt.Config(**sizes["model"])
    weights = arrays.load("model.st", gpt.shapes(config))
    small = Small(arrays.load(DATA / "small.st")[EMBEDDING].astype(np.float64), weights[EMBEDDING].astype(np.float64))
    ids = arrays.load(DATA / "text.st")["ids"]
    counts, intact = np.bincount(ids, minlength=config.vocab), gpt.build(gpt.Config(**sizes["small"]), arrays.load(DATA / "small.st"))
    enough, best = gpt.mean_loss(intact.to(device), ids), (np.inf, None)
    for attempt in range(TRIES):
        row = first_rows(weights, config, ids, counts, small, device, attempt)
        loss = gpt.mean_loss(gpt.build(config, {**weights, EMBEDDING: weights[EMBEDDING][row]}).to(device), ids)
        print("try %d: loss %.3f, the small model's %.3f" % (attempt, loss, enough), flush=True)
        best = min(best, (loss, row), key=lambda pair: pair[0])
        if loss < enough:
            break
    row = best[1]
    row = improve(weights, config, ids, row, small, device, rounds=4, own_weight=0)
    row = improve(weights, config, ids, row, small, device, rounds=4, own_weight=OWN_WEIGHT)
    weights[EMBEDDING] = weights[EMBEDDING][row]
    arrays.save("model.st", weights)


if __name__ == "__main__":
    main()
