"""Controller that plans a path at the start, and tracks it by computed torque.

`reset` plans a collision-free path to the goal and times it; `update` tracks it and holds its end.
The control law is in torque.py.

Defaults, keys of scenarios, may be tuned (test_packbot_controllers). Another controller is a class
with `reset` and `update`, and an entry in robot.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.diagnosis import known_arm
from packbot.controllers.torque import ComputedTorque, Integral
from packbot.model import compiled
from packbot.planning.reaching import MARGIN, Goal

if TYPE_CHECKING:
    from packbot.planning.trajectories import TimedPath


class ReachController:
    """Plan a path at the start, and track it by computed torque (Controller).

    Args:
        setup: robot and scenario; the path starts at its initial state, and keeps clear of its
            terrain.
        target: where the finger tips shall be, x, y, z; or
        pose: a named pose to go to.
        pitch: of the hand at the target above the horizontal; None for any.
        look: whether the camera is turned to the target during the motion.
        speed: part of the speed limits that is used.
        bandwidth: of the control.
        margin: that the path keeps from touching.
        uncertainty: with it, empty or not, friction is compensated with care, and the error that is
            left is integrated; see torque.py.
        identified: file of `accord identify packbot BAG --json`: planning and control take the
            arm as identified, with care as well.
        diagnosis: of the controller `recover`, for its scenarios; failures are ignored.
    """

    def __init__(
        self, setup: Setup, target: Sequence[si.Metres] | None = None, pose: str = "",
        pitch: si.Radians | None = None, look: bool = False, speed: float = 0.8,
        bandwidth: si.RadiansPerSecond = 10.0, margin: si.Metres = MARGIN, uncertainty: Mapping[str,
        float] | None = None, identified: str = "", diagnosis: str = "",
    ) -> None:  # fmt: skip
        with compiled("the controller reach"):
            from packbot.planning.rrt import Planner
        self._known = known_arm(identified)
        setup = self._known.setup(setup) if self._known else setup
        self._setup, self._speed = setup, speed
        self._goal = Goal(target, pose, pitch, look=look)
        self._planner = Planner(setup, margin=margin)
        uncertain = uncertainty is not None or self._known is not None
        self._control = ComputedTorque(setup, bandwidth, uncertain=uncertain)
        self._integral = Integral(bandwidth, setup.scenario.control_period) if uncertain else None
        self._motions: dict[int, TimedPath] = {}  # by seed

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
        if self._integral:
            self._integral.reset()

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion, and hold its end."""
        r, rate, change = self.motion.at(state.time)
        state = self._known.seen(state) if self._known else state
        r = self._integral.added(r, state.q) if self._integral else r
        command = self._control.command(state, r, rate, change)
        return self._known.driven(command, self._setup.effort_limits) if self._known else command
