"""Loading of a description into DART, and settings that make DART behave like the other engines.

The functions are called by simulator.py, one after the other. `load_skeleton` makes DART's
skeleton, its form of a robot, from a URDF; all lengths may be multiplied by a factor, because DART
needs large numbers (model.py lists what that does to other units). `free_joints` and `make_world`
switch off what other engines do not have; more may be added there, with a test that compares
engines. `choose_solver` applies the user's settings of contacts.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from contextlib import contextmanager

import dartpy
import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.meshes import local_files
from roboaccord.description.tree import Tree
from roboaccord.description.xml_numbers import numbers, write_numbers
from roboaccord.engines.dart.settings import DartSettings
from roboaccord.engines.model import BASE_LINK, Ball, EngineModel, split_ball

# Parts of DART's warnings about links of 0 kg, which are intended here and not passed on.
MASSLESS_WARNINGS = ("[Inertia::", "A negative or zero mass")

_log = logging.getLogger(__name__)


def load_skeleton(model: EngineModel, tree: Tree, scale: float) -> dartpy.dynamics.Skeleton:
    """Return DART's skeleton of a model.

    A ball whose frame stands in the world (a bearing) becomes a second tree of the skeleton.

    Args:
        model: description and base.
        tree: links and joints of the description.
        scale: factor on lengths.

    Raises:
        AccordError: if DART cannot read the description.
    """
    loader, options = dartpy.utils.DartLoader(), dartpy.utils.DartLoaderOptions()
    urdf, ball = split_ball(model.urdf, tree) if tree.frame else (model.urdf, None)
    if ball:
        options.mDefaultRootJointType = dartpy.utils.DartLoaderRootJointType.FIXED
    with captured_stderr() as messages:
        if any(link.mass == 0.0 for link in tree.links if link.name != "world"):
            # By default DART assumes 1 kg for a link without an inertial.
            options.mDefaultInertia = dartpy.dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        loader.setOptions(options)
        skeleton = loader.parseSkeletonString(scale_description(local_files(urdf), scale), "")
    if skeleton is None:
        raise AccordError(f"DART cannot read the description{error_of(messages)}")
    for line in messages:
        if not any(word in line for word in MASSLESS_WARNINGS):
            _log.info(line)
    if ball:
        _add_ball(skeleton, ball, model.base, scale)
    return skeleton


def _add_ball(skeleton: dartpy.dynamics.Skeleton, ball: Ball, base: str, scale: float) -> None:
    """Add `base_link`, the ball, to a skeleton as a tree of its own."""
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


def free_joints(skeleton: dartpy.dynamics.Skeleton) -> None:
    """Remove velocity limits, damping and friction of all joints; their stops remain.

    Friction of joints is added as a force, by the same law in every engine.
    """
    for joint in skeleton.getJoints():
        # DART enforces velocity limits and MuJoCo does not, so neither may.
        for i in range(joint.getNumDofs()):
            joint.setVelocityLowerLimit(i, -np.inf)
            joint.setVelocityUpperLimit(i, np.inf)
            joint.setLimitEnforcement(True)
            joint.setDampingCoefficient(i, 0.0)
            joint.setCoulombFriction(i, 0.0)


def make_world(
    skeleton: dartpy.dynamics.Skeleton, step: float, gravity: Array
) -> dartpy.simulation.World:
    """Return a world of one skeleton whose bodies stay awake.

    A body that falls asleep, after 0.5 s of rest, would have contact forces of 0.
    """
    world = dartpy.simulation.World()
    world.setTimeStep(step)
    world.addSkeleton(skeleton)
    make_options = getattr(dartpy.simulation, "DeactivationOptions", None)  # not in older versions
    if make_options is not None:
        options = make_options()
        options.mEnabled = False
        world.setDeactivationOptions(options)
    skeleton.disableSelfCollisionCheck()
    world.setGravity(gravity)
    return world


def choose_solver(world: dartpy.simulation.World, settings: DartSettings) -> None:
    """Make a world solve for its contacts with the method and iterations of the settings."""
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
        for moment in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"):
            _multiply(tensor, moment, scale**2)
    for shape in root.iterfind(".//geometry/*"):
        if shape.tag == "mesh":
            shape.set("scale", shape.get("scale", "1 1 1"))
        for key in ("size", "radius", "length", "scale"):
            _multiply(shape, key, scale)
    for limit in root.iterfind("joint[@type='prismatic']/limit"):
        _multiply(limit, "lower", scale)
        _multiply(limit, "upper", scale)
    return ET.tostring(root, encoding="unicode")


def _multiply(element: ET.Element, key: str, factor: float) -> None:
    """Multiply the numbers of an attribute, where the element has it."""
    if key in element.attrib:
        write_numbers(element, key, numbers(element, key) * factor)


@contextmanager
def captured_stderr() -> Iterator[list[str]]:
    """Capture the lines that DART writes to stderr; the list that is yielded gets them at the end.

    The file descriptor itself is redirected, because DART writes from C++.
    """
    lines = list[str]()
    sys.stderr.flush()
    stderr = os.dup(2)
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            file.seek(0)
            lines += file.read().splitlines()


def error_of(messages: list[str]) -> str:
    """Return a colon and the first error among DART's messages, or "" if there is none."""
    errors = (line.partition("Error:")[2].strip() for line in messages if "Error:" in line)
    return next((f": {error}" for error in errors), "")
