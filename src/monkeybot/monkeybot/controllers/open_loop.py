"""Controllers without feedback: by the clock, by a schedule, and by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from roboaccord.contract import NO_SWITCHES, Command, RobotState, Target
from roboaccord.scenario import Setup

from monkeybot.controllers.hands import HALF_TICK, command, other_hand, seen_from
from monkeybot.model.coordinates import SWINGS, Mode, mode_of

Interval = tuple[float, float, float]


@dataclass(eq=False, repr=False)
class TimedController:
    """Change hands by the clock, with the motor on for a while after each change: open loop.

    The names are those of the report's controller. With the pure clock it begins amid a step, as if
    the hands had changed at initial_t - swap_t; so where these are equal, a step begins at t = 0.

    Args:
        setup: robot and scenario.
        initial_t: time of the first change of hands [s].
        swap_t: from one change to the next [s]; a list for steps that take turns.
        motor_t: how long the motor is on after each change [s].
        power: torque of the motor, in the frame of the held hand [N m]; a list for steps that take
            turns.
        motor: instead of motor_t and power, intervals (start, stop, torque) after each change.
        flight: how long before each change the held hand lets go [s].
        before: instead of what the clock says, intervals (start, stop, torque) until the first
            change, from t = 0 on: how the robot comes from rest into its gait.
        clock: `pure`; or `reset`, with which it starts again whenever the held link passes the
            vertical, and changes hands initial_t later.
    """

    setup: Setup
    initial_t: float = 0.428
    swap_t: float | Sequence[float] = (0.861,)
    motor_t: float = 0.024
    power: float | Sequence[float] = (2.0,)
    motor: Sequence[Sequence[float]] | None = None
    flight: float = 0.0
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
        self._motor: list[list[Interval]] = [[(0.0, self.motor_t, each)] for each in powers]
        if self.motor is not None:
            self._motor = [_intervals(self.motor, "motor")]
        self._before = None if self.before is None else _intervals(self.before, "before")
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the clock again."""
        self._next = self.initial_t
        self._changed = -math.inf if self._reset_clock else self.initial_t - self._swaps[0]
        self._step, self._hand = 0, Mode.SWING_A
        self._last_angle = 0.0

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
    if any(len(part) != 3 for part in motor):
        raise ValueError(f"{name} takes intervals of start, stop and torque")
    return [(float(start), float(stop), float(torque)) for start, stop, torque in motor]


def _in_turn(value: float | Sequence[float], name: str) -> list[float]:
    """Return one number, or those that take turns, as a list."""
    values: Sequence[Any] = value if isinstance(value, (list, tuple)) else [value]
    for each in values:
        if isinstance(each, bool) or not isinstance(each, (int, float)) or not math.isfinite(each):
            raise ValueError(f"{name}: {each!r} is not a number")
    if not values:
        raise ValueError(f"{name} is an empty list")
    return [float(each) for each in values]


HOLDS = {"a": Mode.SWING_A, "b": Mode.SWING_B, "none": Mode.FLIGHT, "both": Mode.FIXED}


class ScheduleController:
    """Do what a list says: magnets and elbow effort from given times on.

    Args:
        setup: robot and scenario.
        steps: each with `at` [s], and `hold` (a, b, none or both) or `effort` [N m] or both; the
            effort is that of the joint, whichever hand holds.
    """

    def __init__(self, setup: Setup, steps: Sequence[Mapping[str, Any]] = ()) -> None:
        self._steps = sorted((_checked(step) for step in steps), key=lambda step: step[0])

    def reset(self, seed: int) -> None:
        """Do nothing: the time alone says what is due."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return what is due."""
        hold, effort = mode_of(state.switches), 0.0
        for at, mode, value in self._steps:
            if state.time + HALF_TICK < at:
                break
            hold = hold if mode is None else mode
            effort = effort if value is None else value
        changed = hold is not mode_of(state.switches)
        return Command(np.array([effort]), hold.switches if changed else NO_SWITCHES)


def _checked(step: Mapping[str, Any]) -> tuple[float, Mode | None, float | None]:
    unknown = set(step) - {"at", "hold", "effort"}
    if unknown or "at" not in step:
        raise ValueError(f"a step takes at, hold and effort, not {sorted(unknown) or 'no at'}")
    hold = step.get("hold")
    if hold is not None and hold not in HOLDS:
        raise ValueError(f"hold is {hold!r}, and must be one of {', '.join(HOLDS)}")
    effort = step.get("effort")
    return float(step["at"]), HOLDS.get(str(hold)), None if effort is None else float(effort)


class TeleopController:
    """Give the effort that a person asks for on `/monkeybot/elbow_effort`; 0 without one.

    Args:
        setup: robot and scenario.
    """

    def __init__(self, setup: Setup) -> None:
        self._zero = np.zeros(len(setup.joints))

    def reset(self, seed: int) -> None:
        """Do nothing: there is nothing to forget."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the effort asked for."""
        asked = None if target is None else target.effort
        return Command(self._zero if asked is None else asked)
