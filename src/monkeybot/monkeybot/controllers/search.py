"""The controller of the report's search, which acts by the state."""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from monkeybot.controllers.hands import command, other_hand
from monkeybot.model import dynamics
from monkeybot.model.coordinates import Mode, mode_of, pack
from monkeybot.model.events import direction
from monkeybot.model.parameters import L1, L2


class SearchController:
    """Act by the state, as the report's search does: the controller of a gait that is sought.

    The hands change when the free one has risen to the held one's height; then the motor is on
    until the energy is back at that of the start.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand [N m].
    """

    def __init__(self, setup: Setup, power: float = 2.0) -> None:
        if power == 0:
            raise ValueError("power is 0, and no energy can be restored with it")
        self._power, self._rows = power, setup.parameters.rows
        self._start = self._energy(setup.initial)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the gait so far."""
        self._before, self._motor = math.inf, False

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        p, u = self._rows[0], pack(state)
        if mode is Mode.SWING_B:
            flipped = np.empty(8)
            dynamics.flip(p, u, flipped)
            p, u = self._rows[1], flipped
        angle = float(direction(p[L1], p[L2], u[0], u[1])) - 0.5 * math.pi
        if self._before < 0.0 <= angle:
            mode, self._motor, self._before = other_hand(mode), True, math.inf
            return command(mode, self._power, state)
        self._before = angle
        self._motor = self._motor and self._energy(state) < self._start
        return command(mode, self._power if self._motor else 0.0, state)

    def _energy(self, state: RobotState) -> float:
        return float(sum(dynamics.energies(self._rows[0], pack(state))))
