"""Name the causes of differences by the property that an engine reads differently, with proof.

`by_property` takes an engine's reading that differs from the reference, the analytical model of the
same text. For each link or joint that differs, the reference is given the property as the engine
has read it (`_as_read`): if the readings then agree, the property is proven to be the
cause. `_cause_of_link` and `_cause_of_joint` find its name, such as "axis flipped"; words.py has
the advice on it (cure). A trap, text that readers interpret differently (ablation.py), names the
cause where it is known to lead to just this difference.

Names of causes are keys of `counts` in the JSON. A new property must also be handed over in
`_as_read`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.description.tree import Tree
from roboaccord.engines import LinkProperties, Reading
from roboaccord.engines.differences import Difference

from roboaccord_files.parity.compare import DYNAMICS, ReadingOutcome, ReferenceReading, compare
from roboaccord_files.parity.lumps import lumped_links, lumps, relative_poses
from roboaccord_files.parity.words import cure
from roboaccord_files.repair.trap import Flaw, Trap, causes_at

# Trap after which an engine lacks a joint: its name, and that of the cause which it stands for.
DUPLICATE_JOINT = "duplicate joint name"
JOINT_DROPPED = "joint dropped"
# Quantities of links by which a reading can differ; "link" if it lacks the whole link.
LINK_QUANTITIES = ("link", "mass", "centre", "inertia")
DEGREES_PER_RADIAN = 180.0 / np.pi  # degrees in a radian
# Relative error up to which numbers count as equal: above SDFormat's rounding of angles (1e-8), and
# below the rounding of numbers with six digits.
NUMBER_TOLERANCE = 1e-6
# Relative error of a ratio of limits that counts as DEGREES_PER_RADIAN: the ratio 57.3 for 57.2958
# is 7e-5 off, 57 would be 5e-3 off.
DEGREES_TOLERANCE = 1e-3


def by_property(outcome: ReadingOutcome, traps: Sequence[Trap]) -> list[Flaw]:
    """Return the wrong properties of a reading, link by link and joint by joint, with proof.

    Args:
        outcome: reading of a text without the traps that the ablation has found.
        traps: traps of the text that the engine is given, for the names of causes.
    """
    reading, reference = outcome.reading, outcome.reference
    if reading is None or reference is None:
        return []
    differences = dict[str, list[Difference]]()
    for d in outcome.differences:
        if d.excess > 1.0 and d.quantity not in DYNAMICS:
            differences.setdefault(d.where, []).append(d)
    differing = _independent(reference.tree, differences)
    after = _error_with(reference, reading, differing) if differing else None
    flaws = []
    for name in differing:
        others = [other for other in differing if other != name]
        before = _error_with(reference, reading, others)
        cause, fix = _cause_of(differences[name], reference, reading, traps)
        where: tuple[str, ...] = (name,)
        duplicates = [trap for trap in traps if trap.cause == DUPLICATE_JOINT]
        if duplicates and cause == JOINT_DROPPED:
            cause, where = DUPLICATE_JOINT, duplicates[0].where
        flaws.append(Flaw(causes_at(cause, where), before, after, fix))
    return list(dict.fromkeys(flaws))


def _independent(tree: Tree, differences: Mapping[str, Sequence[Difference]]) -> list[str]:
    """Return the links and joints that differ by themselves, in the order of the tree.

    A joint is left out if its difference follows from a displaced joint nearer to the root.
    """
    joint_above = {joint.child: joint for joint in tree.joints}
    moves = ("origin", "joint")  # quantities that displace all links which the joint carries
    displaced = {n for n, found in differences.items() if any(d.quantity in moves for d in found)}

    def is_carried(link: str) -> bool:
        """Return whether a joint between a link and the root is displaced."""
        while link in joint_above:
            if joint_above[link].name in displaced:
                return True
            link = joint_above[link].parent
        return False

    joints = [j.name for j in tree.joints if j.name in differences and not is_carried(j.parent)]
    links = [k.name for k in tree.links if k.name in differences]
    in_tree = {*links, *(joint.name for joint in tree.joints)}
    return [*links, *joints, *(name for name in differences if name not in in_tree)]


def _error_with(reference: ReferenceReading, reading: Reading, names: list[str]) -> float | None:
    """Return the error of a reading after some links and joints of the reference are replaced.

    They are given the properties that the engine has read. None if the error is not finite, or the
    reference then has no accelerations.
    """
    tree = reference.tree
    for name in names:
        tree = _as_read(tree, reading, name, lumps(reference.tree, reading).get(name, ()))
    try:
        changed = ReferenceReading(tree, reference.question, reference.rounded)
    except AccordError:
        return None
    return compare(changed, reading)[0].finite


def _as_read(tree: Tree, reading: Reading, name: str, members: Sequence[str]) -> Tree:
    """Return a tree in which the link or joint of a name is as the engine has read it.

    Args:
        tree: links and joints to begin with.
        reading: reading of the engine.
        name: name of the link or joint.
        members: links that the engine has merged into the link; they lose their mass.
    """
    links, joints = list(tree.links), list(tree.joints)
    if name in reading.links:
        read = reading.links[name]
        for i, link in enumerate(links):
            if link.name == name:
                links[i] = replace(link, mass=read.mass, centre=read.centre, inertia=read.inertia)
            elif link.name in members:
                links[i] = replace(link, mass=0.0, inertia=np.zeros((3, 3)))
    for i, joint in enumerate(joints):
        if joint.name == name and name in reading.hinges:
            hinge, poses = reading.hinges[name], relative_poses(tree, tree.links[0].name)
            origin, rotation = poses[joint.parent]  # in the frame of the root, as `hinge`
            joints[i] = replace(
                joint,
                position=rotation.T @ (hinge.anchor - origin),
                axis=poses[joint.child].rotation.T @ hinge.axis,
                lower=hinge.lower,
                upper=hinge.upper,
                kind="revolute" if joint.kind == "continuous" else joint.kind,
                armature=reading.apart.get("armature", {}).get(name, 0.0),
            )
    return replace(tree, links=tuple(links), joints=tuple(joints))


def _cause_of(
    differences: Sequence[Difference],
    reference: ReferenceReading,
    reading: Reading,
    traps: Sequence[Trap],
) -> tuple[str, str]:
    """Return the name of a cause and its cure, from the differences of one link or joint."""
    where = differences[0].where
    text_by_quantity = {d.quantity: d.text for d in differences}
    is_of_link = bool(text_by_quantity.keys() & set(LINK_QUANTITIES))
    for trap in traps:
        # Traps of mass and inertia, such as "0 kg link with an inertia" (repair/masses.py).
        is_inertial = trap.cause.startswith("0 kg") or "inertia" in trap.cause
        if where in trap.where and is_inertial and is_of_link:
            return trap.cause, trap.fix
    if "link" in text_by_quantity:
        return _named("link dropped")
    if "joint" in text_by_quantity:
        return _named(JOINT_DROPPED)
    if is_of_link:
        expected_link = lumped_links(reference.tree, reading)[where]
        return _cause_of_link(expected_link, reading.links[where], text_by_quantity)
    return _cause_of_joint(where, reference, reading, text_by_quantity)


def _cause_of_joint(
    where: str, reference: ReferenceReading, reading: Reading, text_by_quantity: Mapping[str, str]
) -> tuple[str, str]:
    """Return the name of the property that differs in a joint, and its cure.

    Args:
        where: name of the joint.
        reference, reading: what the reference and the engine have read.
        text_by_quantity: the differences in words.
    """
    if "armature" in text_by_quantity:
        in_engine = reading.apart.get("armature", {}).get(where, 0.0)
        in_file = reference.reading.apart.get("armature", {}).get(where, 0.0)
        return _named("armature", have=in_engine, want=in_file)
    expected, read = reference.reading.hinges[where], reading.hinges[where]
    if "axis" in text_by_quantity:
        if np.allclose(expected.axis, -read.axis, atol=NUMBER_TOLERANCE):
            return _named("axis flipped")
        return _named("axis", how=text_by_quantity["axis"])
    if "origin" in text_by_quantity:
        return _named("origin")
    limits = np.array([[expected.lower, expected.upper], [read.lower, read.upper]])
    if np.isfinite(limits).all() and limits.any():
        ratio = float(np.abs(limits[1]).max() / (np.abs(limits[0]).max() or 1.0))
        if abs(ratio / DEGREES_PER_RADIAN - 1.0) < DEGREES_TOLERANCE:
            return _named("limit in degrees")
    return _named("limit", lower=read.lower, upper=read.upper)


def _named(cause: str, **figures: Any) -> tuple[str, str]:
    """Return a cause with its cure, whose figures are filled in."""
    return cause, cure(cause, **figures)


def _cause_of_link(
    expected: LinkProperties, read: LinkProperties, text_by_quantity: Mapping[str, str]
) -> tuple[str, str]:
    """Return the name of the property that differs in a link, and its cure.

    Args:
        expected: properties of the link in the reference.
        read: those that the engine has read.
        text_by_quantity: the differences in words.
    """
    if not read.mass and expected.mass:
        return _named("missing inertial")
    if "mass" in text_by_quantity:
        how = text_by_quantity["mass"]
        return _named("mass", how=how, have=read.mass, want=expected.mass)
    if "centre" in text_by_quantity:
        return _named("centre")
    moments, axes = np.linalg.eigh(read.inertia)
    expected_moments, expected_axes = np.linalg.eigh(expected.inertia)
    if np.allclose(moments, expected_moments, rtol=NUMBER_TOLERANCE, atol=0.0):
        # The smallest rotation between the principal axes. Axes of equal moments are free in their
        # plane, and are aligned by the orthogonal Procrustes problem.
        are_equal = np.isclose(moments, moments[:, None], rtol=NUMBER_TOLERANCE, atol=0.0)
        u, _, v = np.linalg.svd(np.where(are_equal, expected_axes.T @ axes, 0.0))
        turn = expected_axes @ u @ v @ axes.T
        # The cosine of the angle of a rotation follows from its trace, but for round-off.
        angle = np.degrees(np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0)))
        return _named("inertial rotated", angle=angle)
    return _named("inertia")
