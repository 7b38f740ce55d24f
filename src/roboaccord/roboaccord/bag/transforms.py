"""Frames of a robot as tf2_msgs/msg/TFMessage, and contact points as markers, for viewers.

`RobotTransforms` computes the pose of each link relative to its parent (tf), and `TransformCodec`
makes a message of them: the names of frames never change, so a message is a template whose numbers
are overwritten. Its bytes must be those that rosbags writes, and its poses those of forward
kinematics (test_bag). `ContactMarkers` publishes contacts at PERIOD. Names of frames are those of
REP-105 and of the URDF.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

from roboaccord.bag.resampling import SLACK
from roboaccord.cdr import HEADER, CdrWriter, encode_contacts, stamp
from roboaccord.cdr.messages import ARROW
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.interfaces import Observer
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.tree import Joint, Tree
from roboaccord.numerics.rotations import matrix_quaternion
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

_NUMBERS = 7  # of a transform: translation 3 and quaternion 4
_STILL = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # the identity
PERIOD = 1.0 / 30.0  # s of simulated time between messages of contacts: the frame rate of a viewer


Find = Callable[[RobotState], Sequence[ContactPoint]]


class TransformCodec:
    """Codec of TFMessages for given frames: a template whose numbers are overwritten.

    Args:
        frames: parent and child of each of the k transforms.
    """

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        # Build the message, and note where stamps (in words of 4 bytes) and numbers (of 8) are.
        writer = CdrWriter.without_stamp()
        writer.count(len(frames))
        stamps, starts = [], []
        for parent, child in frames:
            writer.align(4)
            stamps.append((len(writer.data) - len(HEADER)) // 4)
            writer.data += bytes(8)
            writer.string(parent)
            writer.string(child)
            starts.append((writer.doubles(_NUMBERS) - len(HEADER)) // 8)
        # Views of the buffer as words and as numbers, with the indices of all stamps and poses.
        self._buffer = writer.data
        size = len(writer.data) - len(HEADER)
        self._words = np.ndarray((size // 4,), "<u4", writer.data, len(HEADER))
        self._numbers = np.ndarray((size // 8,), "<f8", writer.data, len(HEADER))
        self._stamps = np.array(stamps, dtype=np.intp)
        self._places = np.add.outer(np.array(starts, dtype=np.intp), np.arange(_NUMBERS))

    def encode(self, time: float, poses: Array) -> bytes:
        """Return the message of poses (k, 7), translation [m] and quaternion, at a time [s]."""
        self._words[self._stamps], self._words[self._stamps + 1] = stamp(time)
        self._numbers[self._places] = poses
        return bytes(self._buffer)


class RobotTransforms:
    """Transforms of states: `odom` to `base_link`, and each joint's parent to its child.

    A link `world` is fixed to `odom`, because RViz reports a link without a transform as an error.

    Args:
        tree: links and joints of the robot.
        joints: names of the entries of `RobotState.q`; a joint without an entry stays at zero.
        prefix: put in front of the names of the robot's frames.
    """

    def __init__(self, tree: Tree, joints: Sequence[str], prefix: str = "") -> None:
        column = {name: i for i, name in enumerate(joints)}
        moving = [joint for joint in tree.moving if joint.name in column]
        fixed = [joint for joint in tree.joints if joint not in moving]
        self._columns = np.array([column[joint.name] for joint in moving], dtype=np.intp)
        self._rest = _rest_poses(moving)
        # Sliding joints move along their axes in the parent's frame, others turn about their axes:
        # half an angle h turns the quaternion q to q cos h + q (a, 0) sin h.
        slides = [j.kind == "prismatic" for j in moving]
        axes = np.array([j.axis for j in moving]).reshape(-1, 3)
        parent_axes = np.array([j.rotation @ j.axis for j in moving]).reshape(-1, 3)
        still = np.array(slides, dtype=bool)[:, None]
        self._slide = np.where(still, parent_axes, 0.0)
        self._axis = np.where(still, 0.0, axes)
        self._quarter = _times_axis(self._rest[:, 3:], self._axis)
        self._turns = 1.0 - still[:, 0]
        # Moving frames: base, joints and the frame of a bearing; static ones: fixed joints, world.
        frame = [("odom", prefix + tree.links[tree.frame].name)] if tree.frame else []
        frames = [("odom", f"{prefix}base_link"), *_ends(moving, prefix)]
        self._codec = TransformCodec([*frames, *(frame if tree.bearing else ())])
        self._poses = np.tile(_STILL, (1 + len(moving) + tree.bearing, 1))
        self._carried = 1 + len(moving) if tree.bearing else 0
        world = [("odom", f"{prefix}world")] if tree.in_world else []
        fixed_to_odom = world if tree.bearing else [*frame, *world]
        self._static = TransformCodec([*_ends(fixed, prefix), *fixed_to_odom])
        still = np.array([_STILL] * len(fixed_to_odom)).reshape(-1, _NUMBERS)
        self._static_poses = np.concatenate([_rest_poses(fixed), still])

    def static(self) -> bytes:
        """Return the message of the transforms that never change."""
        return self._static.encode(0.0, self._static_poses)

    def encode(self, state: RobotState) -> bytes:
        """Return the message of the moving transforms in a state."""
        return self._codec.encode(state.time, self.poses(state))

    def poses(self, state: RobotState) -> Array:
        """Return the moving transforms in a state (1 + n, 7), each translation [m] and quaternion.

        A bearing adds one more. The next call overwrites the array.
        """
        q = state.q[self._columns]
        half = 0.5 * q * self._turns
        poses = self._poses
        poses[0, :3] = state.position
        poses[0, 3:] = state.orientation
        poses[self._carried, :3] = state.position  # the frame of a bearing, if there is one
        moving = poses[1 : 1 + len(q)]
        moving[:, :3] = self._rest[:, :3] + self._slide * q[:, None]
        # Fixed rotation times rotation about the axis: q_f (cos h + a sin h).
        moving[:, 3:] = self._rest[:, 3:] * np.cos(half)[:, None]
        moving[:, 3:] += self._quarter * np.sin(half)[:, None]
        return poses


def _ends(joints: Sequence[Joint], prefix: str) -> list[tuple[str, str]]:
    """Return the frames of parent and child of each joint."""
    return [(prefix + joint.parent, prefix + joint.child) for joint in joints]


def _rest_poses(joints: Sequence[Joint]) -> Array:
    """Return the transforms of joints at position 0 (n, 7)."""
    poses = [np.concatenate([j.position, matrix_quaternion(j.rotation)]) for j in joints]
    return np.array(poses).reshape(-1, _NUMBERS)


def _times_axis(quaternions: Array, axes: Array) -> Array:
    """Return the quaternion products q (a, 0), (n, 4), of q (n, 4) and vectors a (n, 3)."""
    vector, scalar = quaternions[:, :3], quaternions[:, 3:]
    product = scalar * axes + np.cross(vector, axes)
    return np.column_stack([product, -(vector * axes).sum(axis=1)])


def contact_finder(setup: Setup, simulator: Simulator | None) -> Find | None:
    """Return a function that finds the contacts in a state.

    They are those that the simulator reports. Gazebo reports none: there they follow from the
    robot's geometry.

    Args:
        setup: robot and scenario.
        simulator: which is in the state that is asked for; None for Gazebo.

    Returns:
        the function; None for a robot without contacts, or if they are not known.
    """
    if setup.contact is None:
        return None
    if simulator is None:
        return setup.robot.contact_points(setup)
    return None if simulator.contacts() is None else lambda _: simulator.contacts() or ()


def read_arrows(messages: Sequence[bytes]) -> tuple[Array, list[Array]]:
    """Return times (m,) [s] and, for each, start and end of the contacts' arrows (k, 2, 3) [m]."""
    store = typestore()
    times, arrows = list[float](), list[Array]()
    for data in messages:
        if markers := store.deserialize_cdr(data, "visualization_msgs/msg/MarkerArray").markers:
            stamp = markers[0].header.stamp
            times.append(stamp.sec + 1e-9 * stamp.nanosec)
            ends = [[(p.x, p.y, p.z) for p in m.points] for m in markers if m.type == ARROW]
            arrows.append(np.array([pair for pair in ends if len(pair) == 2]).reshape(-1, 2, 3))
    return np.array(times), arrows


@cache
def typestore() -> Any:
    """Return the decoder of messages; it is made once, for it compiles code for each type."""
    return get_typestore(Stores.ROS2_JAZZY)


class ContactMarkers(Observer):
    """Observer that publishes contacts every PERIOD of simulated time.

    Args:
        find: returns the contacts in a state.
        send: called with the state and the bytes of the message.
        wanted: returns whether there is a subscriber.
    """

    def __init__(
        self,
        find: Find,
        send: Callable[[RobotState, bytes], None],
        wanted: Callable[[], bool | int] = lambda: True,
    ) -> None:
        self._find, self._send, self._wanted = find, send, wanted
        self._next = self._last = 0.0

    def on_state(self, state: RobotState) -> None:
        """Send the contacts in a state, if a message is due."""
        again = state.time < self._last  # the simulation was reset
        self._last = state.time
        if (again or state.time >= self._next - SLACK) and self._wanted():
            self._next = state.time + PERIOD
            self._send(state, encode_contacts(state.time, self._find(state)))
