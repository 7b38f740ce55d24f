"""DART's reading of a URDF, by its own loader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import dartpy
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.engines.dart.model import DartMechanism, listen, pass_on, reason
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
        self.question = question
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
            skeleton = loader.parseSkeletonString(urdf, "")
        if skeleton is None:
            raise AccordError(f"DART refuses it{reason(said)}")
        pass_on(said)
        skeleton.disableSelfCollisionCheck()
        skeleton.setGravity(np.array([0.0, 0.0, -GRAVITY]))
        root = skeleton.getRootJoint()
        moving = [j for j in skeleton.getJoints() if j.getNumDofs() == 1]
        moving = [j for j in moving if fixed or j is not root]
        self.joints = tuple(joint.getName() for joint in moving)
        self.mass = float(skeleton.getMass())
        body, asked = skeleton.getRootBodyNode(), question.of(self.joints)
        self.mechanism = DartMechanism(skeleton, body, question.base, asked)
        nodes = skeleton.getBodyNodes()
        self.links = self.linked(node.getName() for node in nodes)
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


def _hinge(joint: dartpy.dynamics.Joint) -> Hinge:
    pose = joint.getChildBodyNode().getWorldTransform()
    local = joint.getTransformFromChildBodyNode()
    anchor = pose.rotation() @ local.translation() + pose.translation()
    axis = pose.rotation() @ local.rotation() @ joint.getAxis()
    return Hinge(anchor, axis, joint.getPositionLowerLimit(0), joint.getPositionUpperLimit(0))
