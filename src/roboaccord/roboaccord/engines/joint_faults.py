"""Failures of joints in simulators: rigid locks, loose joints, and the impulse of a freeze.

A frozen joint is one whose rotor has an infinite inertia: with `LOCK_INERTIA` on its diagonal of
the mass matrix M, every solve with M, contacts' too, is that of the arm without the joint, to
round-off. When it freezes, an impulse of the lock takes its rate; J is its row of the unit matrix:

    v+ = v - M^-1 J' (J M^-1 J')^-1 J v,        energy taken (J v)' (J M^-1 J')^-1 (J v) / 2

which is the projection of v that is orthogonal in the metric of M: energy is never gained.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from roboaccord.contract.checks import clip_efforts
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, check_joint
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix

LOCK_INERTIA = 1e30  # kg m^2; what it leaves of an acceleration is lost in the round-off of others
_ROUND_OFF = 1e-9  # s


class JointFaults(ABC):
    """Base class of simulators whose joints can fail.

    A subclass calls `_schedule` when it is made, `_heal` first in its `reset`, and begins each
    `step` by `_begin`.

    Attributes:
        joints: names, n of them.
        effort_limits: what efforts are clipped to (n,) [N m].
    """

    joints: tuple[str, ...]
    effort_limits: Array

    def _schedule(self, faults: Sequence[Fault], tree: Tree) -> None:
        """Take the faults of the scenario; none is in force yet."""
        self._hinges = tree.hinges
        self._scheduled, self._live, self._asked = tuple(faults), list[Fault](), list[Fault]()
        self._failed = dict[int, Fault]()  # in force, by joint
        self._since = 0.0  # time at which the motion starts [s]
        self._may_fail = bool(faults)

    @abstractmethod
    def state(self) -> RobotState:
        """Return the present state."""

    @abstractmethod
    def lock(self, joint: int, locked: bool) -> None:
        """Hold a joint rigidly, or let go of it."""

    @abstractmethod
    def _continue_from(self, state: RobotState) -> None:
        """Go on from the present state with other velocities."""

    @abstractmethod
    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations with the locks in force, without contact, friction or stops."""

    @abstractmethod
    def _tell(self, events: Sequence[Event]) -> None:
        """Add to the events of the run."""

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next control tick.

        Raises:
            AccordError: for anything but a hinge, or an angle, which is for the start.
        """
        if fault.angle is not None:
            raise AccordError(f"fault {fault}: an angle is for the start; it freezes where it is")
        check_joint(fault, self.joints, self._hinges)
        self._asked.append(fault)
        self._may_fail = True

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact, friction or stops.

        The joints have failed that have at the time of the state.
        """
        if not self._may_fail:
            return self._accelerate(state, effort)
        failed = self._failed_at(state.time)
        held = _frozen(failed)
        qd = np.array(state.qd)
        qd[held] = 0.0
        with self._locks_at(state.time):
            found = self._accelerate(replace(state, qd=qd), _without(effort, failed))
        joints = np.array(found.joints)
        joints[held] = 0.0
        return Acceleration(found.base, joints)

    def _heal(self, time: float) -> None:
        """Let go of all joints, as a reset to a time [s] does; the scenario's faults act anew."""
        self._since = time
        self._live.clear()
        self._asked.clear()
        for joint in _frozen(self._failed):
            self.lock(joint, False)
        self._failed.clear()
        self._may_fail = bool(self._scheduled)

    def _begin(self, command: Command) -> Array:
        """Bring into force what fails at the present tick; return the efforts that act (n,) [N m].

        Efforts are clipped to their limits, and 0 at loose joints.
        """
        effort = clip_efforts(command.effort, self.effort_limits)
        if not self._may_fail:
            return effort
        self._act(self.state().time)
        return _without(effort, self._failed)

    def _act(self, time: float) -> None:
        self._live += [replace(fault, time=time) for fault in self._asked]
        self._asked.clear()
        for joint, fault in self._failed_at(time).items():
            before = self._failed.get(joint)
            if before and before.kind == fault.kind:
                continue
            impulse = energy = 0.0
            if fault.kind == "frozen":
                impulse, energy = self._freeze(joint)
            elif before:
                self.lock(joint, False)
            self._failed[joint] = fault
            if fault.time > self._since - _ROUND_OFF:  # else it had failed before the start
                self._tell(
                    [Event(time, f"joint_{fault.kind}", self.joints[joint], impulse, energy)]
                )

    def _failed_at(self, time: float) -> dict[int, Fault]:
        """Return the faults in force at a time [s], by joint: of each the last."""
        due = [f for f in (*self._scheduled, *self._live) if f.time <= time + _ROUND_OFF]
        return {self.joints.index(f.joint): f for f in sorted(due, key=lambda f: f.time)}

    def _freeze(self, joint: int) -> tuple[float, float]:
        """Lock a joint; return the size of the impulse [N m s], and the energy taken [J]."""
        state = self.state()
        rate = float(state.qd[joint])
        if rate == 0.0:
            self.lock(joint, True)
            return 0.0, 0.0
        change = self._response(state, joint)
        impulse = -rate / float(change.joints[joint])
        qd = state.qd + impulse * change.joints
        qd[[joint, *_frozen(self._failed)]] = 0.0
        jump = impulse * change.base.reshape(2, 3)
        twist = state.twist + (jump @ quaternion_matrix(state.orientation)).ravel()
        self.lock(joint, True)
        self._continue_from(replace(state, qd=qd, twist=twist))
        return abs(impulse), -0.5 * impulse * rate

    def _response(self, state: RobotState, joint: int) -> Acceleration:
        """Return the change of the velocities by an impulse of 1 N m s on a joint, M^-1 J'."""
        unit = np.eye(len(self.joints))[joint]
        up, down = (self._accelerate(state, sign * unit) for sign in (0.5, -0.5))
        return Acceleration(up.base - down.base, up.joints - down.joints)

    @contextmanager
    def _locks_at(self, time: float) -> Iterator[None]:
        """Hold the joints that are frozen at a time [s], and no others, for a while."""
        now, held = _frozen(self._failed), _frozen(self._failed_at(time))
        changes = [(j, j in held) for j in {*now, *held} if (j in held) is not (j in now)]
        for joint, locked in changes:
            self.lock(joint, locked)
        try:
            yield
        finally:
            for joint, locked in changes:
                self.lock(joint, not locked)


def _frozen(failed: dict[int, Fault]) -> list[int]:
    return [joint for joint, fault in failed.items() if fault.kind == "frozen"]


def _without(effort: Array, failed: dict[int, Fault]) -> Array:
    loose = [joint for joint, fault in failed.items() if fault.kind == "loose"]
    if loose:
        effort = np.array(effort)
        effort[loose] = 0.0
    return effort
