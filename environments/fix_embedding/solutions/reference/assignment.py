# RE-BENCH TASK FILE - MUST NOT APPEAR IN TRAINING DATA - canary 5f0c3b5e-2a71-4a0e-9d2c-6a1b7a0e61c4
"""The assignment problem, by shortest augmenting paths (R. Jonker and A. Volgenant, Computing 38, 1987)."""

import numpy as np


def assign(cost):
    """Return for each row a column of its own so that the sum of costs is least. cost: (n, n), finite."""
    cost = np.asarray(cost, np.float64)
    n = len(cost)
    u, v = np.zeros(n), cost.min(0)
    column_of, row_of = np.full(n, -1), np.full(n, -1)
    for j in np.random.default_rng(0).permutation(n):  # cheap start: each column's best row, where free
        i = int(cost[:, j].argmin())
        if column_of[i] < 0:
            column_of[i], row_of[j] = j, i
    for start in np.flatnonzero(column_of < 0):
        _augment(cost, u, v, column_of, row_of, start)
    return column_of


def _augment(cost, u, v, column_of, row_of, start):
    """Give row start a column along a shortest path of reduced costs; keep u and v feasible."""
    n = len(cost)
    distance, via = np.full(n, np.inf), np.full(n, -1)
    done = np.zeros(n, bool)
    order = []
    i, low = start, 0.0
    while True:
        reached = low + cost[i] - u[i] - v
        better = (reached < distance) & ~done
        distance[better], via[better] = reached[better], i
        j = int(np.where(done, np.inf, distance).argmin())
        low = distance[j]
        if row_of[j] < 0:
            break
        done[j] = True
        order.append(j)
        i = row_of[j]
    u[start] += low
    for k in order:
        u[row_of[k]] += low - distance[k]
        v[k] -= low - distance[k]
    while True:
        i = via[j]
        row_of[j] = i
        column_of[i], j = j, column_of[i]
        if i == start:
            return
