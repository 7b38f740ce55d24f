"""Simulate a robot without contact with Newton, one articulation on the CPU.

Forces on the robot (efforts, wrench on the base, force law, friction of joints) are computed here
in each physics step and given to Newton. `EngineSimulator` implements the interface of all engines,
and calls the methods of this class. `NewtonMechanism` answers for accelerations: by a step of
Newton in an articulation without stops, after which Featherstone's rates are v + h a.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
import warp as wp
from roboaccord.contract import Acceleration, AccordError, Array, RobotState
from roboaccord.engines import (
    ContactlessSimulator,
    EngineModel,
    EngineSimulator,
    ForcedMechanism,
    JointProperties,
    LinkProperties,
    read_settings,
)
from roboaccord.numerics import quaternion_matrix, turn_twist
from roboaccord.simulators import LOCK_INERTIA

from roboaccord_newton.articulation import FAR, Articulation
from roboaccord_newton.settings import NewtonSettings

# s: of the step from which accelerations are read. Featherstone's is exact for any, and the longest
# loses the least by round-off; XPBD's error grows with it.
EVALUATION_STEPS = {"featherstone": 1.0, "xpbd": 1e-3}


class NewtonMechanism(ForcedMechanism):
    """Equations and properties of Newton's articulation, in single precision.

    Args:
        simulator: of the robot.
        model: the same robot.
        settings: of the solver.
    """

    def __init__(
        self, simulator: EngineSimulator, model: EngineModel, settings: NewtonSettings
    ) -> None:
        self.articulation = Articulation(simulator, model, settings, stops=False)
        self._step, self._base = EVALUATION_STEPS[settings.solver], simulator.base
        self._described = {joint.name: joint for joint in simulator.tree.moving}
        self._joints = simulator.joints
        # Which NewtonSimulator adds to efforts.
        self._damping = dict(zip(self._joints, [] if model.damping is None else model.damping))
        self._centre = simulator.tree.links[0].centre
        self._state = RobotState(0.0, *np.zeros((3, len(simulator.joints))))

    def place(self, state: RobotState) -> None:
        """Set the state in which accelerations are evaluated."""
        self._state = state

    def accelerate(
        self, rotation: Array, effort: Array, wrench: Array | None = None
    ) -> Acceleration:
        """Return the accelerations of base and joints under efforts (n,) and a wrench (6,)."""
        articulation = self.articulation
        articulation.place(self._state)
        before = articulation.qd
        articulation.step(self._step, effort, np.zeros(6) if wrench is None else wrench)
        change = (articulation.qd - before) / self._step
        base = np.zeros(6)
        if self._base.tilts:  # from the centre of mass to the origin
            spin, centre = before[3:6], rotation @ self._centre
            base = change[:6].copy()
            base[:3] -= np.cross(base[3:], centre) + np.cross(spin, np.cross(spin, centre))
        return Acceleration(base, change[articulation.columns])

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return our rates in Newton's, its mass matrix, and the forces of gravity."""
        articulation, axes = self.articulation, [*self._base.axes]
        articulation.place(self._state)
        mass = articulation.mass_matrix()
        to_engine = np.zeros_like(mass)
        to_engine[range(len(axes)), range(len(axes))] = 1.0
        to_engine[articulation.columns, len(axes) + np.arange(len(self._joints))] = 1.0
        if axes:  # Newton's linear velocity of the base is that of its centre of mass
            to_engine[:3, 3:6] = -np.cross(np.eye(3), rotation @ self._centre)
        at_rest = self.accelerate(rotation, np.zeros(len(self._joints)))  # M a = -g
        rates = to_engine @ np.append(at_rest.base[axes], at_rest.joints)
        return to_engine, mass, -mass @ rates

    def gravity(self) -> Array:
        """Return gravity in the world (3,) [m/s^2]."""
        return np.asarray(self.articulation.model.gravity.numpy()[0], float)

    def link(self, name: str) -> LinkProperties | None:
        """Return mass, centre of mass and inertia of a link, as Newton has them."""
        model = self.articulation.model
        if name not in model.body_label:
            return None
        number = model.body_label.index(name)
        arrays = (a.numpy()[number] for a in (model.body_mass, model.body_com, model.body_inertia))
        mass, centre, inertia = (np.asarray(array, float) for array in arrays)
        return LinkProperties(float(mass), centre, inertia)

    def joint(self, name: str) -> JointProperties:
        """Return origin, axis, limits, damping and armature of a joint, as Newton has them."""
        model = self.articulation.model
        number = model.joint_label.index(name)
        degree = int(model.joint_qd_start.numpy()[number])
        mount = self.articulation.bearings[self._described[name].parent][1]
        pose = wp.transform_inverse(mount) * wp.transform(*model.joint_X_p.numpy()[number])
        pose, limits = np.asarray(pose, float), np.array(self._described[name].ends)
        return JointProperties(
            origin=pose[:3],
            axis=quaternion_matrix(pose[3:]) @ np.asarray(model.joint_axis.numpy()[degree], float),
            limits=np.where(np.abs(limits) < FAR, limits, np.sign(limits) * np.inf),
            damping=self._damping.get(name, 0.0),
            friction=float(model.joint_friction.numpy()[degree]),
            armature=float(model.joint_armature.numpy()[degree]),
        )


class NewtonSimulator(ContactlessSimulator):
    """Simulate any model without contact with Newton, under its `NewtonSettings` (Simulator)."""

    name = "newton"
    order = 1

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        settings = read_settings(model.options, self.name, NewtonSettings)
        if self.base.moves and not self.base.tilts:
            raise AccordError("newton: no base that moves in the plane: use mujoco or dart")
        self.version = f"{version('newton')} ({settings.solver})"
        self._articulation = Articulation(self, model, settings)
        self.mechanism: NewtonMechanism = NewtonMechanism(self, model, settings)
        self._pushed = np.zeros(len(self.joints)), np.zeros(6)  # efforts and wrench of a step
        self._prepare_forces()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint where it is, or release it, by the inertia of its rotor."""
        inertia = LOCK_INERTIA if locked else self.armature[joint]
        for articulation in (self._articulation, self.mechanism.articulation):
            articulation.set_rotor(joint, inertia)

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by Newton's position target."""
        self._articulation.drive(joint, stiffness, damping, target)

    def _place(self, state: RobotState) -> None:
        self._articulation.place(state)

    def _read(self) -> RobotState:
        q, qd = self._articulation.joints()
        if not self.base.tilts:
            return RobotState(self._time, q, qd, self._effort)
        position, orientation, twist = self._articulation.base()
        own_twist = turn_twist(quaternion_matrix(orientation).T, twist)
        return RobotState(self._time, q, qd, self._effort, position, orientation, own_twist)

    def _substeps(self, effort: Array, count: int) -> None:
        for _ in range(count):
            state = self._read()
            # Newton's own dampers of joints are not used.
            self._pushed = self._loads(state, effort - self._own_damping * state.qd)
            self._articulation.step(self.physics_step, *self._pushed)
