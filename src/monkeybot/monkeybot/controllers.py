"""Controllers: by the clock, by a schedule, by the state, and by hand.

A controller of your own may be added: a class with `reset` and `update`, entered in robot.py. The
0.428 s of TimedController are the report's and stay; 2 N m follows from its times. The other
defaults may be changed. Fields stay, keys of scenarios. The sign of `command` is fixed: torque
counts in the frame of the held hand, as the report has it (test_controllers). HALF_TICK, a guard
against rounding, stays.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from roboaccord.contract import NO_SWITCHES, Array, Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from monkeybot.model import dynamics
from monkeybot.model.coordinates import SWINGS, Mode, mode_of, pack
from monkeybot.model.events import direction
from monkeybot.model.parameters import MonkeyBotParameters

HALF_TICK = 5e-10  # s: a time that is due within this is due now


def other_hand(mode: Mode) -> Mode:
    """Return the swing on the other hand."""
    return Mode.SWING_A if mode is Mode.SWING_B else Mode.SWING_B


def command(mode: Mode, torque: float, state: RobotState, *, hand: Mode | None = None) -> Command:
    """Return a command whose torque is in the frame of the held hand, as in the report.

    Seen from hand B the elbow's angle has the other sign, and so has the torque.

    Args:
        mode: what the magnets are to hold.
        torque: of the motor [N m].
        state: at this tick.
        hand: whose frame it is where no hand holds.
    """
    effort = np.array([-torque if (hand or mode) is Mode.SWING_B else torque])
    changed = mode is not mode_of(state.switches)
    return Command(effort, mode.switches if changed else NO_SWITCHES)


def seen_from(mode: Mode, state: RobotState) -> Array:
    """Return (th1, th2, w1, w2) as seen from the held hand (4,) [rad, rad/s].

    Both angles are in (-pi, pi]; th1 is that of the held link from hanging straight down.
    """
    th1, th2, w1, w2 = pack(state)[:4]
    if mode is Mode.SWING_B:
        th1, th2, w1, w2 = th1 + th2 + math.pi, -th2, w1 + w2, -w2
    return np.array(
        [math.remainder(th1, 2.0 * math.pi), math.remainder(th2, 2.0 * math.pi), w1, w2]
    )


class SearchController:
    """Act by the state, as the report's search does: the controller of a gait that is sought.

    The hands change when the free one has risen to the held one's height; then the motor is on
    until the energy is back at that of the start.

    Args:
        setup: robot and scenario.
        power: torque of the motor, in the frame of the held hand.
    """

    def __init__(self, setup: Setup, power: si.NewtonMetres = 2.0) -> None:
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


Interval = tuple[float, float, float]


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
    for x in values:
        if isinstance(x, bool) or not isinstance(x, (int, float)) or not math.isfinite(x):
            raise ValueError(f"{name}: {x!r} is not a number")
    if not values:
        raise ValueError(f"{name} is an empty list")
    return [float(x) for x in values]


HOLDS = {"a": Mode.SWING_A, "b": Mode.SWING_B, "none": Mode.FLIGHT, "both": Mode.FIXED}


class ScheduleController:
    """Follow a list: magnets and elbow effort from given times on.

    Args:
        setup: robot and scenario.
        steps: each with `at` [s], and `hold` (a, b, none or both) or `effort` [N m] or both; the
            effort is that of the joint, whichever hand holds.
    """

    def __init__(self, setup: Setup, steps: Sequence[Mapping[str, Any]] = ()) -> None:
        self._steps = sorted((_checked(step) for step in steps), key=lambda step: step[0])

    def reset(self, seed: int) -> None:
        """Do nothing: the time alone determines what is due."""

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
    """Give the effort commanded on `/monkeybot/elbow_effort`; 0 without one.

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
