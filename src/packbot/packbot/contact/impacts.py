"""What contact does to the motion: forces at rest, impulses at impacts, both along the rows.

With the mass matrix M, the rows J of gaps g that are closed, and the efforts f:

    rest:    0 <= lambda  |_  J a + dJ/dt v >= 0,          a  = M^-1 (f + J^T lambda)
    impact:  0 <= Lambda  |_  J v+ + e J v- >= 0,          v+ = v- + M^-1 J^T Lambda

An impact changes the kinetic energy by -(1 - e) / (1 + e) Lambda^T J M^-1 J^T Lambda / 2, which is
never positive [Moreau 1988; Glocker 2001]. One e for all contacts of an instant is needed for that.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract.errors import DivergedError
from roboaccord.contract.state import Array
from roboaccord.numerics.cholesky import factor, solve
from roboaccord.numerics.complementarity import SOLVED, solve_by_lemke
from roboaccord.numerics.jit import kernel

SOFT = 1e-9  # part of its diagonal that is added to J M^-1 J^T: redundant contacts leave no rank
# The same at rest: dJ/dt v has 1e-10 m/s^2 of rounding in it, of which redundant contacts at 1e-9
# would make 0.1 N, and their friction steps of microseconds. It opens gaps by 1e-11 m a step.
GIVE = 1e-7


@kernel
def push(root, rows, ways, bounds, soft, active, pushes, change):  # type: ignore[no-untyped-def]
    """Solve 0 <= x |_ J M^-1 N^T x + b >= 0, and fill in how x acts.

    Args:
        root: Cholesky factor of the mass matrix (n, n).
        rows: J (m, n).
        ways: N, the direction in which each pushes the joints (m, n): J, and friction.
        bounds: b (m,).
        soft: part of its diagonal that is added to the matrix.
        active: where x is positive (m,): a guess, and the answer.
        pushes: filled with x (m,).
        change: filled with M^-1 N^T x (n,).

    Returns:
        SOLVED or FAILED.
    """
    m, n = rows.shape
    moves = np.empty((m, n))
    w = np.empty((m, m))
    for i in range(m):
        for k in range(n):
            moves[i, k] = ways[i, k]
        solve(root, moves[i])
    for i in range(m):
        for j in range(m):
            w[i, j] = 0.0
            for k in range(n):
                w[i, j] += rows[i, k] * moves[j, k]
    for i in range(m):
        w[i, i] *= 1.0 + soft
    answer = solve_by_lemke(w, bounds, active, pushes)
    for k in range(n):
        change[k] = 0.0
        for i in range(m):
            change[k] += moves[i, k] * pushes[i]
    return answer


@kernel
def accelerate(mass, efforts, rows, ways, bias, soft, active, forces, acceleration):  # type: ignore[no-untyped-def]
    """Fill in accelerations (n,) and contact forces (m,) at rest; return SOLVED or FAILED."""
    m, n = rows.shape
    root, change, bounds = np.zeros((n, n)), np.empty(n), np.empty(m)
    factor(mass, root)
    for k in range(n):
        acceleration[k] = efforts[k]
    solve(root, acceleration)
    for i in range(m):
        bounds[i] = bias[i]
        for k in range(n):
            bounds[i] += rows[i, k] * acceleration[k]
    answer = push(root, rows, ways, bounds, soft, active, forces, change)
    for k in range(n):
        acceleration[k] += change[k]
    return answer


def impact(mass: Array, rows: Array, v: Array, restitution: float = 0.0) -> tuple[Array, Array]:
    """Return impulses (m,) [N s] and the velocities after them (n,).

    Args:
        mass: mass matrix (n, n).
        rows: of the gaps that are closed (m, n).
        v: velocities before (n,).
        restitution: e.

    Raises:
        DivergedError: if the complementarity problem has no solution that passes its check.
    """
    m, n = rows.shape
    root, impulses, change = np.zeros((n, n)), np.empty(m), np.empty(n)
    factor(mass, root)
    bounds = (1.0 + restitution) * (rows @ v)
    active = bounds < 0.0
    if push(root, rows, rows, bounds, SOFT, active, impulses, change) != SOLVED:
        raise DivergedError("the impulses of an impact were not found: its contacts contradict")
    return impulses, v + change


def open_gaps(mass: Array, rows: Array, wanted: Array) -> Array:
    """Return the displacement (n,), least in the metric of M, that opens gaps enough.

    Args:
        mass: mass matrix (n, n).
        rows: of the gaps (m, n).
        wanted: by how much each must open at least (m,); it may close where that is negative.

    Raises:
        DivergedError: if no displacement opens all of them.
    """
    m, n = rows.shape
    root, pushes, change = np.zeros((n, n)), np.empty(m), np.empty(n)
    factor(mass, root)
    if push(root, rows, rows, -wanted, SOFT, wanted > 0.0, pushes, change) != SOLVED:
        raise DivergedError("hulls that overlap cannot be parted: their contacts contradict")
    return change
