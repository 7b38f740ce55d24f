"""Linear complementarity problems by Lemke's method, for matrices whose rows are nearly redundant.

The problem: find x with x >= 0 and y = W x + b >= 0, where of each pair x_i, y_i one is 0. It
arises if contacts can push but not pull: x are their forces, and y the velocities by which they
separate. The entries where x is positive are the active set; for a given active set, x follows from
a system of equations. `solve_by_lemke` returns only results that it has checked. For positive
definite W, pivoting.py is faster. The method is that of [Cottle, Pang, Stone 1992, 4.4];
test_complementarity compares it with a trial of all active sets.

VIOLATION_TOLERANCE and the other tolerances stay at round-off: larger ones accept wrong contacts,
smaller ones end in FAILED.
"""

import numpy as np

from roboaccord.numerics.jit import kernel

SOLVED, FAILED = 0, 1  # results of `solve_by_lemke`
# Largest amount by which x and W x + b may be below 0, relative to the terms of their sums: far
# above the round-off of ill-conditioned W, far below any force that matters.
VIOLATION_TOLERANCE = 1e-9
PIVOTS_PER_UNKNOWN = 50  # largest number of pivots per unknown; random problems took 1.5
# Smallest pivot, relative to its column: a smaller one is the round-off of some hundred sums (1e-16
# each).
SMALLEST_PIVOT = 1e-13
# Relative difference below which ratios count as equal: some ten roundings of a pivot.
RATIO_TOLERANCE = 1e-14
# Relative amount by which the ratio of z0 may exceed the smallest one, and z0 still leaves the
# basis. It is 100 RATIO_TOLERANCE, because that ends the method, and `_solve_active` checks the
# result.
Z0_RATIO_TOLERANCE = 1e-12


@kernel
def solve_by_lemke(w, b, active, x):
    """Solve a linear complementarity problem by Lemke's method, with a check.

    The guess of which x are positive is tried first, then Lemke's method. Where rows are nearly
    redundant, rounding may leave some entries of its result on the wrong side; these are then
    switched one by one, the worst first. What is returned has been checked by the definition.

    Args:
        w: matrix W (n, n), whose symmetric part is positive definite in our problems.
        b: vector (n,).
        active: where x is positive (n,): a guess, replaced by the answer.
        x: filled with the answer (n,).

    Returns:
        SOLVED, or FAILED if nothing passes the check.
    """
    n = len(b)
    for attempt in range(2 + 2 * n):
        if attempt == 1:
            _find_active(w, b, active)
        worst_entry = _solve_active(w, b, active, x)
        if worst_entry < 0:
            return SOLVED
        if attempt > 0 and worst_entry < n:
            active[worst_entry] = not active[worst_entry]
    return FAILED


@kernel
def check_lcp(w, b, x):
    """Return how much x (n,) violates the problem; 0 for an exact solution.

    That is the largest |min(x_i, y_i)|, each number relative to the largest of its terms.
    """
    n = len(b)
    worst = largest_x = 0.0
    for i in range(n):
        largest_x = max(largest_x, abs(x[i]))
    for i in range(n):
        y = size = 0.0
        for k in range(n):
            y += w[i, k] * x[k]
            size = max(size, abs(w[i, k] * x[k]))
        y += b[i]
        size = max(size, abs(b[i]))
        if size == 0.0:
            continue
        slack = min(y / size, x[i] / largest_x if largest_x > 0.0 else 0.0)
        worst = max(worst, abs(slack))
    return worst


@kernel
def _solve_active(w, b, active, x):
    """Fill x by solving W x + b = 0 on the active entries, with the others at 0.

    Returns:
        -1 if that solves the problem, else the entry that violates it most; n if there is no x.
    """
    # System of the active entries.
    n, count = len(b), 0
    entries = np.empty(n, dtype=np.int64)
    for i in range(n):
        if active[i]:
            entries[count] = i
            count += 1
        x[i] = 0.0
    if count:
        matrix, solution = np.empty((count, count)), np.empty(count)
        for i in range(count):
            solution[i] = -b[entries[i]]
            for k in range(count):
                matrix[i, k] = w[entries[i], entries[k]]
        if not eliminate(matrix, solution):
            return n
        for i in range(count):
            x[entries[i]] = solution[i]
    # The entry that is farthest on the wrong side: its x if it is active, its y otherwise.
    largest_x = 0.0
    for i in range(n):
        largest_x = max(largest_x, abs(x[i]))
    worst_entry, worst = n, 0.0
    for i in range(n):
        y, size = b[i], abs(b[i])
        for k in range(n):
            y += w[i, k] * x[k]
            size = max(size, abs(w[i, k] * x[k]))
        violation = -x[i] / largest_x if active[i] and largest_x > 0.0 else 0.0
        if not active[i] and size > 0.0:
            violation = -y / size
        if violation > worst:
            worst_entry, worst = i, violation
    # Entries slightly below 0 by round-off become 0, before the result is checked.
    for i in range(n):
        x[i] = max(x[i], 0.0)
    return -1 if check_lcp(w, b, x) <= VIOLATION_TOLERANCE else worst_entry


@kernel
def eliminate(a, y):
    """Replace y (n,) by the solution z of a z = y, by elimination with row pivoting.

    Args:
        a: matrix (n, n), changed.
        y: right side, replaced.

    Returns:
        whether `a` is regular.
    """
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
def _find_active(w, b, active):
    """Fill `active` with the active set (entries where x is positive) by Lemke's method.

    The tableau is that of y - W x - 1 z0 = b with an artificial variable z0; its columns are y, x,
    z0 and b. Variables are numbered: y from 0 to n - 1, x from n to 2n - 1, z0 is 2n. Row i of the
    tableau states the value of the variable `basis[i]`; variables that are not in the basis are 0.
    The method ends when z0 is one of these.
    """
    n, row = len(b), np.argmin(b)
    active[:] = False
    if b[row] >= 0.0:
        return
    # The tableau with y as its basis; z0 enters where b is most negative.
    z0 = 2 * n
    tableau = np.zeros((n, 2 * n + 2))
    for i in range(n):
        tableau[i, i], tableau[i, z0], tableau[i, z0 + 1] = 1.0, -1.0, b[i]
        for k in range(n):
            tableau[i, n + k] = -w[i, k]
    basis = np.arange(n)
    entering = z0
    for _ in range(PIVOTS_PER_UNKNOWN * n):
        leaving = basis[row]
        _pivot(tableau, row, entering)
        basis[row] = entering
        if leaving == z0:
            break
        # The complement of what has left enters: x_i for y_i, and y_i for x_i.
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving_row(tableau, basis, entering)
        if row < 0:
            break
    for i in range(n):
        if n <= basis[i] < z0:
            active[basis[i] - n] = True


@kernel
def _pivot(tableau, row, column):
    """Bring the variable of a column into the basis: eliminate the column from all other rows."""
    n, m = tableau.shape
    pivot = tableau[row, column]
    for k in range(m):
        tableau[row, k] /= pivot
    for i in range(n):
        multiple = tableau[i, column]
        if i != row and multiple != 0.0:
            for k in range(m):
                tableau[i, k] -= multiple * tableau[row, k]


@kernel
def _leaving_row(t, basis, column):
    """Return the row whose variable leaves the basis when that of a column enters; -1 for none.

    It is the row with the smallest ratio of right side to column. Ties are decided by the ratios of
    further columns (lexicographic order), because a degenerate problem could cycle otherwise.

    Args:
        t: tableau (n, 2 n + 2).
        basis: number of the variable of each row (n,).
        column: that of the variable that enters.
    """
    n = len(t)
    z0, right_side = 2 * n, 2 * n + 1  # columns of the artificial variable and of b
    best, largest = -1, 0.0
    for i in range(n):
        largest = max(largest, abs(t[i, column]))
    for i in range(n):
        if t[i, column] <= SMALLEST_PIVOT * largest:
            continue
        if best < 0:
            best = i
            continue
        for k in range(-1, n):
            compared = right_side if k < 0 else k
            ratio, best_ratio = t[i, compared] / t[i, column], t[best, compared] / t[best, column]
            scale = max(abs(ratio), abs(best_ratio))
            if abs(ratio - best_ratio) > RATIO_TOLERANCE * scale:
                if ratio < best_ratio:
                    best = i
                break
    for i in range(n):  # z0 leaves if it can, which ends the method
        if basis[i] == z0 and t[i, column] > SMALLEST_PIVOT * largest:  # so best >= 0
            ratio = t[i, right_side] / t[i, column]
            if ratio <= t[best, right_side] / t[best, column] * (1.0 + Z0_RATIO_TOLERANCE):
                best = i
    return best
