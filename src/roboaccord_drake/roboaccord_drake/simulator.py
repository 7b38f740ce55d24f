"""Simulate a robot without contact with Drake.

By `DrakeSettings` the equations are integrated in one of two ways: by Drake's discrete plant, which
takes semi-implicit Euler steps and has joint stops, or by the classical Runge-Kutta method on its
continuous plant, which has none. In each step the forces on the robot (efforts, wrench on the base,
force law, friction) are computed here and given to Drake as generalised forces.

`EngineSimulator` implements the interface of all engines, and calls the methods `_place`, `_read`,
`_substeps`, `_accelerate` and `_constraint_losses` of this class.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from pydrake.multibody.tree import PdControllerGains
from roboaccord.contract import Acceleration, AccordError, Array, RobotState, check_state
from roboaccord.engines import BASE_LINK, WORLD, EngineModel, EngineSimulator, read_settings
from roboaccord.numerics import quaternion_matrix, rk4_step, yaw_quaternion
from roboaccord.simulators import LOCK_INERTIA, Losses

from roboaccord_drake.model import CONTINUOUS, NO_SERVO, DrakeMechanism, dynamics_of, make_plant
from roboaccord_drake.settings import ORDERS, DrakeSettings

# Relative; largest difference of a mass or inertia in Drake from the description's that is taken
# for rounding, of which it is far above: beyond it Drake has replaced an unphysical inertia.
INERTIA_ROUNDING = 1e-6
CURE = "use engine_options.drake.integrator=discrete"  # for what continuous time does not have


class DrakeSimulator(EngineSimulator):
    """Simulate a model without contact with Drake (Simulator).

    The force law is evaluated in every stage of a Runge-Kutta step.

    Drake has one vector q of positions and one v of velocities for the base and all joints; which
    entries belong to what is in `mechanism`. Arrays of this class are `_total`, the generalised
    forces that act on v [N m, N]; `_applied`, Drake's copy of them; and `_preload`, constant ones
    of the model [N m or N]. `_height` is that of a planar base, which Drake lacks [m].
    """

    name = "drake"
    mechanism: DrakeMechanism

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        integrator = read_settings(model.options, self.name, DrakeSettings).integrator.lower()
        self.order = ORDERS[integrator]
        self.version = f"{version('drake')} ({integrator})"
        self._continuous = integrator == "rk4"
        if self._continuous and "<mimic" in model.urdf:
            reason = "no mimic joint in continuous time, where it has no constraints"
            raise AccordError(f"drake: {reason}; {CURE}")
        # The plant that is stepped.
        time_step = CONTINUOUS if self._continuous else self.physics_step
        self._plant = make_plant(model, self.tree, time_step)
        self._context = self._plant.CreateDefaultContext()
        # A continuous plant for accelerations: those of a discrete plant include forces of stops.
        smooth = self._plant if self._continuous else make_plant(model, self.tree, CONTINUOUS)
        self.mechanism = DrakeMechanism(smooth, self.base, self.joints, BASE_LINK)
        self._refuse_replaced_inertias()
        # Generalised forces, through the port by which Drake takes them.
        self._total = np.zeros(self._plant.num_velocities())
        port = self._plant.get_applied_generalized_force_input_port()
        self._applied = port.FixValue(self._context, self._total)
        self._preload = np.zeros_like(self._total)
        for name, effort in model.preload.items():
            self._preload[self._plant.GetJointByName(name).velocity_start()] = effort
        self._height, self._has_servos = 0.0, model.servos and not self._continuous
        self._desired: dict[Any, Array] = {}  # states that Drake's servos aim at
        self._prepare_forces()

    def _refuse_replaced_inertias(self) -> None:
        """Raise AccordError if Drake's masses or inertias are not those of the description."""
        links = [link for link in self.tree.links if link.name != WORLD]
        for link in links:
            in_drake = self.mechanism.link(link.name)
            for described, taken in ((link.mass, in_drake.mass), (link.inertia, in_drake.inertia)):
                if np.abs(taken - described).max() > INERTIA_ROUNDING * np.abs(described).max():
                    raise AccordError(
                        f"drake: the inertia of {link.name} is not physical, and Drake would take "
                        "another: repair its <inertial>, or use dart"
                    )

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint where it is, or release it."""
        # A locked joint gets a rotor so heavy that nothing moves it.
        inertia = LOCK_INERTIA if locked else self.armature[joint]
        smooth = self.mechanism.plant, self.mechanism.context
        for plant, context in ((self._plant, self._context), smooth):
            if self._has_servos and plant is self._plant:
                # The solver of servos does not converge with such inertias.
                held = plant.GetJointByName(self.joints[joint])
                (held.Lock if locked else held.Unlock)(context)
                continue
            plant.GetJointActuatorByName(self.joints[joint]).SetRotorInertia(context, inertia)

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by the PD controller of its actuator, which Drake's solver has implicit."""
        if self._continuous:
            raise AccordError(f"drake: no servo in continuous time; {CURE}")
        motor = self._plant.GetJointActuatorByName(self.joints[joint])
        motor.set_controller_gains(PdControllerGains(p=max(stiffness, NO_SERVO), d=damping))
        port = self._plant.get_desired_state_input_port(motor.model_instance())
        desired = self._desired.setdefault(port.get_index(), np.zeros(port.size()))
        desired[motor.input_start()] = target
        port.FixValue(self._context, desired)

    def limit_servo(self, joint: int, effort: float, rate: float) -> None:
        """Limit the effort of a joint's actuator; Drake does not enforce limits of rates."""
        self._plant.GetJointActuatorByName(self.joints[joint]).set_effort_limit(effort)

    def _place(self, state: RobotState) -> None:
        """Put the plant in a state."""
        self._height = float(state.position[2])
        self._context.SetTime(state.time)
        self._plant.SetPositionsAndVelocities(self._context, self.mechanism.vector(state))

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations of a state under efforts (n,) [N m]."""
        # The continuous plant has its own context, so the state of the simulation stays.
        return self.mechanism.acceleration_at(state, self._geared(effort))

    def _coordinates(self) -> tuple[Array, Array]:
        """Return copies of Drake's vectors q and v."""
        plant, context = self._plant, self._context
        return np.array(plant.GetPositions(context)), np.array(plant.GetVelocities(context))

    def _base(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Return position, orientation (x, y, z, w) and twist of the base, all in the world.

        Args:
            q: Drake's positions: of a planar base x, y and yaw; of a free one the quaternion
                w, x, y, z, then the position.
            v: Drake's velocities.
        """
        position, orientation, twist = np.zeros(3), yaw_quaternion(0.0), np.zeros(6)
        twist[self.mechanism.axes] = v[self.mechanism.base_v]
        pose = q[self.mechanism.base_q]
        if self.base.tied and self.base.moves:
            position[:] = pose[0], pose[1], self._height
            orientation = yaw_quaternion(float(pose[2]))
        elif self.base.moves:
            position = pose[4:]
            # Drake's quaternion need not have length 1: only its direction counts.
            orientation = np.roll(pose[:4] / np.linalg.norm(pose[:4]), -1)
        return position, orientation, twist

    def _read(self) -> RobotState:
        """Return the state of the plant."""
        q, v = self._coordinates()
        position, orientation, twist = self._base(q, v)
        # The twist of a state is in the axes of the base.
        rotation = quaternion_matrix(orientation)
        return RobotState(
            time=self._time,
            q=q[self.mechanism.q],
            qd=v[self.mechanism.v],
            effort=self._effort,
            position=position,
            orientation=orientation,
            twist=np.concatenate([twist[:3] @ rotation, twist[3:] @ rotation]),
        )

    def _substeps(self, effort: Array, count: int) -> None:
        """Take `count` physics steps under efforts (n,) [N m]."""
        for _ in range(count):
            if self._continuous:
                self._runge_kutta()
            else:
                self._apply_forces(*self._coordinates())
                try:
                    self._plant.ExecuteForcedEvents(self._context, False)  # the plant's own step
                except RuntimeError as error:  # raised for forces that are not finite
                    check_state(self._read(), self.joints, self.name)
                    if "failed to converge" in str(error):  # only where servos act
                        reason = "its solver does not converge: servos are too stiff"
                        raise AccordError(f"drake: {reason}") from None
                    raise
        if self._continuous:
            self._refuse_passed_stops()

    def _runge_kutta(self) -> None:
        """Take a step of the classical Runge-Kutta method of order 4."""
        start = np.concatenate(self._coordinates())
        end = rk4_step(self._state_derivative, start, self.physics_step)
        self._plant.SetPositionsAndVelocities(self._context, end)

    def _state_derivative(self, x: Array) -> Array:
        """Return the derivative of Drake's state x, which is q and then v."""
        self._plant.SetPositionsAndVelocities(self._context, x)
        self._apply_forces(*self._coordinates())
        return np.asarray(self._plant.EvalTimeDerivatives(self._context).CopyToVector())

    def _refuse_passed_stops(self) -> None:
        """Raise AccordError if a joint has passed its stop, which the continuous plant lacks."""
        passed = self._stops.beyond(self._coordinates()[0][self.mechanism.q])
        if passed:
            reason = f"{passed} comes to its stop, and in continuous time Drake has none"
            raise AccordError(f"drake: {reason}; {CURE}")

    def _apply_forces(self, q: Array, v: Array) -> None:
        """Give Drake the generalised forces at positions q and velocities v.

        They are the sum of preload, efforts, wrench on the base, force law and dry friction.
        """
        mechanism, total = self.mechanism, self._total
        joint_q, joint_qd = q[mechanism.q], v[mechanism.v]
        total[:] = self._preload
        total[mechanism.v] += self._acting
        wrench = np.zeros(6) if self._wrench is None else self._wrench
        if self._law:
            position, orientation, twist = self._base(q, v)
            rotation = quaternion_matrix(orientation)
            law_wrench, efforts = self._law_efforts(joint_q, joint_qd, position, rotation, twist)
            wrench = wrench + law_wrench
            total[mechanism.v] += efforts
        total[mechanism.base_v] += wrench[mechanism.axes]
        if self._friction:  # last, for it opposes the sum of all other efforts
            total[mechanism.v] = self._friction.add(total[mechanism.v], joint_q, joint_qd)
        self._applied.GetMutableData().get_mutable_value().SetFromVector(total)

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the energy that joint stops took in the last physics step [J].

        What changes the momentum beyond the known forces is the impulse of stops,
        J = M (v1 - v0) - h (tau - c), with mass matrix M, forces tau and bias c at the start of the
        step h. Its work is J times the mean velocity (v0 + v1) / 2.
        """
        start, end = self.mechanism.vector(before), np.concatenate(self._coordinates())
        self._plant.SetPositionsAndVelocities(self._context, start)
        mass, bias = dynamics_of(self._plant, self._context)
        self._plant.SetPositionsAndVelocities(self._context, end)
        change = (end - start)[-len(bias) :]  # of the velocities, which come last
        impulses = mass @ change - self.physics_step * (self._total - bias)
        return Losses(-0.5 * float(impulses[self.mechanism.v] @ (before.qd + after.qd)))
