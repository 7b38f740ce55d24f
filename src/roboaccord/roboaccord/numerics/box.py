"""Quadratic programs in a box, which are complementarity problems with bounds on either side of x.

The method is fixed by the textbook named below; test_complementarity compares it with least
squares. GAUSS_SEIDEL may be tuned, which only costs or saves time; WRONG must stay at round-off.
"""

from __future__ import annotations

import numpy as np

from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel

GAUSS_SEIDEL = 10  # rounds before the exact method
ROUNDS = 50  # of the exact method, per unknown: far more than are needed
WRONG = 1e-12  # of the largest b: a slope beyond it is not round-off


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
