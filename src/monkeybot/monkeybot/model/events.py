"""Event functions: an event is the rise of a value through 0.

For the kernels an event is (kind, th1, th2, w1, w2, above): its kind, and for a linear one the
factors of angles and rates and the value that their sum rises above; for the other kinds `above`
alone counts. A falling value is a rising one with all signs changed.

An event that is linear in angles and rates needs no code here: call `linear`. Another kind is a
number beside ENERGY, with its `value` and `rate`, and in ensemble.py if fast ensembles are to have
it. That an event is a rise is fixed, since integrators look for that alone; test_motion compares
times with another integrator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, friction

NEVER, LINEAR, LEVEL, ENERGY = 0.0, 1.0, 2.0, 3.0  # kinds of events


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
    kind, th1, th2, w1, w2, above = event
    if kind == LINEAR:
        return th1 * u[0] + th2 * u[1] + w1 * u[2] + w2 * u[3] - above
    if kind == LEVEL:
        return direction(p.l1, p.l2, u[0], u[1]) - 0.5 * math.pi - above
    kinetic, potential = energies(p, u)
    return kinetic + potential - base - above


@kernel
def rate(p, flight, torque, event, u, slopes, i):
    """Return the rate of an event's value, row i of `slopes` being the state's derivative."""
    w1, w2, a1, a2 = slopes[i, 0], slopes[i, 1], slopes[i, 2], slopes[i, 3]
    kind, of_th1, of_th2, of_w1, of_w2, _ = event
    if kind == LINEAR:
        return of_th1 * w1 + of_th2 * w2 + of_w1 * a1 + of_w2 * a2
    if kind == LEVEL:
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


def energy_restored(gain: float = 0.0) -> StateEvent:
    """Return the event that the energy is back at that of the start, or `gain` [J] above it."""
    return StateEvent("energy", (ENERGY, 0.0, 0.0, 0.0, 0.0, gain))


VERTICAL = linear("vertical", th1=1.0)
NO_EVENT = StateEvent("time", (NEVER, 0.0, 0.0, 0.0, 0.0, 0.0))
