"""Kinds of gaits: what ends each phase, and which numbers a gait of the kind is made from.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. A gait is a sequence of phases; each has a torque, lasts
for a time or until an event, and ends with what the hands do `then`, such as changing. A kind is a
family of gaits that are made from a few numbers, its controls, such as period and torque. For each
kind a function below returns the Gait for given controls, and a Kind names the controls and those
that a search may change so that the gait repeats.

A kind is added as such a function, a Kind, and an entry in KINDS, by which commands know it. The
names of kinds and controls stay, for they are keys of config/gaits.yaml and of the JSON output.
`report` is the report's gait; the others are our choice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

from monkeybot.gaits.gait import Gait
from monkeybot.model.events import VERTICAL, level, linear
from monkeybot.model.hybrid import Phase, Then
from roboaccord.contract import AccordError


class Kind(NamedTuple):
    """A kind of gait: a family that is made from a few numbers.

    Args:
        name: of the kind.
        controls: names of the numbers, in s and N m.
        gait: function of the controls, in that order, that returns the gait.
        solved: controls that a search may change to meet the wanted rise; none if the gait keeps
            its height by itself.
    """

    name: str
    controls: tuple[str, ...]
    gait: Callable[..., Gait]
    solved: tuple[str, ...] = ("torque",)


def gait_of(kind: Kind, controls: Mapping[str, float]) -> Gait:
    """Return the gait of a kind with given controls.

    Raises:
        AccordError: for a control that is missing or unknown.
    """
    if set(controls) != set(kind.controls):
        raise AccordError(f"{kind.name} takes {', '.join(kind.controls)}")
    return kind.gait(*(controls[name] for name in kind.controls))


# The free hand falls to the height of the held one. For links of equal length its direction from
# the held one is th1 + th2 / 2.
SINKING = linear("level, sinking", th1=-1.0, th2=-0.5, above=-0.5 * math.pi)


def clocked(period: float, torque: float) -> Gait:
    """Return the gait of constant torque whose hands change by the clock."""
    return Gait("clocked", (Phase(torque=torque, duration=period, then=Then.CHANGE),))


def level_triggered(torque: float) -> Gait:
    """Return the gait of constant torque that changes hands when the free one sinks to the line.

    The line is the height of the held hand. The free hand rises above it, and grips when it comes
    down to it, so the gait keeps its height whatever happens. The report changes hands in the
    upward crossing, where a slow hand only grazes the line.
    """
    rising, sinking = Phase(level(), torque), Phase(SINKING, torque, then=Then.CHANGE)
    return Gait("level-triggered", (rising, sinking))


def passive(period: float) -> Gait:
    """Return the gait without torque."""
    return Gait("passive", (Phase(duration=period, then=Then.CHANGE),))


def flying(period: float, flight: float, torque: float) -> Gait:
    """Return the clocked gait with a flight before the other hand grips.

    `period` [s] is the time of swing and flight together, `flight` [s] that of the flight.
    """
    swing = Phase(torque=torque, duration=period - flight, then=Then.RELEASE)
    in_flight = Phase(torque=torque, duration=flight, then=Then.GRIP_OTHER)
    return Gait("flying", (swing, in_flight))


def two_step(first: float, second: float, torque: float, more: float) -> Gait:
    """Return the clocked gait of two different steps.

    Durations are `first` and `second` [s]; torques are `torque` plus and minus half of `more`
    [N m].
    """
    first_step = Phase(torque=torque + 0.5 * more, duration=first, then=Then.CHANGE)
    second_step = Phase(torque=torque - 0.5 * more, duration=second, then=Then.CHANGE)
    return Gait("two-step", (first_step, second_step))


def report(switch: float, motor: float, torque: float) -> Gait:
    """Return the report's gait by a clock that starts again when the held link hangs straight down.

    The hands change after `switch` [s]; then the motor is on for `motor` [s].
    """
    swing = Phase(duration=switch, then=Then.CHANGE)
    return Gait("report", (swing, Phase(torque=torque, duration=motor), Phase(VERTICAL)))


def pulses(period: float, *numbers: float) -> Gait:
    """Return the clocked gait whose motor is on for three pulses only.

    Args:
        period: from one change of hands to the next [s].
        numbers: start, stop [s] and torque [N m] of each pulse after the change, as OF_PULSES.

    Raises:
        AccordError: for times that fall.
    """
    phases, time = list[Phase](), 0.0
    for start, stop, torque in zip(numbers[::3], numbers[1::3], numbers[2::3], strict=True):
        if not time <= start <= stop <= period:
            raise AccordError(f"the times of pulses fall: {time:g}, {start:g}, {stop:g} s")
        phases += [Phase(duration=start - time), Phase(torque=torque, duration=stop - start)]
        time = stop
    return Gait("pulses", (*phases, Phase(duration=period - time, then=Then.CHANGE)))


CLOCKED = Kind("clocked", ("period", "torque"), clocked)
LEVEL_TRIGGERED = Kind("level_triggered", ("torque",), level_triggered, solved=())
PASSIVE = Kind("passive", ("period",), passive, solved=("period",))
FLYING = Kind("flying", ("period", "flight", "torque"), flying)
TWO_STEP = Kind("two_step", ("first", "second", "torque", "more"), two_step)
OF_PULSES = tuple(f"{name}_{i}" for i in (1, 2, 3) for name in ("start", "stop", "torque"))
PULSES = Kind("pulses", ("period", *OF_PULSES), pulses, solved=("torque_1",))
REPORT = Kind("report", ("switch", "motor", "torque"), report, solved=("switch",))
ALL = CLOCKED, LEVEL_TRIGGERED, PASSIVE, REPORT, FLYING, TWO_STEP, PULSES
KINDS = {kind.name: kind for kind in ALL}
