"""Controllers that change hands when the free hand reaches a line, whatever the time.

`SearchController` acts like the report's search of gaits: hands change when the free one has risen
to the height of the held one, and then the motor runs until the energy is back at that of the
start. `LevelController` keeps a constant torque, and grips when the free hand sinks to the height
of the hand that was held first. Both see the state at ticks only, the calls of the controller.

The default torques may be changed; scenarios set them.
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
    """Change hands on the way up and restore the energy, as in the report's search of gaits.

    The hands change when the free one has risen to the height of the held one; then the motor is on
    until the energy is back at that of the start.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand.
    """

    def __init__(self, setup: Setup, power: si.NewtonMetres = 2.0) -> None:
        if power == 0:
            raise ValueError("power is 0, and no energy can be restored with it")
        self._power, self._rows = power, setup.parameters.rows
        self._start_energy = self._energy(setup.initial)  # J
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the gait so far."""
        # Direction of the free hand above the horizontal at the last tick [rad].
        self._last_angle = math.inf
        self._motor_on = False

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        p, u = self._rows[0], pack(state)
        if mode is Mode.SWING_B:
            flipped = np.empty(8)
            dynamics.flip(p, u, flipped)
            p, u = self._rows[1], flipped
        angle = float(direction(p.l1, p.l2, u[0], u[1])) - 0.5 * math.pi
        if self._last_angle < 0.0 <= angle:
            mode, self._motor_on, self._last_angle = other_hand(mode), True, math.inf
            return command(mode, self._power, state)
        self._last_angle = angle
        self._motor_on = self._motor_on and self._energy(state) < self._start_energy
        return command(mode, self._power if self._motor_on else 0.0, state)

    def _energy(self, state: RobotState) -> float:
        return float(sum(dynamics.energies(self._rows[0], pack(state))))


class LevelController:
    """Change hands when the free one sinks to the line, under a constant torque.

    The line is the height of the hand that was held first. Hands change at the tick at which the
    free hand is nearest to the line. So a hand is never farther from it than half the distance that
    the hand sinks in a control period, and this error does not add up from step to step.

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
        # Height of the free hand that the last tick predicted for half a period later [m].
        self._predicted = 0.0
        self._height = 0.0  # of the held hand above the line [m]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands on the line."""
        mode = mode_of(state.switches)
        reach, rise, rate = self._free_hand(mode, state)
        height = self._height + rise
        prediction = height + self._half_period * rate
        if reach > 0.0 and prediction <= 0.0 < self._predicted:
            mode, self._height, prediction = other_hand(mode), height, 0.0
        self._predicted = prediction
        return command(mode, self._power, state)

    def _free_hand(self, mode: Mode, state: RobotState) -> tuple[float, float, float]:
        """Return the position of the free hand from the held one, and the rate of its height.

        Returns:
            to the right [m], up [m], and the rate of the latter [m/s].
        """
        p = self._parameters
        lengths = p.length_a, p.length_b
        held, free = reversed(lengths) if mode is Mode.SWING_B else lengths
        th1, th2, w1, w2 = seen_from(mode, state)
        across_held, across_free = held * math.sin(th1), free * math.sin(th1 + th2)
        rise = -held * math.cos(th1) - free * math.cos(th1 + th2)
        return across_held + across_free, rise, across_held * w1 + across_free * (w1 + w2)
