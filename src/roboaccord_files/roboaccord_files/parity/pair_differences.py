"""Find how two matched robots differ in links, in origins and axes of joints, and in their numbers.

Each difference comes with a change: a function that gives the first robot's tree the value of the
second, by which pair_comparison.py measures the effect on accelerations. In order of use:
`link_difference` (mass, centre, inertia), `pose_differences` of joints (kind, origin, axis, and
zero: the pose at q = 0), `number_differences` (limits, damping and all other numbers of `Joint`,
and mimic, which a tree does not have and which is read from the text). Names of quantities are in
the JSON, and stay.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Link, Tree
from roboaccord.description.tree_text import ENDLESS
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.differences import compare_value
from roboaccord.numerics.rotations import axis_angle_matrix

from roboaccord_files.parity.pair import PairDifference
from roboaccord_files.parity.placing import LinkPair
from roboaccord_files.parity.poses import Match
from roboaccord_files.repair.joints import MIMIC

# Relative to the largest moment; below it products of inertia are the rounding of numbers with six
# digits (as pair.TOLERANCE), so that two inertias have the same principal axes.
PRINCIPAL_AXES_TOLERANCE = 1e-5
E = TypeVar("E", Link, Joint)  # a link or a joint
AXES = "xyz"
# Names of the components of a link's quantities, in the order of their numbers.
COMPONENTS = {"mass": [""], "centre": [*AXES], "inertia": "xx xy xz yx yy yz zx zy zz".split()}
LIMIT_ENDS = ("lower", "upper")  # names of a joint's two limits
# Names of the fields of Joint that are numbers, and of those that are tuples of numbers.
NUMBER_FIELDS = [e.name for e in fields(Joint) if e.type == "float" and e.name not in LIMIT_ENDS]
TUPLE_FIELDS = [e.name for e in fields(Joint) if str(e.type).startswith("tuple[float")]
# Those that act on accelerations: all but the limits of effort and velocity.
ACTING_FIELDS = {*NUMBER_FIELDS, *TUPLE_FIELDS} - {"effort", "velocity"}
SERVO = "servo"  # a field that only MJCF states
# Numbers of a joint, by quantity and component.
Numbers: TypeAlias = Mapping[tuple[str, str], float]
# Values of a quantity in the first robot and in the second; None for what is no number.
Values: TypeAlias = tuple[float | None, float | None]
# A function that gives the first robot's tree the second's value; None if joints would differ.
Change: TypeAlias = Callable[[Tree], Tree] | None


class Mimic(NamedTuple):
    """The joint that another one mimics: its name, the multiplier, and the offset [rad or m]."""

    leader: str = ""  # "" of a joint that mimics none
    multiplier: float = 0.0
    offset: float = 0.0


class DifferenceAndChange(NamedTuple):
    """A difference, whose effect is not measured yet, and the change that makes it vanish."""

    difference: PairDifference
    change: Change


def unchanged(tree: Tree) -> Tree:
    """Return the tree as it is: the change of a difference that acts on no acceleration."""
    return tree


def change_joint(name: str, **values: Any) -> Change:
    """Return the change that gives a joint new values of some fields."""
    return lambda tree: replace(tree, joints=with_values(tree.joints, {name: values}))


def change_link(name: str, **values: Any) -> Change:
    """Return the change that gives a link new values of some fields."""
    return lambda tree: replace(tree, links=with_values(tree.links, {name: values}))


def with_values(elements: Sequence[E], values: Mapping[str, Mapping[str, Any]]) -> tuple[E, ...]:
    """Return links or joints with new values of some fields, by name of the link or joint."""
    return tuple(replace(element, **values.get(element.name, {})) for element in elements)


def with_lumped_masses(tree: Tree, pairs: Sequence[LinkPair]) -> Tree:
    """Return a tree in which the masses of merged links are moved to the link that stays."""
    massless: dict[str, Any] = {"mass": 0.0, "inertia": np.zeros((3, 3))}
    values = {name: massless for pair in pairs for name in pair.members}
    values |= {pair.name: vars(pair.one) for pair in pairs}
    return replace(tree, links=with_values(tree.links, values))


def difference(
    cause: Cause, other: str, change: Change = None, values: Values = (None, None)
) -> DifferenceAndChange:
    """Return a difference, without its effect, and its change.

    Args:
        cause: the quantity, where it is in the first robot, and by how much it differs.
        other: name of the link or joint in the other robot.
        change: change of the first robot's tree; None if joints would differ.
        values: in the first robot, and in the other.
    """
    return DifferenceAndChange(PairDifference(cause, other, values), change)


def link_difference(pair: LinkPair, quantity: str) -> DifferenceAndChange:
    """Return the difference of two links in mass, centre or inertia, of the largest component."""
    first = np.atleast_1d(getattr(pair.one, quantity))
    second = np.atleast_1d(getattr(pair.other, quantity))
    if quantity == "inertia":
        first, second = in_principal_axes(first, second)
    index, size = largest_component(second - first)
    values = float(first.flat[index]), float(second.flat[index])
    unit = "m"
    if quantity != "centre":  # differences of masses and inertias are relative
        size /= values[0] or float(np.abs(first).max()) or values[1]
        unit = "1"
    new = {quantity: getattr(pair.other, quantity)}
    if quantity == "mass" and not pair.one.mass:
        new["centre"] = pair.other.centre  # that of a link without mass is no difference
    cause = Cause(quantity, pair.name, size, None, unit, COMPONENTS[quantity][index])
    return difference(cause, pair.partner, change_link(pair.name, **new), values)


def pose_differences(match: Match, allowed: float, size: float) -> Iterator[DifferenceAndChange]:
    """Yield the differences of two joints in kind, origin, axis and zero.

    Args:
        match: two bodies that these joints move.
        allowed: difference up to which quantities count as equal: relative, or an angle [rad].
        size: size of the robot, to which offsets are relative [m].
    """
    joint, other, pose = match.one.joint, match.other.moved_by, match.joint_pose()
    assert joint and match.above
    if match.one.slides != match.other.slides:
        yield difference(Cause("kind", joint.name), other)
    # The origin, in the frame of the parent link.
    offset = match.above.one.links[joint.parent].rotation.T @ pose.offset
    if compare_value("origin", joint.name, 0.0, offset, allowed, size).excess > 1.0:
        index, largest = largest_component(offset)
        position = joint.position + offset
        cause = Cause("origin", joint.name, largest, None, "m", AXES[index])
        values = float(joint.position[index]), float(position[index])
        yield difference(cause, other, change_joint(joint.name, position=position), values)
    # The axis: the body is tilted with it, or the axis alone differs.
    rotation = joint.rotation @ pose.tilt if pose.is_tilted else joint.rotation
    sine = np.linalg.norm(np.cross(joint.axis, pose.axis))
    angle = float(np.arctan2(sine, joint.axis @ pose.axis))
    if angle > allowed:
        index, _ = largest_component(pose.axis - joint.axis)
        new = {"rotation": rotation} if pose.is_tilted else {"axis": pose.axis}
        cause = Cause("axis", joint.name, angle, None, "rad", AXES[index])
        values = float(joint.axis[index]), float(pose.axis[index])
        yield difference(cause, other, change_joint(joint.name, **new), values)
    # The zero, the pose at q = 0: the body is turned about the axis at rest.
    zero_angle = float(np.linalg.norm(pose.zero))
    if zero_angle > allowed:
        turn = axis_angle_matrix(pose.zero / zero_angle, np.array(zero_angle))
        about_axis = float(np.copysign(zero_angle, joint.axis @ pose.zero))
        cause = Cause("zero", joint.name, about_axis, None, "rad")
        change = change_joint(joint.name, rotation=rotation @ turn)
        yield difference(cause, other, change, (0.0, about_axis))


def number_differences(
    joint: Joint, other: Joint, mimics: tuple[Mimic, Mimic], allowed: float
) -> Iterator[DifferenceAndChange]:
    """Yield the differences of two joints in their numbers.

    Args:
        joint, other: the joints.
        mimics: what each of them mimics.
        allowed: relative difference up to which numbers count as equal; for limits below 1 it is
            absolute [rad or m].
    """
    length = "m" if joint.kind == "prismatic" else "rad"
    other_numbers = numbers_of(other, mimics[1])
    for (quantity, component), first in numbers_of(joint, mimics[0]).items():
        second = other_numbers[quantity, component]
        is_limit = quantity == "limit"
        is_finite = bool(np.isfinite([first, second]).all())
        scale = max(abs(first), abs(second), 1.0 if is_limit else 0.0)
        if first == second or (is_finite and abs(first - second) <= allowed * scale):
            continue
        size = second - first if is_finite else None
        unit = length if is_limit else ""
        if first and not is_limit:
            size = second / first - 1.0 if is_finite else None
            unit = "1"
        change: Change = unchanged
        if quantity in ACTING_FIELDS:
            change = change_joint(joint.name, **{quantity: getattr(other, quantity)})
        cause = Cause(quantity, joint.name, size, None, unit, component)
        yield difference(cause, other.name, change, (first, second))


def numbers_of(joint: Joint, mimic: Mimic) -> Numbers:
    """Return the numbers of a joint apart from its geometry."""
    numbers = {(field, ""): limit_or_infinity(getattr(joint, field)) for field in NUMBER_FIELDS}
    for end, limit in zip(LIMIT_ENDS, joint.ends, strict=True):
        numbers["limit", end] = limit_or_infinity(limit)
    for field in TUPLE_FIELDS:
        numbers |= {(field, str(i)): float(x) for i, x in enumerate(getattr(joint, field))}
    numbers[MIMIC, "multiplier"] = mimic.multiplier
    return {**numbers, (MIMIC, "offset"): mimic.offset}


def limit_or_infinity(value: float) -> float:
    """Return a number, or infinity for one so large that it stands for no limit."""
    return value if abs(value) < ENDLESS else float(np.copysign(np.inf, value))


def mimics_of(file: UrdfFile) -> dict[str, Mimic]:
    """Return the mimics of a file by the joint that follows."""
    mimics = dict[str, Mimic]()
    for joint in ET.fromstring(file.text).findall("joint"):
        tag = joint.find(MIMIC)
        if tag is not None:
            factor, offset = float(tag.get("multiplier", "1")), float(tag.get("offset", "0"))
            mimics[joint.get("name", "")] = Mimic(tag.get("joint", ""), factor, offset)
    return mimics


def inverted_mimics(mimics: Mapping[str, Mimic], leaders: Mapping[str, str]) -> dict[str, Mimic]:
    """Return mimics, inverted where the leader of one follows in the other file.

    The coupling q_b = m q_a + c is the same as q_a = q_b / m - c / m.

    Args:
        mimics: by the joint that follows.
        leaders: leader in the other file, by the joint that follows there.
    """
    inverted = dict(mimics)
    for name, (leader, multiplier, offset) in mimics.items():
        if leaders.get(leader) == name and leader not in mimics and multiplier:
            del inverted[name]
            inverted[leader] = Mimic(name, 1.0 / multiplier, -offset / multiplier)
    return inverted


def largest_component(values: Array) -> tuple[int, float]:
    """Return the flat index of the value of the largest magnitude, and the value."""
    index = int(np.argmax(np.abs(values)))
    return index, float(values.flat[index])


def in_principal_axes(one: Array, other: Array) -> tuple[Array, Array]:
    """Return two inertias (3, 3) along the principal axes of the first, if both have the same."""
    axes = np.linalg.eigh(one)[1]
    turned = axes.T @ other @ axes
    products = np.abs(turned - np.diag(np.diag(turned))).max()
    if products <= PRINCIPAL_AXES_TOLERANCE * np.abs(turned).max():
        return axes.T @ one @ axes, turned
    return one, other
