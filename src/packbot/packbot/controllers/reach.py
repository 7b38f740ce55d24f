"""Controller that plans a collision-free reach and tracks it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from roboaccord.contract.state import Command, RobotState, Target
from roboaccord.scenario.setup import Setup

from packbot.model.libraries import compiled
from packbot.planning.reaching import MARGIN, Goal

if TYPE_CHECKING:
    from packbot.planning.trajectories import TimedPath


class ReachController:
    """Plan a path at the start, and track it by computed torque (Controller).

    Args:
        setup: robot and scenario; the way starts at its initial state, and keeps clear of its
            terrain.
        target: where the finger tips shall be, x, y, z [m]; or
        pose: a named pose to go to.
        pitch: of the hand at the target above the horizontal [rad]; None for any.
        look: whether the camera is turned to the target on the way.
        speed: part of the speed limits that is used.
        bandwidth: of the control [rad/s].
        margin: that the way keeps from touching [m].
    """

    def __init__(
        self,
        setup: Setup,
        target: Sequence[float] | None = None,
        pose: str = "",
        pitch: float | None = None,
        look: bool = False,
        speed: float = 0.8,
        bandwidth: float = 10.0,
        margin: float = MARGIN,
    ) -> None:
        with compiled("the controller reach"):
            from packbot.controllers.tracking import ComputedTorque
            from packbot.planning.rrt import Planner
        self._setup, self._speed = setup, speed
        self._goal = Goal.read(target, pose, pitch, look=look)
        self._planner = Planner(setup, margin=margin)
        self._control = ComputedTorque(setup, bandwidth)
        self._motions: dict[int, TimedPath] = {}

    def reset(self, seed: int) -> None:
        """Plan the path; `seed` is that of the sampling."""
        from packbot.planning.trajectories import in_time

        if seed not in self._motions:
            start = self._setup.initial.q
            planner = self._planner
            goal = self._goal.angles(self._setup, planner.clearance, planner.margin, start)
            corners = planner.plan(start, goal, seed)
            self._motions[seed] = in_time(self._setup, corners, self._speed)
        self.motion = self._motions[seed]

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion, and hold its end."""
        return self._control.command(state, *self.motion.at(state.time))
