"""Controller `reach`: plan a path to a goal at the start, then track it by computed torque.

`reset` plans a collision-free path to the goal, and times it within the limits of the drives.
`update` returns the efforts that track this motion, and hold the arm at its end afterwards. The
control law is in torque.py. The arguments of the controller are keys of a scenario; their defaults
may be tuned (test_packbot_controllers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from roboaccord.contract import Command, RobotState, Target
from roboaccord.contract import results as si
from roboaccord.scenario import Setup

from packbot.controllers.identified import read_identified
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
        target: desired position of the finger tips, x, y, z; alternatively
        pose: name of the pose to go to.
        pitch: angle of the hand above the horizontal at the target; None for any.
        look: whether the camera is turned to the target during the motion.
        speed: fraction of the speed limits that is used.
        bandwidth: bandwidth of the control law.
        margin: distance that the path keeps from contact.
        uncertainty: if given, even as an empty mapping, the arm's friction is taken to be
            uncertain, and the remaining error is integrated; see torque.py.
        identified: file of `accord identify packbot BAG --json`: the identified arm is planned for
            and controlled, as an uncertain one.
        diagnosis: ignored; the key of the controller `recover`, so that scenarios can be shared.

    Attributes:
        motion: path that is tracked, and its times; set by `reset`.
    """

    def __init__(
        self,
        setup: Setup,
        target: Sequence[si.Metres] | None = None,
        pose: str = "",
        pitch: si.Radians | None = None,
        look: bool = False,
        speed: float = 0.8,
        bandwidth: si.RadiansPerSecond = 10.0,
        margin: si.Metres = MARGIN,
        uncertainty: Mapping[str, float] | None = None,
        identified: str = "",
        diagnosis: str = "",
    ) -> None:
        # Imported here, as robot.py imports this module where pinocchio and coal are missing, too.
        with compiled("the controller reach"):
            from packbot.planning.rrt import Planner
        # The arm by its model, or as identified from a recorded run.
        self._identified = read_identified(identified)
        setup = self._identified.setup(setup) if self._identified else setup
        self._setup, self._speed = setup, speed
        self._goal = Goal(target, pose, pitch, look=look)
        self._planner = Planner(setup, margin=margin)
        uncertain = uncertainty is not None or self._identified is not None
        self._control = ComputedTorque(setup, bandwidth, uncertain=uncertain)
        self._integral = Integral(bandwidth, setup.scenario.control_period) if uncertain else None
        self._motions: dict[int, TimedPath] = {}  # by seed

    def reset(self, seed: int) -> None:
        """Plan the path, or take the one planned earlier; `seed` is that of the random samples."""
        from packbot.planning.trajectories import in_time

        if seed not in self._motions:
            planner, start = self._planner, self._setup.initial.q
            goal = self._goal.angles(self._setup, planner.clearance, planner.margin, start)
            corners = planner.plan(start, goal, seed)
            self._motions[seed] = in_time(self._setup, corners, self._speed)
        self.motion = self._motions[seed]
        if self._integral:
            self._integral.reset()

    def update(self, state: RobotState, target: Target | None) -> Command:
        """Return the efforts that track the motion, and hold the arm at its end."""
        angles, rates, accelerations = self.motion.at(state.time)
        arm = self._identified
        # With an identified arm, the readings are corrected by the identified encoder zeros.
        state = arm.corrected_state(state) if arm else state
        # With an uncertain arm, the integral of the error is added to the desired angles.
        angles = self._integral.added(angles, state.q) if self._integral else angles
        command = self._control.command(state, angles, rates, accelerations)
        # With an identified arm, efforts are divided by the identified torque constants.
        return arm.corrected_command(command, self._setup.effort_limits) if arm else command
