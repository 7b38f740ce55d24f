"""Shipped gaits with what holds them: the report's one has feedback, the others need none."""

from __future__ import annotations

from monkeybot.kinds import REPORT
from monkeybot.lqr import time_law
from monkeybot.orbits import Orbit
from monkeybot.parameters import MonkeyBotParameters
from monkeybot.shipped import shipped_gait
from monkeybot.walk import Feedback


def held_gait(name: str, parameters: MonkeyBotParameters) -> tuple[Orbit, Feedback | None]:
    """Return a shipped gait, and the feedback that holds it.

    Raises:
        AccordError: for an unknown name, or parameters with which it cannot be.
    """
    orbit = shipped_gait(name, parameters)
    return orbit, time_law(orbit, parameters).feedback if orbit.kind is REPORT else None
