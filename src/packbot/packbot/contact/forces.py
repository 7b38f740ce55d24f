"""Forces of lasting contacts and impulses of impacts, along the normals of closed gaps.

With the mass matrix M, the Jacobian J of the closed gaps, the joint rates v and accelerations a,
and the efforts f of everything but contact, these complementarity problems are solved ("|_": of
both sides, one is 0 in each contact):

    lasting contact:  0 <= lambda  |_  J a + dJ/dt v >= 0,     a  = M^-1 (f + J^T lambda)
    impact:           0 <= Lambda  |_  J v+ + e J v- >= 0,     v+ = v- + M^-1 J^T Lambda

An impact changes the kinetic energy by -(1 - e) / (1 + e) Lambda^T J M^-1 J^T Lambda / 2, which is
never positive [Moreau 1988; Glocker 2001]. This requires one restitution e for all contacts of an
instant. Friction, which is proportional to lambda, enters through the `directions` in which a unit
of lambda acts (friction.py).

The laws must stay: test_packbot_reference checks momentum, complementarity and the energy of each
impact. The constants bound rounding errors, and may be tuned.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import Array, DivergedError
from roboaccord.numerics import SOLVED, cholesky, kernel, solve_by_lemke

# Fraction of its own diagonal that is added to J M^-1 J^T, which redundant contacts make singular:
# far above its round-off, 1e-16, and it changes impulses by 1e-9 of themselves. In `collapse` 1e-11
# and 1e-7 change angles by less than 1e-14 rad (measured).
SOFTNESS = 1e-9
# The same for lasting contacts. With 1e-9, redundant contacts would turn rounding errors of
# 1e-10 m/s^2 in dJ/dt v into forces of 0.1 N, whose friction needs steps of microseconds. With
# 1e-7, gaps open by 1e-11 m a step.
COMPLIANCE = 1e-7


@kernel
def accelerate(mass, efforts, jacobian, directions, bias, softness, active, forces, acceleration):
    """Solve for the accelerations, and the forces of lasting contacts.

    Args:
        mass: mass matrix M (n, n).
        efforts: f, of everything but contact (n,) [N m].
        jacobian, directions, softness, active: as in `solve_contacts`.
        bias: dJ/dt v (m,).
        forces: filled with lambda (m,) [N, N m].
        acceleration: filled (n,) [rad/s^2].

    Returns:
        SOLVED or FAILED.
    """
    m, n = jacobian.shape
    factor, change, bounds = np.zeros((n, n)), np.empty(n), bias.copy()
    # Accelerations without contact forces, M^-1 f.
    cholesky.factor(mass, factor)
    acceleration[:] = efforts
    cholesky.solve(factor, acceleration)
    # Accelerations of the gaps without contact forces, and with them the forces.
    for i in range(m):
        for k in range(n):
            bounds[i] += jacobian[i, k] * acceleration[k]
    status = solve_contacts(factor, jacobian, directions, bounds, softness, active, forces, change)
    for k in range(n):
        acceleration[k] += change[k]
    return status


def impact(mass: Array, jacobian: Array, v: Array, restitution: float = 0.0) -> tuple[Array, Array]:
    """Return impulses (m,) [N s] and the velocities after them (n,).

    Args:
        mass: mass matrix M (n, n).
        jacobian: Jacobian J of the closed gaps (m, n).
        v: joint rates before the impact (n,).
        restitution: e, from 0 to 1.

    Raises:
        DivergedError: if the complementarity problem has no solution that passes its check.
    """
    failure = "the impulses of an impact were not found: its contacts contradict"
    impulses, change = _solve_normal(mass, jacobian, (1.0 + restitution) * (jacobian @ v), failure)
    return impulses, v + change


def open_gaps(mass: Array, jacobian: Array, distances: Array) -> Array:
    """Return the smallest displacement (n,) in the metric of M that opens gaps as required.

    Args:
        mass: mass matrix M (n, n).
        jacobian: Jacobian of the gaps (m, n).
        distances: by which each gap must open (m,); if negative, by which it may close.

    Raises:
        DivergedError: if no displacement opens all of them.
    """
    failure = "hulls that overlap cannot be parted: their contacts contradict"
    return _solve_normal(mass, jacobian, -distances, failure)[1]


def _solve_normal(mass: Array, jacobian: Array, bounds: Array, failure: str) -> tuple[Array, Array]:
    """Return x (m,) of 0 <= x |_ D x + b >= 0 without friction, and M^-1 J^T x (n,).

    Args:
        mass: mass matrix M (n, n).
        jacobian: J (m, n).
        bounds: b (m,).
        failure: message of the error if there is no solution.
    """
    m, n = jacobian.shape
    factor, x, change = np.zeros((n, n)), np.empty(m), np.empty(n)
    cholesky.factor(mass, factor)
    active = bounds < 0.0
    if solve_contacts(factor, jacobian, jacobian, bounds, SOFTNESS, active, x, change) != SOLVED:
        raise DivergedError(failure)
    return x, change


@kernel
def solve_contacts(factor, jacobian, directions, bounds, softness, active, forces, change):
    """Solve 0 <= x |_ D x + b >= 0, with the Delassus matrix D = J M^-1 N^T, and apply x.

    Args:
        factor: Cholesky factor of the mass matrix (n, n).
        jacobian: J (m, n).
        directions: N, the joint efforts of each contact per unit of x, J plus friction (m, n).
        bounds: b (m,).
        softness: part of its own diagonal that is added to D.
        active: where x is positive (m,); a guess, replaced by the result.
        forces: filled with x (m,).
        change: filled with M^-1 N^T x (n,).

    Returns:
        SOLVED or FAILED.
    """
    m, n = jacobian.shape
    # Rows of N M^-1: the joint rates by a unit of each contact.
    responses = directions.copy()
    for i in range(m):
        cholesky.solve(factor, responses[i])
    # Delassus matrix.
    delassus = np.empty((m, m))
    for i in range(m):
        for j in range(m):
            delassus[i, j] = 0.0
            for k in range(n):
                delassus[i, j] += jacobian[i, k] * responses[j, k]
    for i in range(m):
        delassus[i, i] *= 1.0 + softness
    status = solve_by_lemke(delassus, bounds, active, forces)
    # M^-1 N^T x.
    for k in range(n):
        change[k] = 0.0
        for i in range(m):
            change[k] += responses[i, k] * forces[i]
    return status
