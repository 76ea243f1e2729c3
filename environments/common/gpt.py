# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""A GPT in the spirit of nanoGPT (https://github.com/karpathy/nanoGPT), small enough for one core.

Pre-norm blocks, learned positions, no biases in linear maps, token embedding
and output tied. Weights travel as name -> float32 array (arrays.py).
"""

import dataclasses

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import compat


@dataclasses.dataclass(frozen=True)
class Config:
    """Sizes: vocabulary, context in tokens, width (divisible by heads), layers, heads."""

    vocab: int = 1024
    context: int = 64
    width: int = 128
    layers: int = 4
    heads: int = 4


class Block(nn.Module):
    """Causal self-attention and a 4-fold MLP, each added to the residual stream."""

    def __init__(self, c):
        super().__init__()
        self.heads = c.heads
        self.ln1 = nn.LayerNorm(c.width)
        self.qkv = nn.Linear(c.width, 3 * c.width, bias=False)
        self.proj = nn.Linear(c.width, c.width, bias=False)
        self.ln2 = nn.LayerNorm(c.width)
        self.up = nn.Linear(c.width, 4 * c.width, bias=False)
        self.down = nn.Linear(4 * c.width, c.width, bias=False)

    def forward(self, x):
        b, t, w = x.shape
        q, k, v = (u.view(b, t, self.heads, w // self.heads).transpose(1, 2) for u in self.qkv(self.ln1(x)).split(w, dim=2))
        x = x + self.proj(compat.causal_attention(q, k, v).transpose(1, 2).reshape(b, t, w))
        return x + self.down(F.gelu(self.up(self.ln2(x))))


class GPT(nn.Module):
    """logits = GPT(config)(ids): ids (batch, time <= context) int64 -> (batch, time, vocab)."""

    def __init__(self, config):
        super().__init__()
        c = self.config = config
        self.wte = nn.Embedding(c.vocab, c.width)
        self.wpe = nn.Embedding(c.context, c.width)
        self.blocks = nn.ModuleList(Block(c) for _ in range(c.layers))
        self.lnf = nn.LayerNorm(c.width)
        for name, p in self.named_parameters():
            if p.dim() == 2:
                scale = (2 * c.layers) ** -0.5 if name.endswith(("proj.weight", "down.weight")) else 1.0
                nn.init.normal_(p, std=0.02 * scale)

    def hidden(self, ids):
        """Return the final residual stream after its norm, (batch, time, width)."""
        x = self.wte(ids) + self.wpe.weight[:ids.size(1)]
        for block in self.blocks:
            x = block(x)
        return self.lnf(x)

    def forward(self, ids):
        return self.hidden(ids) @ self.wte.weight.t()


def shapes(config):
    """Return name -> ("float32", shape) of the weights, as arrays.load expects it."""
    return {name: ("float32", tuple(p.shape)) for name, p in GPT(config).state_dict().items()}


def export(model):
    """Return name -> float32 array of a model's weights."""
    return {name: p.detach().cpu().numpy().astype(np.float32) for name, p in model.state_dict().items()}


def build(config, weights):
    """Return a GPT in evaluation mode with the given name -> array weights."""
    model = GPT(config)
    model.load_state_dict({name: torch.from_numpy(np.ascontiguousarray(a)) for name, a in weights.items()})
    return model.eval()


def mean_loss(model, ids, batch=32):
    """Return the mean cross-entropy in nats a token over non-overlapping windows of ids (1-d).

    Each window of context + 1 tokens predicts its last context tokens from what precedes them in it.
    """
    t = model.config.context
    device = next(model.parameters()).device
    rows = torch.as_tensor(np.asarray(ids, np.int64))
    rows = rows[:len(rows) // (t + 1) * (t + 1)].view(-1, t + 1)
    total = 0.0
    with torch.no_grad():
        for part in rows.split(batch):
            part = part.to(device)
            logits = model(part[:, :-1])
            total += F.cross_entropy(logits.reshape(-1, logits.size(-1)), part[:, 1:].reshape(-1), reduction="sum").double().item()
    return total / (rows.size(0) * t)


def generate(model, ids, tokens):
    """Return ids (batch, time) continued greedily by so many tokens: argmax, lowest id on ties."""
    with torch.no_grad():
        for _ in range(tokens):
            logits = model(ids[:, -model.config.context:])[:, -1]
            ids = torch.cat([ids, logits.argmax(-1, keepdim=True)], 1)
    return ids


def train(model, ids, steps, batch, lr, seed, weight_decay=0.1, warmup=0.05, parameters=None, log=None):
    """Train on uniformly drawn windows of ids (1-d) with AdamW, warm-up then cosine to lr / 10.

    seed alone draws the windows. parameters: those trained, default all. log(step, loss) is called
    every 100 steps. Returns the mean loss of the last 50 steps.
    """
    t = model.config.context
    device = next(model.parameters()).device
    ids = torch.as_tensor(np.asarray(ids, np.int64))
    rng = np.random.Generator(np.random.PCG64(seed))
    chosen = list(model.parameters()) if parameters is None else list(parameters)
    opt = torch.optim.AdamW(chosen, lr=lr, betas=(0.9, 0.99), weight_decay=weight_decay)
    offsets = torch.arange(t + 1)
    losses = []
    model.train()
    for step in range(steps):
        rise = min(1.0, (step + 1) / max(1, warmup * steps))
        for group in opt.param_groups:
            group["lr"] = lr * rise * (0.1 + 0.45 * (1 + np.cos(np.pi * step / steps)))
        rows = ids[torch.from_numpy(rng.integers(0, len(ids) - t, batch))[:, None] + offsets].to(device)
        logits = model(rows[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), rows[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(chosen, 1.0)
        opt.step()
        losses.append(loss.item())
        if log and step % 100 == 0:
            log(step, losses[-1])
    model.eval()
    return float(np.mean(losses[-50:]))
