"""DART's skeleton of a description, and the settings by which it is like the other engines."""

from __future__ import annotations

import dartpy
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.meshes import local_files
from roboaccord.description.tree import Tree
from roboaccord.engines.ball import Ball, split_ball
from roboaccord.engines.dart.said import listen, pass_on, reason
from roboaccord.engines.dart.units import scale_description
from roboaccord.engines.model import BASE_LINK, EngineModel


def load_skeleton(model: EngineModel, tree: Tree, scale: float) -> dartpy.dynamics.Skeleton:
    """Return the skeleton of a model; a ball that floats in it hangs on nothing.

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
    with listen() as said:
        if any(link.mass == 0.0 for link in tree.links if link.name != "world"):
            # DART would give a link without an inertial 1 kg; 0 kg is right.
            options.mDefaultInertia = dartpy.dynamics.Inertia(0.0, np.zeros(3), np.zeros((3, 3)))
        loader.setOptions(options)
        skeleton = loader.parseSkeletonString(scale_description(local_files(urdf), scale), "")
    if skeleton is None:
        raise AccordError(f"DART cannot read the description{reason(said)}")
    pass_on(said)
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


def remove_shapes(skeleton: dartpy.dynamics.Skeleton) -> None:
    """Take the shapes of a skeleton that touches nothing from DART's search for contacts."""
    for body in skeleton.getBodyNodes():
        for i in range(body.getNumShapeNodes()):
            body.getShapeNode(i).removeCollisionAspect()


def turn_joint(joint: dartpy.dynamics.Joint, turn: Array) -> None:
    """Turn a joint that hangs on the world into DART's axes."""
    pose = joint.getTransformFromParentBodyNode()
    turned = dartpy.math.Isometry3()
    turned.set_rotation(turn @ pose.rotation())
    turned.set_translation(turn @ pose.translation())
    joint.setTransformFromParentBodyNode(turned)


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
