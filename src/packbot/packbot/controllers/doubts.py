"""Test of joints that were reported as loose: each is turned a little before it is given up.

A joint in doubt is held like a healthy one until the arm is at rest. Then it is turned by a small
safe motion, which the diagnosis chooses, and back. If its drive works after all, the diagnosis
takes its report back; otherwise the joint is given up. Several joints are tested one after the
other, the one reported last first.

Only motions that the diagnosis chooses may be made (test_detector).
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from roboaccord.contract import AccordError, Array, Command, RobotState
from roboaccord.scenario import Setup

from packbot.controllers.diagnosis import Diagnosis
from packbot.controllers.torque import ComputedTorque
from packbot.planning.trajectories import TimedPath, in_time


class DoubtfulJoints:
    """The joints in doubt, and the motion by which one of them is tested.

    Args:
        setup: robot and scenario.
        speed: fraction of the speed limits that a test uses.
        bandwidth: bandwidth of the control law [rad/s].

    Attributes:
        names: names of the joints in doubt, in the order in which they were reported.
    """

    def __init__(self, setup: Setup, speed: float, bandwidth: float) -> None:
        self._setup, self._speed = setup, speed
        self._control = ComputedTorque(setup, bandwidth, uncertain=True)
        self.restart(setup.initial.q)

    def restart(self, q: Array, names: Sequence[str] = ()) -> None:
        """Put the joints of these names in doubt, to be held at angles q (7,) [rad]."""
        self.names, self._held_angles = list(names), q
        self._turn: TimedPath | None = None  # motion that tests the last of them
        self._turn_start = 0.0  # s

    def test(self, state: RobotState, diagnosis: Diagnosis, *, at_rest: bool) -> None:
        """Test the joint that was reported last; give it up after the test, or if it has none.

        Args:
            state: measured state.
            diagnosis: diagnosis that chooses the motion.
            at_rest: whether the arm is at rest, so that a test may begin.
        """
        if self._turn is None and at_rest:
            joint = self._setup.joints.index(self.names[-1])
            turn = diagnosis.probe(state.q, joint)
            if turn is not None:
                corners = np.array([state.q, state.q + turn, state.q])
                with contextlib.suppress(AccordError):  # the drive is too weak for this motion
                    self._turn = in_time(self._setup, corners, self._speed)
                    self._turn_start = state.time
        if self._turn is None or state.time > self._turn_start + self._turn.duration:
            self._turn = None
            self.names.pop()

    def drive(self, state: RobotState, command: Command) -> Command:
        """Return a command in which the joints in doubt are held or turned like healthy ones."""
        if not self.names:
            return command
        rest = np.zeros(len(state.q))
        motion = self._held_angles, rest, rest  # angles, rates and accelerations
        if self._turn:
            motion = self._turn.at(state.time - self._turn_start)
        healthy, effort = self._control.command(state, *motion).effort, command.effort.copy()
        for joint in map(self._setup.joints.index, self.names):
            effort[joint] = healthy[joint]
        return replace(command, effort=effort)
