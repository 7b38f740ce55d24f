"""References: simulators by our own equations of motion, with which engines are compared.

`TreeReference` simulates a robot that is completely described by its URDF, with inelastic stops but
no contact. A robot with equations of its own, on a fixed base, derives from `JointSpaceReference`
and implements `joint_accelerations`. A robot with contact has a reference of its own in its
package, derived from `Reference`. The integrator is the classical Runge-Kutta method of order 4
(test_joint_space), and must stay: engines are judged by it, and hashes depend on it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from roboaccord.contract import VERSION, Acceleration, AccordError, Array, Command, RobotState
from roboaccord.description.base_kinds import Base
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.description.tree import rotors_of
from roboaccord.numerics import quaternion_matrix, rk4_step, turn_twist
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.faults import LOCK_INERTIA
from roboaccord.simulators.friction import JointFriction
from roboaccord.simulators.losses import DAMPING, FRICTION, STOPS
from roboaccord.simulators.stop_watch import StopWatch
from roboaccord.simulators.stops import Stops


class Reference(Simulator):
    """Simulate a robot by the equations of motion of a subclass.

    The state is in `_now`; a subclass with other coordinates overrides `_place` and `_read`. One
    with another integrator also states its `order`, and its package's version as `version`.

    Args:
        setup: robot and scenario.

    Attributes:
        bases: kinds of base for which it has equations.
        parameters: parameters of the robot.

    Raises:
        AccordError: for a kind of base that is not among `bases`.
    """

    name = "reference"
    version = f"roboaccord {VERSION}"
    order = 4
    bases: tuple[Base, ...] = get_args(Base)

    def __init__(self, setup: Setup) -> None:
        base = setup.scenario.base
        if base not in self.bases:
            bases = " or ".join(self.bases)
            raise AccordError(f"base is {base}; the reference of {setup.robot.name} takes {bases}")
        step, faults, hinges = setup.scenario.physics_step, setup.faults, setup.tree.hinges
        super().__init__(setup.joints, setup.effort_limits, step, faults=faults, hinges=hinges)
        self.parameters: Any = setup.parameters
        self._now = setup.initial

    def _place(self, state: RobotState) -> None:
        """Set the state."""
        self._now = state

    def _read(self) -> RobotState:
        """Return the present state."""
        return self._now


class JointSpaceReference(Reference):
    """Simulate a robot on a fixed base by the equations of motion of a subclass.

    The joints have neither stops nor friction; it is an error if one reaches a stop of the
    description. The classical Runge-Kutta method of order 4 takes the scenario's physics steps.

    Args:
        setup: robot and scenario.
    """

    bases = ("fixed",)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._stops = StopWatch.of(setup.tree, self.joints)
        self._frozen = list[int]()  # numbers of the locked joints
        self._y = np.array([setup.initial.q, setup.initial.qd])  # positions and velocities (2, n)
        self.reset(setup.initial)

    @abstractmethod
    def joint_accelerations(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the accelerations of the joints (n,) [rad/s^2].

        Args:
            q: positions (n,) [rad].
            qd: velocities (n,) [rad/s].
            effort: efforts of the motors (n,) [N m].
        """

    def lock(self, joint: int, locked: bool) -> None:
        """Freeze a joint, or release it."""
        if locked:
            self._frozen.append(joint)
        else:
            self._frozen.remove(joint)

    def _place(self, state: RobotState) -> None:
        """Set positions and velocities of the joints."""
        self._y = np.array([state.q, state.qd])

    def _read(self) -> RobotState:
        """Return the present state."""
        return RobotState(self._time, self._y[0].copy(), self._y[1].copy(), self._effort)

    def _advance(self, command: Command, duration: float) -> None:
        """Take the physics steps of a control tick."""
        for _ in range(self._steps):
            self._y = rk4_step(self._slope, self._y, self.physics_step)

    def _note(self, before: RobotState, after: RobotState) -> None:
        """Refuse a joint beyond its stop."""
        stopped = self._stops.beyond(after.q)
        if stopped:
            impact = f"{stopped} comes to its stop at t = {after.time:.6f} s"
            remedy = "widen its limits, or make it continuous"
            raise AccordError(f"{impact}, but the reference of the robot has no stops: {remedy}")

    def _slope(self, y: Array) -> Array:
        """Return the derivative of positions and velocities (2, n) by time, under `_effort`."""
        q, qd = y
        return np.array([qd, self._with_locks(q, qd, self._effort)])

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations of the joints; the base has none."""
        return Acceleration(np.zeros(6), self._with_locks(state.q, state.qd, effort))

    def _with_locks(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the accelerations (n,), where additional efforts keep the frozen joints at rest.

        Accelerations are linear in these efforts, which follow from a system of equations.
        """
        free, frozen = self.joint_accelerations(q, qd, effort), self._frozen
        if not frozen:
            return free
        unit_efforts = effort + np.eye(len(self.joints))[frozen]
        responses = np.array([self.joint_accelerations(q, qd, e) for e in unit_efforts]) - free
        constrained = free - np.linalg.solve(responses[:, frozen].T, free[frozen]) @ responses
        constrained[frozen] = 0.0
        return np.asarray(constrained)


class TreeReference(Reference):
    """Simulate a tree of links from its description alone, without contact; stops are inelastic.

    Args:
        setup: robot and scenario.
        friction: friction of the joints, or None.
        armature: inertia of rotors that are not in the description (n,) [kg m^2], or None.

    Raises:
        AccordError: for a link that moves and has no inertia.
    """

    bases = ("fixed", "planar", "free")

    def __init__(
        self, setup: Setup, friction: JointFriction | None, armature: Array | None = None
    ) -> None:
        # Losses by joint friction are not measured. A robot without it loses no energy by damping,
        # and by friction only in brakes that slip.
        self.channels = (STOPS,) if friction else (STOPS, FRICTION, DAMPING)
        super().__init__(setup)
        self._base = setup.base
        self.armature = rotors_of(setup.tree, self.joints)
        self.spring = friction.spring if friction else None
        # Equations without friction, for accelerations, and with it.
        tree, gravity = setup.tree, setup.parameters.gravity
        equations = MimicDynamics if any(joint.mimic for joint in tree.moving) else TreeDynamics
        self._smooth = equations(tree, self.joints, setup.scenario.base, gravity)
        self._law = law = friction
        in_joints = (law.viscous, law.constant, law.speed, law.spring) if law else ()
        self._dynamics = equations(tree, self.joints, setup.scenario.base, gravity, *in_joints)
        self._masses = {link.name: link.mass for link in setup.tree.links}
        self._watch = StopWatch.of(setup.tree, self.joints)
        self._locked = set[int]()  # numbers of the locked joints
        self._stops = Stops(self._dynamics, *self._watch.limits)
        self._added = 0.0 * self.armature if armature is None else armature
        for joint in np.flatnonzero(self._added):
            self.lock(int(joint), False)
        self.reset(setup.initial)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return self._masses

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint by a large inertia, or release it."""
        self._locked = self._locked | {joint} if locked else self._locked - {joint}
        for dynamics in (self._smooth, self._dynamics):
            dynamics.lock(joint, LOCK_INERTIA if locked else float(self._added[joint]))

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by a spring and a damper about a target, which are in its equations."""
        own = 0.0 if self._law is None else float(self._law.viscous[joint])
        self._dynamics.hold(joint, stiffness, own + damping, target)

    def _place(self, state: RobotState) -> None:
        """Set the state; a base that does not move remains where the description has it."""
        if not self._base.moves:
            state = RobotState(state.time, state.q, state.qd, state.effort)
        self._now = state

    def _advance(self, command: Command, duration: float) -> None:
        """Take the physics steps of a control tick, with impacts at stops between them."""
        if command.twist is not None or (command.wrench is not None and not self._base.moves):
            raise AccordError("reference: it takes efforts, and wrenches on a base that moves")
        before = self._now
        twist = turn_twist(quaternion_matrix(before.orientation), before.twist)
        y = self._dynamics.state(before.q, before.qd, before.position, before.orientation, twist)
        steps = self._effort, self.physics_step, self._steps, command.wrench
        if self._stops.exist:
            for impact in self._stops.advance(y, *steps, sorted(self._locked)):
                event = self._watch.event(impact.joint, before.time + impact.time, impact.impulse)
                self._events.append(event)
            self._losses.add(STOPS, self._stops.energy)
        else:
            self._dynamics.advance(y, *steps)
        n = len(self.joints)  # for the layout of a state of `TreeDynamics`
        position, orientation, q, twist, qd = np.split(y, [3, 7, 7 + n, 13 + n])
        rotation = quaternion_matrix(orientation)
        own_twist = np.concatenate([twist[:3] @ rotation, twist[3:] @ rotation])  # in its own axes
        self._now = RobotState(self._time, q, qd, self._effort, position, orientation, own_twist)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without friction of the joints."""
        return self._smooth.acceleration_at(state, effort)
