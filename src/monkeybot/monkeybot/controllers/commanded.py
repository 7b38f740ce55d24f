"""Controllers that are told what to do: by a list of times, or by a person.

`ScheduleController` takes magnets and effort from a scenario's list, `TeleopController` the effort
from a topic. Efforts are those of the joint, whichever hand holds.

Keys of the list stay, for scenarios use them (test_controllers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from roboaccord.contract import NO_SWITCHES, Command, RobotState, Target
from roboaccord.scenario import Setup

from monkeybot.controllers.frames import HALF_TICK
from monkeybot.model.coordinates import Mode, mode_of

HOLDS = {"a": Mode.SWING_A, "b": Mode.SWING_B, "none": Mode.FLIGHT, "both": Mode.FIXED}


class ScheduleController:
    """Follow a list: magnets and elbow effort from given times on.

    Args:
        setup: robot and scenario.
        steps: each with `at` [s], and `hold` (a, b, none or both) or `effort` [N m] or both; the
            effort is that of the joint, whichever hand holds.
    """

    def __init__(self, setup: Setup, steps: Sequence[Mapping[str, Any]] = ()) -> None:
        self._steps = sorted((_checked(step) for step in steps), key=lambda step: step[0])

    def reset(self, seed: int) -> None:
        """Do nothing: the time alone determines what is due."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return what is due."""
        hold, effort = mode_of(state.switches), 0.0
        for at, mode, value in self._steps:
            if state.time + HALF_TICK < at:
                break
            hold = hold if mode is None else mode
            effort = effort if value is None else value
        changed = hold is not mode_of(state.switches)
        return Command(np.array([effort]), hold.switches if changed else NO_SWITCHES)


def _checked(step: Mapping[str, Any]) -> tuple[float, Mode | None, float | None]:
    unknown = set(step) - {"at", "hold", "effort"}
    if unknown or "at" not in step:
        raise ValueError(f"a step takes at, hold and effort, not {sorted(unknown) or 'no at'}")
    hold = step.get("hold")
    if hold is not None and hold not in HOLDS:
        raise ValueError(f"hold is {hold!r}, and must be one of {', '.join(HOLDS)}")
    effort = step.get("effort")
    return float(step["at"]), HOLDS.get(str(hold)), None if effort is None else float(effort)


class TeleopController:
    """Give the effort commanded on `/monkeybot/elbow_effort`; 0 without one.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._zero = np.zeros(len(setup.joints))

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the effort asked for."""
        effort = None if target is None else target.effort
        return Command(self._zero if effort is None else effort)
