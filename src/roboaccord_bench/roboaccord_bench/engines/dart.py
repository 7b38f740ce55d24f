"""DART, by dartpy: a skeleton from the URDF of each body. Of two coefficients it takes the smaller.

Restitution of a pair is the product of those of its surfaces. Bodies that rest are put to sleep by
default, which is switched off: a body asleep has no contacts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib.metadata import version

import dartpy as dart
import numpy as np
from roboaccord.contract import Array

from roboaccord_bench.engine import Engine, Touch, World
from roboaccord_bench.scene import Body, Motion, Scene, urdf


class DartWorld(World):
    """A scene in DART; `solver` is the friction solver, of which the default one is Dantzig's."""

    def __init__(self, scene: Scene, step: float, *, solver: str = "") -> None:
        self.world = dart.simulation.World()
        self.world.setTimeStep(step)
        self.world.setGravity(np.array(scene.gravity))
        deactivation = self.world.getDeactivationOptions()
        deactivation.mEnabled = False
        self.world.setDeactivationOptions(deactivation)
        if solver:
            boxed = getattr(dart.constraint, f"{solver}FrictionSolver")
            self.world.getConstraintSolver().setBoxedLcpSolver(boxed())
        self.bodies = {body.name: self._load(body) for body in scene.bodies}

    def _load(self, body: Body) -> dart.dynamics.BodyNode:
        skeleton = dart.utils.DartLoader().parseSkeletonString(urdf(body), "")
        self.world.addSkeleton(skeleton)
        node, joint, pose = skeleton.getBodyNode(0), skeleton.getRootJoint(), dart.math.Isometry3()
        if body.slide:
            skeleton.setVelocities(body.rates)
        else:
            pose.set_rotation(body.axes)
            pose.set_translation(np.array(body.position))
            joint.setTransform(pose)
            joint.setLinearVelocity(np.array(body.velocity))
            joint.setAngularVelocity(np.array(body.spin))
        skeleton.setMobile(bool(body.mass))
        surface = node.getShapeNode(0).getDynamicsAspect()
        surface.setFrictionCoeff(body.mu)
        surface.setRestitutionCoeff(body.restitution)
        return node

    def advance(self, forces: Mapping[str, Array]) -> None:
        for name, force in forces.items():
            self.bodies[name].addExtForce(force)
        self.world.step()

    def motion(self, name: str) -> Motion:
        body = self.bodies[name]
        pose = body.getWorldTransform()
        rates = body.getLinearVelocity(), body.getAngularVelocity()
        return Motion(pose.translation(), pose.rotation(), *rates)

    def contacts(self) -> list[Touch]:
        touches = []
        for contact in self.world.getLastCollisionResult().getContacts():
            second, first = (
                each.getShapeFrame().asShapeNode().getBodyNodePtr().getName()
                for each in (contact.collisionObject1, contact.collisionObject2)
            )
            values = contact.point, contact.normal, contact.force, -contact.penetrationDepth
            touches.append(Touch(first, second, *values))
        return touches


ENGINE = Engine(
    version=version("dartpy"),
    world=DartWorld,
    options={"default": {}, "expert": {"solver": "Nsgs"}},
    surface_restitution=math.sqrt,
)
