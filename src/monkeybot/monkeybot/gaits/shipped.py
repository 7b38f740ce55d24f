"""The gaits that are shipped with the MonkeyBot, and the branch of the clocked ones."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml

from monkeybot.gaits.kinds import CLOCKED, KINDS
from monkeybot.gaits.orbits import Orbit, find_orbit
from monkeybot.model.parameters import MonkeyBotParameters

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
    if name not in gaits:
        raise AccordError(f"unknown gait {name}{did_you_mean(name, gaits)}")
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
