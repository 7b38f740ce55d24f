"""DART's reading of a URDF, by its own loader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import dartpy
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.engines.dart.base import BASES
from roboaccord.engines.dart.model import listen, pass_on, reason
from roboaccord.engines.properties import LinkProperties
from roboaccord.engines.reading import GRAVITY, Hinge, Question, Reading

KINDS = {
    "BoxShape": "box", "SphereShape": "sphere", "CylinderShape": "cylinder", "MeshShape": "mesh",
    "CapsuleShape": "capsule",
}  # fmt: skip
MIMIC = dartpy.dynamics.ActuatorType.MIMIC


class DartReading(Reading):
    """Read a URDF with DART.

    Args:
        urdf: its text.
        question: base and joints.
        settings: `accord` gives a link without an inertial no mass; DART's default is 1 kg.
        packages: folders of ROS packages by name.

    Raises:
        AccordError: if DART refuses it.
    """

    has_settings = True

    def __init__(
        self, urdf: str, question: Question, settings: str, packages: Mapping[str, Path]
    ) -> None:
        loader, options = dartpy.utils.DartLoader(), dartpy.utils.DartLoaderOptions()
        kinds = dartpy.utils.DartLoaderRootJointType
        fixed = question.base == "fixed"
        options.mDefaultRootJointType = kinds.FIXED if fixed else kinds.FLOATING
        if settings == "accord":
            options.mDefaultInertia = dartpy.dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        loader.setOptions(options)
        for name, folder in packages.items():
            loader.addPackageDirectory(name, str(folder))
        with listen() as said:
            self._skeleton = skeleton = loader.parseSkeletonString(urdf, "")
        if skeleton is None:
            raise AccordError(f"DART refuses it{reason(said)}")
        pass_on(said)
        skeleton.disableSelfCollisionCheck()
        skeleton.setGravity(np.array([0.0, 0.0, -GRAVITY]))
        self._base = BASES[question.base](skeleton.getRootBodyNode(), np.eye(3), 1.0)
        root = skeleton.getRootJoint()
        moving = [j for j in skeleton.getJoints() if j.getNumDofs() == 1]
        moving = [j for j in moving if fixed or j is not root]
        self.joints = tuple(joint.getName() for joint in moving)
        self.mass = float(skeleton.getMass())
        nodes = skeleton.getBodyNodes()
        self.links = {
            node.getName(): LinkProperties(
                node.getMass(), node.getLocalCOM(), np.array(node.getInertia().getMoment())
            )
            for node in nodes
        }
        skeleton.setPositions(np.zeros(skeleton.getNumDofs()))
        self.hinges = {joint.getName(): _hinge(joint) for joint in moving}
        self.apart = {
            "damping": {j.getName(): j.getDampingCoefficient(0) for j in moving},
            "friction": {j.getName(): j.getCoulombFriction(0) for j in moving},
            "effort": {j.getName(): j.getForceUpperLimit(0) for j in moving},
            "mimic": {j.getName(): 1.0 for j in moving if j.getActuatorType() == MIMIC},
        }
        shapes = [shape for node in nodes for shape in node.getShapeNodes()]
        self.shapes = Counter(
            KINDS.get(s.getShape().getType(), s.getShape().getType())
            for s in shapes
            if s.getCollisionAspect() is not None
        )
        for joint in moving:
            joint.setDampingCoefficient(0, 0.0)
            joint.setCoulombFriction(0, 0.0)

    def _rows(self, joints: tuple[str, ...]) -> list[int]:
        return [self._skeleton.getJoint(name).getIndexInSkeleton(0) for name in joints]

    def _place(self, state: RobotState, rows: list[int], *, moves: bool) -> None:
        skeleton, base = self._skeleton, self._base
        values = np.zeros(skeleton.getNumDofs())
        values[rows] = state.q
        values[base.rows] = base.positions(state)
        skeleton.setPositions(values)
        rates = np.zeros_like(values)
        if moves:
            rates[rows] = state.qd
            rates[base.rows] = base.velocities(state)
        skeleton.setVelocities(rates)

    def acceleration(self, state: RobotState, joints: tuple[str, ...]) -> Array:
        skeleton, rows = self._skeleton, self._rows(joints)
        self._place(state, rows, moves=True)
        forces = np.zeros(skeleton.getNumDofs())
        forces[rows] = state.effort
        skeleton.setForces(forces)
        skeleton.computeForwardDynamics()
        found = [skeleton.getAccelerations()[rows]]
        if self._base.rows:
            body = skeleton.getRootBodyNode()
            found = [body.getLinearAcceleration(), body.getAngularAcceleration(), *found]
        return np.concatenate(found)

    def statics(self, state: RobotState, joints: tuple[str, ...]) -> tuple[Array, Array]:
        skeleton, rows = self._skeleton, self._rows(joints)
        self._place(state, rows, moves=False)
        every = [*self._base.rows, *rows]
        order = np.zeros((skeleton.getNumDofs(), len(every)))
        order[every, np.arange(len(every))] = 1.0
        count = len(self._base.rows)
        order[self._base.rows, :count] = self._base.rates()
        mass = order.T @ skeleton.getMassMatrix() @ order
        return mass, order.T @ skeleton.getGravityForces()


def _hinge(joint: dartpy.dynamics.Joint) -> Hinge:
    pose = joint.getChildBodyNode().getWorldTransform()
    local = joint.getTransformFromChildBodyNode()
    anchor = pose.rotation() @ local.translation() + pose.translation()
    axis = pose.rotation() @ local.rotation() @ joint.getAxis()
    return Hinge(anchor, axis, joint.getPositionLowerLimit(0), joint.getPositionUpperLimit(0))
