# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The problem families: SCORED for scorings, PRACTICE for solvers to try their scaffold on."""

from . import arrays, graphs, numbers, sequences, strings

_ALL = {f.name: f for module in (arrays, sequences, strings, numbers, graphs) for f in module.ALL}
_PRACTICE = ("busy_values", "rotation", "vowel_blocks", "josephus", "range_updates", "digit_sums")

PRACTICE = tuple(_ALL[name] for name in _PRACTICE)
SCORED = tuple(f for name, f in _ALL.items() if name not in _PRACTICE)
