"""Find how two robots differ in a link, in the origin and axis of a joint, and in its numbers.

Each difference comes with a change that gives the first robot's tree the value of the second:
comparison.py uses it to measure the effect on accelerations. All numbers of `Joint` are compared.
Mimics, which the tree does not have, are read from the text. Names of quantities are in the JSON,
and stay.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, TypeAlias

import numpy as np
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Tree
from roboaccord.description.tree_text import ENDLESS
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.engines.differences import compare_value
from roboaccord.numerics.rotations import axis_angle_matrix

from roboaccord_files.parity.pair import PairDifference
from roboaccord_files.parity.placing import LinkPair
from roboaccord_files.parity.poses import Match
from roboaccord_files.repair.joints import MIMIC

# Relative to the largest moment; smaller products of inertia are the rounding of six digits, so two
# inertias have the same principal axes. As pair.TOLERANCE.
PRINCIPAL = 1e-5
AXES = "xyz"
TENSOR = [a + b for a in AXES for b in AXES]
ENDS = ("lower", "upper")
# Fields of Joint that are numbers, and those that are tuples of numbers.
NUMBERS = [e.name for e in fields(Joint) if e.type == "float" and e.name not in ENDS]
PARTS = [e.name for e in fields(Joint) if str(e.type).startswith("tuple[float")]
ACTING = {*NUMBERS, *PARTS} - {"effort", "velocity"}  # fields that act on accelerations
SERVO = "servo"  # a field that only MJCF states
Numbers: TypeAlias = Mapping[tuple[str, str], float]
"""Numbers of a joint by quantity and component."""
Mimic: TypeAlias = tuple[str, float, float]
"""The joint that one mimics, multiplier and offset [rad or m]."""
ALONE: Mimic = ("", 0.0, 0.0)  # a joint that mimics none
Change: TypeAlias = Callable[[Tree], Tree] | None
"""A function that gives the first robot's tree the second's value; None if joints would differ."""
Changed: TypeAlias = tuple[PairDifference, Change]
"""A difference, whose effect is not measured yet, and its change."""


def unchanged(tree: Tree) -> Tree:
    """Return the tree as it is: the change of a difference that acts on no acceleration."""
    return tree


def of_joint(name: str, **values: Any) -> Change:
    """Return the change that gives a joint new values of some fields."""
    return lambda tree: replace(
        tree, joints=tuple(replace(j, **values) if j.name == name else j for j in tree.joints)
    )


def of_link(name: str, **values: Any) -> Change:
    """Return the change that gives a link new values of some fields."""
    return lambda tree: replace(
        tree, links=tuple(replace(k, **values) if k.name == name else k for k in tree.links)
    )


def lumped(tree: Tree, pairs: Sequence[LinkPair]) -> Tree:
    """Return a tree in which the masses of merged links are moved to the link that stays."""
    massless: dict[str, Any] = {"mass": 0.0, "inertia": np.zeros((3, 3))}
    values = {name: massless for pair in pairs for name in pair.members}
    values |= {pair.name: vars(pair.want) for pair in pairs}
    return replace(
        tree, links=tuple(replace(link, **values.get(link.name, {})) for link in tree.links)
    )


def difference(
    cause: Cause, other: str, change: Change = None, values: tuple[float | None, ...] = (None, None)
) -> Changed:
    """Return a difference, without its effect, and its change."""
    return PairDifference(cause, other, (values[0], values[1])), change


def of_mass(pair: LinkPair, quantity: str) -> Changed:
    """Return the difference of two links in mass, centre or inertia, of the largest component."""
    want, have = pair.want, pair.have
    one, two, axes = np.array([want.mass]), np.array([have.mass]), [""]
    if quantity == "centre":
        one, two, axes = want.centre, have.centre, [*AXES]
    elif quantity == "inertia":
        one, two, axes = *along_axes(want.inertia, have.inertia), TENSOR
    at, size = largest(two - one)
    values = float(one.flat[at]), float(two.flat[at])
    if share := quantity != "centre":
        size /= values[0] or float(np.abs(one).max()) or values[1]
    cause = Cause(quantity, pair.name, size, None, "1" if share else "m", axes[at])
    value = {quantity: getattr(have, quantity)}
    if quantity == "mass" and not want.mass:
        value["centre"] = have.centre  # that of a link without mass is no difference
    return difference(cause, pair.partner, of_link(pair.name, **value), values)


def of_motion(match: Match, allowed: float, size: float) -> Iterator[Changed]:
    """Yield the differences of two joints in kind, origin, axis and zero.

    Args:
        match: two bodies that these joints move.
        allowed: difference that is none: relative, or an angle [rad].
        size: of the robot, to which offsets are relative [m].
    """
    one, other, motion = match.one.joint, match.other.moved_by, match.motion()
    assert one and match.above
    if match.one.slides != match.other.slides:
        yield difference(Cause("kind", one.name), other)
    offset = match.above.one.links[one.parent].turn.T @ motion.offset
    if compare_value("origin", one.name, 0.0, offset, allowed, size).excess > 1.0:
        at, away = largest(offset)
        there = one.position + offset
        cause = Cause("origin", one.name, away, None, "m", AXES[at])
        values = float(one.position[at]), float(there[at])
        yield difference(cause, other, of_joint(one.name, position=there), values)
    turned = one.rotation @ motion.tilt if motion.tilted else one.rotation
    sine = np.linalg.norm(np.cross(one.axis, motion.along))
    if (angle := float(np.arctan2(sine, one.axis @ motion.along))) > allowed:
        at, _ = largest(motion.along - one.axis)
        value = {"rotation": turned} if motion.tilted else {"axis": motion.along}
        cause = Cause("axis", one.name, angle, None, "rad", AXES[at])
        values = float(one.axis[at]), float(motion.along[at])
        yield difference(cause, other, of_joint(one.name, **value), values)
    if (angle := float(np.linalg.norm(motion.zero))) > allowed:
        turned = turned @ axis_angle_matrix(motion.zero / angle, np.array(angle))
        about = float(np.copysign(angle, one.axis @ motion.zero))
        change = of_joint(one.name, rotation=turned)
        yield difference(Cause("zero", one.name, about, None, "rad"), other, change, (0.0, about))


def of_numbers(
    one: Joint, other: Joint, mine: Numbers, others: Numbers, allowed: float
) -> Iterator[Changed]:
    """Yield the differences of two joints in their numbers.

    Args:
        one, other: the joints.
        mine, others: their numbers.
        allowed: relative difference that is none; for limits below 1 it is absolute [rad or m].
    """
    length = "m" if one.kind == "prismatic" else "rad"
    for (key, component), want in mine.items():
        have, limit = others[key, component], key == "limit"
        finite = bool(np.isfinite([want, have]).all())
        most = max(abs(want), abs(have), 1.0 if limit else 0.0)
        if want == have or (finite and abs(want - have) <= allowed * most):
            continue
        share, size = bool(want) and not limit, None
        if finite:
            size = have / want - 1.0 if share else have - want
        change = of_joint(one.name, **{key: getattr(other, key)}) if key in ACTING else unchanged
        unit = "1" if share else length if limit else ""
        cause = Cause(key, one.name, size, None, unit, component)
        yield difference(cause, other.name, change, (want, have))


def numbers_of(joint: Joint, mimic: Mimic) -> Numbers:
    """Return the numbers of a joint apart from its geometry."""
    values = {(key, ""): endless(getattr(joint, key)) for key in NUMBERS}
    values |= {("limit", end): endless(x) for end, x in zip(ENDS, joint.ends, strict=True)}
    for key in PARTS:
        values |= {(key, str(i)): float(x) for i, x in enumerate(getattr(joint, key))}
    return {**values, (MIMIC, "multiplier"): mimic[1], (MIMIC, "offset"): mimic[2]}


def endless(value: float) -> float:
    """Return a limit, or infinity for a number so large that it means none."""
    return value if abs(value) < ENDLESS else float(np.copysign(np.inf, value))


def mimics_of(file: UrdfFile) -> dict[str, Mimic]:
    """Return the mimics of a file by the joint that follows."""
    joints = ET.fromstring(file.text).findall("joint")
    tags = ((joint.get("name", ""), joint.find(MIMIC)) for joint in joints)
    return {n: (tag.get("joint", ""), float(tag.get("multiplier", "1")),
                float(tag.get("offset", "0"))) for n, tag in tags if tag is not None}  # fmt: skip


def led_by(mimics: Mapping[str, Mimic], wanted: Mapping[str, str]) -> dict[str, Mimic]:
    """Return mimics turned round where the other file has the same coupling the other way round.

    q_b = m q_a + c is the same as q_a = q_b / m - c / m.

    Args:
        mimics: by the joint that follows.
        wanted: leaders in the other file, by the joint that follows there.
    """
    changed = dict(mimics)
    for name, (lead, times, offset) in mimics.items():
        if wanted.get(lead) == name and lead not in mimics and times:
            del changed[name]
            changed[lead] = name, 1.0 / times, -offset / times
    return changed


def largest(values: Array) -> tuple[int, float]:
    """Return the flat index of the value of the largest magnitude, and the value."""
    at = int(np.argmax(np.abs(values)))
    return at, float(values.flat[at])


def along_axes(want: Array, have: Array) -> tuple[Array, Array]:
    """Return two inertias (3, 3) along the principal axes of the first, if both have the same."""
    axes = np.linalg.eigh(want)[1]
    turned = axes.T @ have @ axes
    off = np.abs(turned - np.diag(np.diag(turned))).max()
    same = off <= PRINCIPAL * np.abs(turned).max()
    return (axes.T @ want @ axes, turned) if same else (want, have)
