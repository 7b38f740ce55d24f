"""Frames of a robot as messages of the type tf2_msgs/msg/TFMessage, for viewers.

Viewers of ROS draw a robot from the poses of its links, each relative to its parent ("tf"); the
recorder and the ROS nodes send them. `RobotTransforms` computes the poses in a state, and
`TransformCodec` makes a message of them: the names of frames never change, so a message is a
template whose numbers are overwritten. Its bytes must be those that rosbags writes, and its poses
those of forward kinematics (test_bag). Names of frames are those of REP-105 and of the URDF.

A pose is a row of 7 numbers, translation [m] and quaternion x y z w. The base of a robot may be a
ball in a bearing, whose frame travels with the ball but does not turn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.cdr import HEADER, CdrWriter, stamp
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.tree import Joint, Tree
from roboaccord.numerics.rotations import matrix_quaternion

_NUMBERS = 7  # numbers of a pose: translation 3 and quaternion 4
_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)  # pose of a frame that is that of its parent


class TransformCodec:
    """Codec of TFMessages for given frames: a template whose numbers are overwritten.

    Args:
        frames: parent and child of each of the k transforms.
    """

    def __init__(self, frames: Sequence[tuple[str, str]]) -> None:
        # Build the message, and note where stamps (in words of 4 bytes) and poses (of 8) are.
        writer = CdrWriter.without_stamp()
        writer.count(len(frames))
        stamp_indices, pose_indices = [], []
        for parent, child in frames:
            writer.align(4)
            stamp_indices.append((len(writer.data) - len(HEADER)) // 4)
            writer.data += bytes(8)
            writer.string(parent)
            writer.string(child)
            pose_indices.append((writer.doubles(_NUMBERS) - len(HEADER)) // 8)
        # Views of the buffer as words and as numbers, with the indices of all stamps and poses.
        self._buffer = writer.data
        size = len(writer.data) - len(HEADER)
        self._words = np.ndarray((size // 4,), "<u4", writer.data, len(HEADER))
        self._numbers = np.ndarray((size // 8,), "<f8", writer.data, len(HEADER))
        self._seconds = np.array(stamp_indices, dtype=np.intp)  # (k,); nanoseconds follow
        pose_starts = np.array(pose_indices, dtype=np.intp)
        self._poses = pose_starts[:, None] + np.arange(_NUMBERS)  # (k, 7)

    def encode(self, time: float, poses: Array) -> bytes:
        """Return the message of poses (k, 7) at a time [s]."""
        self._words[self._seconds], self._words[self._seconds + 1] = stamp(time)
        self._numbers[self._poses] = poses
        return bytes(self._buffer)


class RobotTransforms:
    """Transforms of states: `odom` to `base_link`, and each joint's parent to its child.

    A link `world` is fixed to `odom`, because RViz reports a link without a transform as an error.

    Args:
        tree: links and joints of the robot.
        joints: names of the entries of `RobotState.q`; a joint without an entry stays at zero.
        prefix: put in front of the names of the robot's frames.
        bodies: names of the free bodies, which are their frames.
    """

    def __init__(
        self, tree: Tree, joints: Sequence[str], prefix: str = "", bodies: Sequence[str] = ()
    ) -> None:
        joints = list(joints)
        moving = [joint for joint in tree.moving if joint.name in joints]
        fixed = [joint for joint in tree.joints if joint not in moving]
        self._columns = np.array([joints.index(joint.name) for joint in moving], dtype=np.intp)
        self._zero_poses = _zero_poses(moving)  # of the joints at position 0 (n, 7)
        # A prismatic joint moves along its axis in the parent's frame (n, 3), and does not turn.
        is_prismatic = np.array([joint.kind == "prismatic" for joint in moving], dtype=bool)
        parent_axes = np.array([joint.rotation @ joint.axis for joint in moving]).reshape(-1, 3)
        self._slide_axes = np.where(is_prismatic[:, None], parent_axes, 0.0)
        # Others turn about their axes a: q becomes q cos(angle / 2) + q (a, 0) sin(angle / 2).
        axes = np.array([joint.axis for joint in moving]).reshape(-1, 3)
        turn_axes = np.where(is_prismatic[:, None], 0.0, axes)
        self._axis_products = _times_axis(self._zero_poses[:, 3:], turn_axes)  # q (a, 0), (n, 4)
        self._half_turns = 0.5 * (1.0 - is_prismatic)  # angle / 2 of a unit of position (n,)
        # Moving frames: base, joints and the frame of a bearing; static ones: fixed joints, world.
        bearing = [("odom", prefix + tree.links[tree.frame].name)] if tree.frame else []
        world = [("odom", f"{prefix}world")] if tree.in_world else []
        frames = [("odom", f"{prefix}base_link"), *_frames_of(moving, prefix)]
        fixed_to_odom = world if tree.bearing else [*bearing, *world]
        frames += [*(bearing if tree.bearing else ()), *(("odom", prefix + b) for b in bodies)]
        self._codec = TransformCodec(frames)
        self._poses = np.tile(_IDENTITY, (len(frames), 1))
        self._body_poses = self._poses[len(frames) - len(bodies) :]
        self._bearing_row = 1 + len(moving) if tree.bearing else 0  # 0 is the base's own
        self._static_codec = TransformCodec([*_frames_of(fixed, prefix), *fixed_to_odom])
        identities = np.array([_IDENTITY] * len(fixed_to_odom)).reshape(-1, _NUMBERS)
        self._static_poses = np.concatenate([_zero_poses(fixed), identities])

    def static(self) -> bytes:
        """Return the message of the transforms that never change."""
        return self._static_codec.encode(0.0, self._static_poses)

    def encode(self, state: RobotState) -> bytes:
        """Return the message of the moving transforms in a state."""
        return self._codec.encode(state.time, self.poses(state))

    def poses(self, state: RobotState) -> Array:
        """Return the poses of the base and of n joints in a state (1 + n, 7).

        A bearing adds one more, and so does each free body. The next call overwrites the array.
        """
        q = state.q[self._columns]
        half_angles = self._half_turns * q
        poses = self._poses
        poses[0, :3] = state.position
        poses[0, 3:] = state.orientation
        poses[self._bearing_row, :3] = state.position
        joint_poses = poses[1 : 1 + len(q)]
        joint_poses[:, :3] = self._zero_poses[:, :3] + self._slide_axes * q[:, None]
        joint_poses[:, 3:] = self._zero_poses[:, 3:] * np.cos(half_angles)[:, None]
        joint_poses[:, 3:] += self._axis_products * np.sin(half_angles)[:, None]
        self._body_poses[:] = state.bodies[:, :_NUMBERS]
        return poses


def _frames_of(joints: Sequence[Joint], prefix: str) -> list[tuple[str, str]]:
    """Return the names of the frames of parent and child of each joint."""
    return [(prefix + joint.parent, prefix + joint.child) for joint in joints]


def _zero_poses(joints: Sequence[Joint]) -> Array:
    """Return the poses of joints at position 0 (n, 7)."""
    poses = [np.concatenate([j.position, matrix_quaternion(j.rotation)]) for j in joints]
    return np.array(poses).reshape(-1, _NUMBERS)


def _times_axis(quaternions: Array, axes: Array) -> Array:
    """Return the quaternion products q (a, 0), (n, 4), of q (n, 4) and vectors a (n, 3)."""
    vector, scalar = quaternions[:, :3], quaternions[:, 3:]
    product = scalar * axes + np.cross(vector, axes)
    return np.column_stack([product, -(vector * axes).sum(axis=1)])
