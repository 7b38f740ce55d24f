"""Events that end a phase of motion: each is a function of the state whose value rises through 0.

Examples are that the held link passes the vertical, that the free hand rises to the height of the
held one, or that the energy is back at its value at the start. An integrator evaluates `value`
after each step, and `rate` where the value may have had a peak within the step.

For the kernels an event is a tuple of 6, (kind, th1, th2, w1, w2, above). A linear event happens
when the sum of angles and rates, weighted by the four factors, rises above `above`. For the other
kinds only `above` counts. For a value that falls, change the signs of all factors and of `above`.

An event that is linear in angles and rates needs no code here: call `linear`. Another kind needs a
number beside ENERGY, its `value` and `rate`, and factors in ensemble.py if fast ensembles are to
know it.
"""

import math
from dataclasses import dataclass

from roboaccord.numerics import kernel

from monkeybot.model.dynamics import energies, friction

NEVER, LINEAR, LEVEL, ENERGY = 0.0, 1.0, 2.0, 3.0  # kinds of events


@kernel
def direction(l1, l2, th1, th2):
    """Return the direction from the held hand to the free one, 0 for straight down [rad].

    It is continuous in th2, which an arctangent of the position would not be. For links of equal
    length it is th1 + th2 / 2. For others the longer link draws it towards itself: in the axes of
    th1 + th2 / 2 it is that of (cos(th2 / 2), +-q sin(th2 / 2)), q = |l2 - l1| / (l1 + l2).
    """
    half = 0.5 * th2
    if l1 == l2:
        return th1 + half
    ratio = (l2 - l1) / (l1 + l2)
    s, c, q = math.sin(half), math.cos(half), abs(ratio)
    # The angle of (c, q s): th2 / 2 plus an angle that stays within a quarter turn.
    deviation = half + math.atan2((q - 1.0) * s * c, c * c + q * s * s)
    return th1 + half + (deviation if ratio > 0.0 else -deviation)


@kernel
def value(p, event, start_energy, u):
    """Return the value of an event in a state u (8,); the event happens when it rises through 0.

    `start_energy` is the energy to which an event of energy refers [J].
    """
    kind, of_th1, of_th2, of_w1, of_w2, above = event
    if kind == LINEAR:
        return of_th1 * u[0] + of_th2 * u[1] + of_w1 * u[2] + of_w2 * u[3] - above
    if kind == LEVEL:
        return direction(p.l1, p.l2, u[0], u[1]) - 0.5 * math.pi - above
    kinetic, potential = energies(p, u)
    return kinetic + potential - start_energy - above


@kernel
def rate(p, flight, torque, event, u, slopes, i):
    """Return the time derivative of an event's value.

    Args:
        p: parameters, the link of the first hand first (`parameters.Row`).
        flight: whether the first hand is free.
        torque: on th2 [N m].
        event: tuple of 6.
        u: state (8,).
        slopes: derivatives of states (k, 8), of which row i is that of u.
        i: number of the row.
    """
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
    """An event with its name; `row` is the tuple of 6 that the kernels take."""

    name: str
    row: tuple[float, float, float, float, float, float]


def linear(
    name: str,
    *,
    th1: float = 0.0,
    th2: float = 0.0,
    w1: float = 0.0,
    w2: float = 0.0,
    above: float = 0.0,
) -> StateEvent:
    """Return the event that the angles and rates, times these factors, sum up to above `above`."""
    return StateEvent(name, (LINEAR, th1, th2, w1, w2, above))


def level(slope: float = 0.0) -> StateEvent:
    """Return the event that the free hand rises to a line through the held one.

    The line is horizontal, or inclined by `slope` [rad].
    """
    return StateEvent("level", (LEVEL, 0.0, 0.0, 0.0, 0.0, slope))


def energy_restored(gain: float = 0.0) -> StateEvent:
    """Return the event that the energy has risen to `gain` [J] above that at the start."""
    return StateEvent("energy", (ENERGY, 0.0, 0.0, 0.0, 0.0, gain))


VERTICAL = linear("vertical", th1=1.0)
NO_EVENT = StateEvent("time", (NEVER, 0.0, 0.0, 0.0, 0.0, 0.0))
