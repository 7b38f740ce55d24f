"""Equations of motion in absolute link angles with Jacobians: independent formulation.

A state is X = (q, v), q = (a, b, x, y): the angles of the held and of the other link from hanging
straight down, and the place of the hand; v their rates. From the Lagrangian, with the moments
A = m1 r1 + m2 l1, B = m2 r2 and E = m2 l1 r2:

    T = J1 a'^2 / 2 + J2 b'^2 / 2 + E cos(a - b) a' b' + m (x'^2 + y'^2) / 2
        + A a' (x' cos a + y' sin a) + B b' (x' cos b + y' sin b)
    V = g (m y - A cos a - B cos b)

Nothing here is shared with `dynamics`, whose angles are relative, and which it checks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract.state import Array

SIZE = 8
ANGLES, RATES, HAND, SPEED = slice(0, 2), slice(4, 6), slice(2, 4), slice(6, 8)
# d(a, b, a', b') / d(th1, th2, w1, w2)
TO_LINKS = np.kron(np.eye(2), np.array([[1.0, 0.0], [1.0, 1.0]]))
FROM_LINKS = np.linalg.inv(TO_LINKS)
MOVED = np.array([0, 1, 4, 5])  # the places of a, b, a', b' in X


@dataclass(frozen=True)
class Links:
    """Hold the constants of the robot seen from one hand.

    Args:
        m: mass of the whole robot [kg].
        A, B: moments of mass along the links [kg m].
        J1, J2, E: inertias about the hand and the elbow, and between the links [kg m^2].
        l1, l2: lengths [m].
        g: gravity [m/s^2].
        hand, elbow: friction there: viscous [N m s/rad] and dry [N m].
        slow: speed below which dry friction falls to 0 [rad/s].
    """

    m: float
    A: float
    B: float
    J1: float
    J2: float
    E: float
    l1: float
    l2: float
    g: float
    hand: tuple[float, float]
    elbow: tuple[float, float]
    slow: float


def links(parameters: MonkeyBotParameters, hand: int) -> Links:
    """Return the constants of the robot seen from hand A (0) or B (1)."""
    p = parameters
    a = (p.mass_a, p.inertia_a, p.length_a, p.centre_a)
    b = (p.mass_b, p.inertia_b, p.length_b, p.length_b - p.centre_b)
    (m1, i1, l1, r1), (m2, i2, l2, r2) = (a, b) if hand == 0 else (b, a)
    r2 = l2 - r2  # of the other link: from the elbow
    return Links(
        m=m1 + m2,
        A=m1 * r1 + m2 * l1,
        B=m2 * r2,
        J1=i1 + m1 * r1**2 + m2 * l1**2,
        J2=i2 + m2 * r2**2,
        E=m2 * l1 * r2,
        l1=l1,
        l2=l2,
        g=p.gravity,
        hand=(p.viscous_hand, p.constant_hand),
        elbow=(p.viscous_elbow, p.constant_elbow),
        slow=p.friction_speed,
    )


def friction(rough: tuple[float, float], slow: float, w: float) -> tuple[float, float]:
    """Return the torque of a joint's friction, and its derivative by the rate."""
    viscous, dry = rough
    root = math.hypot(w, slow)
    return -viscous * w - dry * w / root, -viscous - dry * slow**2 / root**3


def mass(k: Links, X: Array) -> Array:
    """Return the mass matrix of (a, b, x, y), nothing held (4, 4)."""
    a, b = X[ANGLES]
    Ac, As, Bc, Bs = k.A * math.cos(a), k.A * math.sin(a), k.B * math.cos(b), k.B * math.sin(b)
    Ec = k.E * math.cos(a - b)
    return np.array([
        [k.J1, Ec, Ac, As], [Ec, k.J2, Bc, Bs], [Ac, Bc, k.m, 0.0], [As, Bs, 0.0, k.m],
    ])  # fmt: skip


def motion(k: Links, X: Array, torque: float, *, flight: bool) -> tuple[Array, Array]:
    """Return the rate of a state (8,) and its derivative by the state (8, 8).

    M v' = f; so with v' in hand its derivative solves M dv' = df - dM v'. On a held hand the first
    two equations are left.
    """
    (a, b), (wa, wb) = X[ANGLES], X[RATES]
    n = 4 if flight else 2
    sa, ca, sb, cb = math.sin(a), math.cos(a), math.sin(b), math.cos(b)
    Es, Ec = k.E * math.sin(a - b), k.E * math.cos(a - b)
    f1, slope1 = (0.0, 0.0) if flight else friction(k.hand, k.slow, wa)
    f2, slope2 = friction(k.elbow, k.slow, wb - wa)
    force = np.array([
        -Es * wb**2 - k.g * k.A * sa - torque + f1 - f2,
        Es * wa**2 - k.g * k.B * sb + torque + f2,
        k.A * sa * wa**2 + k.B * sb * wb**2,
        -k.A * ca * wa**2 - k.B * cb * wb**2 - k.g * k.m,
    ])  # fmt: skip
    inverse = np.linalg.inv(mass(k, X)[:n, :n])
    v = np.zeros(4)
    v[:n] = inverse @ force[:n]
    pull_a, pull_b = k.A * (sa * v[2] - ca * v[3]), k.B * (sb * v[2] - cb * v[3])
    by_state = np.array([  # columns a, b, a', b'
        [-Ec * wb**2 - k.g * k.A * ca + pull_a + Es * v[1], Ec * wb**2 - Es * v[1],
         slope1 + slope2, -2.0 * Es * wb - slope2],
        [Ec * wa**2 + Es * v[0], -Ec * wa**2 - k.g * k.B * cb + pull_b - Es * v[0],
         2.0 * Es * wa - slope2, slope2],
        [k.A * (ca * wa**2 + sa * v[0]), k.B * (cb * wb**2 + sb * v[1]),
         2.0 * k.A * sa * wa, 2.0 * k.B * sb * wb],
        [k.A * (sa * wa**2 - ca * v[0]), k.B * (sb * wb**2 - cb * v[1]),
         -2.0 * k.A * ca * wa, -2.0 * k.B * cb * wb],
    ])  # fmt: skip
    rate, slope = np.zeros(SIZE), np.zeros((SIZE, SIZE))
    rate[:n], rate[4 : 4 + n] = X[4 : 4 + n], v[:n]
    slope[:n, 4 : 4 + n] = np.eye(n)
    slope[4 : 4 + n, MOVED] = inverse @ by_state[:n]
    return rate, slope


def energy(k: Links, X: Array) -> tuple[float, Array]:
    """Return the energy [J] and its gradient (8,)."""
    (a, b), (wa, wb), (vx, vy) = X[ANGLES], X[RATES], X[SPEED]
    v, M = X[4:], mass(k, X)
    value = 0.5 * v @ M @ v + k.g * (k.m * X[3] - k.A * math.cos(a) - k.B * math.cos(b))
    Es, slope = k.E * math.sin(a - b), np.zeros(SIZE)
    slope[0] = -Es * wa * wb + k.A * wa * (vy * math.cos(a) - vx * math.sin(a))
    slope[1] = Es * wa * wb + k.B * wb * (vy * math.cos(b) - vx * math.sin(b))
    slope[:2] += k.g * np.array([k.A * math.sin(a), k.B * math.sin(b)])
    slope[3], slope[4:] = k.g * k.m, M @ v
    return float(value), slope


def flip(k: Links, X: Array) -> tuple[Array, Array]:
    """Return the state seen from the other hand (8,), and the derivative (8, 8).

    The links change places, and both angles are half a turn on; a is brought into (-pi, pi].
    """
    (a, b), (wa, wb) = X[ANGLES], X[RATES]
    sa, ca, sb, cb = math.sin(a), math.cos(a), math.sin(b), math.cos(b)
    jacobian = np.array(
        [[k.l1 * ca, k.l2 * cb], [k.l1 * sa, k.l2 * sb]]
    )  # of the tip, by the angles
    bend = np.array([[-k.l1 * sa * wa, -k.l2 * sb * wb], [k.l1 * ca * wa, k.l2 * cb * wb]])
    turned = math.pi - 2.0 * math.pi * math.ceil(b / (2.0 * math.pi))
    new, slope = X.copy(), np.eye(SIZE)
    new[ANGLES], new[RATES] = np.array([b, a]) + turned, (wb, wa)
    new[HAND] += np.array([k.l1 * sa + k.l2 * sb, -k.l1 * ca - k.l2 * cb])
    new[SPEED] += jacobian @ X[RATES]
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    slope[ANGLES, ANGLES] = slope[RATES, RATES] = swap
    slope[HAND, ANGLES] = slope[SPEED, RATES] = jacobian
    slope[SPEED, ANGLES] = bend
    return new, slope


def impact(k: Links, X: Array) -> tuple[Array, Array]:
    """Return the state after the hand has come to rest (8,), and the derivative (8, 8).

    The impulse acts on the hand alone, so M_qq dw = M_qx v for the jump dw of the angles' rates.
    """
    a, b = X[ANGLES]
    M, speed = mass(k, X), X[SPEED]
    inverse, arm = np.linalg.inv(M[:2, :2]), M[:2, 2:]
    jump = inverse @ arm @ speed
    Es = k.E * math.sin(a - b)
    turned = np.diag([
        k.A * (speed[1] * math.cos(a) - speed[0] * math.sin(a)),
        k.B * (speed[1] * math.cos(b) - speed[0] * math.sin(b)),
    ])  # fmt: skip
    new, slope = X.copy(), np.eye(SIZE)
    new[RATES] += jump
    new[SPEED] = 0.0
    slope[RATES, ANGLES] = inverse @ (turned + Es * np.outer(jump[::-1], [1.0, -1.0]))
    slope[RATES, SPEED] = inverse @ arm
    slope[SPEED] = 0.0
    return new, slope
