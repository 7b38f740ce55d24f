"""The controller `lqr`: a feedback law for the time at which the robot changes hands.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. When the held link hangs straight down, the state is
measured, by interpolation between two ticks (calls of the controller). The time of the next change
of hands follows from it by a linear law, whose gains `accord monkeybot lqr` computes (lqr.py).
Gains for another gait are set in a scenario; the fields of LqrController are keys of scenarios, and
stay.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from monkeybot.controllers import HALF_TICK, command, other_hand, seen_from
from monkeybot.model.coordinates import Mode, mode_of
from roboaccord.contract import Array, Command, NewtonMetres, Quantity, RobotState, Seconds, Target
from roboaccord.scenario import Setup

# rad: a run that starts nearer to the vertical counts as starting there: round-off of an angle near
# pi, 1e-15, grown by a step's multipliers.
AT_VERTICAL = 1e-9


@dataclass(eq=False, repr=False)
class LqrController:
    """Change hands some time after the held link hangs straight down, depending on the state then.

    As the held link passes the vertical, x = (th2, w1, w2) is measured in the frame of the held
    hand. The hands change switch_t - gain . (x - nominal) later, at the nearest tick; then the
    motor is on for motor_t.

    Args:
        setup: robot and scenario.
        switch_t: time from the vertical to the change of hands.
        motor_t: how long the motor is on after each change.
        power: torque of the motor.
        nominal: x of the gait [rad, rad/s, rad/s].
        gain: of the feedback; three zeros for no feedback.
        largest: largest absolute correction of the time.
    """

    setup: Setup
    switch_t: Seconds
    motor_t: Seconds
    power: NewtonMetres
    nominal: Sequence[float]
    gain: Annotated[Sequence[float], Quantity("s/rad, s^2/rad, s^2/rad")]
    largest: Seconds = 0.05

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
        self._change_time = math.inf  # at which the hands change [s]
        self._motor_off = -math.inf  # at which the motor stops [s]
        # Time [s] of the last tick, and its state in the frame of the held hand (4,).
        self._last_tick: tuple[float, Array] | None = None

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the present torque, and change hands when it is time."""
        mode = mode_of(state.switches)  # which hand holds
        self._plan_at_vertical(state, mode)
        # HALF_TICK [s] is a tolerance of times, half of the nanosecond to which ROS rounds them.
        if state.time + HALF_TICK >= self._change_time - self._half_period:
            mode = other_hand(mode)
            self._change_time = math.inf
            self._last_tick = None
            self._motor_off = state.time + self.motor_t
        motor_on = state.time + HALF_TICK < self._motor_off
        return command(mode, self.power if motor_on else 0.0, state)

    def _plan_at_vertical(self, state: RobotState, mode: Mode) -> None:
        """Plan the change of hands when the held link has passed the vertical."""
        hand_state = seen_from(mode, state)  # (th1, th2, w1, w2)
        last_tick = self._last_tick
        self._last_tick = (state.time, hand_state)
        if self._change_time < math.inf:
            return
        if last_tick is None:
            if abs(hand_state[0]) < AT_VERTICAL:
                self._set_change_time(state.time, hand_state)
            return
        last_time, last_state = last_tick
        if last_state[0] < 0.0 <= hand_state[0] < 0.5 * math.pi:
            # Interpolate linearly between the two ticks to th1 = 0.
            fraction = last_state[0] / (last_state[0] - hand_state[0])
            change = hand_state - last_state
            change[1] = math.remainder(change[1], 2.0 * math.pi)
            time_passed = last_time + fraction * (state.time - last_time)
            self._set_change_time(time_passed, last_state + fraction * change)

    def _set_change_time(self, time: float, hand_state: Array) -> None:
        """Set the time of the change of hands, from time [s] and state (4,) at the vertical."""
        deviation = hand_state[1:] - self._nominal
        deviation[0] = math.remainder(deviation[0], 2.0 * math.pi)
        correction = float(np.clip(-self._gain @ deviation, -self.largest, self.largest))
        self._change_time = time + self.switch_t + correction
