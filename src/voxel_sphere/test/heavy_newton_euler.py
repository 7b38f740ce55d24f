"""Newton's and Euler's equations of a ball on a surface, the oracle of the heavy ball.

The surface is P(a, b) with its derivatives written out, touched from the side of the normal n, so
that the centre is C = P + r n. Nothing is eliminated by hand: balance of forces, balance of moments
and the constraint, differentiated once, are solved together for accelerations and contact force.

[1] Neimark, Fufaev, Dynamics of Nonholonomic Systems (1972), III.
"""

from dataclasses import dataclass

import numpy as np

UP = np.array([0.0, 0.0, 1.0])


@dataclass
class Patch:
    """A surface about a point: P (3,), P_i (2, 3), P_ij (2, 2, 3); P_a x P_b is upwards."""

    point: np.ndarray
    first: np.ndarray
    second: np.ndarray

    def centre(self, r):
        """Centre (3,) of a touching ball, normal (3,), and their derivatives by a, b (2, 3)."""
        a, b = self.first
        across = np.cross(a, b)
        size = np.linalg.norm(across)
        n = across / size
        bent = np.cross(self.second[0], b) + np.cross(a, self.second[1])  # d(a x b) by a, b
        turned = (bent - np.outer(bent @ n, n)) / size
        return self.point + r * n, n, self.first + r * turned, turned


def wave(base, amplitude, k, direction):
    """Surface z = base + amplitude sin(k s), s along a direction in plan [rad]."""
    along = np.array([np.cos(direction), np.sin(direction), 0.0])
    aside = np.cross(UP, along)

    def at(s, t):
        point = s * along + t * aside + (base + amplitude * np.sin(k * s)) * UP
        second = np.zeros((2, 2, 3))
        second[0, 0] = -amplitude * k * k * np.sin(k * s) * UP
        first = np.array([along + amplitude * k * np.cos(k * s) * UP, aside])
        return Patch(point, first, second)

    return at


def tube(point, axis, radius):
    """Inside of a cylinder: z along its axis, and an angle, 0 where it is lowest."""
    axis = np.asarray(axis) / np.linalg.norm(axis)
    down = -UP + (axis @ UP) * axis
    down /= np.linalg.norm(down)
    aside = np.cross(axis, down)

    def at(t, angle):
        out = np.cos(angle) * down + np.sin(angle) * aside
        ahead = -np.sin(angle) * down + np.cos(angle) * aside
        second = np.zeros((2, 2, 3))
        second[1, 1] = -radius * out
        # axis x ahead = -out: inwards
        return Patch(point + t * axis + radius * out, np.array([axis, radius * ahead]), second)

    return at


def bowl(middle, radius):
    """Inside of a sphere, by the angle from straight down and the azimuth."""

    def at(angle, azimuth):
        (s, c), (sa, ca) = (np.sin(angle), np.cos(angle)), (np.sin(azimuth), np.cos(azimuth))
        plan, aside = np.array([ca, sa, 0.0]), np.array([-sa, ca, 0.0])
        out, ahead = s * plan - c * UP, c * plan + s * UP
        first = radius * np.array([ahead, s * aside])
        second = radius * np.array([[-out, c * aside], [c * aside, -s * plan]])
        # ahead x aside = -out: inwards
        return Patch(middle + radius * out, first, second)

    return at


def normal_rate(patch, r, v):
    """Normal n (3,) and n' (3,) for a centre that moves with v (3,), tangential."""
    _, n, moves, turned = patch.centre(r)
    rates = np.linalg.lstsq(moves.T, v, rcond=None)[0]  # a', b' from v = C_a a' + C_b b'
    assert np.abs(moves.T @ rates - v).max() < 1e-9 * np.abs(v).max()
    return n, turned.T @ rates


def rolling(patch, r, m, inertia, gravity, w, torque):
    """Accelerations a, w' (3,) and contact force F (3,) of a ball that rolls with w (3,).

    m a = m g + F,  I w' = t - r n x F,  and v = r w x n differentiated: a = r w' x n + r w x n'.
    """
    n, turned = normal_rate(patch, r, r * np.cross(w, patch.centre(r)[1]))
    one, by = np.eye(3), skew(n)
    none = np.zeros((3, 3))
    # unknowns a, w', F; w' x n = -n x w'
    system = np.block([[m * one, none, -one], [none, inertia * one, r * by], [one, r * by, none]])
    known = np.concatenate([-m * gravity * UP, torque, r * np.cross(w, turned)])
    return np.linalg.solve(system, known).reshape(3, 3)


def sliding(patch, r, m, inertia, gravity, mu, v, w, torque):
    """Accelerations a, w' (3,), friction (3,) and normal force N of a ball that slides with v.

    m a = m g + N (n - mu u / |u|),  n.v = 0 differentiated: n.a = -n'.v,  I w' = t - r n x f.
    """
    n, turned = normal_rate(patch, r, v)
    slip = v - r * np.cross(w, n)
    ahead = -mu * slip / np.linalg.norm(slip)
    system = np.block([[m * np.eye(3), -(n + ahead)[:, None]], [n[None], np.zeros((1, 1))]])
    *a, normal = np.linalg.solve(system, [*(-m * gravity * UP), -turned @ v])
    return np.array(a), (torque - r * np.cross(n, normal * ahead)) / inertia, normal * ahead, normal


def skew(n):
    """Matrix of the cross product with n (3,)."""
    x, y, z = n
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
