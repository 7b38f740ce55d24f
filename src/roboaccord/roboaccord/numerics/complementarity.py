"""Linear complementarity problems: 0 <= x, 0 <= W x + b, one of each pair zero.

The methods are fixed by textbooks (named at each function); test_complementarity tries all active
sets and least squares against them. ROUNDS may be tuned: it only costs or saves time. EXACT and the
tolerances 1e-12 to 1e-14 must stay at round-off: wider ones accept wrong contacts, narrower ones
end in FAILED.

`solve_by_lemke` takes W whose rows are nearly redundant, and checks what it returns;
`solve_by_pivoting` takes W positive definite, and is the faster there. `solve_in_box` has bounds on
either side of x, and takes W that is symmetric, too.
"""

from __future__ import annotations

import numpy as np

from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.jit import kernel

SOLVED, FAILED = 0, 1
ROUNDS = 10  # of Gauss-Seidel, before the exact method
EXACT = 1e-9  # how far below 0 x and W x + b may be, relative to the terms that they consist of


@kernel
def solve_by_lemke(w, b, active, x):
    """Solve a linear complementarity problem by Lemke's method, with a check.

    First the set of positive x of a nearby problem is tried, then Lemke's method [Cottle, Pang,
    Stone 1992, 4.4]. Where rows are nearly redundant rounding may leave some entry of that on the
    wrong side; entries are then turned one by one, the worst first. What is returned has been
    checked against the definition.

    Args:
        w: matrix (n, n); of the problems here the symmetric part is positive definite.
        b: (n,).
        active: where x is positive (n,), a guess; becomes what it is.
        x: filled (n,).

    Returns:
        SOLVED, or FAILED where nothing that passes the check was found.
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
        -1 where that solves the problem, else the entry that is worst off; n if there is no x.
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
    # A hair below 0 is rounding: it is cut, and the whole is checked as it is returned.
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

    Tableau of y - W x - 1 z0 = b; columns are y, x, z0 and b. Variables are numbered y 0 to n - 1,
    x n to 2n - 1, z0 2n.
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
    for _ in range(50 * n):
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
    n, m = t.shape
    pivot = t[row, column]
    for k in range(m):
        t[row, k] /= pivot
    for i in range(n):
        part = t[i, column]
        if i != row and part != 0.0:
            for k in range(m):
                t[i, k] -= part * t[row, k]


@kernel
def _ratio(t, basis, column):
    """Return the row that leaves the basis (lexicographic ratio test), -1 where none can.

    Without that, a degenerate problem could go round in circles.
    """
    n = len(t)
    best, largest = -1, 0.0
    for i in range(n):
        largest = max(largest, abs(t[i, column]))
    for i in range(n):
        if t[i, column] <= 1e-13 * largest:
            continue
        if best < 0:
            best = i
            continue
        for k in range(-1, n):
            here = t[i, 2 * n + 1 if k < 0 else k] / t[i, column]
            there = t[best, 2 * n + 1 if k < 0 else k] / t[best, column]
            scale = max(abs(here), abs(there))
            if abs(here - there) > 1e-14 * scale:
                if here < there:
                    best = i
                break
    for i in range(n):  # z0 leaves where it can: then all is done
        if basis[i] == 2 * n and t[i, column] > 1e-13 * largest:  # so best >= 0
            here = t[i, 2 * n + 1] / t[i, column]
            if here <= t[best, 2 * n + 1] / t[best, column] * (1.0 + 1e-12):
                best = i
    return best


@kernel
def solve_by_pivoting(W, b):
    """Return x (k,) of 0 <= x, 0 <= W x - b, for W (k, k) positive definite.

    Block principal pivoting (Judice and Pires, 1994), which starts from all held: all that are
    wrong change at once, and the last of them alone (Murty, which ends for such W) after ten
    rounds in which they did not get fewer.
    """
    k = b.shape[0]
    held = np.ones(k, dtype=np.bool_)
    wrong = np.zeros(k, dtype=np.bool_)
    result = np.zeros(k)
    scale = 1e-300
    for i in range(k):
        scale = max(scale, abs(b[i]))
    fewest, patience = k + 1, 10
    for _ in range(50 * k + 50):
        _solve_held(W, b, held, result)
        count, last = 0, -1
        for i in range(k):
            rate = -b[i]
            for j in range(k):
                rate += W[i, j] * result[j]
            wrong[i] = result[i] < 0.0 if held[i] else rate < -1e-12 * scale
            if wrong[i]:
                count += 1
                last = i
        if count == 0:
            break
        if count < fewest:
            fewest, patience = count, 10
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

    So W x + b is 0 where x is between its bounds, not negative where it is low and not positive
    where it is high. Rounds of projected Gauss-Seidel find most of what is at a bound; an active
    set method, whose steps all go downhill and so end, makes it exact [Nocedal, Wright 2006, 16.5].
    """
    k = b.shape[0]
    x[:] = 0.0
    for _ in range(ROUNDS):
        for i in range(k):
            x[i] = min(max(x[i] - (W[i] @ x + b[i]) / W[i, i], low[i]), high[i])
    held = (x <= low) | (x >= high)
    root, step, slope = np.empty((k, k)), np.empty(k), np.empty(k)
    for _ in range(50 * k):
        slope[:] = W @ x + b
        for i in range(k):
            step[i] = 0.0 if held[i] else -slope[i]
            for j in range(i):
                root[i, j] = 0.0 if held[i] or held[j] else W[i, j]
            root[i, i] = 1.0 if held[i] else W[i, i]
        factor(root, root)
        solve(root, step)
        part, at = 1.0, -1
        for i in range(k):
            bound = high[i] if step[i] > 0.0 else low[i]
            if not held[i] and step[i] != 0.0 and (bound - x[i]) / step[i] < part:
                part, at = (bound - x[i]) / step[i], i
        x += part * step
        if at >= 0:
            x[at], held[at] = high[at] if step[at] > 0.0 else low[at], True
            continue
        slope[:] = W @ x + b
        worst, most = -1, 1e-12 * np.abs(b).max()
        for i in range(k):
            wrong = (slope[i] if x[i] >= high[i] else -slope[i]) if held[i] else 0.0
            if wrong > most:
                worst, most = i, wrong
        if worst < 0:
            break
        held[worst] = False
