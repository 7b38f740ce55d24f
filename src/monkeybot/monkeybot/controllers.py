"""Controllers: by the clock, by a schedule, by the state as in the report's search, and by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.state import NO_SWITCHES, Command, RobotState, Target

from monkeybot import dynamics
from monkeybot.coordinates import Mode, mode_of, pack
from monkeybot.events import direction
from monkeybot.parameters import L1, L2

HALF_TICK = 5e-10  # s: a time that is due within this is due now
HOLDS = {"a": Mode.SWING_A, "b": Mode.SWING_B, "none": Mode.FLIGHT, "both": Mode.FIXED}


def other_hand(mode: Mode) -> Mode:
    """Return the swing on the other hand."""
    return Mode.SWING_A if mode is Mode.SWING_B else Mode.SWING_B


def command(mode: Mode, torque: float, state: RobotState) -> Command:
    """Return a command whose torque is in the frame of the held hand, as in the report.

    Seen from hand B the elbow's angle has the other sign, and so has the torque.
    """
    effort = np.array([-torque if mode is Mode.SWING_B else torque])
    changed = mode is not mode_of(state.switches)
    return Command(effort, mode.switches if changed else NO_SWITCHES)


class TimedController:
    """Change hands by the clock, with the motor on for a while after each change: open loop.

    The names are those of the report's controller.

    Args:
        setup: robot and scenario.
        initial_t: time of the first change of hands [s].
        swap_t: from one change to the next [s].
        motor_t: how long the motor is on after each change [s].
        power: torque of the motor, in the frame of the held hand [N m].
        motor: instead of motor_t and power, intervals (start, stop, torque) after each change.
        clock: `pure`; or `reset`, with which it starts again whenever the held link passes the
            vertical, and changes hands initial_t later.
    """

    def __init__(
        self,
        setup: Setup,
        initial_t: float = 0.428,
        swap_t: float = 0.861,
        motor_t: float = 0.024,
        power: float = 2.0,
        motor: Sequence[Sequence[float]] | None = None,
        clock: str = "pure",
    ) -> None:
        if clock not in ("pure", "reset"):
            raise ValueError(f"clock is {clock!r}, and must be pure or reset")
        if min(initial_t, swap_t, motor_t) < 0 or swap_t == 0:
            raise ValueError("initial_t and motor_t must not be negative, swap_t must be positive")
        self._initial_t, self._swap_t, self._reset_clock = initial_t, swap_t, clock == "reset"
        self._motor = [(0.0, motor_t, power)] if motor is None else _intervals(motor)
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the clock again."""
        self._next, self._changed = self._initial_t, -math.inf
        self._before = 0.0

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the torque of the moment, and change hands when it is time."""
        now, mode = state.time + HALF_TICK, mode_of(state.switches)
        if self._reset_clock:
            self._watch(state, mode)
        if now >= self._next:
            mode = other_hand(mode)
            self._changed = self._next
            self._next = math.inf if self._reset_clock else self._next + self._swap_t
        since = now - self._changed
        torque = sum(value for start, stop, value in self._motor if start <= since < stop)
        return command(mode, torque, state)

    def _watch(self, state: RobotState, mode: Mode) -> None:
        """Set the clock when the held link has passed the vertical."""
        angle = _held_angle(state, mode)
        if self._before < 0.0 <= angle < 0.5 * math.pi and self._next == math.inf:
            self._next = state.time + self._initial_t
        self._before = angle


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
        angle = float(direction(p[L1], p[L2], u[0], u[1])) - 0.5 * math.pi
        if self._before < 0.0 <= angle:
            mode, self._motor, self._before = other_hand(mode), True, math.inf
            return command(mode, self._power, state)
        self._before = angle
        self._motor = self._motor and self._energy(state) < self._start
        return command(mode, self._power if self._motor else 0.0, state)

    def _energy(self, state: RobotState) -> float:
        return float(sum(dynamics.energies(self._rows[0], pack(state))))


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


def _held_angle(state: RobotState, mode: Mode) -> float:
    """Return the angle of the held link from hanging straight down, in (-pi, pi] [rad]."""
    u = pack(state)
    angle = u[0] + u[1] + math.pi if mode is Mode.SWING_B else u[0]
    return math.remainder(angle, 2.0 * math.pi)


def _intervals(motor: Sequence[Sequence[float]]) -> list[tuple[float, float, float]]:
    if any(len(part) != 3 for part in motor):
        raise ValueError("motor takes intervals of start, stop and torque")
    return [(float(start), float(stop), float(torque)) for start, stop, torque in motor]


def _checked(step: Mapping[str, Any]) -> tuple[float, Mode | None, float | None]:
    unknown = set(step) - {"at", "hold", "effort"}
    if unknown or "at" not in step:
        raise ValueError(f"a step takes at, hold and effort, not {sorted(unknown) or 'no at'}")
    hold = step.get("hold")
    if hold is not None and hold not in HOLDS:
        raise ValueError(f"hold is {hold!r}, and must be one of {', '.join(HOLDS)}")
    effort = step.get("effort")
    return float(step["at"]), HOLDS.get(str(hold)), None if effort is None else float(effort)
