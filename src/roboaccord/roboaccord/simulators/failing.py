"""Effects of joint failures on the motion: joints that freeze, and brakes that slip.

`FailingJoints` is a base class of `Simulator` (base.py), which lets faults act. faults.py knows
which faults are in force and how they change efforts; here they lock joints, and apply impulses and
efforts of brakes. A new kind of failure begins in contract/fault.py. test_partial_faults and
test_joint_faults compare with closed forms.

When a joint freezes, the impulse of its lock takes its rate. With the mass matrix M, and J the
joint's row of the unit matrix,

    v+ = v - M^-1 J' (J M^-1 J')^-1 J v,        energy taken (J v)' (J M^-1 J')^-1 (J v) / 2

which is the projection of v that is orthogonal in the metric of M: energy is never gained.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from roboaccord.contract import NO_SWITCHES, Acceleration, Array, Command, Event, RobotState
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.simulators.faults import JointFaults, frozen, hold
from roboaccord.simulators.losses import FRICTION, LossAccount


class FailingJoints:
    """Base class of `Simulator` for failures; attributes and methods declared here are its."""

    name: str  # of the simulator
    channels: tuple[str, ...] = ()  # of energy losses that it can measure
    joints: tuple[str, ...]  # names
    physics_step: float  # [s]
    _faults: JointFaults
    _losses: LossAccount
    _events: list[Event]  # since they were taken
    _time: float  # of the state that `_read` returns [s]
    _effort: Array  # efforts in force (n,) [N m or N]
    _state: RobotState | None  # present state; None if it must be read again
    _steps: int  # physics steps of a control tick

    if TYPE_CHECKING:

        def state(self) -> RobotState: ...
        def lock(self, joint: int, locked: bool) -> None: ...
        def _place(self, state: RobotState) -> None: ...
        def _advance(self, command: Command, duration: float) -> None: ...
        def _read(self) -> RobotState: ...
        def _accelerate(self, state: RobotState, effort: Array) -> Acceleration | None: ...

    def _begin_faults(self) -> None:
        """Bring the faults into force that are due at the present tick, and record their events."""
        faults, time = self._faults, self.state().time
        for joint, fault in faults.begin_due(self.state()):
            impulse = energy = 0.0
            if fault.kind == "frozen":
                impulse, energy = self._freeze(joint)
            elif joint in faults.in_force:
                self.lock(joint, False)
            if faults.begins_in_motion(fault):
                kind, name = f"joint_{fault.kind}", self.joints[joint]
                self._events.append(Event(time, kind, name, impulse, energy, fault.size))

    def _advance_braked(self, command: Command, brakes: Mapping[int, float]) -> None:
        """Advance by single physics steps, in each with constant efforts of the brakes that slip.

        In a step of h in which a joint stops, up to I (h a)^2 / 8 of energy may be gained, with the
        joint's inertia I and the acceleration a [rad/s^2] by which the brake decelerates it.

        Args:
            command: in force.
            brakes: by joint, the largest effort of its brake [N m].
        """
        effort, end, count = self._effort, self._time, self._steps
        start = self.state().time
        braked, limits = [*brakes], np.array([*brakes.values()])
        self._steps = 1
        try:
            for k in range(count):
                # Efforts of the brakes that leave the smallest rates at the end of the step: they
                # cancel the accelerations without brakes, and the current rates within the step.
                before = self.state()
                unbraked = self._accelerate(before, effort)
                assert unbraked  # a robot with hinges is dynamic
                responses = np.array([self._response(before, j).joints[braked] for j in braked])
                to_cancel = unbraked.joints[braked] + before.qd[braked] / self.physics_step
                braking = np.zeros(len(effort))
                braking[braked] = hold(responses, to_cancel, limits)
                self._effort = effort + braking
                self._time = end if k == count - 1 else start + (k + 1) * self.physics_step
                self._advance(command, self.physics_step)
                command = replace(command, switches=NO_SWITCHES)
                after = self._state = self._read()
                # Energy that the brakes took.
                if FRICTION in self.channels:
                    self._losses.add(FRICTION, -float(braking @ (after.q - before.q)))
        finally:
            self._effort, self._steps = effort, count

    def _freeze(self, joint: int) -> tuple[float, float]:
        """Lock a joint; return the size of its impulse [N m s] and the energy that it takes [J]."""
        state = self.state()
        rate = float(state.qd[joint])
        if rate == 0.0:
            self.lock(joint, True)
            return 0.0, 0.0
        # The equation of the module's docstring, for one joint; `response` is M^-1 J'.
        response = self._response(state, joint)
        impulse = -rate / float(response.joints[joint])
        qd = state.qd + impulse * response.joints
        qd[[joint, *frozen(self._faults.in_force)]] = 0.0
        base_change = impulse * response.base.reshape(2, 3)  # of the twist, in the world
        twist = state.twist + (base_change @ quaternion_matrix(state.orientation)).ravel()
        self.lock(joint, True)
        self._place(replace(state, qd=qd, twist=twist))
        self._state = None
        return abs(impulse), -0.5 * impulse * rate

    def _response(self, state: RobotState, joint: int) -> Acceleration:
        """Return the change of velocities by a unit impulse on a joint, M^-1 J' [1/(kg m^2)].

        It is the difference of two accelerations, so that all other forces cancel.
        """
        unit = np.eye(len(self.joints))[joint]
        plus, minus = self._accelerate(state, 0.5 * unit), self._accelerate(state, -0.5 * unit)
        assert plus and minus  # a robot with hinges is dynamic
        return Acceleration(plus.base - minus.base, plus.joints - minus.joints)

    @contextmanager
    def _locking(self, joints: Sequence[int]) -> Iterator[None]:
        """Lock the given joints, and release all others, inside a `with` block."""
        changed = sorted({*joints} ^ {*frozen(self._faults.in_force)})
        try:
            for joint in changed:
                self.lock(joint, joint in joints)
            yield
        finally:
            for joint in changed:
                self.lock(joint, joint not in joints)
