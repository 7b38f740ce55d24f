"""The controller that changes hands where the free one sinks to the line."""

from __future__ import annotations

import math

from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from monkeybot.controllers.hands import command, other_hand, seen_from
from monkeybot.model.coordinates import Mode, mode_of
from monkeybot.model.parameters import MonkeyBotParameters


class LevelController:
    """Change hands where the free one sinks to the line; constant torque.

    The line is the height of the hand that was held first. Hands change at ticks, at that one where
    the free hand is nearest to the line: so no hand is further from it than half of what the hand
    sinks in a control period, however many steps are taken.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand [N m].
    """

    def __init__(self, setup: Setup, power: float = 0.7) -> None:
        if not math.isfinite(power):
            raise ValueError(f"power is {power}, and must be a torque in N m")
        self._power = power
        self._half_period = 0.5 * setup.scenario.control_period
        self._parameters: MonkeyBotParameters = setup.parameters
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget where the hands were."""
        self._before = 0.0
        self._height = 0.0  # of the held hand above the line [m]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        ahead, above, rate = self._free_hand(mode, state)
        height = self._height + above
        soon = height + self._half_period * rate
        if ahead > 0.0 and soon <= 0.0 < self._before:
            mode, self._height, soon = other_hand(mode), height, 0.0
        self._before = soon
        return command(mode, self._power, state)

    def _free_hand(self, mode: Mode, state: RobotState) -> tuple[float, float, float]:
        """Return how far the free hand is ahead of the held one and above it, and how it rises."""
        p = self._parameters
        lengths = p.length_a, p.length_b
        held, free = reversed(lengths) if mode is Mode.SWING_B else lengths
        th1, th2, w1, w2 = seen_from(mode, state)
        across_held, across_free = held * math.sin(th1), free * math.sin(th1 + th2)
        above = -held * math.cos(th1) - free * math.cos(th1 + th2)
        return across_held + across_free, above, across_held * w1 + across_free * (w1 + w2)
