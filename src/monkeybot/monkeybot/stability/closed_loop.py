"""Shipped gaits with their feedback: only the report's has one."""

from __future__ import annotations

from monkeybot.gaits.kinds import REPORT
from monkeybot.gaits.orbits import Orbit
from monkeybot.gaits.shipped import shipped_gait
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.lqr import time_law
from monkeybot.stability.rollouts import Feedback


def held_gait(name: str, parameters: MonkeyBotParameters) -> tuple[Orbit, Feedback | None]:
    """Return a shipped gait and its feedback.

    Raises:
        AccordError: for an unknown name, or parameters with which it cannot be.
    """
    orbit = shipped_gait(name, parameters)
    return orbit, time_law(orbit, parameters).feedback if orbit.kind is REPORT else None
