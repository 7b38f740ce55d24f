"""Contact forces at rest and impulses at impacts, both along the contact Jacobian.

With the mass matrix M, the Jacobian J of the gaps g that are closed, and the efforts f:

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
def solve_contacts(root, jacobian, directions, bounds, soft, active, forces, change):
    """Solve 0 <= x |_ D x + b >= 0, with the Delassus matrix D = J M^-1 N^T, and apply x.

    Args:
        root: Cholesky factor of the mass matrix (n, n).
        jacobian: J (m, n).
        directions: N, the generalised force of each per unit (m, n): J, and friction.
        bounds: b (m,).
        soft: part of its diagonal that is added to the matrix.
        active: where x is positive (m,): a guess, and the answer.
        forces: filled with x (m,).
        change: filled with M^-1 N^T x (n,).

    Returns:
        SOLVED or FAILED.
    """
    m, n = jacobian.shape
    responses = np.empty((m, n))
    delassus = np.empty((m, m))
    for i in range(m):
        for k in range(n):
            responses[i, k] = directions[i, k]
        solve(root, responses[i])
    for i in range(m):
        for j in range(m):
            delassus[i, j] = 0.0
            for k in range(n):
                delassus[i, j] += jacobian[i, k] * responses[j, k]
    for i in range(m):
        delassus[i, i] *= 1.0 + soft
    answer = solve_by_lemke(delassus, bounds, active, forces)
    for k in range(n):
        change[k] = 0.0
        for i in range(m):
            change[k] += responses[i, k] * forces[i]
    return answer


@kernel
def accelerate(mass, efforts, jacobian, directions, bias, soft, active, forces, acceleration):
    """Solve for accelerations (n,) and lasting contact forces (m,); return SOLVED or FAILED."""
    m, n = jacobian.shape
    root, change, bounds = np.zeros((n, n)), np.empty(n), np.empty(m)
    factor(mass, root)
    for k in range(n):
        acceleration[k] = efforts[k]
    solve(root, acceleration)
    for i in range(m):
        bounds[i] = bias[i]
        for k in range(n):
            bounds[i] += jacobian[i, k] * acceleration[k]
    answer = solve_contacts(root, jacobian, directions, bounds, soft, active, forces, change)
    for k in range(n):
        acceleration[k] += change[k]
    return answer


def impact(mass: Array, jacobian: Array, v: Array, restitution: float = 0.0) -> tuple[Array, Array]:
    """Return impulses (m,) [N s] and the velocities after them (n,).

    Args:
        mass: mass matrix (n, n).
        jacobian: of the gaps that are closed (m, n).
        v: velocities before (n,).
        restitution: e.

    Raises:
        DivergedError: if the complementarity problem has no solution that passes its check.
    """
    m, n = jacobian.shape
    root, impulses, change = np.zeros((n, n)), np.empty(m), np.empty(n)
    factor(mass, root)
    bounds = (1.0 + restitution) * (jacobian @ v)
    active = bounds < 0.0
    if solve_contacts(root, jacobian, jacobian, bounds, SOFT, active, impulses, change) != SOLVED:
        raise DivergedError("the impulses of an impact were not found: its contacts contradict")
    return impulses, v + change


def open_gaps(mass: Array, jacobian: Array, wanted: Array) -> Array:
    """Return the smallest displacement (n,) in the metric of M that opens gaps as required.

    Args:
        mass: mass matrix (n, n).
        jacobian: of the gaps (m, n).
        wanted: by how much each must open at least (m,); it may close where that is negative.

    Raises:
        DivergedError: if no displacement opens all of them.
    """
    m, n = jacobian.shape
    root, forces, change = np.zeros((n, n)), np.empty(m), np.empty(n)
    factor(mass, root)
    active = wanted > 0.0
    if solve_contacts(root, jacobian, jacobian, -wanted, SOFT, active, forces, change) != SOLVED:
        raise DivergedError("hulls that overlap cannot be parted: their contacts contradict")
    return change
