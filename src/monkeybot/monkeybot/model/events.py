"""Event functions: an event is the rise of a value through 0.

A new event that is linear in angles and rates needs no code here: call `linear`. Another kind may
be added: a number beside ENERGY, with its `value` and `rate`, and in ensemble.py if fast ensembles
shall have it. The sign (an event is a rise through 0) is fixed, since integrators look for that
alone; test_motion compares times with another integrator.

It is (kind, five coefficients). Falling values are rising ones with all signs changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, friction

NEVER, LINEAR, LEVEL, ENERGY = 0.0, 1.0, 2.0, 3.0


@kernel
def direction(l1, l2, th1, th2):
    """Return the direction of the free hand from the held one, 0 straight down, continuous in th2.

    For links of one length it is th1 + th2 / 2.
    """
    half = 0.5 * th2
    if l1 == l2:
        return th1 + half
    k = (l2 - l1) / (l1 + l2)
    s, c, q = math.sin(half), math.cos(half), abs(k)
    turn = half + math.atan2((q - 1.0) * s * c, c * c + q * s * s)
    return th1 + half + (turn if k > 0.0 else -turn)


@kernel
def value(p, event, base, u):
    """Return the value of an event in a state; it happens when this rises through 0.

    `base` is what an event of energy refers to [J].
    """
    kind = event[0]
    if kind == LINEAR:
        return event[1] * u[0] + event[2] * u[1] + event[3] * u[2] + event[4] * u[3] - event[5]
    if kind == LEVEL:
        return direction(p.l1, p.l2, u[0], u[1]) - 0.5 * math.pi - event[5]
    kinetic, potential = energies(p, u)
    return kinetic + potential - base - event[5]


@kernel
def rate(p, flight, torque, event, u, slopes, i):
    """Return the rate of an event's value, row i of `slopes` being the state's derivative."""
    w1, w2, a1, a2 = slopes[i, 0], slopes[i, 1], slopes[i, 2], slopes[i, 3]
    if event[0] == LINEAR:
        return event[1] * w1 + event[2] * w2 + event[3] * a1 + event[4] * a2
    if event[0] == LEVEL:
        l1, l2 = p.l1, p.l2
        if l1 == l2:
            return w1 + 0.5 * w2
        c = l1 * l2 * math.cos(u[1])
        return w1 + w2 * (l2 * l2 + c) / (l1 * l1 + l2 * l2 + 2.0 * c)
    power = (torque + friction(p.viscous_2, p.dry_2, p.dry_speed, w2)) * w2
    if not flight:
        power += friction(p.viscous_1, p.dry_1, p.dry_speed, w1) * w1
    return power


@dataclass(frozen=True)
class StateEvent:
    """An event function by name; `row` holds the kernels' arguments."""

    name: str
    row: tuple[float, float, float, float, float, float]


def linear(
    name: str, *, th1: float = 0.0, th2: float = 0.0, w1: float = 0.0, w2: float = 0.0,
    above: float = 0.0,
) -> StateEvent:  # fmt: skip
    """Return the event that a linear function of angles and rates rises above a value."""
    return StateEvent(name, (LINEAR, th1, th2, w1, w2, above))


def level(slope: float = 0.0) -> StateEvent:
    """Return the event that the free hand rises to the held one's height, or a slope [rad]."""
    return StateEvent("level", (LEVEL, 0.0, 0.0, 0.0, 0.0, slope))


def energy_restored(more: float = 0.0) -> StateEvent:
    """Return the event that the energy is back at that of the start, or `more` [J] above it."""
    return StateEvent("energy", (ENERGY, 0.0, 0.0, 0.0, 0.0, more))


VERTICAL = linear("vertical", th1=1.0)
NO_EVENT = StateEvent("time", (NEVER, 0.0, 0.0, 0.0, 0.0, 0.0))
