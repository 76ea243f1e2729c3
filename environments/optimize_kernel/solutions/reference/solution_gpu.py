# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Reference solution on a GPU: a scan in one pass with decoupled look-back, in Triton.

The input is cut into tiles, handed out in order by a counter. What a tile does
to the state (parity, sum) is a function of the parity at its start: it adds
s[0] or s[1] and changes the parity by p. Each program
  1. reads its tile, publishes (p, s[0], s[1]) in one 64-bit word,
  2. walks back over the words of earlier tiles, composing them, until it meets
     one that already holds the state at its end (tile 0 starts with it),
  3. publishes the state at its own end in the same word,
  4. reads its tile again, now from the L2 cache, and writes the result.
A tile waits only for tiles with smaller numbers, which have all been started:
no schedule of the programs can block.

A word holds everything that its reader needs, so no ordering between memory
locations is relied on. Layout, lowest bit first: 2 bits kind (0 not yet,
1 aggregate, 2 state at the end), 1 bit parity, then for an aggregate s[0] and
s[1] of 28 bits each, for a state the sum of 32 bits. Elements in [-10, 10) keep
the sums of a tile of 2^15 below 2^19; elements up to 4,095 in size would fit.
"""
import torch
import triton
import triton.language as tl

PART = 4096  # elements that a program holds at a time
PARTS = 8  # parts of a tile
WARPS = 8


@triton.jit
def _take(x, positive, parity):
    """Keep what counts in a part that starts with the given parity; int32."""
    before = (tl.cumsum(positive, 0) - positive) & 1
    return x * (before ^ parity)


@triton.jit
def _signed28(word, shift):
    """Return 28 bits of a word as a signed number."""
    return ((word << (36 - shift)) >> 36).to(tl.int32)


@triton.jit
def _look_back(words, tile):
    """Return (parity, sum) at the start of a tile > 0, from the words of earlier tiles."""
    # What lies between the word being read and the tile, as a function of its starting parity.
    flips = tile * 0
    if_even = tile * 0
    if_odd = tile * 0
    parity = tile * 0
    total = tile * 0
    k = tile - 1
    while k >= 0:
        word = tl.atomic_add(words + k, 0, sem="relaxed")
        kind = (word & 3).to(tl.int32)
        p = ((word >> 2) & 1).to(tl.int32)
        if kind == 2:
            total = (word >> 3).to(tl.int32) + tl.where(p == 1, if_odd, if_even)
            parity = p ^ flips
            k = tile * 0 - 1
        elif kind == 1:
            even = _signed28(word, 3) + tl.where(p == 1, if_odd, if_even)
            odd = _signed28(word, 31) + tl.where(p == 1, if_even, if_odd)
            if_even = even
            if_odd = odd
            flips = flips ^ p
            k -= 1
    return parity, total


@triton.jit
def _masked_scan(x_ptr, y_ptr, n, scratch, PART: tl.constexpr, PARTS: tl.constexpr):
    """One tile. scratch: int64, a counter and then one word for each tile, all zero at the start."""
    tile = tl.atomic_add(scratch, 1, sem="relaxed").to(tl.int32)
    words = scratch + 1
    lane = tl.arange(0, PART)

    flips = tile * 0
    if_even = tile * 0
    if_odd = tile * 0
    for i in range(PARTS):
        at = (tile * PARTS + i) * PART + lane
        x = tl.load(x_ptr + at, mask=at < n, other=0)
        positive = (x > 0).to(tl.int32)
        taken = tl.sum(_take(x, positive, flips), 0)  # by a tile that starts even
        if_even += taken
        if_odd += tl.sum(x, 0) - taken
        flips = flips ^ (tl.sum(positive, 0) & 1)

    parity = tile * 0
    total = tile * 0
    if tile > 0:
        sums = ((if_odd.to(tl.int64) & 0xFFFFFFF) << 31) | ((if_even.to(tl.int64) & 0xFFFFFFF) << 3)
        tl.atomic_xchg(words + tile, sums | (flips.to(tl.int64) << 2) | 1, sem="relaxed")
        parity, total = _look_back(words, tile)
    end = total + tl.where(parity == 1, if_odd, if_even)
    state = ((end.to(tl.int64) & 0xFFFFFFFF) << 3) | ((parity ^ flips).to(tl.int64) << 2) | 2
    tl.atomic_xchg(words + tile, state, sem="relaxed")

    for i in range(PARTS):
        at = (tile * PARTS + i) * PART + lane
        x = tl.load(x_ptr + at, mask=at < n, other=0)
        positive = (x > 0).to(tl.int32)
        kept = _take(x, positive, parity)
        tl.store(y_ptr + at, total + tl.cumsum(kept, 0), mask=at < n)
        total += tl.sum(kept, 0)
        parity = parity ^ (tl.sum(positive, 0) & 1)


_scratch = {}


def prefix_sum(x: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
    """Writes the masked prefix sum of x (int32, shape (n,), n < 2^31 - 2^15, on a GPU) to out and returns out."""
    tiles = triton.cdiv(x.numel(), PART * PARTS)
    if tiles == 0:
        return out
    scratch = _scratch.get((x.device, tiles))
    if scratch is None:
        scratch = _scratch[(x.device, tiles)] = torch.empty(tiles + 1, dtype=torch.int64, device=x.device)
    scratch.zero_()
    _masked_scan[(tiles,)](x, out, x.numel(), scratch, PART=PART, PARTS=PARTS, num_warps=WARPS)
    return out
