"""Data exchanged by simulators and controllers: states, commands, targets and events.

At each control tick a simulator returns a `RobotState`, and a controller answers with a `Command`.
Units are SI, frames those of ROS (REP-105), quaternions are x y z w. States and targets are
read-only, and their arrays, too: if a controller wrote into a state, the simulator would change if
both share memory, but not if messages are sent between them. `freeze` makes an array read-only.

Fields of RobotState, Command and Target may be added at the end with a default; to be recorded, one
also needs a codec in `cdr` and a topic in bag/topics.py. STATE_ARRAYS and its order stay, because
the hash of a run is made of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated

import numpy as np

from roboaccord.contract.results import Quantity
from roboaccord.numerics.arrays import Array as Array

NO_SWITCHES: Mapping[str, bool] = MappingProxyType({})
# Defaults, which are shared and therefore read-only.
ORIGIN = np.zeros(3)  # [m]
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])  # quaternion x y z w of no rotation
NO_TWIST = np.zeros(6)  # [m/s, rad/s]
# Columns of a body's motion: position [m] and orientation x y z w of its centre of mass in the
# world, linear and angular velocity in its own axes [m/s, rad/s] (REP-105).
BODY_POSITION, BODY_ORIENTATION, BODY_TWIST = slice(0, 3), slice(3, 7), slice(7, 13)
BODY_WIDTH = 13  # number of columns
NO_BODIES = np.zeros((0, BODY_WIDTH))
for _array in (ORIGIN, IDENTITY, NO_TWIST, NO_BODIES):
    _array.setflags(write=False)
STATE_ARRAYS = ("q", "qd", "effort", "position", "orientation", "twist")  # hashed, in this order


def is_frozen(owner: object) -> bool:
    """Return whether the owner of an array's memory (`array.base`) is a read-only array."""
    return isinstance(owner, np.ndarray) and not owner.flags.writeable


def freeze(array: Array) -> Array:
    """Return a read-only array.

    An array that owns its memory is made read-only in place; a view of memory that can be written
    to through another array is copied first.
    """
    if array.base is not None:
        if is_frozen(array.base) and not array.flags.writeable:
            return array
        array = array.copy()
    array.setflags(False)  # type: ignore[call-arg]  # positional: by keyword it takes three times as long
    return array


def freeze_fields(holder: object, names: Sequence[str]) -> None:
    """Freeze the named arrays of a frozen dataclass; a field that is None stays None."""
    for name in names:
        array = getattr(holder, name)
        if array is not None:
            object.__setattr__(holder, name, freeze(array))


@dataclass(frozen=True, slots=True)
class RobotState:
    """State of a robot at one instant, read-only.

    Args:
        time: simulated time [s].
        q: joint positions (n,) [rad], in the order of the robot's joint names.
        qd: joint velocities (n,) [rad/s].
        effort: joint efforts in force during the period that ended here (n,) [N m].
        position: origin of `base_link` in the world (3,) [m].
        orientation: orientation of `base_link` in the world, quaternion x y z w (4,).
        twist: linear then angular velocity of `base_link`, in its own axes (6,)
            [m/s, rad/s], as nav_msgs/Odometry has it (REP-105).
        switches: state of each switch (such as a magnet) by name.
        encoders: (index of the joint, angle [rad], rate [rad/s]) that each failed encoder reports;
            `q` and `qd` are the true values.
        bodies: motion of the free bodies beside the robot (b, 13), in the order of
            `Contact.bodies`, with the columns BODY_POSITION, BODY_ORIENTATION and BODY_TWIST.
    """

    time: float
    q: Array
    qd: Array
    effort: Array
    position: Array = field(default_factory=lambda: ORIGIN)
    orientation: Array = field(default_factory=lambda: IDENTITY)
    twist: Array = field(default_factory=lambda: NO_TWIST)
    switches: Mapping[str, bool] = field(default_factory=lambda: NO_SWITCHES)
    encoders: tuple[tuple[int, float, float], ...] = ()
    bodies: Array = field(default_factory=lambda: NO_BODIES)

    def __post_init__(self) -> None:
        """Make the state read-only, which runs at every tick and must be fast."""
        # The fast path: arrays that own their memory are frozen in place.
        for array in (self.q, self.qd, self.effort, self.position, self.orientation, self.twist):
            owner = array.base
            if owner is None:
                array.setflags(False)  # type: ignore[call-arg]
            elif array.flags.writeable or not is_frozen(owner):
                freeze_fields(self, STATE_ARRAYS)
                break
        if self.bodies is not NO_BODIES:
            freeze_fields(self, ("bodies",))
        if type(self.switches) is not MappingProxyType:
            object.__setattr__(self, "switches", MappingProxyType(dict(self.switches)))

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        """Return how a copy in another process is made: by the constructor.

        A mapping proxy cannot be pickled, and arrays come back writable.
        """
        arrays = (getattr(self, name) for name in STATE_ARRAYS)
        return RobotState, (self.time, *arrays, dict(self.switches), self.encoders, self.bodies)

    @property
    def measured(self) -> RobotState:
        """The state that a controller gets: with the angles and rates that encoders report."""
        if not self.encoders:
            return self
        q, qd = np.array(self.q), np.array(self.qd)
        for joint, angle, rate in self.encoders:
            q[joint], qd[joint] = angle, rate
        return replace(self, q=q, qd=qd, encoders=())


def body_state(row: Array) -> RobotState:
    """Return the motion of a free body (13,) as that of the base of a robot without joints."""
    none = np.zeros(0)
    motion = row[BODY_POSITION], row[BODY_ORIENTATION], row[BODY_TWIST]
    return RobotState(0.0, none, none, none, *motion)


@dataclass(frozen=True, slots=True)
class Event:
    """A discrete event of a motion.

    Args:
        time: time of the event.
        kind: `joint_stop`, `impact`, `switch`, ...
        subject: the joint, pair of links or switch concerned.
        impulse: size of the impulse exchanged; 0 if there is none.
        energy: energy that a joint lost when it froze; 0 for other kinds.
        size: size of the fault of a joint, as in `Fault`; 0 for other kinds.
    """

    time: Annotated[float, Quantity("s", "time")]
    kind: str
    subject: str
    impulse: Annotated[float, Quantity("N s, N m s", "impulse")] = 0.0
    energy: Annotated[float, Quantity("J", "energy lost")] = 0.0
    size: Annotated[float, Quantity("", "size of a fault")] = 0.0


@dataclass(frozen=True, slots=True)
class Command:
    """Command of a controller for one control period (zero-order hold).

    Args:
        effort: joint efforts (n,) [N m], held over the period.
        switches: switches to set, by name.
        wrench: force and torque on `base_link`, in the world (6,) [N, N m], or None.
        twist: commanded twist for kinematic robots (6,) [m/s, rad/s], or None.
        findings: events that the controller has detected in this state; recorded, without effect.
            None for a controller that detects nothing.
        in_force: whether the efforts are those of a recorded state, to which faults of drives have
            already been applied.
    """

    effort: Array
    switches: Mapping[str, bool] = field(default_factory=lambda: NO_SWITCHES)
    wrench: Array | None = None
    twist: Array | None = None
    findings: tuple[Event, ...] | None = None
    in_force: bool = False

    def copy(self) -> Command:
        """Return a copy, which does not change when the controller changes its arrays."""
        return Command(
            effort=np.array(self.effort),
            switches=dict(self.switches) if self.switches else NO_SWITCHES,
            wrench=None if self.wrench is None else np.array(self.wrench),
            twist=None if self.twist is None else np.array(self.twist),
            findings=None if self.findings is None else tuple(self.findings),
            in_force=self.in_force,
        )


@dataclass(frozen=True, slots=True)
class Target:
    """Target of a controller, from teleoperation or a planner, read-only.

    Args:
        twist: desired linear and angular velocity of the base (6,) [m/s, rad/s].
        effort: desired joint efforts (n,) [N m], or None if none are commanded.
        velocity: desired joint velocities (n,) [rad/s], or None if none are commanded.
        position: desired joint positions (n,) [rad], NaN where `velocity` applies; or None.
    """

    twist: Array = field(default_factory=lambda: NO_TWIST)
    effort: Array | None = None
    velocity: Array | None = None
    position: Array | None = None

    def __post_init__(self) -> None:
        freeze_fields(self, ("twist", "effort", "velocity", "position"))


@dataclass(frozen=True)
class Aim:
    """A point of a robot whose speed and path are drawn, and its target.

    Args:
        name: name of the point, such as `tips`.
        link: link to which the point is fixed.
        offset: from the link's origin, in its frame (3,) [m].
        target: in the world (3,) [m]; None if there is none.
    """

    name: str
    link: str
    offset: Array
    target: Array | None = None
