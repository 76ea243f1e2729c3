# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""What differs between torch releases (1.13 and later), in one place."""

import math
import os

import torch
import torch.nn.functional as F

HAS_SDPA = hasattr(F, "scaled_dot_product_attention")  # from 2.0


def setup(seed, threads=1):
    """Seed torch and pin its threads. Results repeat bit by bit for one machine, torch and thread count."""
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    if torch.cuda.is_available():
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False


def causal_attention(q, k, v):
    """Return softmax(q k^T / sqrt(d), causal) v for (batch, heads, time, d)."""
    if HAS_SDPA:
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
    t = q.size(-2)
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    mask = torch.ones(t, t, dtype=torch.bool, device=q.device).tril()
    return F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1) @ v


def device(name):
    """Return torch.device of "cpu" or "cuda"; a missing GPU is an error, never a quiet fall-back."""
    if name == "cuda" and not torch.cuda.is_available():
        raise RuntimeError("this profile needs a GPU that torch can use: torch.cuda.is_available() is False")
    return torch.device(name)


def versions():
    """Return what a result depends on: torch's version, threads, device name."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {"torch": torch.__version__, "threads": torch.get_num_threads(), "gpu": gpu}
