"""Newton's model of a robot, built link by link from our tree, with a state.

Newton's loader of URDF is not used: it changes small inertias. Newton measures positions and rates
of joints as we do; the linear velocity of a free base is that of its centre of mass, in the world.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from roboaccord.contract import AccordError, Array, RobotState
from roboaccord.description import Joint
from roboaccord.engines import WORLD, EngineModel, EngineSimulator
from roboaccord.numerics import matrix_quaternion, quaternion_matrix

from roboaccord_newton.settings import NewtonSettings

wp.config.log_level = wp.LOG_ERROR  # before Newton is imported, which warns of a missing GPU
import newton  # noqa: E402

SINGLE = np.float32
FAR = 1e6  # rad or m: of a stop that nothing reaches
FREE_DEGREES = 6  # of a free base, before those of the joints
X_AXIS = wp.vec3(1.0, 0.0, 0.0)
MAKERS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic"}


class Articulation:
    """A Newton model with the articulation of one robot, and two states that take turns.

    Args:
        simulator: of the robot; tree, base and joints are read.
        model: the same robot's gravity and preload.
        settings: of solver and stops.
        stops: whether joints have their stops.

    Attributes:
        model: Newton's.
        bearings: Newton's number of the link to which each of ours is fixed, and the pose there.
        columns: index of each joint of the simulator in Newton's arrays of rates (n,).

    Raises:
        AccordError: for a joint that Newton lacks.
    """

    def __init__(
        self,
        simulator: EngineSimulator,
        model: EngineModel,
        settings: NewtonSettings,
        *,
        stops: bool = True,
    ) -> None:
        builder = newton.ModelBuilder(gravity=wp.vec3(0.0, 0.0, -model.gravity))
        self._free = simulator.base.tilts
        above = {joint.child: joint for joint in simulator.tree.joints}
        rotors = dict(zip(simulator.joints, simulator.armature.tolist(), strict=True))
        self.bearings = {WORLD: (-1, wp.transform_identity())}
        self._maximal = settings.solver == "xpbd"
        numbers_of_joints, names = [], list[str]()
        for link in simulator.tree.links:
            if link.name == WORLD:
                continue
            joint = above.get(link.name)
            if self._maximal and not link.mass and (joint or self._free):
                if joint is None or joint.kind != "fixed":
                    raise AccordError(f"newton: XPBD cannot move {link.name}, for it has no mass")
                number, pose = self.bearings[joint.parent]
                self.bearings[link.name] = number, pose * _pose(joint)
                continue
            number = builder.add_link(
                com=wp.vec3(*link.centre),
                inertia=wp.mat33(*link.inertia.ravel()),
                mass=link.mass,
                label=link.name,
                lock_inertia=True,
            )
            self.bearings[link.name] = number, wp.transform_identity()
            if joint is None or (joint.parent == WORLD and self._free):
                add = builder.add_joint_free if self._free else builder.add_joint_fixed
                numbers_of_joints.append(add(child=number, parent=-1))
                continue
            parent, pose = self.bearings[joint.parent]
            rotor, ends = rotors.get(joint.name, 0.0), (parent, number, pose * _pose(joint))
            numbers_of_joints.append(_connect(builder, joint, ends, rotor, settings, stops))
            if joint.kind in MAKERS:
                names.append(joint.name)
        builder.add_articulation(numbers_of_joints)
        self.model = builder.finalize(device="cpu", skip_all_validations=True)
        first = FREE_DEGREES if self._free else 0
        self.columns = first + np.array([names.index(name) for name in simulator.joints], int)
        self._preload = np.zeros(self.model.joint_dof_count, SINGLE)
        for name, effort in model.preload.items():
            self._preload[first + names.index(name)] = effort
        self._centre = simulator.tree.links[0].centre  # of the base, in its own axes
        self._solver = _solver(self.model, settings)
        self._states = self.model.state(), self.model.state()
        self._control = self.model.control()

    @property
    def q(self) -> Array:
        """Positions: of a free base position and quaternion x y z w, then of the joints."""
        return np.asarray(self._states[0].joint_q.numpy(), float)

    @property
    def qd(self) -> Array:
        """Rates: of a free base those of its centre of mass and angular, then of the joints."""
        return np.asarray(self._states[0].joint_qd.numpy(), float)

    def place(self, state: RobotState) -> None:
        """Set positions and rates."""
        q, qd = np.zeros(self.model.joint_coord_count), np.zeros(self.model.joint_dof_count)
        q[self.columns + (len(q) - len(qd))], qd[self.columns] = state.q, state.qd
        if self._free:
            turn = quaternion_matrix(state.orientation)
            linear, angular = turn @ state.twist[:3], turn @ state.twist[3:]
            q[:3], q[3:7] = state.position, state.orientation
            qd[:3], qd[3:6] = linear + np.cross(angular, turn @ self._centre), angular
        start = self._states[0]
        start.joint_q.assign(q.astype(SINGLE))
        start.joint_qd.assign(qd.astype(SINGLE))
        newton.eval_fk(self.model, start.joint_q, start.joint_qd, start)

    def joints(self) -> tuple[Array, Array]:
        """Return positions and rates of the joints (n,)."""
        q, qd = self.q, self.qd
        return q[self.columns + (len(q) - len(qd))], qd[self.columns]

    def base(self) -> tuple[Array, Array, Array]:
        """Return position, orientation x y z w, and twist in the world of the free base."""
        q, qd = self.q, self.qd
        orientation = q[3:7] / np.linalg.norm(q[3:7])
        centre = quaternion_matrix(orientation) @ self._centre
        twist = np.concatenate([qd[:3] - np.cross(qd[3:6], centre), qd[3:6]])
        return q[:3], orientation, twist

    def step(self, step: float, effort: Array, wrench: Array) -> None:
        """Take one physics step [s] under efforts (n,) and a wrench (6,) on the base's origin."""
        forces = self._preload.copy()
        forces[self.columns] += effort.astype(SINGLE)
        start, end = self._states
        if self._free:
            turn = quaternion_matrix(self.base()[1])
            torque = wrench[3:] - np.cross(turn @ self._centre, wrench[:3])
            forces[:FREE_DEGREES] += np.concatenate([wrench[:3], torque]).astype(SINGLE)
        self._control.joint_f.assign(forces)
        start.clear_forces()
        self._solver.step(start, end, self._control, None, step)
        if self._maximal:
            newton.eval_ik(self.model, end, end.joint_q, end.joint_qd)
        self._states = end, start

    def mass_matrix(self) -> Array:
        """Return Newton's mass matrix at the present positions, with rotors."""
        mass = newton.eval_mass_matrix(self.model, self._states[0]).numpy()[0]
        return np.asarray(mass[: len(self.qd), : len(self.qd)], float)

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Set stiffness, damping and target of a joint's servo."""
        model, column = self.model, int(self.columns[joint])
        coordinate = column + model.joint_coord_count - model.joint_dof_count
        model.joint_target_ke.numpy()[column] = stiffness  # on the CPU a view of Newton's numbers
        model.joint_target_kd.numpy()[column] = damping
        self._control.joint_target_q.numpy()[coordinate] = target
        self._solver.notify_model_changed(newton.ModelFlags.JOINT_DOF_PROPERTIES)

    def set_rotor(self, joint: int, inertia: float) -> None:
        """Set the inertia of the rotor of a joint of the simulator [kg m^2]."""
        if self._maximal and inertia:
            raise AccordError("newton: XPBD cannot hold a joint: use featherstone")
        self.model.joint_armature.numpy()[self.columns[joint]] = inertia
        self._solver.notify_model_changed(newton.ModelFlags.JOINT_DOF_PROPERTIES)


def _pose(joint: Joint) -> Any:
    """Return the pose of a joint in its parent."""
    return wp.transform(wp.vec3(*joint.position), wp.quat(*matrix_quaternion(joint.rotation)))


def _connect(
    builder: Any,
    joint: Joint,
    ends: tuple[int, int, Any],
    rotor: float,
    settings: NewtonSettings,
    stops: bool,
) -> int:
    """Add a joint between two of Newton's links; return its number.

    Args:
        builder: Newton's, of the model.
        joint: ours.
        ends: Newton's numbers of parent and child, and the joint's pose in the parent.
        rotor: inertia of the rotor [kg m^2].
        settings: of solver and stops.
        stops: whether the joint has its stops.
    """
    if joint.mimic:
        raise AccordError(f"newton: joint {joint.name} follows another, which is not made yet")
    parent, child, pose = ends
    axis, turn = wp.vec3(*joint.axis), wp.transform_identity()
    if joint.kind == "fixed":
        return int(builder.add_joint_fixed(parent, child, parent_xform=pose, label=joint.name))
    if joint.kind not in MAKERS:
        raise AccordError(f"newton: joint {joint.name} is {joint.kind}, which is not made yet")
    if settings.solver == "xpbd":
        if rotor:
            raise AccordError(f"newton: XPBD has no rotor of {joint.name}: use featherstone")
        # It frees a joint in each axis of the joint's frame in which `axis` has a component.
        axis, turn = X_AXIS, wp.transform(wp.vec3(), wp.quat_between_vectors(X_AXIS, axis))
    lower, upper = np.clip(joint.ends, -FAR, FAR) if stops else (-FAR, FAR)
    return int(
        getattr(builder, f"add_joint_{MAKERS[joint.kind]}")(
            parent,
            child,
            parent_xform=pose * turn,
            child_xform=turn,
            axis=axis,
            limit_lower=float(lower),
            limit_upper=float(upper),
            limit_ke=settings.stop_stiffness,
            limit_kd=settings.stop_damping,
            armature=rotor,
            label=joint.name,
        )
    )


def _solver(model: Any, settings: NewtonSettings) -> Any:
    """Return Newton's solver, without the damping of bodies that it has by default."""
    if settings.solver == "featherstone":
        return newton.solvers.SolverFeatherstone(model, angular_damping=0.0)
    # As Newton's for angular corrections. Its 0.7 for the linear ones gives the impulse of a joint
    # 4/7 of its moment about the centre of mass.
    relaxations = {f"joint_{part}_relaxation": 0.4 for part in ("linear", "angular")}
    return newton.solvers.SolverXPBD(model, iterations=settings.iterations, **relaxations)
