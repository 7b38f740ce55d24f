"""DART through dartpy: semi-implicit Euler, first order in the step."""

from __future__ import annotations

from collections.abc import Mapping

import dartpy
import numpy as np

from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.errors import AccordError
from roboaccord.interfaces import Acceleration
from roboaccord.rotations import (
    matrix_quaternion,
    quaternion_matrix,
    quaternion_yaw,
    yaw_matrix,
    yaw_quaternion,
)
from roboaccord.state import Array, RobotState

STOP_RETURN = 0.1  # rad/s: at which a joint comes back from beyond its stop, in DART 10


class DartSimulator(EngineSimulator):
    """Simulate any model with DART (Simulator)."""

    name = "dart"
    version = str(dartpy.__version__)
    order = 1

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        loader = dartpy.utils.DartLoader()
        self._skeleton = loader.parseSkeletonString(model.urdf, "")
        if self._skeleton is None:
            raise AccordError("DART cannot read the description")
        self._world = dartpy.simulation.World()
        self._world.setTimeStep(self.physics_step)
        self._world.addSkeleton(self._skeleton)
        _stay_awake(self._world)
        self._skeleton.disableSelfCollisionCheck()
        self._world.setGravity(np.array([0.0, 0.0, -model.gravity]))
        for joint in self._skeleton.getJoints():
            # DART enforces velocity limits and MuJoCo does not: alike means without.
            for i in range(joint.getNumDofs()):
                joint.setVelocityLowerLimit(i, -np.inf)
                joint.setVelocityUpperLimit(i, np.inf)
                joint.setLimitEnforcement(True)
                # Friction of joints is the model's, by the same law in every engine.
                joint.setDampingCoefficient(i, 0.0)
                joint.setCoulombFriction(i, 0.0)
        # DART throws a joint that is beyond its stop back in one step, at up to 10 rad/s, whatever
        # the error reduction parameter: that is a kick, and stops here are inelastic.
        dartpy.constraint.JointConstraint.setMaxErrorReductionVelocity(STOP_RETURN)
        self._dofs = [self._skeleton.getJoint(n).getIndexInSkeleton(0) for n in self.joints]
        self._body = self._skeleton.getBodyNode(BASE_LINK)
        root = self._body.getParentJoint()
        count = 0 if self.base == "fixed" else root.getNumDofs()
        self._root = [root.getIndexInSkeleton(i) for i in range(count)]
        self._total = np.zeros(self._skeleton.getNumDofs())
        self._height = 0.0

    def _place(self, state: RobotState) -> None:
        skeleton, rotation = self._skeleton, quaternion_matrix(state.orientation)
        positions, velocities = np.zeros((2, skeleton.getNumDofs()))
        positions[self._dofs] = state.q
        velocities[self._dofs] = state.qd
        linear, angular = rotation @ state.twist[:3], rotation @ state.twist[3:]
        if self.base == "planar":
            positions[self._root] = (*state.position[:2], quaternion_yaw(state.orientation))
            velocities[self._root] = (linear[0], linear[1], state.twist[5])
        elif self.base == "free":
            pose = dartpy.math.Isometry3()
            pose.set_rotation(rotation)
            pose.set_translation(state.position)
            positions[self._root] = dartpy.dynamics.FreeJoint.convertToPositions(pose)
        skeleton.setPositions(positions)
        if self.base == "free":
            rates = np.concatenate([angular, linear])
            velocities[self._root] = np.linalg.solve(self._base_jacobian(), rates)
        skeleton.setVelocities(velocities)
        skeleton.clearInternalForces()
        skeleton.clearExternalForces()
        self._world.setTime(state.time)
        self._height = float(state.position[2])

    def _base_jacobian(self) -> Array:
        """Return angular and linear velocity of a free base in the world by its rates (6, 6).

        The axes of DART's rates of a free joint have changed between its versions.
        """
        return np.asarray(self._body.getWorldJacobian(np.zeros(3)))

    def _read(self) -> RobotState:
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        position, orientation, twist = np.zeros(3), yaw_quaternion(0.0), np.zeros(6)
        if self.base == "planar":
            x, y, yaw = q[self._root]
            vx, vy, rate = v[self._root]
            c, s = np.cos(yaw), np.sin(yaw)
            position[:] = x, y, self._height
            orientation = yaw_quaternion(float(yaw))
            twist[:] = c * vx + s * vy, c * vy - s * vx, 0.0, 0.0, 0.0, rate
        elif self.base == "free":
            pose = self._body.getTransform()
            position, orientation = np.array(pose.translation()), matrix_quaternion(pose.rotation())
            twist[:3] = self._body.getLinearVelocity() @ pose.rotation()
            twist[3:] = self._body.getAngularVelocity() @ pose.rotation()
        return RobotState(
            time=self._time,
            q=q[self._dofs],
            qd=v[self._dofs],
            effort=self._effort,
            position=position,
            orientation=orientation,
            twist=twist,
        )

    def _substeps(self, effort: Array, count: int) -> None:
        total = self._total
        for _ in range(count):
            if self._law:
                self._apply_law()
                total[self._dofs] += effort
            else:
                total[self._dofs] = effort
            if self._friction:
                rates = self._skeleton.getVelocities()[self._dofs]
                total[self._dofs] += self._friction.efforts(rates)
            self._skeleton.setForces(total)  # lasts one step
            self._world.step()

    def _apply_law(self) -> None:
        """Fill the generalised forces with the force law's."""
        q, v = self._skeleton.getPositions(), self._skeleton.getVelocities()
        rotation, position, twist = np.eye(3), np.zeros(3), np.zeros(6)
        if self.base == "planar":
            x, y, yaw = q[self._root]
            rotation = yaw_matrix(yaw)
            position[:] = x, y, 0.0
            twist[[0, 1, 5]] = v[self._root]
        elif self.base == "free":
            pose = self._body.getTransform()
            rotation, position = pose.rotation(), pose.translation()
            twist[:3] = self._body.getLinearVelocity()
            twist[3:] = self._body.getAngularVelocity()
        wrench, efforts = self._law_efforts(q[self._dofs], v[self._dofs], position, rotation, twist)
        self._total[self._dofs] = efforts
        if self.base == "planar":
            self._total[self._root] = wrench[[0, 1, 5]]
        elif self.base == "free":
            self._total[self._root] = np.roll(wrench, 3) @ self._base_jacobian()

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact, friction or stops."""
        kept = self.state()
        self._place(state)
        self._total[self._dofs] = effort
        self._skeleton.setForces(self._total)
        self._skeleton.computeForwardDynamics()
        joints = self._skeleton.getAccelerations()[self._dofs]
        base = np.concatenate(
            [self._body.getLinearAcceleration(), self._body.getAngularAcceleration()]
        )
        self._place(kept)
        return Acceleration(base, joints)

    def _statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix and gravity forces, as the base class says."""
        rows = [*self._root, *self._dofs]
        order = np.zeros((len(self._total), len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        if self.base == "free":
            order[self._root, :6] = np.roll(np.linalg.inv(self._base_jacobian()), 3, axis=1)
        skeleton = self._skeleton
        return order, skeleton.getMassMatrix(), skeleton.getGravityForces()

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as DART has it [kg]."""
        nodes = [self._skeleton.getBodyNode(link.name) for link in self.tree.links]
        return {node.getName(): node.getMass() for node in nodes if node}


def _stay_awake(world: dartpy.simulation.World) -> None:
    """Switch off the deactivation of bodies at rest, whose contact forces then read 0."""
    options = getattr(dartpy.simulation, "DeactivationOptions", None)
    if options is not None:
        chosen = options()
        chosen.mEnabled = False
        world.setDeactivationOptions(chosen)
