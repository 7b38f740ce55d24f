"""The MonkeyBot from its Lagrangian, apart from all code under test: an oracle.

Coordinates are x = (y, z, th1, th2). The mass matrix is the sum of J' m J over the links' centres;
what is needed of its derivatives comes by complex steps, which are exact to round-off.
"""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

STEP = 1e-30
SPIN_A, SPIN_B = np.array([0.0, 0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0])


def _point(x, along_a, along_b):
    """Return the Jacobian (2, 4) of a point, so far from hand A along link A, then along B."""
    a, b = x[2], x[2] + x[3]
    turn_b = along_b * np.array([np.cos(b), np.sin(b)])
    turn_a = along_a * np.array([np.cos(a), np.sin(a)]) + turn_b
    return np.column_stack([np.eye(2), turn_a, turn_b])


def mass_matrix(p, x):
    """Return M (4, 4), nothing held."""
    A, B = _point(x, p.centre_a, 0.0), _point(x, p.length_a, p.centre_b)
    M = p.mass_a * A.T @ A + p.mass_b * B.T @ B
    return M + p.inertia_a * np.outer(SPIN_A, SPIN_A) + p.inertia_b * np.outer(SPIN_B, SPIN_B)


def gravity_forces(p, x):
    """Return the gradient of the potential energy (4,)."""
    A, B = _point(x, p.centre_a, 0.0), _point(x, p.length_a, p.centre_b)
    return p.gravity * (p.mass_a * A[1] + p.mass_b * B[1])


def held(p, x, hands):
    """Return the Jacobian of the hands that are held, named in a string such as "ab"."""
    rows = {"a": _point(x, 0.0, 0.0), "b": _point(x, p.length_a, p.length_b)}
    return np.concatenate([np.zeros((0, 4)), *(rows[hand] for hand in hands)])


def friction(b, c, e, w):
    """Return the torque of a joint's friction."""
    return -(b * w + c * w / np.sqrt(w * w + e * e))


def acceleration(p, x, v, torque, hands, *, rough=True):
    """Return x'' (4,) from Lagrange's equations with the held hands as constraints."""

    def along(function):  # derivative in the direction of v
        return np.imag(function(x + 1j * STEP * v)) / STEP

    gradient = np.array([
        np.imag(v @ mass_matrix(p, x + 1j * STEP * unit) @ v) / STEP for unit in np.eye(4)
    ])  # fmt: skip
    force = 0.5 * gradient - along(lambda x: mass_matrix(p, x)) @ v - gravity_forces(p, x)
    force[3] += torque
    if rough:
        force[3] += friction(p.viscous_elbow, p.constant_elbow, p.friction_speed, v[3])
        for hand, spin in (("a", SPIN_A), ("b", SPIN_B)):
            if hand in hands:
                c, e = p.constant_hand, p.friction_speed
                force += spin * friction(p.viscous_hand, c, e, spin @ v)
    J = held(p, x, hands)
    k = len(J)
    matrix = np.block([[mass_matrix(p, x), J.T], [J, np.zeros((k, k))]])
    right = np.concatenate([force, -along(lambda x: held(p, x, hands)) @ v])
    return np.linalg.solve(matrix, right)[:4]


def impact(p, x, v, hands):
    """Return the rates when the hands have come to rest (4,), and the impulses (2 hands,)."""
    J = held(p, x, hands)
    M, k = mass_matrix(p, x), len(J)
    matrix = np.block([[M, -J.T], [J, np.zeros((k, k))]])
    found = np.linalg.solve(matrix, np.concatenate([M @ v, np.zeros(k)]))
    return found[:4], found[4:]


def move(p, x, v, torque, hands, duration):
    """Return x and v after a time [s], to the tolerance of the integrator, 1e-12."""
    found = solve_ivp(
        lambda _, s: np.concatenate([s[4:], acceleration(p, s[:4], s[4:], torque, hands)]),
        (0.0, duration), np.concatenate([x, v]), method="DOP853", rtol=1e-12, atol=1e-13,
    )  # fmt: skip
    return found.y[:4, -1], found.y[4:, -1]


def kinetic_energy(p, x, v):
    """Return the kinetic energy [J]."""
    return 0.5 * v @ mass_matrix(p, x) @ v


def energy(p, x, v):
    """Return the kinetic and the potential energy [J]."""
    a, b = x[2], x[2] + x[3]
    up_a = x[1] - p.centre_a * np.cos(a)
    up_b = x[1] - p.length_a * np.cos(a) - p.centre_b * np.cos(b)
    return kinetic_energy(p, x, v), p.gravity * (p.mass_a * up_a + p.mass_b * up_b)


def move_until(p, state, torque, condition, hand="a", limit=3.0):
    """Swing on a hand until a condition on (x, v) rises through 0; return time and state (8,)."""

    def rate(_, s):
        return [*s[4:], *acceleration(p, s[:4], s[4:], torque, hand)]

    def crossing(_, s):
        return condition(s[:4], s[4:])

    crossing.terminal, crossing.direction = True, 1.0
    found = solve_ivp(
        rate, (0.0, limit), np.asarray(state), method="DOP853", rtol=1e-12, atol=1e-13,
        events=crossing,
    )  # fmt: skip
    return found.t[-1], found.y[:, -1]
