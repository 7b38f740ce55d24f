"""Controllers that follow commands: a list of times, or a person.

`ScheduleController` takes magnets and effort from a list in the scenario, `TeleopController` the
effort from a ROS topic. Efforts are those of the elbow joint, whichever hand holds. The keys of the
list stay, for scenarios use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from roboaccord.contract import NO_SWITCHES, Command, RobotState, Target
from roboaccord.scenario import Setup

from monkeybot.controllers.frames import HALF_TICK
from monkeybot.model.coordinates import Mode, mode_of

# Modes by the value of `hold` in a step of the list.
HOLDS = {"a": Mode.SWING_A, "b": Mode.SWING_B, "none": Mode.FLIGHT, "both": Mode.FIXED}


class ScheduleController:
    """Switch magnets and set the elbow's effort at the times of a list.

    Args:
        setup: robot and scenario.
        steps: each with a time `at` [s], from which on `hold` (a, b, none or both), `effort` [N m]
            or both apply.
    """

    def __init__(self, setup: Setup, steps: Sequence[Mapping[str, Any]] = ()) -> None:
        self._steps = sorted((_checked(step) for step in steps), key=lambda step: step[0])

    def reset(self, seed: int) -> None:
        """Do nothing: the commands depend on the time alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the magnets and the effort that apply at this time."""
        hold, effort = mode_of(state.switches), 0.0
        for time, new_hold, new_effort in self._steps:
            if state.time + HALF_TICK < time:
                break
            hold = hold if new_hold is None else new_hold
            effort = effort if new_effort is None else new_effort
        changed = hold is not mode_of(state.switches)
        return Command(np.array([effort]), hold.switches if changed else NO_SWITCHES)


def _checked(step: Mapping[str, Any]) -> tuple[float, Mode | None, float | None]:
    """Return time [s], mode and effort [N m] of a step of the list; None for what stays as it is.

    Raises:
        ValueError: for other keys, or another value of `hold`.
    """
    unknown = set(step) - {"at", "hold", "effort"}
    if unknown or "at" not in step:
        raise ValueError(f"a step takes at, hold and effort, not {sorted(unknown) or 'no at'}")
    hold = step.get("hold")
    if hold is not None and hold not in HOLDS:
        raise ValueError(f"hold is {hold!r}, and must be one of {', '.join(HOLDS)}")
    mode = None if hold is None else HOLDS[hold]
    effort = None if step.get("effort") is None else float(step["effort"])
    return float(step["at"]), mode, effort


class TeleopController:
    """Apply the effort commanded on `/monkeybot/elbow_effort`; 0 without a command.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._zero = np.zeros(len(setup.joints))

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the commanded effort."""
        effort = None if target is None else target.effort
        return Command(self._zero if effort is None else effort)
