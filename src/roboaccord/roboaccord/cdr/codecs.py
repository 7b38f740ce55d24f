"""Codecs of the messages of every tick: states, odometry, efforts.

Names never change within a run, so each codec builds its message once, as a template, and only
overwrites its time stamp and numbers. Decoding first compares the fixed bytes with the template
(`wire.Fixed`), which is fast; a message of another layout, such as one with other names or another
order, is read item by item. A codec has one buffer: use one codec in each thread.

Layouts are those of ROS (test_cdr). TRUE is in bags and stays. The purpose is speed: measure with
`make speed` after a change.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from roboaccord.cdr import wire
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState

# numbers of a nav_msgs/Odometry: pose (3 + 4), twist (3 + 3), and the covariance of each (6 x 6)
_POSE, _TWIST, _COVARIANCE = 7, 6, 36
TRUE = "/true"  # suffix to the name of a joint whose encoder has failed, for its true values


def read_joint_state(data: bytes) -> tuple[float, list[str], Array, Array, Array]:
    """Return time [s], names, positions, velocities and efforts of any JointState, unchanged."""
    reader = wire.CdrReader(data, "JointState")
    time = reader.time()
    reader.string()
    return time, reader.strings(), reader.sequence(), reader.sequence(), reader.sequence()


class JointStateCodec:
    """Converts between states and sensor_msgs/msg/JointState.

    A joint whose encoder has failed is sent twice: with the encoder's values under its name, and
    with its true values under its name with the suffix `TRUE`.

    Args:
        joints: joint names, n of them, in the order of the arrays.
        frame_id: of the header.

    Attributes:
        encoders: failed encoders of the last decoded message, as in `RobotState`.
    """

    def __init__(self, joints: Sequence[str], frame_id: str = "") -> None:
        self.joints = tuple(joints)
        count = len(self.joints)
        # The template, with the offsets of positions, velocities and efforts.
        writer = wire.CdrWriter()
        writer.string(frame_id)
        writer.strings(self.joints)
        starts = []
        for _ in range(3):
            writer.count(count)
            starts.append(writer.doubles(count))
        self._buffer = writer.data
        self._q, self._qd, self._effort = (wire.view(self._buffer, s, count) for s in starts)
        self._start = starts[0]
        self._fixed = wire.Fixed(writer, self._start)
        # Reads the stamp and the counts of velocities and efforts, which follow after the names.
        ends = [start + 8 * count for start in starts[:2]]
        gap = ends[1] - ends[0] - 4
        self._head_format = struct.Struct(f"<2s2xiI{ends[0] - wire.FRAME_AT}xI{gap}xI")
        self._stride = (starts[1] - starts[0]) // 8
        self._expected = (count, count)
        self._frame_id = frame_id
        self._sender_codec: JointStateCodec | None = (
            None  # codec of a sender with other names or another order
        )
        self._order, self._measured = np.zeros((2, count), np.intp)
        self._extended_codec: JointStateCodec | None = None
        self.encoders: tuple[tuple[int, float, float], ...] = ()

    def encode(self, state: RobotState) -> bytes:
        """Return a state as message bytes."""
        if state.encoders:
            return self._encode_broken(state)
        wire.stamp_into(self._buffer, state.time)
        self._q[:] = state.q
        self._qd[:] = state.qd
        self._effort[:] = state.effort
        return bytes(self._buffer)

    def _encode_broken(self, state: RobotState) -> bytes:
        """Return a state with failed encoders as message bytes, by a codec with more names."""
        joints = [joint for joint, *_ in state.encoders]
        names = (*self.joints, *(self.joints[joint] + TRUE for joint in joints))
        if self._extended_codec is None or self._extended_codec.joints != names:
            self._extended_codec = JointStateCodec(names, self._frame_id)
        by_encoders = state.measured
        pairs = (by_encoders.q, state.q), (by_encoders.qd, state.qd), (state.effort, state.effort)
        q, qd, effort = (np.concatenate([measured, true[joints]]) for measured, true in pairs)
        return self._extended_codec.encode(RobotState(state.time, q, qd, effort))

    def decode(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return time [s], q, qd and effort (n,) of a message, whose joints may be in any order.

        The values are the true ones where an encoder has failed; see `encoders`.

        Raises:
            AccordError: naming a joint that is missing or has no value.
        """
        self.encoders = ()
        values = self._decode_own(data)
        if values is None and self._sender_codec is not None:
            values = self._sender_codec._decode_own(data)
            if values is not None:
                return self._sorted(*values)
        return values or self._decode_foreign(data)

    def _sorted(
        self, time: float, q: Array, qd: Array, effort: Array
    ) -> tuple[float, Array, Array, Array]:
        """Return values of a sender with another order in our order, and set `encoders`."""
        measured, order = self._measured, self._order
        self.encoders = tuple(
            (j, float(q[measured[j]]), float(qd[measured[j]]))
            for j in np.flatnonzero(measured != order).tolist()
        )
        return time, q[order], qd[order], effort[order]

    def _decode_own(self, data: bytes) -> tuple[float, Array, Array, Array] | None:
        """Return the content of a message with the layout of the template; None for any other."""
        if self._fixed.begins(data):
            _, sec, nanosec, *counts = self._head_format.unpack_from(data)
            if (counts[0], counts[1]) == self._expected:
                n, stride = len(self.joints), self._stride
                numbers = np.frombuffer(data, wire.DOUBLE, n + 2 * stride, self._start)
                return (  # copies, which a state makes read-only
                    wire.unstamp(sec, nanosec),
                    numbers[:n].copy(),
                    numbers[stride : stride + n].copy(),
                    numbers[2 * stride :].copy(),
                )
        return None

    def _decode_foreign(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return the content of a message of another layout, and keep a codec for its sender."""
        time, names, q, qd, effort = read_joint_state(data)
        measured = wire.by_name(names, self.joints, "JointState")
        true_names = [name + TRUE if name + TRUE in names else name for name in self.joints]
        order = wire.by_name(names, true_names, "JointState")
        for values, field in ((q, "position"), (qd, "velocity"), (effort, "effort")):
            wire.check_length(values, names, field, "JointState")
        self._measured, self._order = (np.array(indices, np.intp) for indices in (measured, order))
        self._sender_codec = JointStateCodec(names)  # further messages will have this layout
        return self._sorted(time, q, qd, effort)


class OdometryCodec:
    """Converts between the base of a state and nav_msgs/msg/Odometry; covariances are zero.

    Args:
        frame_id: frame of the pose.
        child_frame_id: frame of the base and of the twist.
    """

    def __init__(self, frame_id: str = "odom", child_frame_id: str = "base_link") -> None:
        writer = wire.CdrWriter()
        writer.string(frame_id)
        writer.string(child_frame_id)
        self._start = writer.doubles(_POSE + _TWIST + 2 * _COVARIANCE)
        self._buffer = writer.data
        self._fixed = wire.Fixed(writer, self._start)
        numbers = wire.view(self._buffer, self._start, _POSE + _TWIST + 2 * _COVARIANCE)
        self._position, self._orientation = numbers[:3], numbers[3:_POSE]
        self._twist = numbers[_POSE + _COVARIANCE : _POSE + _COVARIANCE + _TWIST]

    def encode(self, state: RobotState) -> bytes:
        """Return pose and twist of a state as message bytes."""
        wire.stamp_into(self._buffer, state.time)
        self._position[:] = state.position
        self._orientation[:] = state.orientation
        self._twist[:] = state.twist
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array, Array, Array]:
        """Return time [s], position (3,), orientation x y z w (4,) and twist (6,) of a message.

        Raises:
            AccordError: if the message is cut off.
        """
        size = _POSE + _TWIST + 2 * _COVARIANCE
        if self._fixed.begins(data):
            time = wire.unstamp(*wire.STAMP.unpack_from(data, wire.STAMP_AT))
            numbers = np.frombuffer(data, wire.DOUBLE, size, self._start)
        else:
            reader = wire.CdrReader(data, "Odometry")
            time = reader.time()
            reader.string()
            reader.string()
            numbers = reader.doubles(size)
        twist = numbers[_POSE + _COVARIANCE : _POSE + _COVARIANCE + _TWIST]
        return time, numbers[:3].copy(), numbers[3:_POSE].copy(), twist.copy()


class EffortCodec:
    """Converts between efforts and trajectory_msgs/msg/JointTrajectory with one point.

    Args:
        joints: joint names, n of them, in the order of the arrays.
    """

    def __init__(self, joints: Sequence[str]) -> None:
        self.joints = tuple(joints)
        writer = wire.CdrWriter()
        writer.string("")
        writer.strings(self.joints)
        writer.count(1)
        for _ in ("positions", "velocities", "accelerations"):
            writer.count(0)
        writer.count(len(self.joints))
        self._start = writer.doubles(len(self.joints))
        writer.data += wire.STAMP.pack(0, 0)  # time_from_start
        self._buffer = writer.data
        self._fixed = wire.Fixed(writer, self._start)
        self._effort = wire.view(self._buffer, self._start, len(self.joints))

    def encode(self, time: float, effort: Array) -> bytes:
        """Return efforts (n,) [N m] that answer the state at `time` [s] as message bytes."""
        wire.stamp_into(self._buffer, time)
        self._effort[:] = effort
        return bytes(self._buffer)

    def decode(self, data: bytes) -> tuple[float, Array]:
        """Return the time of the answered state [s] and the efforts (n,); joints in any order.

        Raises:
            AccordError: naming a joint that is missing, unknown, or has no effort.
        """
        if self._fixed.begins(data):
            time = wire.unstamp(*wire.STAMP.unpack_from(data, wire.STAMP_AT))
            effort = np.frombuffer(data, wire.DOUBLE, len(self.joints), self._start).copy()
            return time, effort
        return self._decode_foreign(data)

    def _decode_foreign(self, data: bytes) -> tuple[float, Array]:
        """Return time and efforts of a message of another layout."""
        kind = "JointTrajectory"
        reader = wire.CdrReader(data, kind)
        time = reader.time()
        reader.string()
        names = reader.strings()
        order = wire.by_name(names, self.joints, kind)
        for name in names:
            if name not in self.joints:
                raise AccordError(f"{name} in a {kind} is not a joint of this robot")
        points = reader.count()
        if points != 1:
            first = f" for {self.joints[0]}" if self.joints else ""
            raise AccordError(f"a {kind} has {points} points{first}, one is wanted")
        for _ in ("positions", "velocities", "accelerations"):
            reader.sequence()
        effort = reader.sequence()
        wire.check_length(effort, names, "effort", kind)
        return time, effort[order]
