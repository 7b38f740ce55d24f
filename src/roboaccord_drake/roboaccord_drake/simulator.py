"""Drake: its discrete plant, of first order, or Runge-Kutta 4 of its continuous one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, RobotState
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.meter import Losses
from roboaccord.engines.model import EngineModel
from roboaccord.engines.properties import (
    WORLD,
    JointProperties,
    LinkProperties,
    Properties,
    braking,
)
from roboaccord.engines.spec import read_settings
from roboaccord.numerics.rotations import (
    quaternion_matrix,
    turn_twist,
    yaw_quaternion,
)
from roboaccord.simulators.joint_faults import LOCK_INERTIA

from roboaccord_drake.model import CONTINUOUS, base_slices, make_plant
from roboaccord_drake.settings import ORDERS, DrakeSettings

REPLACED = 1e-6  # relative: a mass or an inertia that is no rounding of the description's
AXES = {"fixed": [], "planar": [0, 1, 5], "free": [3, 4, 5, 0, 1, 2]}
"""By base: which of a twist or wrench in the world, linear first, Drake's coordinates are."""


class DrakeSimulator(EngineSimulator):
    """Simulate a model without contact with Drake (Simulator).

    By its `DrakeSettings`; the force law acts in every stage.
    """

    name = "drake"

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        integrator = read_settings(model.options, self.name, DrakeSettings).integrator.lower()
        self.order = ORDERS[integrator]
        self.version = f"{version('drake')} ({integrator})"
        self._continuous = integrator == "rk4"
        if self._continuous and "<mimic" in model.urdf:
            raise AccordError(
                "drake: no mimic joint in continuous time, where it has no constraints; "
                "use engine_options.drake.integrator=discrete"
            )
        self._plant = make_plant(
            model, self.tree, CONTINUOUS if self._continuous else self.physics_step
        )
        self._context = self._plant.CreateDefaultContext()
        self._refuse_replaced()
        # Of the equations of motion alone: a discrete plant's accelerations have its stops in them.
        self._smooth = self._plant if self._continuous else make_plant(model, self.tree, CONTINUOUS)
        self._at = self._smooth.CreateDefaultContext()
        joints = [self._plant.GetJointByName(name) for name in self.joints]
        self._q = np.array([joint.position_start() for joint in joints], dtype=int)
        self._v = np.array([joint.velocity_start() for joint in joints], dtype=int)
        self._base_q, self._base_v = base_slices(self._plant, model.base)
        self._axes = np.array(AXES[model.base], dtype=int)
        self._total = np.zeros(self._plant.num_velocities())
        port = self._plant.get_applied_generalized_force_input_port()
        self._applied = port.FixValue(self._context, self._total)
        self._preload = np.zeros_like(self._total)
        for name, effort in model.preload.items():
            self._preload[self._plant.GetJointByName(name).velocity_start()] = effort
        self._braking = braking(model)
        self._height = 0.0
        self._place_forces()

    def _refuse_replaced(self) -> None:
        for link in self.tree.links:
            if link.name == WORLD:
                continue
            found = self._link(self._plant.GetBodyByName(link.name))
            for want, have in ((link.mass, found.mass), (link.inertia, found.inertia)):
                if np.abs(have - want).max() > REPLACED * np.abs(want).max():
                    raise AccordError(
                        f"drake: the inertia of {link.name} is not physical, and Drake would take "
                        "another: mend its <inertial>, or use dart"
                    )

    def lock(self, joint: int, locked: bool) -> None:
        inertia = LOCK_INERTIA if locked else self.armature[joint]
        for plant, context in ((self._plant, self._context), (self._smooth, self._at)):
            plant.GetJointActuatorByName(self.joints[joint]).SetRotorInertia(context, inertia)

    def contacts(self) -> Sequence[ContactPoint]:
        """Return nothing: there is no contact."""
        return ()

    def _place(self, state: RobotState) -> None:
        self._height = float(state.position[2])
        self._context.SetTime(state.time)
        self._plant.SetPositionsAndVelocities(self._context, self._vector(state))

    def _vector(self, state: RobotState) -> Array:
        """Return Drake's positions and velocities in a state."""
        q, v = np.zeros(self._plant.num_positions()), np.zeros(len(self._total))
        q[self._q], v[self._v] = state.q, state.qd
        turn = quaternion_matrix(state.orientation)
        twist = turn_twist(turn, state.twist)
        v[self._base_v] = twist[self._axes]
        q[self._base_q] = np.roll(self.base.pose(state), -3)  # a free base's quaternion first
        return np.concatenate([q, v])

    def _coordinates(self) -> tuple[Array, Array]:
        """Return copies of Drake's positions and velocities."""
        x = np.array(self._plant.GetPositionsAndVelocities(self._context))
        return x[: -len(self._total)], x[-len(self._total) :]

    def _base(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return position, orientation x y z w and twist in the world of the base."""
        position, orientation, twist = np.zeros(3), yaw_quaternion(0.0), np.zeros(6)
        twist[self._axes], pose = v[self._base_v], q[self._base_q]
        if self.base.tied and self.base.moves:
            position[:] = pose[0], pose[1], self._height
            orientation = yaw_quaternion(float(pose[2]))
        elif self.base.moves:
            position = pose[4:]
            # Drake lets the quaternion grow, and takes its direction alone.
            orientation = np.roll(pose[:4] / np.linalg.norm(pose[:4]), -1)
        return position, orientation, twist

    def _read(self) -> RobotState:
        q, v = self._coordinates()
        position, orientation, twist = self._base(q, v)
        turn = quaternion_matrix(orientation)
        return RobotState(
            time=self._time,
            q=q[self._q],
            qd=v[self._v],
            effort=self._effort,
            position=position,
            orientation=orientation,
            twist=np.concatenate([twist[:3] @ turn, twist[3:] @ turn]),
        )

    def _substeps(self, effort: Array, count: int) -> None:
        for _ in range(count):
            if self._continuous:
                self._runge_kutta()
            else:
                self._apply(*self._coordinates())
                self._plant.ExecuteForcedEvents(self._context, False)
        if self._continuous:
            self._refuse_stops()

    def _runge_kutta(self) -> None:
        """Take a step of the classical Runge-Kutta method of order 4."""
        h, x = self.physics_step, np.concatenate(self._coordinates())
        k1 = self._slope(x)
        k2 = self._slope(x + 0.5 * h * k1)
        k3 = self._slope(x + 0.5 * h * k2)
        k4 = self._slope(x + h * k3)
        end = x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        self._plant.SetPositionsAndVelocities(self._context, end)

    def _slope(self, x: Array) -> Array:
        self._plant.SetPositionsAndVelocities(self._context, x)
        self._apply(x[: -len(self._total)], x[-len(self._total) :])
        return np.asarray(self._plant.EvalTimeDerivatives(self._context).CopyToVector())

    def _refuse_stops(self) -> None:
        stopped = self._stops.beyond(self._coordinates()[0][self._q])
        if stopped:
            raise AccordError(
                f"drake: {stopped} comes to its stop, and in continuous time Drake has none; "
                "use engine_options.drake.integrator=discrete"
            )

    def _apply(self, q: Array, v: Array) -> None:
        """Give Drake the generalised forces of efforts, wrench, force law and friction."""
        total = self._total
        total[:] = self._preload
        total[self._v] += self._acting
        wrench = np.zeros(6) if self._wrench is None else self._wrench
        if self._law:
            position, orientation, twist = self._base(q, v)
            rotation = quaternion_matrix(orientation)
            pushed, efforts = self._law_efforts(q[self._q], v[self._v], position, rotation, twist)
            wrench = wrench + pushed
            total[self._v] += efforts
        total[self._base_v] += wrench[self._axes]
        if self._friction:
            total[self._v] += self._friction.efforts(v[self._v])
        self._applied.GetMutableData().get_mutable_value().SetFromVector(total)

    def _dynamics(self) -> tuple[Array, Array]:
        """Return mass matrix M and the forces C v - g that go with M v' in the present state."""
        plant, context = self._plant, self._context
        gravity = plant.CalcGravityGeneralizedForces(context)
        return plant.CalcMassMatrix(context), plant.CalcBiasTerm(context) - gravity

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops in the last physics step [J]: there is no contact."""
        start, end = self._vector(before), np.concatenate(self._coordinates())
        self._plant.SetPositionsAndVelocities(self._context, start)
        mass, bias = self._dynamics()
        self._plant.SetPositionsAndVelocities(self._context, end)
        change = (end - start)[-len(bias) :]
        impulses = mass @ change - self.physics_step * (self._total - bias)
        return Losses(-0.5 * float(impulses[self._v] @ (before.qd + after.qd)))

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        plant, context = self._smooth, self._at
        forces = np.zeros_like(self._total)
        forces[self._v] = self._geared(effort)
        plant.SetPositionsAndVelocities(context, self._vector(state))
        plant.get_applied_generalized_force_input_port().FixValue(context, forces)
        found = plant.EvalTimeDerivatives(context).CopyToVector()[-len(forces) :]
        base = np.zeros(6)
        base[self._axes] = found[self._base_v]
        return Acceleration(base, found[self._v])

    def _statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix and gravity forces, as the base class says."""
        mass, bias = self._dynamics()  # at rest there is nothing else
        base = np.arange(len(mass))[self._base_v]
        rows = [*base[np.argsort(self._axes)], *self._v]
        order = np.zeros((len(mass), len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        return order, mass, bias

    def properties(self) -> Properties:
        """Return the properties of links and joints as Drake has them."""
        plant = self._plant
        return Properties(
            links={
                link.name: self._link(plant.GetBodyByName(link.name))
                for link in self.tree.links
                if link.name != WORLD
            },
            joints={j.name: self._joint(plant.GetJointByName(j.name)) for j in self.tree.moving},
            gravity=np.array(plant.gravity_field().gravity_vector()),
        )

    def _link(self, body: Any) -> LinkProperties:
        inertia = body.CalcSpatialInertiaInBodyFrame(self._context)
        centre = np.array(inertia.get_com())
        about_centre = inertia.Shift(centre).CalcRotationalInertia().CopyToFullMatrix3()
        return LinkProperties(inertia.get_mass(), centre, np.array(about_centre))

    def _joint(self, joint: Any) -> JointProperties:
        name, pose = joint.name(), joint.frame_on_parent().GetFixedPoseInBodyFrame()
        turns = joint.type_name() == "revolute"
        axis = joint.revolute_axis() if turns else joint.translation_axis()
        viscous, dry = self._braking.get(name, (0.0, 0.0))
        limits = joint.position_lower_limits(), joint.position_upper_limits()
        armature = 0.0
        if name in self.joints:
            actuator = self._plant.GetJointActuatorByName(name)
            armature = float(actuator.rotor_inertia(self._context))
        return JointProperties(
            origin=np.array(pose.translation()),
            axis=np.array(pose.rotation().matrix() @ axis),
            limits=np.concatenate(limits),
            damping=viscous + float(joint.default_damping_vector()[0]),
            friction=dry,
            armature=armature,
        )
