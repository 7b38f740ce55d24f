"""Makes the transforms of a recorded robot, /tf and /tf_static of a bag, from its states.

A transform is the pose of a link's frame in that of another; displays of ROS need them. The
recorder passes odometry and joint states to a `FrameLog`, which writes them into the bag even if
tf2, the library that would publish them, is not installed. Their period is TF_PERIOD in the core's
package bag.
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
        write: called with topic, time [ns] and bytes of a message.
        prefix: prefix of the frames' names; with one, static transforms are written, too.
    """

    def __init__(
        self, setup: Setup, write: Callable[[str, int, bytes], None], prefix: str = ""
    ) -> None:
        self._inlet, self._write = Inlet(setup.joints), write
        self._transforms = bags.RobotTransforms(setup.tree, setup.joints, prefix)
        self._static = self._transforms.static() if prefix else b""
        self._odom = b""  # bytes of the last odometry
        self._next_time, self._last_time = 0, 0  # of the next transforms, the last states [ns]

    def take_odometry(self, _: int, data: bytes) -> None:
        """Keep the bytes of an odometry message; its time does not matter."""
        self._odom = data

    def take_states(self, now: int, data: bytes) -> None:
        """Write the transforms of joint states at a time [ns], if transforms are due."""
        is_due, self._last_time = now >= self._next_time or now < self._last_time, now
        if not (is_due and self._odom):
            return
        if self._static:
            self._write(bags.TF_STATIC, now, self._static)
            self._static = b""
        self._inlet.take_odometry(self._odom)
        state = self._inlet.take_joint_states(data)
        if state is not None:
            self._next_time = now + round(bags.TF_PERIOD * NANOSECONDS)
            self._write(bags.TF, now, self._transforms.encode(state))
