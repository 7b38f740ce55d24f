"""DART, by dartpy: a skeleton from the URDF of each body. Of two coefficients it takes the smaller.

Restitution of a pair is the product of those of its surfaces. Bodies that rest are put to sleep by
default, which is switched off: a body asleep has no contacts.
"""

from collections.abc import Iterator
from importlib.metadata import version

import dartpy as dart
import numpy as np

from roboaccord_bench.engine import Engine, Forces, Touch, World
from roboaccord_bench.scene import Body, Motion, Scene, urdf


class DartWorld(World):
    """A scene in DART, with a `solver` of friction; the default one is Dantzig's."""

    def __init__(self, scene: Scene, step: float, *, solver: str = "") -> None:
        self.world = dart.simulation.World()
        self.world.setTimeStep(step)
        self.world.setGravity(np.array(scene.gravity))
        awake = dart.simulation.DeactivationOptions()
        awake.mEnabled = False
        self.world.setDeactivationOptions(awake)
        if solver:
            self.world.getConstraintSolver().setBoxedLcpSolver(getattr(dart.constraint, solver)())
        self.bodies = {body.name: self._load(body) for body in scene.bodies}

    def _load(self, body: Body) -> dart.dynamics.BodyNode:
        """Return the node of a body of the scene."""
        skeleton = dart.utils.DartLoader().parseSkeletonString(urdf(body), "")
        self.world.addSkeleton(skeleton)
        if not body.slide:
            skeleton.setPositions([0.0, 0.0, body.yaw, *body.position])
        skeleton.setVelocities(body.rates if body.slide else [*body.spin, *body.velocity])
        skeleton.setMobile(bool(body.mass))
        node = skeleton.getBodyNode(0)
        surface = node.getShapeNode(0).getDynamicsAspect()
        surface.setFrictionCoeff(body.mu)
        surface.setRestitutionCoeff(body.restitution)
        return node

    def advance(self, forces: Forces) -> None:
        for name, force in forces.items():
            self.bodies[name].addExtForce(force)
        self.world.step()

    def motion(self, name: str) -> Motion:
        body = self.bodies[name]
        pose = body.getWorldTransform()
        rates = body.getLinearVelocity(), body.getAngularVelocity()
        return Motion(pose.translation(), pose.rotation(), *rates)

    def contacts(self) -> Iterator[Touch]:
        for hit in self.world.getLastCollisionResult().getContacts():
            pair = hit.collisionObject2, hit.collisionObject1
            nodes = (each.getShapeFrame().asShapeNode().getBodyNodePtr() for each in pair)
            one, two = (node.getName() for node in nodes)
            yield Touch(one, two, hit.point, hit.normal, hit.force, -hit.penetrationDepth)


OPTIONS = {"default": {}, "expert": {"solver": "NsgsFrictionSolver"}}
ENGINE = Engine(
    version=version("dartpy"), world=DartWorld, options=OPTIONS, surface_restitution=np.sqrt
)
