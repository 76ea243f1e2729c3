# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Small GPTs, many trained at once, each on a text of its own.

Small models spend their time on calls, not arithmetic. So every weight has a
leading axis of models, one call works for all of them, and the weights are views
of one tensor, which one optimizer step updates.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

BETAS, EPS, DECAY = (0.9, 0.98), 1e-8, 0.1


class GPTs:
    """One model a seed, pre-norm, without biases, norms without weights. The token before is an input as well.

    flat: every weight, (models, weights); sizes: cost.Sizes.
    """

    def __init__(self, sizes, width, seeds, device):
        self.sizes, self.width, self.models = sizes, width, len(seeds)
        self.heads = max(1, width // sizes.head)
        w, inner = width, width ** -0.5
        last = inner * (2 * sizes.layers) ** -0.5
        block = [(w, 3 * w, inner), (w, w, last), (w, 4 * w, inner), (4 * w, w, last / 2)]
        self.shapes = [(sizes.vocab, w, 0.3), (sizes.vocab, w, 0.3), (sizes.context, w, 0.3), (w, sizes.vocab, 0.02)] + block * sizes.layers
        each = [torch.Generator().manual_seed(s) for s in seeds]
        begin = [torch.cat([torch.randn(rows * columns, generator=g) * std for rows, columns, std in self.shapes]) for g in each]
        self.flat = torch.stack(begin).to(device).requires_grad_()
        self.mask = torch.full((sizes.context, sizes.context), -math.inf, device=device).triu(1)

    def weights(self):
        """Return views of all weights: tables of tokens, of the tokens before and of places, output map, then four matrices a block."""
        parts = self.flat.split([rows * columns for rows, columns, _ in self.shapes], 1)
        return [p.view(self.models, rows, columns) for p, (rows, columns, _) in zip(parts, self.shapes)]

    def logits(self, ids):
        """Return logits (models, rows * context, vocab) for ids (models, rows, context)."""
        m, b, t = ids.shape
        w, h = self.width, self.heads
        tokens, before, places, output, *blocks = self.weights()
        shifted = torch.cat([ids[..., :1], ids[..., :-1]], -1)
        x = tokens.gather(1, ids.reshape(m, b * t, 1).expand(-1, -1, w)) + before.gather(1, shifted.reshape(m, b * t, 1).expand(-1, -1, w))
        x = (x.view(m, b, t, w) + places[:, None, :t]).view(m, b * t, w)
        for i in range(0, len(blocks), 4):
            qkv, out, up, down = blocks[i:i + 4]
            q, k, v = torch.bmm(F.layer_norm(x, (w,)), qkv).view(m * b, t, 3, h, w // h).permute(2, 0, 3, 1, 4).reshape(3, m * b * h, t, w // h).unbind()
            a = torch.baddbmm(self.mask[:t, :t], q, k.transpose(1, 2), alpha=(w // h) ** -0.5).softmax(-1)
            x = torch.baddbmm(x, torch.bmm(a, v).view(m * b, h, t, w // h).transpose(1, 2).reshape(m, b * t, w), out)
            x = torch.baddbmm(x, F.relu(torch.bmm(F.layer_norm(x, (w,)), up)), down)
        return torch.bmm(F.layer_norm(x, (w,)), output)

    def losses(self, ids, targets):
        """Return the mean cross-entropy of each model, in nats a token, (models,)."""
        logits = self.logits(ids)
        each = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.reshape(-1), reduction="none")
        return each.view(self.models, -1).mean(1)


def train(sizes, width, steps, texts, recipes, seeds, device="cpu"):
    """Train one model a seed; return (held-out losses (models,), training losses (steps, models)), float64 nats a token.

    texts: (training ids, held-out ids) of each model, held-out ids of one
    length. recipes: of each model, lr, the learning rate at width 16, and
    lr_power, by which power of 16 / width it changes. AdamW; a tenth of the
    steps warms up, a cosine takes the rate to a tenth at the end. A seed chooses
    a model's weights and rows.
    """
    model = GPTs(sizes, width, seeds, device)
    flat, first, second = model.flat, torch.zeros_like(model.flat), torch.zeros_like(model.flat)
    lr = torch.tensor([[r["lr"] * (16 / width) ** r["lr_power"]] for r in recipes], device=device)
    ids = [torch.from_numpy(np.asarray(train_ids, np.int64)) for train_ids, _ in texts]
    places = torch.arange(sizes.context + 1)
    rngs = [np.random.Generator(np.random.PCG64([s, 1])) for s in seeds]
    curve = []
    for step in range(steps):
        rows = torch.stack([i[torch.from_numpy(r.integers(0, len(i) - sizes.context, sizes.batch))[:, None] + places] for i, r in zip(ids, rngs)]).to(device)
        losses = model.losses(rows[..., :-1], rows[..., 1:])
        flat.grad = None
        losses.sum().backward()
        rise = min(1.0, (step + 1) / max(1.0, steps / 10))
        rate = lr * rise * (0.1 + 0.45 * (1 + math.cos(math.pi * step / steps)))
        with torch.no_grad():
            first.mul_(BETAS[0]).add_(flat.grad, alpha=1 - BETAS[0])
            second.mul_(BETAS[1]).addcmul_(flat.grad, flat.grad, value=1 - BETAS[1])
            size = (second / (1 - BETAS[1] ** (step + 1))).sqrt_().add_(EPS)
            flat.mul_(1 - rate * DECAY).sub_(first / size * (rate / (1 - BETAS[0] ** (step + 1))))
        curve.append(losses.detach())
    return evaluate(model, [held_out for _, held_out in texts]), torch.stack(curve).double().cpu().numpy()


def evaluate(model, held_out, rows=64):
    """Return each model's mean loss over non-overlapping windows of its held-out ids, (models,) float64."""
    t = model.sizes.context
    ids = torch.from_numpy(np.stack([np.asarray(h, np.int64) for h in held_out]))
    ids = ids[:, :ids.size(1) // (t + 1) * (t + 1)].view(model.models, -1, t + 1)
    total = np.zeros(model.models)
    with torch.no_grad():
        for part in ids.split(rows, 1):
            part = part.to(model.flat.device)
            total += model.losses(part[..., :-1], part[..., 1:]).double().cpu().numpy() * part.size(1)
    return total / ids.size(1)
