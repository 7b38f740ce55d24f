"""Contact in DART: which pairs collide, by which detector, and the contact points and forces.

`DartContact` tells DART's solver which pairs of bodies may touch, and converts what it finds to the
axes and units of the contract. Fixtures (obstacles that do not move) become skeletons of their own,
by `stand_still`, where another kind of fixture would be a branch.

Choice of the collision detector: balls, boxes and meshes of any kind use ODE's. It takes a mesh as
triangles, and where two meshes touch it also gives the normals of neighbouring faces, so that a
casing which slides over a tube without friction stops. Convex hulls therefore use Bullet's
detector, which knows that they are convex (algorithms GJK and EPA). Its tolerances are absolute,
however, and made for bodies of metres: of overlaps of hulls that are centimetres thick it misses
one in six. With all lengths multiplied by 100 it misses none of 3000, so DART's unit of length is
1 cm there (figures of benchmarks/hulls.py).

HULL_SCALE and LEVER may be tuned; run benchmarks/hulls.py before and after a change of the first.
Normals, weights and rebound must stay those of closed forms (test_hulls_in_engines).
"""

from __future__ import annotations

import math
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

import dartpy
import numpy as np

from roboaccord.contract.contact import Contact, ContactPoint, Fixture, HeightField, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.engines.touch_events import Pairs
from roboaccord.numerics.rotations import yaw_matrix

# factor on lengths where hulls collide: with it Bullet's tolerances are small, see above
HULL_SCALE = 100.0
# m: where a contact's normal passes closer than this to the axes of all joints that are not locked,
# the locks alone bear the contact. Far above the round-off of contact points, and small beside
# links of 10 cm; any value between would do.
LEVER = 5e-3
LOCKED = dartpy.dynamics.ActuatorType.LOCKED
BodyPair: TypeAlias = tuple[dartpy.dynamics.BodyNode, dartpy.dynamics.BodyNode]
# dartpy can load a mesh only from the file of a description.
DESCRIPTION = """<robot name="{name}"><link name="{name}"><collision><geometry>
<mesh filename="file://{path}"/></geometry></collision></link></robot>"""
# A triangle of a binary STL file.
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def contact_scale(urdf: str, contact: Contact | None) -> float:
    """Return the factor on lengths: HULL_SCALE where links with meshes collide, else 1."""
    if contact is None:
        return 1.0
    touching = {name for pair in contact.pairs for name in pair}
    for link in ET.fromstring(urdf).findall("link"):
        if link.get("name") in touching and link.find("collision/geometry/mesh") is not None:
            return HULL_SCALE
    return 1.0


class Push(NamedTuple):
    """Contact force on the first of two bodies.

    Attributes:
        bodies: names.
        point: in the world (3,) [m].
        normal: unit vector into the first body (3,).
        force: on the first body, friction included (3,) [N].
    """

    bodies: tuple[str, str]
    point: Array
    normal: Array
    force: Array


class DartContact:
    """Let the pairs of a contact collide, and nothing else; report their contact points.

    While joints are locked, some contacts must be left out: those on which no joint that is still
    free can act. `hold` does this when a lock changes, `look` after each step.

    Args:
        world: of DART, with the robot.
        skeleton: the robot.
        contact: pairs, friction and fixtures.
        turn: from the world's axes to DART's (3, 3).
        scale: of DART's lengths.

    Raises:
        AccordError: for a pair that names nothing, or a mesh beside hulls that is not convex.
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
        self._skeleton, self._free_dofs = skeleton, list[int]()
        self._locked_count, self._borne_by_locks = 0, set[tuple[str, str]]()
        self._solver = world.getConstraintSolver()
        self._pairs = Pairs(contact)
        self._detector: Callable[[], dartpy.collision.CollisionDetector] = (
            dartpy.collision.OdeCollisionDetector
        )
        if scale != 1.0:
            self._detector = dartpy.collision.BulletCollisionDetector
        # Fixtures enter the world as skeletons that do not move.
        for fixture in contact.fixtures:
            if scale != 1.0 and isinstance(fixture, MeshFixture) and not fixture.convex:
                raise AccordError(
                    f"beside hulls DART takes only convex meshes: {fixture.name} is not convex"
                )
            world.addSkeleton(stand_still(fixture, turn, scale, contact.yaw))
        skeletons = [world.getSkeleton(i) for i in range(world.getNumSkeletons())]
        bodies = [s.getBodyNode(j) for s in skeletons for j in range(s.getNumBodyNodes())]
        self._pairs.check([body.getName() for body in bodies if body.getNumShapeNodes()])
        # Pairs of bodies that the contact does not name are left out by the solver's own filter:
        # dartpy returns its options as a copy, so another filter cannot be set.
        excluded, self._colliding = (
            self._solver.getCollisionOption().collisionFilter,
            list[BodyPair](),
        )
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
        self._solver.setCollisionDetector(self._detector())

    def forget(self) -> None:
        """Forget all contacts.

        Bullet's detector keeps them from step to step, so a new one is made.
        """
        self._solver.clearLastCollisionResult()
        if self._scale != 1.0:
            self._solver.setCollisionDetector(self._detector())

    def points(self) -> list[ContactPoint]:
        """Return the contacts of the last step, in the world."""
        points = []
        for touch in self._world.getLastCollisionResult().getContacts():
            push = self._push(touch)
            force = self._scale * float(touch.force @ touch.normal)
            depth = float(touch.penetrationDepth) / self._scale
            points.append(self._pairs.point(push.bodies, push.point, -push.normal, force, depth))
        return points

    def pushes(self) -> list[Push]:
        """Return the contact forces of the last step, friction included, in the world [m, N]."""
        touches = self._world.getLastCollisionResult().getContacts()
        return [self._push(touch) for touch in touches]

    def _push(self, touch: dartpy.collision.Contact) -> Push:
        """Return the force of a contact in the world's axes and in SI units."""
        # DART's normal points into its first body, and its force is what acts on that.
        first, second = (_body(o) for o in (touch.collisionObject1, touch.collisionObject2))
        return Push(
            (str(first.getName()), str(second.getName())),
            self._turn.T @ touch.point / self._scale,
            self._turn.T @ touch.normal,
            self._turn.T @ touch.force * self._scale,
        )

    def hold(self) -> None:
        """Leave out the contacts on which no joint can act while some joints are locked.

        DART would compute their impulse as 0 / 0. To be called when a joint is locked or released.
        """
        # Coordinates that are still free, where any are locked.
        joints = self._skeleton.getJoints()
        locked = [j for j in joints if j.getNumDofs() and j.getActuatorType() == LOCKED]
        locked_dofs = {j.getIndexInSkeleton(k) for j in locked for k in range(j.getNumDofs())}
        all_dofs = range(self._skeleton.getNumDofs())
        self._free_dofs = [dof for dof in all_dofs if dof not in locked_dofs] if locked else []
        if len(locked) < self._locked_count:
            self._borne_by_locks.clear()
        self._locked_count = len(locked)
        # Left out are pairs that are rigidly attached to each other, or rest on the locks.
        excluded = self._solver.getCollisionOption().collisionFilter
        for first, second in self._colliding:
            rigid = _carrier(first) == _carrier(second)
            if locked and (rigid or (first.getName(), second.getName()) in self._borne_by_locks):
                excluded.addBodyNodePairToBlackList(first, second)
            else:
                excluded.removeBodyNodePairFromBlackList(first, second)
        self.look()

    def look(self) -> None:
        """Leave out contacts of the last step that the joints which are not locked barely move."""
        if not self._free_dofs:
            return
        excluded = self._solver.getCollisionOption().collisionFilter
        for touch in self._world.getLastCollisionResult().getContacts():
            first, second = (_body(o) for o in (touch.collisionObject1, touch.collisionObject2))
            lever_arms = [self._lever_arms(body, touch) for body in (first, second)]
            if np.abs(lever_arms[1] - lever_arms[0]).max() < LEVER * self._scale:
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
        return np.asarray(
            touch.normal @ self._skeleton.getLinearJacobian(body, local)[:, self._free_dofs]
        )


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


def stand_still(
    fixture: Fixture | MeshFixture | HeightField, turn: Array, scale: float = 1.0, yaw: float = 0.0
) -> dartpy.dynamics.Skeleton:
    """Return the skeleton of a fixture, which does not move.

    Args:
        fixture: box or mesh.
        turn: from the world's axes to DART's (3, 3).
        scale: factor on lengths.
        yaw: by which the fixture is turned about the vertical [rad].

    Raises:
        AccordError: for a height field, which cannot be given to the detector through dartpy.
    """
    if isinstance(fixture, HeightField):
        raise AccordError(f"DART takes {fixture.name} as a mesh, and not as a height field")
    static = dartpy.dynamics.Skeleton(fixture.name)
    joint, body = static.createWeldJointAndBodyNodePair()
    body.setName(fixture.name)
    pose = dartpy.math.Isometry3()
    pose.set_rotation(turn @ yaw_matrix(yaw))
    pose.set_translation(turn @ fixture.position * scale)
    joint.setTransformFromParentBodyNode(pose)
    if isinstance(fixture, Fixture):
        node = body.createShapeNode(dartpy.dynamics.BoxShape(fixture.size * scale))
    else:
        node = body.createShapeNode(mesh_shape(fixture, scale))
    node.createCollisionAspect()
    node.createDynamicsAspect()
    static.setMobile(False)
    return static


def mesh_shape(fixture: MeshFixture, scale: float = 1.0) -> dartpy.dynamics.MeshShape:
    """Return the shape of a mesh, `scale` times as large.

    Raises:
        AccordError: if its faces point inwards: a sphere would sink into it.
    """
    corners = fixture.vertices[fixture.faces]
    a, b, c = np.moveaxis(corners - fixture.vertices.mean(axis=0), 1, 0)
    if not np.einsum("ij,ij->", a, np.cross(b, c)) > 0.0:
        raise AccordError(f"the mesh of {fixture.name} faces inwards: turn its triangles over")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "mesh.stl")
        path.write_bytes(stl(corners * scale))
        text = DESCRIPTION.format(name=fixture.name, path=path)
        loaded = dartpy.utils.DartLoader().parseSkeletonString(text, "")
    return loaded.getBodyNode(0).getShapeNode(0).getShape()


def stl(corners: Array) -> bytes:
    """Return triangles (k, 3, 3) [m] as a binary STL file."""
    rows = np.zeros(len(corners), TRIANGLE)
    rows["corners"] = corners
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    rows["normal"] = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    return bytes(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()
