"""The gait of eight configurations, as the blog post describes it and as its author's code does it.

The post (docs/snake.md names it) divides the snake into four segments: head, body1, body2 and tail.
A configuration gives every segment a twist: 2 bends its joints to the upper stop, -2 to the lower
one, 1 and -1 half as far, and 0 asks for nothing. Each configuration holds for a while. Four of
them (START) start a wave that runs along the body; four others (LOOP) repeat it.

`AsDescribed` follows the post's table, and holds the angles that it states by a controller of ours.
`AsCoded` does what the author's Gazebo plugin does, update by update, with its errors.

START, LOOP, CODED_JOINTS and AsCoded with its 150 updates are the source's and stay. So do the
defaults of 10 N m and 0.15 s (its code's SetForce and 150 updates of 1 ms). `kp` and `kd` are our
choice, since the post states an angle but not how it is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import Array, Command, RobotState, Target, check_positive
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

SEGMENTS = ("head", "body1", "body2", "tail")
# The post's table: a row for each configuration, with the twists of the segments in this order.
START = ((0, 0, 0, 2), (0, 0, 2, -1), (0, 2, -1, -2), (2, -1, -2, 1))
LOOP = ((-1, -2, 1, 2), (-2, 1, 2, -1), (1, 2, -1, -2), (2, -1, -2, 1))
# Joints that the plugin drives in each segment; the last of its 21 joints, M21, is never driven.
CODED_JOINTS = (5, 5, 5, 5)


def segment_of(joints: int, segments: Sequence[int] = ()) -> Array:
    """Return the segment of each joint (n,): 0 for the head to 3 for the tail, 4 for none.

    Args:
        joints: number n of joints.
        segments: number of joints of the four segments, from the head; empty for four of equal
            size, with the remaining joints added to the tail.

    Raises:
        ValueError: for other than four segments, or for more joints than the robot has.
    """
    if isinstance(segments, (str, int, float)) or len(segments) not in (0, len(SEGMENTS)):
        raise ValueError(f"segments must be {len(SEGMENTS)} numbers of joints: head to tail")
    counts = list(segments)
    if not counts:
        size = joints // len(SEGMENTS)
        counts = [size, size, size, joints - 3 * size]
    for name, count in zip(SEGMENTS, counts, strict=True):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise ValueError(f"segments: {name} has {count!r} joints, and must have 0 or more")
    if sum(counts) > joints:
        raise ValueError(f"segments have {sum(counts)} joints, and the robot has {joints}")
    counts.append(joints - sum(counts))
    return np.repeat(np.arange(len(counts)), counts)


@dataclass(eq=False, repr=False)
class AsDescribed:
    """Hold every joint at the angle of its configuration, with at most `effort`.

    The wave starts at the tail, as in the table. A twist of +-2 asks for the angle of the stop, +-1
    for half of it; joints of a segment with an empty cell (0) get no effort.

    Args:
        setup: robot and scenario.
        segments: number of joints of head, body1, body2 and tail; joints behind them stay limp.
        effort: largest effort.
        hold: how long a looped configuration lasts.
        start: how long a starting configuration lasts; 0 stands for `hold`.
        kp: stiffness near the wanted angle.
        kd: damping. Since an effort is held over a control period T, it acts T/2 late on average,
            which reduces the damping to kd - kp T/2. With kp 100 and T 1 ms a kd of 0.05 would be
            cancelled, and the joints would chatter.
    """

    setup: Setup
    segments: Sequence[int] = ()
    effort: si.NewtonMetres = 10.0
    hold: si.Seconds = 0.15
    start: si.Seconds = 0.0
    kp: Annotated[float, si.Quantity("N m/rad")] = 20.0
    kd: Annotated[float, si.Quantity("N m s/rad")] = 0.05

    def __post_init__(self) -> None:
        check_positive({"effort": self.effort, "hold": self.hold})
        if min(self.start, self.kp, self.kd) < 0:
            raise ValueError("start, kp and kd must not be negative")
        self.start = self.start or self.hold
        self.limit: float = self.setup.parameters.joint_limit
        self._segment = segment_of(len(self.setup.joints), self.segments)  # of each joint (n,)

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on time and state alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts towards the present configuration."""
        twists = configuration(state.time, self.hold, self.start)
        twist = np.array([*twists, 0])[self._segment]  # of each joint, 0 behind the segments
        wanted = 0.5 * twist * self.limit
        effort = self.kp * (wanted - state.q) - self.kd * state.qd
        effort = np.minimum(np.maximum(effort, -self.effort), self.effort)
        effort[twist == 0] = 0.0
        return Command(effort)


def configuration(time: float, hold: float, start: float = 0.0) -> tuple[int, ...]:
    """Return the twists of the four segments at a time [s].

    Args:
        time: since the start [s].
        hold: how long a looped configuration lasts [s].
        start: how long a starting configuration lasts [s]; 0 stands for `hold`.
    """
    start = start or hold
    number = int(time / start + 1e-9)
    if number < len(START):
        return START[number]
    return LOOP[int((time - len(START) * start) / hold + 1e-9) % len(LOOP)]


@dataclass(eq=False, repr=False)
class AsCoded:
    """Do what the author's plugin does, update by update, one update per millisecond.

    In an update each segment has one of four actions, coded 2, -2, 1 and 0 below:

        LEFT     full positive effort on joints below the upper stop
        RIGHT    full negative effort on joints above the lower stop
        SHRINK   full effort on joints that are beyond half of the limit, away from the middle
        NONE     no effort

    SHRINK stands for a twist of +-1, but pushes a joint further out, so it never comes to half of
    the limit: an error of the plugin, which is kept. The wave starts at link 01, the head, where
    the post's table has the tail; looped configurations last one update more than starting ones;
    and joints behind the segments get no effort.

    Args:
        setup: robot and scenario.
        segments: number of joints of head, body1, body2 and tail; the code's five each as far as
            the robot has them.
        effort: magnitude of the effort on a driven joint.
        updates: number of updates of a starting configuration; a looped one has one more.
        update_period: of the plugin.
    """

    LEFT, RIGHT, SHRINK, NONE = 2, -2, 1, 0
    START = ((2, 0, 0, 0), (1, 2, 0, 0), (-2, 1, 2, 0), (1, -2, 1, 2))
    LOOP = ((2, 1, -2, 1), (1, 2, 1, -2), (-2, 1, 2, 1), (1, -2, 1, 2))

    setup: Setup
    segments: Sequence[int] = ()
    effort: si.NewtonMetres = 10.0
    updates: int = 150
    update_period: si.Seconds = 0.001

    def __post_init__(self) -> None:
        positive = ("effort", "updates", "update_period")
        check_positive({name: getattr(self, name) for name in positive})
        self.updates = int(self.updates)
        self.limit: float = self.setup.parameters.joint_limit
        joints = len(self.setup.joints)
        coded = CODED_JOINTS if joints >= sum(CODED_JOINTS) else ()
        self._segment = segment_of(joints, self.segments or coded)  # of each joint (n,)

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on time and state alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that the plugin sets in this update."""
        actions = self.action(round(state.time / self.update_period))
        action = np.array([*actions, self.NONE])[self._segment]  # of each joint
        q, half = state.q, 0.5 * self.limit
        effort = np.zeros(len(q))
        effort[(action == self.LEFT) & (q < self.limit)] = self.effort
        effort[(action == self.RIGHT) & (q > -self.limit)] = -self.effort
        effort[(action == self.SHRINK) & (q < -half)] = -self.effort
        effort[(action == self.SHRINK) & (q > half)] = self.effort
        return Command(effort)

    def action(self, update: int) -> tuple[int, ...]:
        """Return the actions of the four segments in an update, counted from 0."""
        if update < len(self.START) * self.updates:
            return self.START[update // self.updates]
        looped = (update - len(self.START) * self.updates) // (self.updates + 1)
        return self.LOOP[looped % len(self.LOOP)]


def cycle_of(name: str, spec: dict[str, float]) -> tuple[float, float]:
    """Return how long the four starting configurations and a loop of four last [s].

    Args:
        name: `as_described` or `as_coded`.
        spec: the controller's keys in the scenario.
    """
    if name == "as_coded":
        updates, period = spec.get("updates", 150), spec.get("update_period", 0.001)
        return len(AsCoded.START) * updates * period, len(AsCoded.LOOP) * (updates + 1) * period
    hold = spec.get("hold", 0.15)
    return len(START) * (spec.get("start", 0.0) or hold), len(LOOP) * hold
