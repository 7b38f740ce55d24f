"""Complementarity problems with a positive definite matrix W: one-sided, or in a box.

`solve_by_pivoting` finds x >= 0 with W x - b >= 0, where of each pair of entries one is 0. So are
the forces x of contacts that can push but not pull. `solve_in_box` finds x between bounds, such as
friction with bounded forces. lemke.py is for W that is nearly singular. The methods are those of
the papers and the textbook named below; test_complementarity compares them with a trial of all
active sets and with least squares.

PATIENT_ROUNDS and GAUSS_SEIDEL_ROUNDS may be tuned, which affects only the time; WRONG_TOLERANCE
stays at round-off.
"""

import numpy as np

from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel

# Number of rounds without progress after which entries change one at a time (Judice and Pires).
PATIENT_ROUNDS = 10
# Largest number of rounds per unknown, and of additional rounds. At most 4.4 per unknown were
# necessary in 200 random problems of 4 and 12 unknowns.
ROUNDS_PER_UNKNOWN = 50
# An entry of W x - b that is farther below 0 than this, relative to the largest b, is wrong. It is
# more than the round-off of a thousand terms.
WRONG_TOLERANCE = 1e-12
# Rounds in a box before the exact method, which find most entries at bounds; any number is correct.
GAUSS_SEIDEL_ROUNDS = 10
SMALLEST_SCALE = 1e-300  # positive number that replaces 0 as a divisor: smaller than all that occur


@kernel
def solve_by_pivoting(W, b):
    """Return the x (k,) with x >= 0 and W x - b >= 0, one of each pair 0, for W positive definite.

    Block principal pivoting (Judice and Pires, 1994). An entry is active if its W x - b is set to
    0, and inactive if its x is; at first all are active. In each round the wrong entries, where the
    other number of the pair is negative, change sides. After PATIENT_ROUNDS in which they did not
    get fewer, only the last one changes (Murty's method, which ends for such W).
    """
    k = b.shape[0]
    active, wrong = np.ones(k, dtype=np.bool_), np.zeros(k, dtype=np.bool_)
    result = np.zeros(k)
    scale = SMALLEST_SCALE
    for i in range(k):
        scale = max(scale, abs(b[i]))
    fewest, patience = k + 1, PATIENT_ROUNDS
    for _ in range(ROUNDS_PER_UNKNOWN * k + ROUNDS_PER_UNKNOWN):
        _solve_active(W, b, active, result)
        # The wrong entries of this round.
        count, last = 0, -1
        for i in range(k):
            y = -b[i]  # of W x - b
            for j in range(k):
                y += W[i, j] * result[j]
            wrong[i] = result[i] < 0.0 if active[i] else y < -WRONG_TOLERANCE * scale
            if wrong[i]:
                count += 1
                last = i
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, PATIENT_ROUNDS
        else:
            patience -= 1
        for i in range(k):
            if wrong[i] and (patience > 0 or i == last):
                active[i] = not active[i]
    for i in range(k):
        result[i] = max(result[i], 0.0)
    return result


@kernel
def _solve_active(W, b, active, x):
    """Fill x (k,) with the solution of W x = b on the active rows and columns, and 0 elsewhere."""
    k = b.shape[0]
    root = np.zeros((k, k))
    for i in range(k):
        x[i] = b[i] if active[i] else 0.0
        for j in range(i + 1):
            both_active = active[i] and active[j]
            root[i, j] = W[i, j] if both_active else (1.0 if i == j else 0.0)
    factor(root, root)
    solve(root, x)


@kernel
def solve_in_box(W, b, low, high, x):
    """Fill x (k,) with the minimum of x' W x / 2 + b' x in low <= x <= high, W positive definite.

    There the slope W x + b is 0 where x is between its bounds, >= 0 at a lower and <= 0 at an upper
    bound. Rounds of projected Gauss-Seidel find most entries that are at a bound; an active-set
    method then makes the result exact, and ends because every step decreases the function [Nocedal,
    Wright 2006, 16.5].
    """
    # Projected Gauss-Seidel; entries at a bound are then fixed there.
    k = b.shape[0]
    x[:] = 0.0
    for _ in range(GAUSS_SEIDEL_ROUNDS):
        for i in range(k):
            x[i] = min(max(x[i] - (W[i] @ x + b[i]) / W[i, i], low[i]), high[i])
    fixed = (x <= low) | (x >= high)
    root, step, slope = np.empty((k, k)), np.empty(k), np.empty(k)
    for _ in range(ROUNDS_PER_UNKNOWN * k):
        slope[:] = W @ x + b
        _fill_step(W, slope, fixed, root, step)
        # The whole step, or up to the first bound on the way, at which that entry is fixed.
        fraction, reached = 1.0, -1  # of the step; entry that reaches its bound
        for i in range(k):
            bound = high[i] if step[i] > 0.0 else low[i]
            if not fixed[i] and step[i] != 0.0 and (bound - x[i]) / step[i] < fraction:
                fraction, reached = (bound - x[i]) / step[i], i
        x += fraction * step
        if reached >= 0:
            x[reached] = high[reached] if step[reached] > 0.0 else low[reached]
            fixed[reached] = True
            continue
        # Release the fixed entry with the steepest slope away from its bound; none: solved.
        slope[:] = W @ x + b
        released, steepest = -1, WRONG_TOLERANCE * np.abs(b).max()
        for i in range(k):
            inward = (slope[i] if x[i] >= high[i] else -slope[i]) if fixed[i] else 0.0
            if inward > steepest:
                released, steepest = i, inward
        if released < 0:
            break
        fixed[released] = False


@kernel
def _fill_step(W, slope, fixed, root, step):
    """Fill `step` (k,) with Newton's step of the entries that are not fixed: W step = -slope.

    `root` (k, k) is memory for the Cholesky factor, overwritten.
    """
    for i in range(len(step)):
        step[i] = 0.0 if fixed[i] else -slope[i]
        for j in range(i):
            root[i, j] = 0.0 if fixed[i] or fixed[j] else W[i, j]
        root[i, i] = 1.0 if fixed[i] else W[i, i]
    factor(root, root)
    solve(root, step)
