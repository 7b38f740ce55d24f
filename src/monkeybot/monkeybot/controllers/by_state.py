"""Controllers that change hands when the free hand reaches a height, whatever the time.

`SearchController` acts like the search of gaits in the report (docs/monkeybot.md): hands change
when the free one has risen to the height of the held one, and then the motor runs until the energy
is back at that of the start. `LevelController` keeps a constant torque, and grips when the free
hand sinks to the height of the hand that was held first. Both see the state at ticks only, the
calls of the controller.

The default torques, `power` as scenarios call them, may be changed.
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
        self._torque = power
        self._rows = setup.parameters.rows  # with hand A first, and with hand B first
        self._start_energy = self._energy(setup.initial)  # J
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the gait so far."""
        # Direction of the free hand above the horizontal at the last tick [rad].
        self._last_angle = math.inf
        self._motor_on = False

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands when the free one has risen to the held one."""
        mode = mode_of(state.switches)
        # Parameters and state in the frame of the held hand. `seen_from` would lose turns of th2.
        p, u = self._rows[0], pack(state)
        if mode is Mode.SWING_B:
            from_b = np.empty(8)
            dynamics.flip(p, u, from_b)
            p, u = self._rows[1], from_b
        angle = float(direction(p.l1, p.l2, u[0], u[1])) - 0.5 * math.pi
        if self._last_angle < 0.0 <= angle:
            self._motor_on = True
            self._last_angle = math.inf  # no change before the free hand has been below again
            return command(other_hand(mode), self._torque, state)
        self._last_angle = angle
        self._motor_on = self._motor_on and self._energy(state) < self._start_energy
        return command(mode, self._torque if self._motor_on else 0.0, state)

    def _energy(self, state: RobotState) -> float:
        """Return the kinetic and potential energy of a state [J]."""
        return float(sum(dynamics.energies(self._rows[0], pack(state))))


class LevelController:
    """Change hands when the free one sinks to the first height, under a constant torque.

    The first height is that of the hand that was held first. Hands change at the tick at which the
    free hand is nearest to it, the last one above or the first one below; so the height predicted
    for half a control period later decides. A hand is never farther from the first height than half
    the distance that it sinks in a control period, and this error does not add up from step to
    step.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand.
    """

    def __init__(self, setup: Setup, power: si.NewtonMetres = 0.7) -> None:
        if not math.isfinite(power):
            raise ValueError(f"power is {power}, and must be a torque in N m")
        self._torque = power
        self._half_period = 0.5 * setup.scenario.control_period  # s
        self._parameters: MonkeyBotParameters = setup.parameters
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget where the hands were."""
        # Height of the free hand that the last tick predicted for half a period later [m].
        self._predicted = 0.0
        self._held_height = 0.0  # of the held hand above the first height [m]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque, and change hands when the free one sinks to the first height."""
        mode = mode_of(state.switches)
        reach, rise, rate = self._free_hand(mode, state)
        height = self._held_height + rise
        prediction = height + self._half_period * rate
        is_nearest = reach > 0.0 and prediction <= 0.0 < self._predicted
        self._predicted = 0.0 if is_nearest else prediction
        if is_nearest:
            self._held_height = height
            mode = other_hand(mode)
        return command(mode, self._torque, state)

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
