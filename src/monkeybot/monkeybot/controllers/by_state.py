"""Controllers that change hands by the state: where the free hand meets a line.

`SearchController` acts as the report's search of gaits does, with the motor on until the energy is
back. `LevelController` keeps a constant torque, and grips where the free hand sinks to the height
of the first held one. Both look at the state at control ticks alone.

The default torques may be changed, and scenarios set them; test_controllers compares both with the
gaits that they are to make.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from monkeybot.controllers.frames import command, other_hand, seen_from
from monkeybot.model import dynamics
from monkeybot.model.coordinates import Mode, mode_of, pack
from monkeybot.model.events import direction
from monkeybot.model.parameters import MonkeyBotParameters


class SearchController:
    """Act by the state, as the report's search does: the controller of a gait that is sought.

    The hands change when the free one has risen to the held one's height; then the motor is on
    until the energy is back at that of the start.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand.
    """

    def __init__(self, setup: Setup, power: si.NewtonMetres = 2.0) -> None:
        if power == 0:
            raise ValueError("power is 0, and no energy can be restored with it")
        self._power, self._rows = power, setup.parameters.rows
        self._start = self._energy(setup.initial)  # J
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the gait so far."""
        self._before = math.inf  # angle of the free hand over the line at the last tick [rad]
        self._motor = False  # whether it is on

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        p, u = self._rows[0], pack(state)
        if mode is Mode.SWING_B:
            flipped = np.empty(8)
            dynamics.flip(p, u, flipped)
            p, u = self._rows[1], flipped
        angle = float(direction(p.l1, p.l2, u[0], u[1])) - 0.5 * math.pi
        if self._before < 0.0 <= angle:
            mode, self._motor, self._before = other_hand(mode), True, math.inf
            return command(mode, self._power, state)
        self._before = angle
        self._motor = self._motor and self._energy(state) < self._start
        return command(mode, self._power if self._motor else 0.0, state)

    def _energy(self, state: RobotState) -> float:
        return float(sum(dynamics.energies(self._rows[0], pack(state))))


class LevelController:
    """Change hands where the free one sinks to the line; constant torque.

    The line is the height of the hand that was held first. Hands change at ticks, at that one where
    the free hand is nearest to the line: so no hand is further from it than half of what the hand
    sinks in a control period, however many steps are taken.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand.
    """

    def __init__(self, setup: Setup, power: si.NewtonMetres = 0.7) -> None:
        if not math.isfinite(power):
            raise ValueError(f"power is {power}, and must be a torque in N m")
        self._power = power
        self._half_period = 0.5 * setup.scenario.control_period
        self._parameters: MonkeyBotParameters = setup.parameters
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget where the hands were."""
        self._before = 0.0  # height that was predicted at the last tick, half a period on [m]
        self._height = 0.0  # of the held hand above the line [m]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        reach, rise, rate = self._free_hand(mode, state)
        height = self._height + rise
        soon = height + self._half_period * rate
        if reach > 0.0 and soon <= 0.0 < self._before:
            mode, self._height, soon = other_hand(mode), height, 0.0
        self._before = soon
        return command(mode, self._power, state)

    def _free_hand(self, mode: Mode, state: RobotState) -> tuple[float, float, float]:
        """Return how far the free hand is ahead of the held one and above it [m], and its rate."""
        p = self._parameters
        lengths = p.length_a, p.length_b
        held, free = reversed(lengths) if mode is Mode.SWING_B else lengths
        th1, th2, w1, w2 = seen_from(mode, state)
        across_held, across_free = held * math.sin(th1), free * math.sin(th1 + th2)
        rise = -held * math.cos(th1) - free * math.cos(th1 + th2)
        return across_held + across_free, rise, across_held * w1 + across_free * (w1 + w2)
