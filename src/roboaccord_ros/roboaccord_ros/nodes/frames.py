"""Transforms of a recorded robot, which are written into its bag as /tf and /tf_static.

A transform is the pose of a link's frame in that of another; displays of ROS need them. The
recorder passes odometry, bodies and joint states to a `FrameLog`, which computes the transforms and
writes them. So a bag has them even where tf2, the library that publishes transforms, is not
installed. Their period is TF_PERIOD in the core's package bag.
"""

from __future__ import annotations

from collections.abc import Callable

from roboaccord import bag as bags
from roboaccord.contract import NANOSECONDS
from roboaccord.scenario import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.inlet import Inlet


class FrameLog:
    """Writes the transforms of a robot into a bag, at 50 Hz of simulated time.

    Args:
        setup: robot and scenario.
        write: called with topic, time [ns] and bytes of a message.
        prefix: prefix of the frames' names; with one, as for the second robot, static transforms
            (/tf_static) are written, too, before the first others.
    """

    def __init__(self, setup: Setup, write: Callable[[str, int, bytes], None], prefix: str) -> None:
        self._inlet, self._write = Inlet(setup.joints, setup.body_names), write
        self._transforms = bags.RobotTransforms(setup.tree, setup.joints, prefix, setup.body_names)
        self._static = self._transforms.static() if prefix else b""
        self._prefix = prefix
        self._odometry = b""  # bytes of the last message
        self._next_time = 0  # of the next transforms [ns]
        self._last_time = 0  # of the last joint states [ns]

    @property
    def takers(self) -> dict[str, Callable[[int, bytes], None]]:
        """The method that takes the messages of each topic, by the topic's name."""
        takers = {graph.ODOMETRY: self.take_odometry, graph.BODIES: self.take_bodies}
        return {self._prefix + n: f for n, f in {**takers, graph.STATES: self.take_states}.items()}

    def take_odometry(self, _: int, data: bytes) -> None:
        """Keep the bytes of an odometry message; its time does not matter."""
        self._odometry = data

    def take_bodies(self, _: int, data: bytes) -> None:
        """Keep the motion of a free body."""
        self._inlet.take_body(data)

    def take_states(self, now: int, data: bytes) -> None:
        """Write the transforms of joint states at a time [ns], if transforms are due."""
        is_reset = now < self._last_time  # the run begins again
        self._last_time = now
        if not self._odometry or not (is_reset or now >= self._next_time):
            return
        if self._static:
            self._write(bags.TF_STATIC, now, self._static)
            self._static = b""
        self._inlet.take_odometry(self._odometry)
        state = self._inlet.take_joint_states(data)
        if state is not None:
            self._next_time = now + round(bags.TF_PERIOD * NANOSECONDS)
            self._write(bags.TF, now, self._transforms.encode(state))
