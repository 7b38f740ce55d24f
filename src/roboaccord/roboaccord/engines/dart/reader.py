"""DART's reading of a URDF, by its own loader, for `accord parity`.

`DartReading` is the `Reading` (engines/reading.py) that shows what DART itself makes of a file, so
nothing is corrected here. One choice is the caller's: with the settings "accord", a link without
the element `inertial` has no mass, as in skeleton.py; by default DART assumes 1 kg. Coordinates of
planar and floating joints are converted by `Chart`s (engines/charts.py).
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import dartpy
import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.charts import Chart, Charts, free_motion, plane_chart, planes
from roboaccord.engines.dart.model import DartMechanism, degrees
from roboaccord.engines.dart.skeleton import captured_stderr, error_of
from roboaccord.engines.reading import GRAVITY, Hinge, Question, Reading

# URDF's names of shapes, by DART's names; other shapes are called as in DART.
SHAPES = {
    "BoxShape": "box",
    "SphereShape": "sphere",
    "CylinderShape": "cylinder",
    "MeshShape": "mesh",
    "CapsuleShape": "capsule",
}
MIMIC = dartpy.dynamics.ActuatorType.MIMIC


class DartReading(Reading):
    """Read a URDF with DART.

    Args:
        text: the URDF.
        question: base and joints.
        settings: `accord`, or `default` for those of DART, by which a link without an inertial has
            a mass of 1 kg.
        packages: folders of ROS packages by name.
        file: with exactly this text, for paths relative to it; None if there is no such file.

    Raises:
        AccordError: if DART refuses it.
    """

    has_settings = True

    def __init__(
        self,
        text: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None:
        self.question = question
        skeleton = _load(text, question, settings, packages, file)
        skeleton.disableSelfCollisionCheck()
        skeleton.setGravity(np.array([0.0, 0.0, -GRAVITY]))
        # The joint that carries a free base is not a joint of the robot.
        body = skeleton.getBodyNode(question.root) or skeleton.getRootBodyNode()
        base_joint = body.getParentJoint() if question.base == "free" else None
        joints = [joint for joint in skeleton.getJoints() if joint is not base_joint]
        moving = [joint for joint in joints if joint.getNumDofs() == 1]
        with_several_degrees = [joint for joint in joints if joint.getNumDofs() > 1]
        names = {i: name for name, i in degrees(skeleton).items()}
        indices = {j.getIndexInSkeleton(i) for j in joints for i in range(j.getNumDofs())}
        self.joints = tuple(names[i] for i in sorted(indices))
        self.mass = float(skeleton.getMass())
        question_joints = question.of(self.joints)
        self.mechanism = DartMechanism(skeleton, body, question.base, question_joints)
        if base_joint is not None:  # a state has the pose of its base in the world
            base_joint.setTransformFromParentBodyNode(dartpy.math.Isometry3())
        if with_several_degrees:
            ours = planes(text)
            charts = {j.getName(): _chart(j, ours.get(j.getName())) for j in with_several_degrees}
            self.charts = Charts(question_joints, charts)
        nodes = skeleton.getBodyNodes()
        self.links = self.properties_of(node.getName() for node in nodes)
        skeleton.setPositions(np.zeros(skeleton.getNumDofs()))
        home = body if base_joint else dartpy.dynamics.Frame.World()
        self.hinges = {joint.getName(): _hinge(joint, home) for joint in moving}
        shapes = [shape for node in nodes for shape in node.getShapeNodes()]
        kinds = [s.getShape().getType() for s in shapes if s.getCollisionAspect() is not None]
        self.shapes = Counter(SHAPES.get(kind, kind) for kind in kinds)
        # Properties that are compared separately do not act.
        self.apart = _separate(moving)
        for joint in moving:
            joint.setDampingCoefficient(0, 0.0)
            joint.setCoulombFriction(0, 0.0)


def _separate(moving: Sequence[dartpy.dynamics.Joint]) -> dict[str, dict[str, float]]:
    """Return the properties that are compared separately: the value of `Reading.apart`."""
    return {
        "damping": {j.getName(): j.getDampingCoefficient(0) for j in moving},
        "friction": {j.getName(): j.getCoulombFriction(0) for j in moving},
        "effort": {j.getName(): j.getForceUpperLimit(0) for j in moving},
        "mimic": {j.getName(): 1.0 for j in moving if j.getActuatorType() == MIMIC},
    }


def _load(
    text: str, question: Question, settings: str, packages: Mapping[str, Path], file: Path | None
) -> dartpy.dynamics.Skeleton:
    """Return DART's skeleton of a URDF; arguments and errors as of `DartReading`."""
    loader, options = dartpy.utils.DartLoader(), dartpy.utils.DartLoaderOptions()
    kinds = dartpy.utils.DartLoaderRootJointType
    # If the file has another root, that carries the question's root by a floating joint of its own.
    floats = question.base == "free" and question.root == find_root(ET.fromstring(text), "URDF")
    options.mDefaultRootJointType = kinds.FLOATING if floats else kinds.FIXED
    with captured_stderr():  # DART warns of an inertia of 0, which is intended here
        if settings == "accord":
            options.mDefaultInertia = dartpy.dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        loader.setOptions(options)
    for name, folder in packages.items():
        loader.addPackageDirectory(name, str(folder))
    with captured_stderr() as messages:
        skeleton = loader.parseSkeletonString(text, file.as_uri() if file else "")
    if skeleton is None:
        raise AccordError(f"DART refuses it{error_of(messages)}")
    sys.stderr.write("".join(f"{line}\n" for line in messages))
    return skeleton


def _chart(joint: dartpy.dynamics.Joint, ours: Array | None) -> Chart:
    """Return the conversion of a joint's coordinates from ours to DART's.

    Args:
        joint: planar or free.
        ours: our axes (3, 3) of a planar joint in its parent's frame; None for a free joint.
    """
    if ours is not None:
        first, second = joint.getTranslationalAxis1(), joint.getTranslationalAxis2()
        axes = np.column_stack([first, second, joint.getRotationalAxis()])
        turn = joint.getTransformFromParentBodyNode().rotation()
        return plane_chart(turn @ axes, ours)

    def free(q: Array, qd: Array) -> tuple[Array, Array, Array]:
        """Return DART's coordinates, T and c of a free joint (`Chart`)."""
        # With DART's Jacobian J of its coordinates x, the twist is J dx/dt, and its derivative by
        # time is J d2x/dt2 + dJ/dt dx/dt.
        position, rotation, jacobian, drift = free_motion(q, qd)
        pose = dartpy.math.Isometry3()
        pose.set_rotation(rotation)
        pose.set_translation(position)
        coordinates = np.array(dartpy.dynamics.FreeJoint.convertToPositions(pose))
        joint.setPositions(coordinates)
        engine_jacobian = joint.getRelativeJacobian()
        turn = np.linalg.solve(engine_jacobian, jacobian)
        joint.setVelocities(turn @ qd)
        drift = drift - joint.getRelativeJacobianTimeDeriv() @ (turn @ qd)
        return coordinates, turn, np.linalg.solve(engine_jacobian, drift)

    return free


def _hinge(joint: dartpy.dynamics.Joint, root: dartpy.dynamics.Frame) -> Hinge:
    """Return the axis of a joint in the root's frame."""
    pose = joint.getChildBodyNode().getTransform(root)
    local = joint.getTransformFromChildBodyNode()
    anchor = pose.rotation() @ local.translation() + pose.translation()
    axis = pose.rotation() @ local.rotation() @ joint.getAxis()
    return Hinge(anchor, axis, joint.getPositionLowerLimit(0), joint.getPositionUpperLimit(0))
