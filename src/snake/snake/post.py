"""The gait of eight configurations, as the post describes it and as its author's code does it.

Each configuration holds for a while and gives every segment (head, body1, body2, tail) a twist:
+-2 towards a stop, +-1 towards half of it. Four configurations start the wave, four are looped.
"""

from __future__ import annotations

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.state import Array, Command, RobotState, Target

START = ((0, 0, 0, 2), (0, 0, 2, -1), (0, 2, -1, -2), (2, -1, -2, 1))
LOOP = ((-1, -2, 1, 2), (-2, 1, 2, -1), (1, 2, -1, -2), (2, -1, -2, 1))
SEGMENTS = 4
CODED_JOINTS = 5  # a segment; the code drives five joints of each, so M21 never moves


def segment_of(joints: int) -> Array:
    """Return the segment of each joint (n,): four of equal size, what is left over in the tail."""
    size = max(joints // SEGMENTS, 1)
    return np.minimum(np.arange(joints) // size, SEGMENTS - 1)


class AsDescribed:
    """Hold every joint at the angle of its configuration, with at most `effort`.

    The table's order, with the wave starting at the tail: +-2 at the stop, +-1 at half of it; an
    empty cell asks for nothing.

    Args:
        setup: robot and scenario.
        effort: largest effort [N m].
        hold: time of a configuration [s].
        kp, kd: stiffness [N m/rad] and damping [N m s/rad] near the wanted angle.
    """

    def __init__(
        self,
        setup: Setup,
        effort: float = 10.0,
        hold: float = 0.15,
        kp: float = 100.0,
        kd: float = 0.05,
    ) -> None:
        if effort <= 0 or hold <= 0:
            raise ValueError("effort and hold must be positive")
        self.effort, self.hold, self.kp, self.kd = float(effort), float(hold), float(kp), float(kd)
        self.limit: float = setup.parameters.joint_limit
        self._segment = segment_of(len(setup.joints)).astype(int)

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on time and state alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts towards the present configuration."""
        twist = np.array(configuration(state.time, self.hold))[self._segment]
        wanted = 0.5 * twist * self.limit
        effort = self.kp * (wanted - state.q) - self.kd * state.qd
        effort = np.clip(effort, -self.effort, self.effort)
        return Command(np.where(twist == 0, 0.0, effort))


def configuration(time: float, hold: float) -> tuple[int, ...]:
    """Return the twists of the four segments at a time [s]."""
    number = int(time / hold + 1e-9)
    if number < len(START):
        return START[number]
    return LOOP[(number - len(START)) % len(LOOP)]


class AsCoded:
    """Do what the author's plugin does, update by update, one a millisecond.

    A joint short of its stop gets the full effort and one at it none; `shrink`, for +-1, pushes a
    joint that is beyond half of its range further out, so it never comes to half. The wave starts
    at link 01, looped states last 151 updates, and joints beyond four times five get nothing.

    Args:
        setup: robot and scenario.
        effort: [N m].
        updates: of a starting state.
        update_period: [s].
    """

    LEFT, RIGHT, SHRINK, NONE = 2, -2, 1, 0
    START = ((2, 0, 0, 0), (1, 2, 0, 0), (-2, 1, 2, 0), (1, -2, 1, 2))
    LOOP = ((2, 1, -2, 1), (1, 2, 1, -2), (-2, 1, 2, 1), (1, -2, 1, 2))

    def __init__(
        self,
        setup: Setup,
        effort: float = 10.0,
        updates: int = 150,
        update_period: float = 0.001,
    ) -> None:
        if effort <= 0 or updates < 1 or update_period <= 0:
            raise ValueError("effort, updates and update_period must be positive")
        self.effort, self.updates, self.period = float(effort), int(updates), float(update_period)
        self.limit: float = setup.parameters.joint_limit
        self._segment = np.arange(len(setup.joints)) // CODED_JOINTS

    def reset(self, seed: int) -> None:
        """Do nothing: the gait depends on time and state alone."""

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that the plugin sets in this update."""
        states = (*self.action(round(state.time / self.period)), self.NONE)
        action = np.array(states)[np.minimum(self._segment, SEGMENTS)]
        q, half = state.q, 0.5 * self.limit
        effort = np.zeros(len(q))
        effort[(action == self.LEFT) & (q < self.limit)] = self.effort
        effort[(action == self.RIGHT) & (q > -self.limit)] = -self.effort
        effort[(action == self.SHRINK) & (q < -half)] = -self.effort
        effort[(action == self.SHRINK) & (q > half)] = self.effort
        return Command(effort)

    def action(self, update: int) -> tuple[int, ...]:
        """Return what the four segments do in an update."""
        if update < len(self.START) * self.updates:
            return self.START[update // self.updates]
        looped = (update - len(self.START) * self.updates) // (self.updates + 1)
        return self.LOOP[looped % len(self.LOOP)]
