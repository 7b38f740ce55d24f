"""Feedback on the change of hands: the controller `lqr`, which `accord monkeybot lqr` designs.

The state is measured where the held link passes the vertical, between two ticks by interpolation,
and the time of the change of hands follows from it by a linear law.

Gains for another gait are a scenario's. Fields of LqrController are keys of scenarios and stay, and
so does AT_VERTICAL, a guard against rounding; the law is fixed by test_controllers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from monkeybot.controllers import HALF_TICK, command, other_hand, seen_from
from monkeybot.model.coordinates import Mode, mode_of
from roboaccord.contract import Array, Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

AT_VERTICAL = 1e-9  # rad: a start that is nearer has just passed the vertical


@dataclass(eq=False, repr=False)
class LqrController:
    """Change hands a while after the vertical, which depends on the state there.

    As the held link passes the vertical, x = (th2, w1, w2) is measured, between two ticks by
    interpolation. The hands change switch_t - gain . (x - nominal) later, at the nearest tick; then
    the motor is on for motor_t. All is seen from the held hand.

    Args:
        setup: robot and scenario.
        switch_t: from the vertical to the change of hands.
        motor_t: how long the motor is on after each change.
        power: torque of the motor.
        nominal: x of the gait [rad, rad/s, rad/s].
        gain: of the feedback; three zeros leave the gait to itself.
        largest: absolute correction of the time.
    """

    setup: Setup
    switch_t: si.Seconds
    motor_t: si.Seconds
    power: si.NewtonMetres
    nominal: Sequence[float]
    gain: Annotated[Sequence[float], si.Quantity("s/rad, s^2/rad, s^2/rad")]
    largest: si.Seconds = 0.05

    def __post_init__(self) -> None:
        if len(self.nominal) != 3 or len(self.gain) != 3:
            raise ValueError("nominal and gain take three numbers: of th2, w1 and w2")
        if self.motor_t < 0 or self.largest < 0 or self.switch_t <= self.largest:
            raise ValueError("motor_t and largest must not be negative, switch_t above largest")
        self._nominal, self._gain = np.array(self.nominal, float), np.array(self.gain, float)
        numbers = self.switch_t, self.motor_t, self.power, self.largest
        if not np.isfinite([*numbers, *self._nominal, *self._gain]).all():
            raise ValueError("the numbers of lqr must be finite")
        self._half_period = 0.5 * self.setup.scenario.control_period
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the gait so far."""
        self._next, self._motor_off = math.inf, -math.inf  # hands change, the motor goes off [s]
        self._last: tuple[float, Array] | None = None  # time [s] and state (4,) of the last tick

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque of the moment, and change hands when it is time."""
        mode = mode_of(state.switches)
        self._watch(state, mode)
        if state.time + HALF_TICK >= self._next - self._half_period:
            mode = other_hand(mode)
            self._next, self._last = math.inf, None
            self._motor_off = state.time + self.motor_t
        on = state.time + HALF_TICK < self._motor_off
        return command(mode, self.power if on else 0.0, state)

    def _watch(self, state: RobotState, mode: Mode) -> None:
        """Plan the change of hands when the held link has passed the vertical."""
        u = seen_from(mode, state)
        last, self._last = self._last, (state.time, u)
        if self._next < math.inf:
            return
        if last is None:
            if abs(u[0]) < AT_VERTICAL:
                self._plan(state.time, u)
        elif last[1][0] < 0.0 <= u[0] < 0.5 * math.pi:
            before, x = last
            share = x[0] / (x[0] - u[0])
            step = u - x
            step[1] = math.remainder(step[1], 2.0 * math.pi)
            self._plan(before + share * (state.time - before), x + share * step)

    def _plan(self, passed: float, x: Array) -> None:
        """Set the time of the change from the state at the vertical (4,)."""
        deviation = x[1:] - self._nominal
        deviation[0] = math.remainder(deviation[0], 2.0 * math.pi)
        correction = float(np.clip(-self._gain @ deviation, -self.largest, self.largest))
        self._next = passed + self.switch_t + correction
