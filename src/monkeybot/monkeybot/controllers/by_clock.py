"""The controller by the clock: hands change and the motor runs at given times, open loop.

A step lasts from one change of hands to the next. The clock runs freely, or starts again whenever
the held link passes the vertical. Times that fall on a tick count as due at it.

The 0.428 s of `initial_t` are the report's and stay; `power`, 2 N m, follows from its times. The
other defaults may be changed. Fields are keys of scenarios, and stay (test_controllers).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from monkeybot.controllers.frames import HALF_TICK, command, other_hand, seen_from
from monkeybot.model.coordinates import SWINGS, Mode, mode_of

Interval = tuple[float, float, float]
"""Start and stop [s], and torque [N m] between them."""


@dataclass(eq=False, repr=False)
class TimedController:
    """Change hands by the clock, with the motor on for a while after each change: open loop.

    The names are those of the report's controller. With the pure clock it begins amid a step, as if
    the hands had changed at initial_t - swap_t; so where these are equal, a step begins at t = 0.

    Args:
        setup: robot and scenario.
        initial_t: time of the first change of hands.
        swap_t: from one change to the next; a list for steps that take turns.
        motor_t: how long the motor is on after each change.
        power: torque of the motor, in the frame of the held hand; a list for steps that take
            turns.
        motor: instead of motor_t and power, intervals (start, stop, torque) after each change.
        flight: how long before each change the held hand lets go.
        before: instead of the clock, intervals (start, stop, torque) until the first
            change, from t = 0 on: how the robot comes from rest into its gait.
        clock: `pure`; or `reset`, with which it starts again whenever the held link passes the
            vertical, and changes hands initial_t later.
    """

    setup: Setup
    initial_t: si.Seconds = 0.428
    swap_t: si.Seconds | Sequence[si.Seconds] = (0.861,)
    motor_t: si.Seconds = 0.024
    power: si.NewtonMetres | Sequence[si.NewtonMetres] = (2.0,)
    motor: Sequence[Sequence[float]] | None = None
    flight: si.Seconds = 0.0
    before: Sequence[Sequence[float]] | None = None
    clock: str = "pure"

    def __post_init__(self) -> None:
        if self.clock not in ("pure", "reset"):
            raise ValueError(f"clock is {self.clock!r}, and must be pure or reset")
        self._swaps = _in_turn(self.swap_t, "swap_t")
        if min(self.initial_t, self.motor_t) < 0 or min(self._swaps) <= 0:
            raise ValueError("initial_t and motor_t must not be negative, swap_t must be positive")
        if not 0 <= self.flight < min(self._swaps):
            raise ValueError(f"flight is {self.flight:g} s, and must be shorter than swap_t")
        self._reset_clock = self.clock == "reset"
        powers = _in_turn(self.power, "power")
        # Of each step in turn, the intervals in which the motor is on.
        self._motor: list[list[Interval]] = [[(0.0, self.motor_t, torque)] for torque in powers]
        if self.motor is not None:
            self._motor = [_intervals(self.motor, "motor")]
        self._before = None if self.before is None else _intervals(self.before, "before")
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the clock again."""
        self._next = self.initial_t  # when hands change next, and when they last did [s]
        self._changed = -math.inf if self._reset_clock else self.initial_t - self._swaps[0]
        self._step, self._hand = 0, Mode.SWING_A  # number of the step; who holds, or held last
        self._last_angle = 0.0  # of the held link at the last tick [rad]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque of the moment, and change hands when it is time."""
        now, mode = state.time + HALF_TICK, mode_of(state.switches)
        if mode in SWINGS:
            self._hand = mode
        if self._reset_clock:
            self._watch(state, mode)
        if now >= self._next:
            mode = self._hand = other_hand(self._hand)
            self._begin_step()
        elif self.flight and now >= self._next - self.flight:
            mode = Mode.FLIGHT
        return command(mode, self._torque(now), state, hand=self._hand)

    def _begin_step(self) -> None:
        """Set the clock for the step that begins."""
        self._step += 1
        self._changed = self._next
        swap = self._swaps[self._step % len(self._swaps)]
        self._next = math.inf if self._reset_clock else self._next + swap

    def _torque(self, now: float) -> float:
        """Return the motor's torque, in the frame of the hand that holds or held last [N m]."""
        if self._before is not None and not self._step:
            return _due(self._before, now)
        return _due(self._motor[self._step % len(self._motor)], now - self._changed)

    def _watch(self, state: RobotState, mode: Mode) -> None:
        """Set the clock when the held link has passed the vertical."""
        angle = float(seen_from(mode, state)[0])
        if self._last_angle < 0.0 <= angle < 0.5 * math.pi and self._next == math.inf:
            self._next = state.time + self.initial_t
        self._last_angle = angle


def _due(intervals: Sequence[Interval], time: float) -> float:
    return sum(torque for start, stop, torque in intervals if start <= time < stop)


def _intervals(motor: Sequence[Sequence[float]], name: str) -> list[Interval]:
    if any(len(interval) != 3 for interval in motor):
        raise ValueError(f"{name} takes intervals of start, stop and torque")
    return [(float(start), float(stop), float(torque)) for start, stop, torque in motor]


def _in_turn(value: float | Sequence[float], name: str) -> list[float]:
    """Return one number, or a list of numbers that take turns, as a list."""
    values: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    for x in values:
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
            raise ValueError(f"{name}: {x!r} is not a number")
    if not values:
        raise ValueError(f"{name} is an empty list")
    return [float(x) for x in values]
