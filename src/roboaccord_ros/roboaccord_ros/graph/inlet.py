"""States assembled from joint states and odometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from roboaccord.cdr import JointStateCodec, OdometryCodec
from roboaccord.contract.state import NO_SWITCHES, Array, RobotState


class Inlet:
    """Pair joint states and odometry of the same stamp, whichever comes first.

    Args:
        joints: joint names, in the order of the arrays.
        based: whether a state needs the odometry; without, its base is at the origin.
        once: whether a half of the last state that comes again is left out.

    Attributes:
        repeated: time of a half that was left out [s].
    """

    def __init__(self, joints: Sequence[str], *, based: bool = True, once: bool = False) -> None:
        self._based, self._once = based, once
        self._paired = -1.0  # time of the last state [s]
        self.repeated: float | None = None
        self._joint_states, self._odometry = JointStateCodec(joints), OdometryCodec()
        self._base: tuple[float, Array, Array, Array] | None = None
        self._joints: tuple[float, Array, Array, Array] | None = None
        self.switches: Mapping[str, bool] = NO_SWITCHES
        self.latest = -1.0
        """Time of the joint states that came last [s]."""

    def take_odometry(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it."""
        base = self._odometry.decode(data)
        if self._is_again(base[0]):
            return None
        self._base = base
        return self._pair()

    def take_joint_states(self, data: bytes) -> RobotState | None:
        """Return the state if this message completes it."""
        joints = self._joint_states.decode(data)
        self.latest = joints[0]
        if self._is_again(joints[0]):
            return None
        self._joints = joints
        return self._pair()

    def _is_again(self, time: float) -> bool:
        if self._once and time == self._paired > 0.0:
            self.repeated = time
            return True
        return False

    def _pair(self) -> RobotState | None:
        base, joints = self._base, self._joints
        if joints and not self._based:
            self._joints = None
            return RobotState(*joints, switches=self.switches)
        if base is None or joints is None or base[0] != joints[0]:
            return None
        self._base = self._joints = None
        time, q, qd, effort = joints
        self._paired = time
        _, position, orientation, twist = base
        return RobotState(time, q, qd, effort, position, orientation, twist, self.switches)
