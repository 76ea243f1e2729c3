# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""Byte-pair encoding, 1,024 tokens, trained once on the corpus (texts/bpe1024.txt).

A text is cut into pieces (a word with the space before it, a run of other
signs, a newline); merges stay within a piece. Standard library only.
"""

import collections
import heapq
import pathlib
import re

_FILE = pathlib.Path(__file__).with_name("texts") / "bpe1024.txt"
_PIECE = re.compile(r" ?[A-Za-z]+|\n| ?[^\sA-Za-z]+|\s")


class Tokenizer:
    """Encodes text to ids in [0, size) and back.

    symbols: the tokens' texts; the first ones are single characters. merges:
    pairs of ids in order of preference; merge i makes the i-th longer token.
    """

    def __init__(self, characters, merges):
        self.symbols = list(characters)
        self._id = {c: i for i, c in enumerate(self.symbols)}
        self._rank = {}
        for pair in merges:
            self._rank[tuple(pair)] = len(self.symbols)
            self.symbols.append(self.symbols[pair[0]] + self.symbols[pair[1]])
        self.merges = list(self._rank)
        self._cache = {}

    @property
    def size(self):
        """How many tokens there are."""
        return len(self.symbols)

    def encode(self, text):
        """Return the ids of text. A character that the corpus lacks is a ValueError."""
        out = []
        for piece in _PIECE.findall(text):
            ids = self._cache.get(piece)
            if ids is None:
                ids = self._cache[piece] = self._merge(piece)
            out.extend(ids)
        return out

    def decode(self, ids):
        """Return the text of ids."""
        return "".join(self.symbols[i] for i in ids)

    def _merge(self, piece):
        missing = [c for c in piece if c not in self._id]
        if missing:
            raise ValueError("character %r has no token" % missing[0])
        ids = [self._id[c] for c in piece]
        while len(ids) > 1:
            new, at = min((self._rank.get(pair, 1 << 30), i) for i, pair in enumerate(zip(ids, ids[1:])))
            if new == 1 << 30:
                break
            ids[at:at + 2] = [new]
        return ids

    def save(self, path, first_line):
        """Write the tokenizer as text: characters as code points, then one merge a line."""
        lines = [first_line, " ".join(str(ord(c)) for c in self.symbols if len(c) == 1)]
        lines += ["%d %d" % pair for pair in self.merges]
        pathlib.Path(path).write_text("\n".join(lines) + "\n")


def load(size=1024):
    """Return the committed Tokenizer, or its first size tokens (at least one for each character): also a tokenizer."""
    lines = _FILE.read_text().splitlines()[1:]
    characters = [chr(int(n)) for n in lines[0].split()]
    if not len(characters) <= size <= len(characters) + len(lines) - 1:
        raise ValueError("tokenizer of %d tokens, expected %d to %d" % (size, len(characters), len(characters) + len(lines) - 1))
    return Tokenizer(characters, [tuple(map(int, line.split())) for line in lines[1:1 + size - len(characters)]])


def train(text, size):
    """Return a Tokenizer of the given size: the most frequent pair is merged, the lowest ids on ties."""
    characters = sorted(set(text))
    first = {c: i for i, c in enumerate(characters)}
    words = [([first[c] for c in piece], n) for piece, n in sorted(collections.Counter(_PIECE.findall(text)).items())]
    counts, where = collections.Counter(), collections.defaultdict(set)
    for w, (ids, n) in enumerate(words):
        for pair in zip(ids, ids[1:]):
            counts[pair] += n
            where[pair].add(w)
    heap = [(-n, pair) for pair, n in counts.items()]
    heapq.heapify(heap)
    merges = []
    while len(characters) + len(merges) < size:
        n, pair = heapq.heappop(heap)
        if counts[pair] != -n:
            continue
        merges.append(pair)
        changed = _apply(words, where, counts, pair, len(characters) + len(merges) - 1)
        for p in changed:
            if counts[p] > 0:
                heapq.heappush(heap, (-counts[p], p))
    return Tokenizer(characters, merges)


def _apply(words, where, counts, pair, new):
    """Merge pair in every word that holds it; return the pairs whose counts changed."""
    changed = set()
    for w in sorted(where.pop(pair)):
        ids, n = words[w]
        for p in zip(ids, ids[1:]):
            counts[p] -= n
            changed.add(p)
        i = 0
        while i < len(ids) - 1:
            if (ids[i], ids[i + 1]) == pair:
                ids[i:i + 2] = [new]
            i += 1
        for p in zip(ids, ids[1:]):
            counts[p] += n
            where[p].add(w)
            changed.add(p)
    return changed - {pair}
