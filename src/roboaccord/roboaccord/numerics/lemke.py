"""Linear complementarity problems by Lemke's method: 0 <= x, 0 <= W x + b, one of each pair zero.

For W whose rows are nearly redundant; what is returned has been checked. For W positive definite
pivoting.py is faster. The method is that of [Cottle, Pang, Stone 1992, 4.4]; test_complementarity
tries all active sets against it. EXACT and the tolerances below must stay at round-off: wider ones
accept wrong contacts, narrower ones end in FAILED.
"""

from __future__ import annotations

import numpy as np

from roboaccord.numerics.jit import kernel

SOLVED, FAILED = 0, 1
EXACT = 1e-9  # how far below 0 x and W x + b may be, relative to the terms of their sums
PIVOTS = 50  # per unknown, at most: far more than are needed
SMALL = 1e-13  # relative size of a pivot that is round-off
ALIKE = 1e-14  # relative difference of ratios that is round-off
TIED = 1e-12  # relative difference by which z0 may leave the basis first, in a tie


@kernel
def solve_by_lemke(w, b, active, x):
    """Solve a linear complementarity problem by Lemke's method, with a check.

    The guess of which x are positive is tried first, then Lemke's method. Where rows are nearly
    redundant, rounding may leave some entries of its result on the wrong side; these are then
    switched one by one, the worst first. What is returned has been checked by the definition.

    Args:
        w: matrix (n, n); of the problems here the symmetric part is positive definite.
        b: (n,).
        active: where x is positive (n,): a guess, replaced by the answer.
        x: filled (n,).

    Returns:
        SOLVED, or FAILED if nothing passes the check.
    """
    n = len(b)
    for attempt in range(2 + 2 * n):
        if attempt == 1:
            _lemke(w, b, active)
        wrong = _settle(w, b, active, x)
        if wrong < 0:
            return SOLVED
        if attempt > 0 and wrong < n:
            active[wrong] = not active[wrong]
    return FAILED


@kernel
def check_lcp(w, b, x):
    """Return the residual of a solution x (n,), relative to its terms: 0 is exact."""
    n = len(b)
    worst = most = 0.0
    for i in range(n):
        most = max(most, abs(x[i]))
    for i in range(n):
        y = size = 0.0
        for k in range(n):
            y += w[i, k] * x[k]
            size = max(size, abs(w[i, k] * x[k]))
        y += b[i]
        size = max(size, abs(b[i]))
        if size == 0.0:
            continue
        slack = min(y / size, x[i] / most if most > 0.0 else 0.0)
        worst = max(worst, abs(slack))
    return worst


@kernel
def _settle(w, b, active, x):
    """Solve for x with a given active set (positive entries).

    Returns:
        -1 if that solves the problem, else the entry with the largest error; n if there is no x.
    """
    n = len(b)
    count = 0
    where = np.empty(n, dtype=np.int64)
    for i in range(n):
        if active[i]:
            where[count] = i
            count += 1
        x[i] = 0.0
    if count:
        a, y = np.empty((count, count)), np.empty(count)
        for i in range(count):
            y[i] = -b[where[i]]
            for k in range(count):
                a[i, k] = w[where[i], where[k]]
        if not eliminate(a, y):
            return n
        for i in range(count):
            x[where[i]] = y[i]
    most = 0.0
    for i in range(n):
        most = max(most, abs(x[i]))
    wrong, worst = n, 0.0
    for i in range(n):
        y, size = b[i], abs(b[i])
        for k in range(n):
            y += w[i, k] * x[k]
            size = max(size, abs(w[i, k] * x[k]))
        miss = -x[i] / most if active[i] and most > 0.0 else 0.0
        if not active[i] and size > 0.0:
            miss = -y / size
        if miss > worst:
            wrong, worst = i, miss
    # Entries slightly below 0 are rounding: they become 0, and the result is checked with that.
    for i in range(n):
        x[i] = max(x[i], 0.0)
    return -1 if check_lcp(w, b, x) <= EXACT else wrong


@kernel
def eliminate(a, y):
    """Solve a z = y in place by elimination with pivoting; return whether a is regular."""
    n = len(y)
    for c in range(n):
        pivot = c
        for i in range(c + 1, n):
            if abs(a[i, c]) > abs(a[pivot, c]):
                pivot = i
        if not abs(a[pivot, c]) > 0.0:
            return False
        if pivot != c:
            for k in range(n):
                a[c, k], a[pivot, k] = a[pivot, k], a[c, k]
            y[c], y[pivot] = y[pivot], y[c]
        for i in range(c + 1, n):
            factor = a[i, c] / a[c, c]
            for k in range(c, n):
                a[i, k] -= factor * a[c, k]
            y[i] -= factor * y[c]
    for c in range(n - 1, -1, -1):
        for k in range(c + 1, n):
            y[c] -= a[c, k] * y[k]
        y[c] /= a[c, c]
    return True


@kernel
def _lemke(w, b, active):
    """Find the active set (positive entries) by Lemke's method, into `active`.

    The tableau is that of y - W x - 1 z0 = b, with columns y, x, z0 and b. Variables are numbered:
    y from 0 to n - 1, x from n to 2n - 1, z0 is 2n.
    """
    n = len(b)
    row = 0
    for i in range(n):
        active[i] = False
        if b[i] < b[row]:
            row = i
    if b[row] >= 0.0:
        return
    t = np.zeros((n, 2 * n + 2))
    for i in range(n):
        t[i, i], t[i, 2 * n], t[i, 2 * n + 1] = 1.0, -1.0, b[i]
        for k in range(n):
            t[i, n + k] = -w[i, k]
    basis = np.empty(n, dtype=np.int64)
    for i in range(n):
        basis[i] = i
    entering = 2 * n
    for _ in range(PIVOTS * n):
        leaving = basis[row]
        _pivot(t, row, entering)
        basis[row] = entering
        if leaving == 2 * n:
            break
        entering = leaving + n if leaving < n else leaving - n
        row = _ratio(t, basis, entering)
        if row < 0:
            break
    for i in range(n):
        if n <= basis[i] < 2 * n:
            active[basis[i] - n] = True


@kernel
def _pivot(t, row, column):
    """Bring a variable into the basis: eliminate its column from all rows but one."""
    n, m = t.shape
    pivot = t[row, column]
    for k in range(m):
        t[row, k] /= pivot
    for i in range(n):
        multiple = t[i, column]
        if i != row and multiple != 0.0:
            for k in range(m):
                t[i, k] -= multiple * t[row, k]


@kernel
def _ratio(t, basis, column):
    """Return the row that leaves the basis (lexicographic ratio test), -1 where none can.

    Without the lexicographic order a degenerate problem could cycle.
    """
    n = len(t)
    best, largest = -1, 0.0
    for i in range(n):
        largest = max(largest, abs(t[i, column]))
    for i in range(n):
        if t[i, column] <= SMALL * largest:
            continue
        if best < 0:
            best = i
            continue
        for k in range(-1, n):
            here = t[i, 2 * n + 1 if k < 0 else k] / t[i, column]
            there = t[best, 2 * n + 1 if k < 0 else k] / t[best, column]
            scale = max(abs(here), abs(there))
            if abs(here - there) > ALIKE * scale:
                if here < there:
                    best = i
                break
    for i in range(n):  # z0 leaves if it can, which ends the method
        if basis[i] == 2 * n and t[i, column] > SMALL * largest:  # so best >= 0
            here = t[i, 2 * n + 1] / t[i, column]
            if here <= t[best, 2 * n + 1] / t[best, column] * (1.0 + TIED):
                best = i
    return best
