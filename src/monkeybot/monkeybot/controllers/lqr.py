"""The controller that holds the report's gait: feedback on the time of the change of hands."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from roboaccord.contract.state import Array, Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from monkeybot.controllers.hands import HALF_TICK, command, other_hand, seen_from
from monkeybot.model.coordinates import Mode, mode_of

AT_VERTICAL = 1e-9  # rad: a start that is nearer has just passed the vertical


class LqrController:
    """Change hands a while after the vertical, which depends on the state there.

    As the held link passes the vertical, x = (th2, w1, w2) is measured, between two ticks by
    interpolation. The hands change switch_t - gain . (x - nominal) later, at the nearest tick; then
    the motor is on for motor_t. All is seen from the held hand.

    Args:
        setup: robot and scenario.
        switch_t: from the vertical to the change of hands [s].
        motor_t: how long the motor is on after each change [s].
        power: torque of the motor [N m].
        nominal: x of the gait [rad, rad/s, rad/s].
        gain: of the feedback [s/rad, s^2/rad, s^2/rad]; three zeros leave the gait to itself.
        largest: correction of the time, either way [s].
    """

    def __init__(
        self,
        setup: Setup,
        switch_t: float,
        motor_t: float,
        power: float,
        nominal: Sequence[float],
        gain: Sequence[float],
        largest: float = 0.05,
    ) -> None:
        if len(nominal) != 3 or len(gain) != 3:
            raise ValueError("nominal and gain take three numbers: of th2, w1 and w2")
        if motor_t < 0 or largest < 0 or switch_t <= largest:
            raise ValueError("motor_t and largest must not be negative, switch_t above largest")
        self._switch_t, self._motor_t, self._power = switch_t, motor_t, power
        self._nominal, self._gain = np.array(nominal, float), np.array(gain, float)
        if not np.isfinite([switch_t, motor_t, power, largest, *nominal, *gain]).all():
            raise ValueError("the numbers of lqr must be finite")
        self._largest = largest
        self._half_period = 0.5 * setup.scenario.control_period
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Forget the gait so far."""
        self._next, self._motor_off = math.inf, -math.inf
        self._last: tuple[float, Array] | None = None

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque of the moment, and change hands when it is time."""
        mode = mode_of(state.switches)
        self._watch(state, mode)
        if state.time + HALF_TICK >= self._next - self._half_period:
            mode = other_hand(mode)
            self._next, self._last = math.inf, None
            self._motor_off = state.time + self._motor_t
        on = state.time + HALF_TICK < self._motor_off
        return command(mode, self._power if on else 0.0, state)

    def _watch(self, state: RobotState, mode: Mode) -> None:
        """Plan the change of hands when the held link has passed the vertical."""
        seen = seen_from(mode, state)
        last, self._last = self._last, (state.time, seen)
        if self._next < math.inf:
            return
        if last is None:
            if abs(seen[0]) < AT_VERTICAL:
                self._plan(state.time, seen)
        elif last[1][0] < 0.0 <= seen[0] < 0.5 * math.pi:
            before, x = last
            part = x[0] / (x[0] - seen[0])
            step = seen - x
            step[1] = math.remainder(step[1], 2.0 * math.pi)
            self._plan(before + part * (state.time - before), x + part * step)

    def _plan(self, passed: float, x: Array) -> None:
        """Set the time of the change from the state at the vertical (4,)."""
        off = x[1:] - self._nominal
        off[0] = math.remainder(off[0], 2.0 * math.pi)
        correction = float(np.clip(-self._gain @ off, -self._largest, self._largest))
        self._next = passed + self._switch_t + correction
