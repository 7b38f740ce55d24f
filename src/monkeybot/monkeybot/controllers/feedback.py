"""Controllers by the state: LQR of the report's gait, its search, and hands changed on the line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target
from roboaccord.scenario import Setup

from monkeybot.controllers.hands import HALF_TICK, command, other_hand, seen_from
from monkeybot.model import dynamics
from monkeybot.model.coordinates import Mode, mode_of, pack
from monkeybot.model.events import direction
from monkeybot.model.parameters import MonkeyBotParameters

AT_VERTICAL = 1e-9  # rad: a start that is nearer has just passed the vertical


@dataclass(eq=False, repr=False)
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

    setup: Setup
    switch_t: float
    motor_t: float
    power: float
    nominal: Sequence[float]
    gain: Sequence[float]
    largest: float = 0.05

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
        self._next, self._motor_off = math.inf, -math.inf
        self._last: tuple[float, Array] | None = None

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
        correction = float(np.clip(-self._gain @ off, -self.largest, self.largest))
        self._next = passed + self.switch_t + correction


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
