"""Joints that were named loose but are not given up yet: they are turned a little to see.

A joint that seems loose is held like a sound one until the arm is at rest. Then it is turned by a
small safe motion, which the diagnosis chooses, and back. If its drive works after all, the
diagnosis takes the name back; if not, the joint is given up. Several joints are turned one after
the other, the one named last first.

The order may be changed; that only motions of the diagnosis are made must stay (test_detector).
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
        bandwidth: of the control [rad/s].

    Attributes:
        names: of the joints in doubt, in the order in which they were named.
    """

    def __init__(self, setup: Setup, speed: float, bandwidth: float) -> None:
        self._setup, self._speed = setup, speed
        self._control = ComputedTorque(setup, bandwidth, uncertain=True)
        self.restart(setup.initial.q)

    def restart(self, q: Array, names: Sequence[str] = ()) -> None:
        """Doubt the joints of these names, which are held at angles q (7,) [rad]."""
        self.names, self._hold = list(names), q
        self._turn: TimedPath | None = None
        self._turn_start = 0.0  # s

    def test(self, state: RobotState, diagnosis: Diagnosis, *, at_rest: bool) -> None:
        """Turn the joint that was named last; one that is done, or cannot be turned, is given up.

        Args:
            state: as measured.
            diagnosis: that chooses the motion.
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
        """Return a command in which the joints in doubt are held, or turned, as sound ones."""
        if not self.names:
            return command
        r, rate, change = self._hold, np.zeros(len(state.q)), np.zeros(len(state.q))
        if self._turn:
            r, rate, change = self._turn.at(state.time - self._turn_start)
        sound, effort = self._control.command(state, r, rate, change).effort, command.effort.copy()
        for joint in map(self._setup.joints.index, self.names):
            effort[joint] = sound[joint]
        return replace(command, effort=effort)
