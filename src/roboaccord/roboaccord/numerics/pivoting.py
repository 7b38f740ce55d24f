"""Complementarity problems with W positive definite: one-sided by pivoting, or in a box.

The methods are fixed by the papers and the textbook named below; test_complementarity tries all
active sets and least squares against them. PATIENCE and GAUSS_SEIDEL may be tuned, which only costs
or saves time; WRONG must stay at round-off.
"""

from __future__ import annotations

import numpy as np

from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel

PATIENCE = 10  # rounds without progress, after which entries change one at a time (Judice, Pires)
ROUNDS = 50  # per unknown and in addition: far more than are needed
WRONG = 1e-12  # of the largest b: a rate or slope further on the wrong side is not round-off
GAUSS_SEIDEL = 10  # rounds in a box before the exact method
TINY = 1e-300  # in place of 0 for a divisor


@kernel
def solve_by_pivoting(W, b):
    """Return x (k,) of 0 <= x, 0 <= W x - b, for W (k, k) positive definite.

    Block principal pivoting (Judice and Pires, 1994), starting with all entries held: all wrong
    entries change at once. After PATIENCE rounds in which they did not get fewer, only the last one
    changes (Murty's method, which ends for such W).
    """
    k = b.shape[0]
    held = np.ones(k, dtype=np.bool_)
    wrong = np.zeros(k, dtype=np.bool_)
    result = np.zeros(k)
    scale = TINY
    for i in range(k):
        scale = max(scale, abs(b[i]))
    fewest, patience = k + 1, PATIENCE
    for _ in range(ROUNDS * k + ROUNDS):
        _solve_held(W, b, held, result)
        count, last = 0, -1
        for i in range(k):
            rate = -b[i]
            for j in range(k):
                rate += W[i, j] * result[j]
            wrong[i] = result[i] < 0.0 if held[i] else rate < -WRONG * scale
            if wrong[i]:
                count += 1
                last = i
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, PATIENCE
        else:
            patience -= 1
        for i in range(k):
            if wrong[i] and (patience > 0 or i == last):
                held[i] = not held[i]
    for i in range(k):
        result[i] = max(result[i], 0.0)
    return result


@kernel
def _solve_held(W, b, held, x):
    """Fill x (k,) with the solution of W x = b on the rows and columns held, and 0 elsewhere."""
    k = b.shape[0]
    root = np.zeros((k, k))
    for i in range(k):
        x[i] = b[i] if held[i] else 0.0
        for j in range(i + 1):
            both = held[i] and held[j]
            root[i, j] = W[i, j] if both else (1.0 if i == j else 0.0)
    factor(root, root)
    solve(root, x)


@kernel
def solve_in_box(W, b, low, high, x):
    """Fill x (k,) with the least x' W x / 2 + b' x in low <= x <= high, for W positive definite.

    So W x + b is 0 where x is between its bounds, not negative at the lower and not positive at the
    upper bound. Rounds of projected Gauss-Seidel find most entries that are at a bound; an active
    set method, which ends because every step goes downhill, makes the result exact [Nocedal, Wright
    2006, 16.5].
    """
    k = b.shape[0]
    x[:] = 0.0
    for _ in range(GAUSS_SEIDEL):
        for i in range(k):
            x[i] = min(max(x[i] - (W[i] @ x + b[i]) / W[i, i], low[i]), high[i])
    held = (x <= low) | (x >= high)
    root, step, slope = np.empty((k, k)), np.empty(k), np.empty(k)
    for _ in range(ROUNDS * k):
        slope[:] = W @ x + b
        for i in range(k):
            step[i] = 0.0 if held[i] else -slope[i]
            for j in range(i):
                root[i, j] = 0.0 if held[i] or held[j] else W[i, j]
            root[i, i] = 1.0 if held[i] else W[i, i]
        factor(root, root)
        solve(root, step)
        fraction, at = 1.0, -1
        for i in range(k):
            bound = high[i] if step[i] > 0.0 else low[i]
            if not held[i] and step[i] != 0.0 and (bound - x[i]) / step[i] < fraction:
                fraction, at = (bound - x[i]) / step[i], i
        x += fraction * step
        if at >= 0:
            x[at], held[at] = high[at] if step[at] > 0.0 else low[at], True
            continue
        slope[:] = W @ x + b
        worst, most = -1, WRONG * np.abs(b).max()
        for i in range(k):
            wrong = (slope[i] if x[i] >= high[i] else -slope[i]) if held[i] else 0.0
            if wrong > most:
                worst, most = i, wrong
        if worst < 0:
            break
        held[worst] = False
