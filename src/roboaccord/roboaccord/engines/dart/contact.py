"""Contact in DART: which pairs collide, by which detector, and the contact points and forces.

`DartContact` tells DART's solver which pairs of bodies may touch, and converts the contacts that it
computes to the axes and units of the contract. The simulator (simulator.py) owns one for a model
with contacts. Fixtures, which are obstacles that do not move, and free bodies are made in
fixtures.py.

DART has several collision detectors. Balls, boxes and meshes that are not convex use that of ODE.
It treats a mesh as triangles, and where two meshes touch it also returns the normals of
neighbouring faces, so that a casing which slides over a tube without friction stops. Convex hulls
therefore use Bullet's detector, whose algorithms (GJK and EPA) are made for convex bodies. Its
tolerances are absolute, however, and suit bodies of metres: of overlaps of hulls that are
centimetres thick it misses one in six. With all lengths multiplied by 100 it misses none of 3000,
so DART's unit of length is 1 cm there (figures of benchmarks/hulls.py).

HULL_SCALE and MIN_LEVER_ARM may be tuned; run benchmarks/hulls.py before and after a change of the
first.
Normals, weights and rebound must stay those of closed forms (test_hulls_in_engines).
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from typing import TypeAlias

import dartpy
import numpy as np

from roboaccord.contract import AccordError, Array, Contact, ContactPoint, MeshFixture
from roboaccord.engines.dart.fixtures import body_skeleton, fixture_skeleton
from roboaccord.engines.touch_events import Pairs

# Factor on lengths if hulls collide, which makes Bullet's tolerances relatively small; see above.
HULL_SCALE = 100.0
# [m] If a contact's normal passes closer than this to the axes of all joints that are not locked,
# only locked joints bear the contact. The value is far above the round-off of contact points, and
# small compared with links of 10 cm; any value between would do.
MIN_LEVER_ARM = 5e-3
LOCKED = dartpy.dynamics.ActuatorType.LOCKED
BodyPair: TypeAlias = tuple[dartpy.dynamics.BodyNode, dartpy.dynamics.BodyNode]


def contact_scale(urdf: str, contact: Contact | None) -> float:
    """Return the factor on lengths: HULL_SCALE if links or bodies with meshes collide, else 1."""
    if contact is None:
        return 1.0
    if any(isinstance(body.shape, MeshFixture) for body in contact.bodies):
        return HULL_SCALE
    touching = {name for pair in contact.pairs for name in pair}
    for link in ET.fromstring(urdf).findall("link"):
        if link.get("name") in touching and link.find("collision/geometry/mesh") is not None:
            return HULL_SCALE
    return 1.0


class DartContact:
    """Collision of the pairs of a contact, and of no others, with a report of contact points.

    While joints are locked, some contacts must be left out: those on which no joint that is still
    free can act, because DART would compute an impulse of 0 / 0. `update_locks` does this when a
    lock changes, `leave_out_borne` after each step.

    Args:
        world: DART's world, with the robot.
        skeleton: the robot.
        contact: pairs, friction, fixtures and free bodies.
        turn: from the world's axes to DART's (3, 3).
        scale: factor on DART's lengths.

    Attributes:
        bodies: skeletons of the free bodies.

    Raises:
        AccordError: for a pair with a body without shape, or a mesh that is not convex if there are
            hulls.
    """

    def __init__(
        self,
        world: dartpy.simulation.World,
        skeleton: dartpy.dynamics.Skeleton,
        contact: Contact,
        turn: Array,
        scale: float,
    ) -> None:
        self._world, self._turn, self._scale = world, turn, scale
        self._skeleton, self._pairs = skeleton, Pairs(contact)
        self._solver = world.getConstraintSolver()
        self._colliding = list[BodyPair]()  # pairs that may touch
        # While joints are locked: their number, indices of the coordinates that are still free, and
        # names of pairs whose contact only locked joints bear.
        self._locked_count, self._free_dofs = 0, list[int]()
        self._borne_by_locks = set[tuple[str, str]]()
        self._has_hulls = scale != 1.0
        self._make_detector = dartpy.collision.OdeCollisionDetector
        if self._has_hulls:
            self._make_detector = dartpy.collision.BulletCollisionDetector
        # Fixtures enter the world as skeletons that do not move, free bodies as others that do.
        for fixture in contact.fixtures:
            if self._has_hulls and isinstance(fixture, MeshFixture) and not fixture.convex:
                reason = f"{fixture.name} is not convex"
                raise AccordError(f"beside hulls DART takes only convex meshes: {reason}")
            world.addSkeleton(fixture_skeleton(fixture, turn, scale, contact.yaw))
        self.bodies = [body_skeleton(body, scale) for body in contact.bodies]
        self._moving = {body.name for body in contact.bodies}
        for body in self.bodies:
            world.addSkeleton(body)
        skeletons = [world.getSkeleton(i) for i in range(world.getNumSkeletons())]
        bodies = [s.getBodyNode(j) for s in skeletons for j in range(s.getNumBodyNodes())]
        self._pairs.check([body.getName() for body in bodies if body.getNumShapeNodes()])
        # Other pairs of bodies are excluded by the solver's own filter, because another one cannot
        # be set: dartpy returns the solver's options as a copy.
        excluded = self._solver.getCollisionOption().collisionFilter
        for i, first in enumerate(bodies):
            for second in bodies[:i]:
                if self._pairs.has(first.getName(), second.getName()):
                    self._colliding.append((first, second))
                else:
                    excluded.addBodyNodePairToBlackList(first, second)
        for body in bodies:
            _set_surface(body, contact)
        skeleton.enableSelfCollisionCheck()
        skeleton.enableAdjacentBodyCheck()
        self._solver.setCollisionDetector(self._make_detector())

    def forget(self) -> None:
        """Forget all contacts.

        Bullet's detector remembers them from step to step, so it is replaced by a new one.
        """
        self._solver.clearLastCollisionResult()
        if self._has_hulls:
            self._solver.setCollisionDetector(self._make_detector())

    def points(self) -> list[ContactPoint]:
        """Return the contacts of the last step, in the world's axes and in SI units."""
        points, back, scale = [], self._turn.T, self._scale
        for touch in self._world.getLastCollisionResult().getContacts():
            # DART's normal points into its first body, and its force is what acts on that.
            first, second = (_body(o) for o in (touch.collisionObject1, touch.collisionObject2))
            pair = str(first.getName()), str(second.getName())
            position, normal = back @ touch.point / scale, back @ touch.normal
            pressing = scale * float(touch.force @ touch.normal)
            friction = pressing * normal - back @ touch.force * scale
            depth = float(touch.penetrationDepth) / scale
            points.append(self._pairs.point(pair, position, -normal, pressing, depth, friction))
        return points

    def update_locks(self) -> None:
        """Leave out the contacts on which no joint can act; to be called when a lock changes."""
        # Coordinates that are still free, where any are locked.
        joints = self._skeleton.getJoints()
        locked = [j for j in joints if j.getNumDofs() and j.getActuatorType() == LOCKED]
        locked_dofs = {j.getIndexInSkeleton(k) for j in locked for k in range(j.getNumDofs())}
        all_dofs = range(self._skeleton.getNumDofs())
        self._free_dofs = [dof for dof in all_dofs if dof not in locked_dofs] if locked else []
        if len(locked) < self._locked_count:
            self._borne_by_locks.clear()
        self._locked_count = len(locked)
        # Excluded are pairs that are rigidly attached to each other, or borne by locked joints.
        excluded = self._solver.getCollisionOption().collisionFilter
        for first, second in self._colliding:
            rigid = _carrier(first) == _carrier(second)
            if locked and (rigid or (first.getName(), second.getName()) in self._borne_by_locks):
                excluded.addBodyNodePairToBlackList(first, second)
            else:
                excluded.removeBodyNodePairFromBlackList(first, second)
        self.leave_out_borne()

    def leave_out_borne(self) -> None:
        """Leave out contacts of the last step on which no joint that is still free can act."""
        if not self._free_dofs:
            return
        excluded = self._solver.getCollisionOption().collisionFilter
        for touch in self._world.getLastCollisionResult().getContacts():
            first, second = (_body(o) for o in (touch.collisionObject1, touch.collisionObject2))
            if {first.getName(), second.getName()} & self._moving:
                continue
            lever_arms = [self._lever_arms(body, touch) for body in (first, second)]
            if np.abs(lever_arms[1] - lever_arms[0]).max() < MIN_LEVER_ARM * self._scale:
                excluded.addBodyNodePairToBlackList(first, second)
                names = first.getName(), second.getName()
                self._borne_by_locks |= {names, names[::-1]}

    def _lever_arms(self, body: dartpy.dynamics.BodyNode, touch: dartpy.collision.Contact) -> Array:
        """Return the motion of a body along a contact's normal by rates of the k free joints (k,).

        For a hinge that is the lever arm of the normal about its axis, in DART's units. Zeros for a
        fixture, which does not move.
        """
        if body.getSkeleton().getName() != self._skeleton.getName():
            return np.zeros(len(self._free_dofs))
        pose = body.getWorldTransform()
        local = pose.rotation().T @ (touch.point - pose.translation())
        jacobian = self._skeleton.getLinearJacobian(body, local)
        return np.asarray(touch.normal @ jacobian[:, self._free_dofs])


def _carrier(body: dartpy.dynamics.BodyNode) -> str:
    """Return the name of the body nearest the root to which a body is rigidly attached.

    Locked joints count as rigid; "" stands for the world.
    """
    while True:
        joint = body.getParentJoint()
        if joint.getNumDofs() and joint.getActuatorType() != LOCKED:
            return str(body.getName())
        body = joint.getParentBodyNode()
        if body is None:
            return ""


def _set_surface(body: dartpy.dynamics.BodyNode, contact: Contact) -> None:
    """Set friction and restitution of a body's shapes."""
    for node in body.getShapeNodes():
        aspect = node.getDynamicsAspect()
        if aspect and body.getName() in contact.friction:
            aspect.setFrictionCoeff(contact.friction[body.getName()])
        if aspect and contact.restitution:
            # DART multiplies the coefficients of both sides.
            aspect.setRestitutionCoeff(math.sqrt(contact.restitution))


def _body(collided: dartpy.collision.CollisionObject) -> dartpy.dynamics.BodyNode:
    """Return the body to which a collision object belongs."""
    return collided.getShapeFrame().asShapeNode().getBodyNodePtr()
