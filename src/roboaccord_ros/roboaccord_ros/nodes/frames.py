"""Transforms of a recorded robot, made from its states: /tf and /tf_static of a bag.

Another period is TF_PERIOD of the core's bag room.
"""

from __future__ import annotations

from collections.abc import Callable

from roboaccord import bag as bags
from roboaccord.contract import NANOSECONDS
from roboaccord.scenario import Setup

from roboaccord_ros.graph.inlet import Inlet


class FrameLog:
    """Transforms of a robot for a bag, at 50 Hz, made even if tf2 is missing.

    Args:
        setup: robot and scenario.
        write: takes topic, time [ns] and bytes.
        prefix: of the names of the frames; with one, static transforms are added, too.
    """

    def __init__(
        self, setup: Setup, write: Callable[[str, int, bytes], None], prefix: str = ""
    ) -> None:
        self._inlet, self._write = Inlet(setup.joints), write
        self._transforms = bags.RobotTransforms(setup.tree, setup.joints, prefix)
        self._static = self._transforms.static() if prefix else b""
        self._odom = b""  # the last odometry
        self._next, self._last = 0, 0  # times of the next transforms and the last states [ns]

    def take_odometry(self, _: int, data: bytes) -> None:
        """Take odometry."""
        self._odom = data

    def take_states(self, now: int, data: bytes) -> None:
        """Take joint states of a time [ns], and add their transforms if they are due."""
        is_due, self._last = now >= self._next or now < self._last, now
        if not (is_due and self._odom):
            return
        if self._static:
            self._write(bags.TF_STATIC, now, self._static)
            self._static = b""
        self._inlet.take_odometry(self._odom)
        state = self._inlet.take_joint_states(data)
        if state is not None:
            self._next = now + round(bags.TF_PERIOD * NANOSECONDS)
            self._write(bags.TF, now, self._transforms.encode(state))
