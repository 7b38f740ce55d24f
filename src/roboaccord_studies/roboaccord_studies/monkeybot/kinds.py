"""Kinds of gaits that repeat: by the clock, by the line, with a flight, of two steps, the report's.

A kind is a family of gaits that are made from a few numbers, its controls: a function below returns
the Gait, and a Kind names the numbers and those that a search may change.

A kind is added as such a function, a Kind, and a place in KINDS, by which commands take it. Names
of kinds and controls stay, keys of config/gaits.yaml and of `--json`. `report` is fixed by the
source; the others are our choice, and test_orbits tests their orbits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from monkeybot.gaits.gait import Gait
from monkeybot.model.events import VERTICAL, level, linear
from monkeybot.model.hybrid import Phase, Then
from roboaccord.contract import AccordError


@dataclass(frozen=True)
class Kind:
    """Describe a kind of gait that repeats: a family, made from a few numbers.

    Args:
        name: of the kind.
        controls: names of the numbers; s, N m.
        gait: makes the gait from them, in that order; its phases end with an impact.
        solved: the controls that a search may change to meet the rise that is asked for; none
            where the gait keeps its height by itself.
    """

    name: str
    controls: tuple[str, ...]
    gait: Callable[..., Gait]
    solved: tuple[str, ...] = ("torque",)


def gait_of(kind: Kind, controls: Mapping[str, float]) -> Gait:
    """Return the gait of a kind with these controls.

    Raises:
        AccordError: for one that is missing or unknown.
    """
    if set(controls) != set(kind.controls):
        raise AccordError(f"{kind.name} takes {', '.join(kind.controls)}")
    return kind.gait(*(controls[name] for name in kind.controls))


# For links of one length the free hand is in the direction th1 + th2 / 2 from the held one.
SINKING = linear("level, sinking", th1=-1.0, th2=-0.5, above=-0.5 * math.pi)


def clocked(period: float, torque: float) -> Gait:
    """Return the gait of constant torque whose hands change by the clock."""
    return Gait("clocked", (Phase(torque=torque, duration=period, then=Then.CHANGE),))


def level_triggered(torque: float) -> Gait:
    """Return the gait of constant torque whose hands change where the free one sinks to the line.

    It has risen above it before. Both hands are level then, so the gait keeps its height whatever
    happens. The report changes hands in the upward crossing, where a slow hand only grazes the
    line.
    """
    return Gait(
        "level-triggered", (Phase(level(), torque), Phase(SINKING, torque, then=Then.CHANGE))
    )


def passive(period: float) -> Gait:
    """Return the gait without torque."""
    return Gait("passive", (Phase(duration=period, then=Then.CHANGE),))


def flying(period: float, flight: float, torque: float) -> Gait:
    """Return the clocked gait with a flight between the hands: `period` is that of both."""
    return Gait(
        "flying",
        (
            Phase(torque=torque, duration=period - flight, then=Then.RELEASE),
            Phase(torque=torque, duration=flight, then=Then.GRIP_OTHER),
        ),
    )


def two_step(first: float, second: float, torque: float, more: float) -> Gait:
    """Return the gait of two different steps: their durations, and torques half of `more` apart."""
    return Gait(
        "two-step",
        (
            Phase(torque=torque + 0.5 * more, duration=first, then=Then.CHANGE),
            Phase(torque=torque - 0.5 * more, duration=second, then=Then.CHANGE),
        ),
    )


def report(switch: float, motor: float, torque: float) -> Gait:
    """Return the report's gait by a clock that starts again at the vertical, where it begins."""
    return Gait(
        "report",
        (
            Phase(duration=switch, then=Then.CHANGE),
            Phase(torque=torque, duration=motor),
            Phase(VERTICAL),
        ),
    )


CLOCKED = Kind("clocked", ("period", "torque"), clocked)
LEVEL_TRIGGERED = Kind("level_triggered", ("torque",), level_triggered, solved=())
PASSIVE = Kind("passive", ("period",), passive, solved=("period",))
FLYING = Kind("flying", ("period", "flight", "torque"), flying)
TWO_STEP = Kind("two_step", ("first", "second", "torque", "more"), two_step)
REPORT = Kind("report", ("switch", "motor", "torque"), report, solved=("switch",))
KINDS = {kind.name: kind for kind in (CLOCKED, LEVEL_TRIGGERED, PASSIVE, REPORT, FLYING, TWO_STEP)}
