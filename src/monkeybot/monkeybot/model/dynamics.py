"""Equations of the MonkeyBot in the frame of one hand: motion, energy, impact, change of hand.

A state is u = (th1, th2, w1, w2, x, y, vx, vy). The link of the first hand, which is held unless
the robot flies, comes first:

    th1       angle of the first link from hanging straight down [rad]
    th2       angle of the second link relative to the first [rad]
    w1, w2    rates of the two angles [rad/s]
    x, y      position of the first hand, to the right and up [m]; vx, vy is its velocity [m/s]

While the first hand is held, x and y are constant. `p` is a `parameters.Row` with the same link
first. M11, M12, M22 are the entries of the mass matrix for the two angles, and x1, x2, y1, y2 those
that couple the position of the first hand with them. The equations are those of the report's 3.1 to
3.3, corrected (docs/monkeybot.md): the centre of the first link is at y - r1 cos(th1), and the
motor's torque acts on th2.

Another law of friction must change in `friction` here and for the physics engines (JointFriction in
simulators/engines.py).
"""

import math

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

from monkeybot.model.parameters import Row


@kernel
def friction(viscous, dry, speed, w):
    """Return the friction torque at a joint rate w: -viscous w - dry w / sqrt(w^2 + speed^2) [N m].

    The second term is dry friction, smoothed at rates below `speed` [rad/s].
    """
    if dry == 0.0:
        return -viscous * w
    return -viscous * w - dry * w / math.sqrt(w * w + speed * speed)


@kernel
def inertia(p, c2):
    """Return M11, M12 and M22 of the angles' mass matrix for c2 = cos(th2) [kg m^2]."""
    m2, l1, r1, r2 = p.m2, p.l1, p.r1, p.r2
    d = m2 * l1 * r2 * c2
    m22 = p.i2 + m2 * r2 * r2
    return p.i1 + p.m1 * r1 * r1 + m2 * l1 * l1 + m22 + 2.0 * d, m22 + d, m22 + p.rotor


@kernel
def coupling(p, th1, th12):
    """Return the mass matrix's entries between (x, y) and (th1, th2): x1, x2, y1, y2 [kg m].

    `th12` is th1 + th2, the second link's angle from hanging straight down.
    """
    # First moments of mass: of link 1 with link 2 at its end, and of link 2 [kg m].
    a, b = p.m1 * p.r1 + p.m2 * p.l1, p.m2 * p.r2
    x2, y2 = b * math.cos(th12), b * math.sin(th12)
    return a * math.cos(th1) + x2, x2, a * math.sin(th1) + y2, y2


def mass_matrix(p: Row, u: Array) -> Array:
    """Return the mass matrix of (x, y, th1, th2) with no hand held (4, 4), the report's M(q)."""
    x1, x2, y1, y2 = coupling(p, u[0], u[0] + u[1])
    m11, m12, m22 = inertia(p, math.cos(u[1]))
    m = p.m1 + p.m2
    return np.array([[m, 0.0, x1, x2], [0.0, m, y1, y2], [x1, y1, m11, m12], [x2, y2, m12, m22]])


@kernel
def derivative(p, flight, torque, u, slopes, i):
    """Fill row i of `slopes` (k, 8) with the derivative of a state u (8,) under a torque on th2.

    In flight all eight entries are filled. Otherwise the first hand is held, and only the first
    four are. The joint at the hand has friction only while it is held.
    """
    th1, th2, w1, w2 = u[0], u[1], u[2], u[3]
    s1, s12, s2 = math.sin(th1), math.sin(th1 + th2), math.sin(th2)
    # First moments of mass, as in `coupling`.
    a, b = p.m1 * p.r1 + p.m2 * p.l1, p.m2 * p.r2
    m11, m12, m22 = inertia(p, math.cos(th2))
    # Generalised forces f1, f2: centrifugal and Coriolis terms, torque and friction.
    d = p.l1 * b * s2
    f1 = d * (2.0 * w1 + w2) * w2
    f2 = torque + friction(p.viscous_2, p.dry_2, p.dry_speed, w2) - d * w1 * w1
    if flight:
        # Eliminate the accelerations of the free hand: Schur complement of the mass matrix.
        x1, x2, y1, y2 = coupling(p, th1, th1 + th2)
        m, w12 = p.m1 + p.m2, w1 + w2
        # Masses times the centripetal accelerations relative to the hand, along x and y [N].
        hx = -(y1 - y2) * w1 * w1 - y2 * w12 * w12
        hy = (x1 - x2) * w1 * w1 + x2 * w12 * w12
        f1 += (x1 * hx + y1 * hy) / m
        f2 += (x2 * hx + y2 * hy) / m
        m11 -= (x1 * x1 + y1 * y1) / m
        m12 -= (x1 * x2 + y1 * y2) / m
        m22 -= (x2 * x2 + y2 * y2) / m
    else:
        f1 += friction(p.viscous_1, p.dry_1, p.dry_speed, w1)
        f1 -= p.gravity * (a * s1 + b * s12)
        f2 -= p.gravity * b * s12
    # Angular accelerations a1, a2 by Cramer's rule.
    det = m11 * m22 - m12 * m12
    a1, a2 = (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det
    slopes[i, 0], slopes[i, 1], slopes[i, 2], slopes[i, 3] = w1, w2, a1, a2
    if flight:
        slopes[i, 4], slopes[i, 5] = u[6], u[7]
        slopes[i, 6] = -(hx + x1 * a1 + x2 * a2) / m
        slopes[i, 7] = -(hy + y1 * a1 + y2 * a2) / m - p.gravity


@kernel
def energies(p, u):
    """Return the kinetic and the potential energy of a state [J], the latter relative to y = 0."""
    th1, th2, w1, w2, vx, vy = u[0], u[1], u[2], u[3], u[6], u[7]
    m11, m12, m22 = inertia(p, math.cos(th2))
    x1, x2, y1, y2 = coupling(p, th1, th1 + th2)
    m = p.m1 + p.m2
    # v' M v / 2 of the rates v = (vx, vy, w1, w2), term by term.
    kinetic = 0.5 * (m11 * w1 * w1 + m22 * w2 * w2) + m12 * w1 * w2
    kinetic += 0.5 * m * (vx * vx + vy * vy)
    kinetic += vx * (x1 * w1 + x2 * w2) + vy * (y1 * w1 + y2 * w2)
    return kinetic, p.gravity * (m * u[5] - x1)


@kernel
def flip(p, u, out):
    """Fill `out` (8,) with the state u (8,) in the frame of the other hand, whose link comes first.

    The angle th1 of `out` is in (-pi, pi]. `p` has the link first that comes first in u.
    """
    th1, th12, w1, w12 = u[0], u[0] + u[1], u[2], u[2] + u[3]
    l1, l2 = p.l1, p.l2
    s1, c1, s12, c12 = math.sin(th1), math.cos(th1), math.sin(th12), math.cos(th12)
    other_x, other_y = u[4] + l1 * s1 + l2 * s12, u[5] - l1 * c1 - l2 * c12
    vx = u[6] + l1 * c1 * w1 + l2 * c12 * w12
    vy = u[7] + l1 * s1 * w1 + l2 * s12 * w12
    new_th1 = math.pi + th12
    out[0] = new_th1 - 2.0 * math.pi * math.ceil((new_th1 - math.pi) / (2.0 * math.pi))
    out[1], out[2], out[3] = -u[1], w12, -u[3]
    out[4], out[5], out[6], out[7] = other_x, other_y, vx, vy


@kernel
def impact(p, u):
    """Bring the first hand to rest by an impulse on it, in place; return its x and y [N s].

    w+ = P w- with P = 1 - M^-1 J' (J M^-1 J')^-1 J and J = [1 0] (the report's section 3.3, after
    Kevin Lynch). With the mass matrix split into the hand's coordinates x and the angles t, the
    rates of the angles change by dw, where M_tt dw = M_tx v, and the impulse is M_xt dw - m v.
    """
    x1, x2, y1, y2 = coupling(p, u[0], u[0] + u[1])
    m11, m12, m22 = inertia(p, math.cos(u[1]))
    vx, vy, m = u[6], u[7], p.m1 + p.m2
    f1, f2 = x1 * vx + y1 * vy, x2 * vx + y2 * vy
    det = m11 * m22 - m12 * m12
    d1, d2 = (m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det
    u[2] += d1
    u[3] += d2
    u[6] = u[7] = 0.0
    return x1 * d1 + x2 * d2 - m * vx, y1 * d1 + y2 * d2 - m * vy
