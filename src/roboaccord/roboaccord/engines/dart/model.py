"""DART's skeleton of a description, its units, and what makes it like the other engines.

SLIDING, MANY and MASSLESS are fixed: DART's names of joints and its words. What DART does otherwise
than other engines is taken away in `let_joints_be` and `make_world`; more of it may be added there,
with a test that compares engines. Another scale must go through every number below
(test_hulls_in_engines: units change nothing).

DART's metre and its second may both be smaller than SI's, by one factor. Speeds, masses, moments
and energies then keep their numbers. With lengths of `scale` times the number, inertias have
`scale` squared times theirs, and forces, accelerations and rates of angles theirs over `scale`.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import dartpy
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.base_kinds import Base
from roboaccord.description.degrees import DEGREES
from roboaccord.description.meshes import local_files
from roboaccord.description.tree import Tree
from roboaccord.description.xml_numbers import numbers, write_numbers
from roboaccord.engines.dart.base import BASES
from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.model import (
    BASE_LINK,
    Ball,
    EngineModel,
    JointProperties,
    LinkProperties,
    split_ball,
)
from roboaccord.engines.reading import Mechanism

# What slides in each kind of joint, by its coordinates; None stands for any number of turns.
SLIDING = {
    "PrismaticJoint": (True,),
    "PlanarJoint": (True, True, False),
    "FreeJoint": (False, False, False, True, True, True),
    "TranslationalJoint": (True, True, True),
}
MANY = {"PlanarJoint": DEGREES["planar"], "FreeJoint": DEGREES["floating"]}
MASSLESS = ("[Inertia::", "A negative or zero mass")  # of links of 0 kg, which are meant so
AXES = np.eye(3)

_log = logging.getLogger(__name__)


def load_skeleton(model: EngineModel, tree: Tree, scale: float) -> dartpy.dynamics.Skeleton:
    """Return the skeleton of a model; a ball that floats in it has no joint to the world.

    Args:
        model: description and base.
        tree: of the description.
        scale: of DART's lengths.

    Raises:
        AccordError: if DART cannot read the description.
    """
    loader, options = dartpy.utils.DartLoader(), dartpy.utils.DartLoaderOptions()
    urdf, ball = split_ball(model.urdf, tree) if tree.frame else (model.urdf, None)
    if ball:
        options.mDefaultRootJointType = dartpy.utils.DartLoaderRootJointType.FIXED
    with listen() as messages:
        if any(link.mass == 0.0 for link in tree.links if link.name != "world"):
            # DART would give a link without an inertial 1 kg; 0 kg is right.
            options.mDefaultInertia = dartpy.dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        loader.setOptions(options)
        skeleton = loader.parseSkeletonString(scale_description(local_files(urdf), scale), "")
    if skeleton is None:
        raise AccordError(f"DART cannot read the description{reason(messages)}")
    for line in messages:
        if not any(word in line for word in MASSLESS):
            _log.info(line)
    if ball:
        _add_ball(skeleton, ball, model.base, scale)
    return skeleton


def _add_ball(skeleton: dartpy.dynamics.Skeleton, ball: Ball, base: str, scale: float) -> None:
    """Add `base_link` to a skeleton, as a tree of its own."""
    if base == "ball":
        joint, body = skeleton.createBallJointAndBodyNodePair()
    else:
        joint, body = skeleton.createFreeJointAndBodyNodePair()
    joint.setName("bearing")
    body.setName(BASE_LINK)
    inertia = ball.inertia * scale**2
    body.setInertia(dartpy.dynamics.Inertia(ball.mass, np.zeros(3), inertia))
    node = body.createShapeNode(dartpy.dynamics.SphereShape(ball.radius * scale))
    node.createCollisionAspect()
    node.createDynamicsAspect()


def let_joints_be(skeleton: dartpy.dynamics.Skeleton) -> None:
    """Leave joints their stops, and take limits of velocity, damping and friction from them."""
    for joint in skeleton.getJoints():
        # DART enforces velocity limits and MuJoCo does not: alike means without.
        for i in range(joint.getNumDofs()):
            joint.setVelocityLowerLimit(i, -np.inf)
            joint.setVelocityUpperLimit(i, np.inf)
            joint.setLimitEnforcement(True)
            # Friction of joints is the model's, by the same law in every engine.
            joint.setDampingCoefficient(i, 0.0)
            joint.setCoulombFriction(i, 0.0)


def make_world(
    skeleton: dartpy.dynamics.Skeleton, step: float, gravity: Array
) -> dartpy.simulation.World:
    """Return a world of one skeleton whose bodies stay awake.

    Asleep, after 0.5 s of rest, contact forces would read 0.
    """
    world = dartpy.simulation.World()
    world.setTimeStep(step)
    world.addSkeleton(skeleton)
    options = getattr(dartpy.simulation, "DeactivationOptions", None)
    if options is not None:
        chosen = options()
        chosen.mEnabled = False
        world.setDeactivationOptions(chosen)
    skeleton.disableSelfCollisionCheck()
    world.setGravity(gravity)
    return world


def choose_solver(world: dartpy.simulation.World, settings: DartSettings) -> None:
    """Let a world solve for contacts by its settings."""
    solver = world.getConstraintSolver()
    if settings.friction_solver == "nsgs":
        sweeps = dartpy.constraint.NsgsFrictionSolver.Options()
        sweeps.maxSweeps = settings.friction_iterations
        solver.setBoxedLcpSolver(dartpy.constraint.NsgsFrictionSolver(sweeps))
    elif settings.friction_solver == "fbf":
        splits = dartpy.constraint.FbfFrictionSolver.Options()
        splits.maxOuterIterations = settings.friction_iterations
        solver.setBoxedLcpSolver(dartpy.constraint.FbfFrictionSolver(splits))
    solver.setSplitImpulseEnabled(settings.split_impulse)


def scale_description(urdf: str, scale: float) -> str:
    """Return a URDF whose lengths are `scale` times as large, masses kept."""
    if scale == 1.0:
        return urdf
    root = ET.fromstring(urdf)
    for origin in root.iter("origin"):
        _multiply(origin, "xyz", scale)
    for tensor in root.iter("inertia"):
        for axes in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            _multiply(tensor, axes, scale**2)
    for geometry in root.iter("geometry"):
        for shape in geometry:
            if shape.tag == "mesh":
                shape.set("scale", shape.get("scale", "1 1 1"))
            for key in ("size", "radius", "length", "scale"):
                _multiply(shape, key, scale)
    for joint in root.findall("joint"):
        if joint.get("type") == "prismatic":
            for limit in joint.findall("limit"):
                _multiply(limit, "lower", scale)
                _multiply(limit, "upper", scale)
    return ET.tostring(root, encoding="unicode")


def lengths(skeleton: dartpy.dynamics.Skeleton, scale: float) -> Array:
    """Return by what DART's coordinates are larger (m,): `scale` for those that slide, else 1."""
    factors = np.ones(skeleton.getNumDofs())
    for joint in skeleton.getJoints():
        for i, slides in enumerate(SLIDING.get(joint.getType(), ())):
            if slides:
                factors[joint.getIndexInSkeleton(i)] = scale
    return factors


def degrees(skeleton: dartpy.dynamics.Skeleton) -> dict[str, int]:
    """Return the indices of degrees of freedom, by joint, or joint and what it is (`DEGREES`)."""
    found = dict[str, int]()
    for joint in skeleton.getJoints():
        name, count = joint.getName(), joint.getNumDofs()
        names = [name]
        if count > 1:
            names = [f"{name}_{each}" for each in MANY.get(joint.getType(), ())]
        found |= {each: joint.getIndexInSkeleton(i) for i, each in enumerate(names) if count}
    return found


def _multiply(element: ET.Element, key: str, factor: float) -> None:
    if key in element.attrib:
        write_numbers(element, key, numbers(element, key) * factor)


@contextmanager
def listen() -> Iterator[list[str]]:
    """Capture the lines that DART writes, which are not shown; filled at the end."""
    lines = list[str]()
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += file.read().splitlines()


def reason(lines: list[str]) -> str:
    """Return why DART does not read a description: its first error, behind a colon."""
    errors = (line.partition("Error:")[2].strip() for line in lines if "Error:" in line)
    return next((f": {error}" for error in errors), "")


class DartMechanism(Mechanism):
    """Hold a skeleton.

    Args:
        skeleton: of the model.
        body: that moves as the base.
        base: its kind.
        joints: names, in the order of states.
        turn: from the world's axes to DART's (3, 3).
        scale: of DART's lengths and times.
    """

    def __init__(
        self,
        skeleton: dartpy.dynamics.Skeleton,
        body: dartpy.dynamics.BodyNode,
        base: Base,
        joints: Sequence[str],
        turn: Array = AXES,
        scale: float = 1.0,
    ) -> None:
        self._skeleton, self._body, self._turn, self._scale = skeleton, body, turn, scale
        self.root = BASES[base](body, turn, scale)
        known = degrees(skeleton)
        self.dofs = np.array([known[name] for name in joints], dtype=int)
        self.lengths = lengths(skeleton, scale)
        self.speeds = self.lengths / scale
        self.rotors = np.zeros(len(self.lengths))  # kg m^2 over the step: dampers in DART

    def place(self, state: RobotState) -> None:
        skeleton, root = self._skeleton, self.root
        positions, velocities = np.zeros((2, skeleton.getNumDofs()))
        positions[self.dofs] = state.q
        velocities[self.dofs] = state.qd
        positions[root.rows] = root.positions(state)
        skeleton.setPositions(positions * self.lengths)
        velocities[root.rows] = root.velocities(state)
        skeleton.setVelocities(velocities * self.speeds)
        skeleton.clearInternalForces()
        skeleton.clearExternalForces()

    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        skeleton, body, back, scale = self._skeleton, self._body, self._turn.T, self._scale
        forces = np.zeros(len(self.lengths))
        forces[self.dofs] = effort
        skeleton.setForces(forces / self.lengths + self.rotors * skeleton.getVelocities())
        skeleton.computeForwardDynamics()
        found = skeleton.getAccelerations() * (scale**2 / self.lengths)
        linear = back @ body.getLinearAcceleration() * scale
        angular = back @ body.getAngularAcceleration() * scale**2
        return Acceleration(np.concatenate([linear, angular]), found[self.dofs])

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        skeleton, root = self._skeleton, self.root
        rows = [*root.rows, *self.dofs]
        order = np.zeros((len(self.lengths), len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        order[root.rows, : len(root.rows)] = root.rates()
        mass = skeleton.getMassMatrix() * np.outer(self.speeds, self.speeds)
        mass += np.diag(self.rotors * skeleton.getTimeStep())
        return order, mass, skeleton.getGravityForces() * self.lengths

    def gravity(self) -> Array:
        return np.asarray(self._turn.T @ self._skeleton.getGravity() * self._scale)

    def link(self, name: str) -> LinkProperties | None:
        node = self._skeleton.getBodyNode(name)
        if node is None:
            return None
        inertia = np.array(node.getInertia().getMoment()) / self._scale**2
        return LinkProperties(node.getMass(), node.getLocalCOM() / self._scale, inertia)

    def joint(self, name: str) -> JointProperties:
        joint = self._skeleton.getJoint(name)
        pose, length = joint.getTransformFromParentBodyNode(), self._length(joint)
        rotor = float(self.rotors[joint.getIndexInSkeleton(0)])
        back = self._turn.T if joint.getParentBodyNode() is None else np.eye(3)
        bounds = np.array([joint.getPositionLowerLimit(0), joint.getPositionUpperLimit(0)])
        return JointProperties(
            origin=back @ pose.translation() / self._scale,
            axis=back @ pose.rotation() @ joint.getAxis(),
            limits=bounds / length,
            damping=(joint.getDampingCoefficient(0) - rotor) / (self._scale / length**2),
            friction=joint.getCoulombFriction(0) * length,
            armature=rotor * self._skeleton.getTimeStep(),
        )

    def add_damping(self, name: str, value: float) -> None:
        """Let DART damp a joint [N m s/rad or N s/m]."""
        joint = self._skeleton.getJoint(name)
        joint.setDampingCoefficient(0, value * float(self._scale / self._length(joint) ** 2))

    def add_rotors(self, armature: Array) -> None:
        """Add reflected inertias to joints (n,) [kg m^2] that no contact and no stop acts on.

        DART's dampers d are implicit: (M + h d) a = f - d v. With d = J / h, and the effort d v
        beside f, that is (M + J) a = f.
        """
        self.rotors[self.dofs] = armature / self._skeleton.getTimeStep()
        for dof in self.dofs:
            degree = self._skeleton.getDof(int(dof))
            degree.setDampingCoefficient(degree.getDampingCoefficient() + self.rotors[dof])

    def _length(self, joint: dartpy.dynamics.Joint) -> float:
        return float(self.lengths[joint.getIndexInSkeleton(0)])
