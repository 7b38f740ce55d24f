"""Kinds of gaits that repeat, most from the report's future work, and the gaits that ship."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, check_known
from roboaccord.description import read_yaml, share

from monkeybot.gaits.gait import Gait
from monkeybot.gaits.orbits import Kind, Orbit, find_orbit
from monkeybot.model.events import VERTICAL, level, linear
from monkeybot.model.hybrid import Phase, Then
from monkeybot.model.parameters import MonkeyBotParameters

# For links of one length the free hand is in the direction th1 + th2 / 2 from the held one.
SINKING = linear("level, sinking", th1=-1.0, th2=-0.5, above=-0.5 * math.pi)


def clocked(period: float, torque: float) -> Gait:
    """Return the gait of constant torque whose hands change by the clock."""
    return Gait("clocked", (Phase(torque=torque, duration=period, then=Then.CHANGE),))


def level_triggered(torque: float) -> Gait:
    """Return the gait of constant torque whose hands change where the free one sinks to the line.

    It has risen above it before. Both hands are level then, so the gait keeps its height whatever
    happens. The report changes hands on the way up, where a slow hand only grazes the line.
    """
    return Gait(
        "level-triggered",
        (Phase(level(), torque), Phase(SINKING, torque, then=Then.CHANGE)),
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


STEP = 0.002  # s: of the period along the branch, small enough for Newton's method to follow


@cache
def shipped_data() -> dict[str, dict[str, Any]]:
    """Return what config/gaits.yaml says, by name."""
    return read_yaml(share("monkeybot") / "config" / "gaits.yaml")


def shipped_gait(name: str, parameters: MonkeyBotParameters) -> Orbit:
    """Return a shipped gait, refined for these parameters.

    Raises:
        AccordError: for an unknown name, or parameters with which there is no such gait near by.
    """
    gaits = shipped_data()
    check_known("unknown gait ", name, gaits)
    data = gaits[name]
    return find_orbit(
        KINDS[data["kind"]],
        parameters,
        data["controls"],
        np.array(data["post_impact"]),
        rise=data.get("rise", 0.0),
    )


def clocked_gait(parameters: MonkeyBotParameters, period: float) -> Orbit:
    """Return the horizontal gait of constant torque with a period [s].

    It is followed from the shipped one's period to this one.

    Raises:
        AccordError: where the branch ends before.
    """
    if not (math.isfinite(period) and 0.5 <= period <= 1.5):
        raise AccordError(f"period is {period:g} s, and must be between 0.5 and 1.5 s")
    orbit = shipped_gait("clocked", parameters)
    before = None
    start = orbit.controls["period"]
    for at in np.linspace(start, period, 1 + math.ceil(abs(period - start) / STEP))[1:]:
        torque, guess = orbit.controls["torque"], orbit.start
        if before is not None:
            torque += torque - before.controls["torque"]
            guess = 2.0 * guess - before.start
        try:
            found = find_orbit(CLOCKED, parameters, {"period": float(at), "torque": torque}, guess)
        except AccordError:
            raise AccordError(
                f"the branch of horizontal clocked gaits was followed to a period of "
                f"{orbit.period:.4g} s, not to {period:g} s"
            ) from None
        before, orbit = orbit, found
    return orbit
