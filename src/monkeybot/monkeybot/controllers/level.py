"""The controller that changes hands where the free one sinks to the line."""

from __future__ import annotations

import math

from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from monkeybot.controllers.hands import command, other_hand, seen_from
from monkeybot.model.coordinates import Mode, mode_of
from monkeybot.model.parameters import MonkeyBotParameters


class LevelController:
    """Change hands where the free one sinks to the height of the held one; constant torque.

    It looks at the ticks, so the hands change up to a control period late, a little below the line.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand [N m].
    """

    def __init__(self, setup: Setup, power: float = 0.7) -> None:
        if not math.isfinite(power):
            raise ValueError(f"power is {power}, and must be a torque in N m")
        self._power = power
        self._parameters: MonkeyBotParameters = setup.parameters
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget where the free hand was."""
        self._before = 0.0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        ahead, above = self._free_hand(mode, state)
        if ahead > 0.0 and above <= 0.0 < self._before:
            mode, above = other_hand(mode), 0.0
        self._before = above
        return command(mode, self._power, state)

    def _free_hand(self, mode: Mode, state: RobotState) -> tuple[float, float]:
        """Return how far the free hand is ahead of the held one and above it [m]."""
        p = self._parameters
        lengths = p.length_a, p.length_b
        held, free = reversed(lengths) if mode is Mode.SWING_B else lengths
        th1, th2, _, _ = seen_from(mode, state)
        ahead = held * math.sin(th1) + free * math.sin(th1 + th2)
        return ahead, -held * math.cos(th1) - free * math.cos(th1 + th2)
