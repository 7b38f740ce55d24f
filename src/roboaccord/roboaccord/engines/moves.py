"""Moves of the world under which physics is invariant, applied to states and models.

If the world is turned, mirrored or shifted, or joints are listed in another order, a sound engine
must give the same motion, moved in the same way. A `Move` converts states and wrenches;
`move_model` converts a model, with its description, force laws and fixtures (obstacles that do not
move). symmetries.py runs engines with the results (test_invariance).

The mirror reflects y. Vectors change the sign of y; axial vectors, which belong to rotations
(angular velocity, torque), change the signs of x and z instead. A link's frame is replaced by its
mirror image. The axis of a hinge changes as a vector and as an axial vector, so that angles and
efforts of joints remain the same. Friction that differs along and across a link has the same
coefficients, at contact points on the other side.

A move may be added to MOVES; names stay, because results contain them. `move_model` must convert
each new field of `EngineModel`, `move_law` each new force law, and `_move_fixture` each new kind of
fixture: otherwise the level would find fault with sound engines.
"""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract.contact import AnyFixture, HeightField, Index, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import ForceLaw, LinkMotion
from roboaccord.contract.sliding_friction import EllipseFriction
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import Tree
from roboaccord.description.xml_numbers import edit_numbers, numbers, write_numbers
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.numerics.rotations import quaternion_product, yaw_matrix, yaw_quaternion

MIRROR = np.array([1.0, -1.0, 1.0])  # factors on the components of vectors
MIRROR_AXIAL = -MIRROR  # factors on the components of axial vectors
MIRRORED_PRODUCTS = ("ixy", "iyz")  # products of inertia whose sign a mirror changes
HINGES = ("revolute", "continuous")


@dataclass(frozen=True)
class Move:
    """A move of the world: it is mirrored, then turned, then shifted.

    A point x moves to R x + shift, with the matrix R.

    Args:
        name: in results.
        yaw: angle about the vertical [rad].
        mirrored: whether y has the other sign.
        shift: (3,) [m].
        reordered: whether links and joints come in the opposite order.
    """

    name: str
    yaw: float = 0.0
    mirrored: bool = False
    shift: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reordered: bool = False

    @property
    def matrix(self) -> Array:
        """Matrix that vectors of the world are multiplied by (3, 3)."""
        turn = yaw_matrix(self.yaw)
        return turn * MIRROR if self.mirrored else turn

    @property
    def axial_matrix(self) -> Array:
        """Matrix that axial vectors of the world are multiplied by (3, 3)."""
        return -self.matrix if self.mirrored else self.matrix

    def joint_order(self, count: int) -> Index:
        """Return the order of joints in the moved world, as indices of the given joints (n,)."""
        order = np.arange(count)
        return order[::-1] if self.reordered else order

    def move_point(self, point: Array) -> Array:
        """Return the moved position of a point (3,)."""
        return np.asarray(self.matrix @ point + np.array(self.shift))

    def move_wrench(self, wrench: Array) -> Array:
        """Return a moved wrench or twist (6,), both in axes of the world."""
        return np.concatenate([self.matrix @ wrench[:3], self.axial_matrix @ wrench[3:]])

    def move_state(self, state: RobotState) -> RobotState:
        """Return the moved state; its joints stay in their order."""
        orientation, twist = self._mirror(state.orientation, state.twist)
        if self.yaw:
            orientation = quaternion_product(yaw_quaternion(self.yaw), orientation)
        position = self.move_point(state.position)
        return replace(state, position=position, orientation=orientation, twist=twist)

    def _mirror(self, orientation: Array, twist: Array) -> tuple[Array, Array]:
        """Return a quaternion x y z w and a twist (6,), mirrored if the world is."""
        if not self.mirrored:
            return orientation, twist
        return orientation * np.append(MIRROR_AXIAL, 1.0), twist * np.append(MIRROR, MIRROR_AXIAL)

    def move_state_back(self, state: RobotState) -> RobotState:
        """Return the state of which a state is the moved one: the inverse of `move_state`."""
        orientation = state.orientation
        if self.yaw:
            orientation = quaternion_product(yaw_quaternion(-self.yaw), orientation)
        orientation, twist = self._mirror(orientation, state.twist)
        position = np.asarray((state.position - np.array(self.shift)) @ self.matrix)
        return replace(state, position=position, orientation=orientation, twist=twist)


# 45 degrees: the angle at which friction on a pyramid or box differs most from that on a cone.
HALF_RIGHT = Move("turned by 45 degrees", yaw=0.25 * np.pi)
# 90 degrees: the angle after which such friction is the same again.
QUARTER_TURN = Move("turned by 90 degrees", yaw=0.5 * np.pi)
MOVES = (
    HALF_RIGHT,
    Move("mirrored", mirrored=True),
    # [m] Lengths without a short binary form, so that numbers round differently after the move.
    Move("shifted", shift=(0.7310585786, -0.4142135624, 0.3141592654)),
    Move("reordered", reordered=True),
)


class MovedLaw:
    """Apply a force law in the moved world (ForceLaw), by converting motion and forces.

    Args:
        law: the force law in the original world.
        move: the move of the world.
    """

    def __init__(self, law: ForceLaw, move: Move) -> None:
        self.links, self._law, self.move = law.links, law, move

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""
        move, matrix, axial = self.move, self.move.matrix, self.move.axial_matrix
        rotation = matrix.T @ motion.rotation
        unmoved = LinkMotion(
            rotation * MIRROR if move.mirrored else rotation,
            (motion.position - np.array(move.shift)) @ matrix,
            motion.linear @ matrix,
            motion.angular @ axial,
        )
        forces, torques = self._law.wrenches(unmoved)
        return forces @ matrix.T, torques @ axial.T


def move_model(model: EngineModel, move: Move) -> EngineModel:
    """Return the moved model.

    Raises:
        AccordError: for the mirror image of a height field, whose cells engines cut along one
            diagonal; or for a shift of a ball in a bearing, which stays at the origin.
    """
    if any(move.shift) and not (KINDS[model.base].travels or KINDS[model.base].tied):
        raise AccordError("a ball in a bearing stays at the origin")
    order = move.joint_order(len(model.joints))
    contact = model.contact
    if contact is not None:
        # A planar base stays at a height of 0, and so does what stands beside it.
        level = replace(move, shift=(*move.shift[:2], 0.0)) if model.base == "planar" else move
        fixtures = tuple(_move_fixture(fixture, level) for fixture in contact.fixtures)
        contact = replace(contact, fixtures=fixtures, yaw=contact.yaw + move.yaw)
    # The force laws of a robot on a fixed base use the frame of that base.
    in_base_frame = model.base == "fixed" and model.root == BASE_LINK
    move_of_law = replace(move, yaw=0.0, shift=(0.0, 0.0, 0.0)) if in_base_frame else move

    def in_order(values: Array) -> Array:
        """Return values (n,), or one value for all joints, in the new order of the joints (n,)."""
        return np.broadcast_to(values, len(order))[order]

    # Arrays with one number per joint get the new order of the joints.
    names = ("effort_limits", "armature", "gear", "damping")
    arrays = {name: getattr(model, name) for name in names}
    reordered = {name: values[order] for name, values in arrays.items() if values is not None}
    return replace(
        model,
        urdf=move_text(model.urdf, move, model.root),
        joints=tuple(model.joints[i] for i in order),
        force_law=None if model.force_law is None else move_law(model.force_law, move_of_law),
        friction=model.friction and model.friction.with_joints(in_order),
        contact=contact,
        **reordered,
    )


def move_law(law: ForceLaw, move: Move) -> ForceLaw:
    """Return a force law in the moved world.

    Friction by an ellipse stays one, with moved numbers, so that it can still be compiled, unless
    its ground changes at a line that the move turns.
    """
    if not isinstance(law, EllipseFriction) or (law.beyond.size and move.yaw):
        return MovedLaw(law, move)
    if type(law).wrenches is not EllipseFriction.wrenches:  # overridden by a user
        return MovedLaw(law, move)
    moved = copy.deepcopy(law)
    if move.mirrored:
        moved.points[:, 1] *= -1.0
    moved.beyond[:1] += move.shift[0]
    return moved


def _move_fixture(fixture: AnyFixture, move: Move) -> AnyFixture:
    """Return a fixture in the moved world; a turn is that of `Contact.yaw`."""
    position = move.move_point(fixture.position)
    if isinstance(fixture, HeightField) and move.mirrored:
        raise AccordError("a height field is cut along one diagonal, unlike its mirror image")
    if isinstance(fixture, MeshFixture) and move.mirrored:
        vertices, faces = fixture.vertices * MIRROR, fixture.faces[:, ::-1]
        return replace(fixture, position=position, vertices=vertices, faces=faces)
    return replace(fixture, position=position)


def move_text(urdf: str, move: Move, root: str) -> str:
    """Return the description of the moved robot; positions of joints (q) stay the same.

    Args:
        urdf: the description.
        move: the move of the world.
        root: link at the root of the tree.
    """
    top, tree = ET.fromstring(urdf), Tree.parse(urdf, root=root)
    ground = {"world", tree.links[tree.frame].name if tree.frame else "world"}
    if move.mirrored:
        _mirror_frames(top)
    for joint in top.findall("joint"):
        parent = joint.find("parent")
        is_on_ground = parent is not None and parent.get("link") in ground
        if is_on_ground and joint.get("type") not in ("planar", "floating"):
            # `_mirror_frames` has mirrored the origins already.
            turn = replace(move, mirrored=False)
            edit_numbers(joint, "origin", "xyz", turn.move_point)
            edit_numbers(joint, "origin", "rpy", lambda rpy: rpy + np.array([0.0, 0.0, move.yaw]))
    if move.reordered:
        for element in [child for child in top if child.tag in ("link", "joint")][::-1]:
            top.remove(element)
            top.append(element)
    return ET.tostring(top, encoding="unicode")


def _mirror_frames(top: ET.Element) -> None:
    """Mirror all numbers in frames of links: y, angles about x and z, and products of inertia."""
    for origin in top.iter("origin"):
        write_numbers(origin, "xyz", numbers(origin, "xyz") * MIRROR)
        write_numbers(origin, "rpy", numbers(origin, "rpy") * MIRROR_AXIAL)
    for tensor in top.iter("inertia"):
        for key in MIRRORED_PRODUCTS:
            write_numbers(tensor, key, -numbers(tensor, key, "0"))
    for mesh in top.iter("mesh"):
        write_numbers(mesh, "scale", numbers(mesh, "scale", "1 1 1") * MIRROR)
    for joint in top.findall("joint"):
        kind = joint.get("type")
        if kind in (*HINGES, "prismatic"):
            # The axis of a hinge changes as an axial vector, that of a slide as a vector.
            signs = MIRROR_AXIAL if kind in HINGES else MIRROR
            edit_numbers(joint, "axis", "xyz", signs.__mul__, "1 0 0")
