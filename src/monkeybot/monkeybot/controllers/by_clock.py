"""The controller by the clock: hands change and the motor runs at given times, without feedback.

A step lasts from one change of hands to the next. The clock runs freely, or starts again whenever
the held link passes the vertical. The controller is called at every tick, its period, and does what
is due at this tick or since the last one.

The default of `initial_t`, 0.428 s, is the report's and stays; that of `power`, 2 N m, follows from
its times. The fields are keys of scenarios, and stay.
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

# Start [s], stop [s], and the torque in between [N m].
Interval = tuple[float, float, float]


@dataclass(eq=False, repr=False)
class TimedController:
    """Change hands by the clock, with the motor on for a while after each change: open loop.

    The names are those of the report's controller. With the pure clock the run begins within a
    step, as if the hands had changed at initial_t - swap_t; if the two are equal, a step begins at
    t = 0.

    Args:
        setup: robot and scenario.
        initial_t: time of the first change of hands.
        swap_t: time from one change to the next; a list is used step by step, again and again.
        motor_t: how long the motor is on after each change.
        power: torque of the motor, in the frame of the held hand; a list is used step by step,
            again and again.
        motor: instead of motor_t and power, intervals (start, stop, torque) after each change.
        flight: time before each change at which the held hand lets go.
        before: intervals (start, stop, torque) of the motor from t = 0 until the first change; they
            bring the robot from rest into its gait.
        clock: `pure`: the clock runs freely; `reset`: it starts again whenever the held link passes
            the vertical, and hands change initial_t later.
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
        self._swaps = _number_list(self.swap_t, "swap_t")  # duration of each step in turn [s]
        if min(self.initial_t, self.motor_t) < 0 or min(self._swaps) <= 0:
            raise ValueError("initial_t and motor_t must not be negative, swap_t must be positive")
        if not 0 <= self.flight < min(self._swaps):
            raise ValueError(f"flight is {self.flight:g} s, and must be shorter than swap_t")
        self._reset_clock = self.clock == "reset"
        powers = _number_list(self.power, "power")
        # For each step in turn, the intervals in which the motor is on.
        self._motor: list[list[Interval]] = [[(0.0, self.motor_t, torque)] for torque in powers]
        if self.motor is not None:
            self._motor = [_intervals(self.motor, "motor")]
        self._before = None if self.before is None else _intervals(self.before, "before")
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the clock again."""
        # Times of the next and of the last change of hands [s].
        self._next_change = self.initial_t
        self._last_change = -math.inf if self._reset_clock else self.initial_t - self._swaps[0]
        self._step = 0  # number of the step
        self._hand = Mode.SWING_A  # the hand that holds, or that held before a flight
        self._last_angle = 0.0  # angle of the held link at the last tick [rad]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the present torque, and change hands when it is time."""
        now, mode = state.time + HALF_TICK, mode_of(state.switches)
        if mode in SWINGS:
            self._hand = mode
        if self._reset_clock:
            self._restart_clock(state, mode)
        if now >= self._next_change:
            self._hand = mode = other_hand(self._hand)
            self._begin_step()
        elif self.flight and now >= self._next_change - self.flight:
            mode = Mode.FLIGHT
        return command(mode, self._torque(now), state, hand=self._hand)

    def _begin_step(self) -> None:
        """Set the times of the last and the next change for the step that begins."""
        self._step += 1
        self._last_change = self._next_change
        swap = self._swaps[self._step % len(self._swaps)]
        self._next_change = math.inf if self._reset_clock else self._next_change + swap

    def _torque(self, now: float) -> float:
        """Return the motor's torque, in the frame of the hand that holds or held last [N m]."""
        if self._before is not None and self._step == 0:
            return _torque_at(self._before, now)
        return _torque_at(self._motor[self._step % len(self._motor)], now - self._last_change)

    def _restart_clock(self, state: RobotState, mode: Mode) -> None:
        """Start the clock again when the held link has passed the vertical."""
        angle = float(seen_from(mode, state)[0])
        if self._last_angle < 0.0 <= angle < 0.5 * math.pi and self._next_change == math.inf:
            self._next_change = state.time + self.initial_t
        self._last_angle = angle


def _torque_at(intervals: Sequence[Interval], time: float) -> float:
    """Return the torque at a time, the sum over the intervals that it lies in [N m]."""
    return sum(torque for start, stop, torque in intervals if start <= time < stop)


def _intervals(motor: Sequence[Sequence[float]], name: str) -> list[Interval]:
    """Return checked intervals; `name` is their key in the scenario, for errors."""
    if any(len(interval) != 3 for interval in motor):
        raise ValueError(f"{name} takes intervals of start, stop and torque")
    return [(float(start), float(stop), float(torque)) for start, stop, torque in motor]


def _number_list(value: float | Sequence[float], name: str) -> list[float]:
    """Return one number, or a list of numbers, as a checked list; `name` is its key, for errors."""
    values: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    for x in values:
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
            raise ValueError(f"{name}: {x!r} is not a number")
    if not values:
        raise ValueError(f"{name} is an empty list")
    return [float(x) for x in values]
