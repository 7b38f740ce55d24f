"""Linear complementarity problems by block principal pivoting, for W positive definite.

The method is fixed by the papers named below; test_complementarity tries all active sets against
it. PATIENCE may be tuned, which only costs or saves time; WRONG must stay at round-off.
"""

from __future__ import annotations

import numpy as np

from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel

PATIENCE = 10  # rounds without progress, after which entries change one at a time (Judice, Pires)
ROUNDS = 50  # per unknown and in addition: far more than are needed
WRONG = 1e-12  # of the largest b: a rate further below 0 is not round-off
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
