"""Name the causes of differences by the property that an engine reads differently, with proof.

For each link or joint that differs, the reference (the analytical model) is given the property as
the engine has read it: if the rest then agrees, the property is proven to be the cause. `_name`
and `_name_link` find its name, such as "axis flipped"; the cures are in words.py. Names are keys of
`counts` in the JSON. A new property must also be handed over in `_transplant`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.description.tree import Tree
from roboaccord.engines.differences import Difference
from roboaccord.engines.model import LinkProperties
from roboaccord.engines.reading import Reading

from roboaccord_files.parity.compare import (
    DYNAMICS,
    Asked,
    ReferenceReading,
    compare,
    kept,
    lumps,
    relative_poses,
)
from roboaccord_files.parity.words import cure
from roboaccord_files.repair.trap import Flaw, Trap, causes_at

DOUBLE = "duplicate joint name"
OF_LINKS = ("link", "mass", "centre", "inertia")
DEGREES = 180.0 / np.pi  # degrees in a radian
# Relative; numbers this near are the same: it is above SDFormat's rounding of angles (1e-8), and
# below six digits.
LIKE = 1e-6
# Relative; limits whose ratio is this near to DEGREES are in degrees, as 57.3 for 57.2958. The
# ratio of 57.3 is 7e-5 off, that of 57 would be 5e-3.
RATIO = 1e-3


def by_property(outcome: Asked, traps: Sequence[Trap]) -> list[Flaw]:
    """Return the wrong properties of a reading, link by link and joint by joint, with proof.

    Args:
        outcome: reading of a text without the traps that the ablation has found.
        traps: of the text that the engine is given, for the names of causes.
    """
    reading, reference = outcome.reading, outcome.reference
    if reading is None or reference is None:
        return []
    differences = dict[str, list[Difference]]()
    for d in outcome.differences:
        if d.excess > 1.0 and d.quantity not in DYNAMICS:
            differences.setdefault(d.where, []).append(d)
    wrong = _upmost(reference.tree, differences)
    after = _with(reference, reading, wrong) if wrong else None
    flaws = []
    for name in wrong:
        before = _with(reference, reading, [other for other in wrong if other != name])
        cause, fix = _name(differences[name], reference, reading, traps)
        twice = [t for t in traps if t.cause == DOUBLE and cause == "joint dropped"]
        cause, where = (DOUBLE, twice[0].where) if twice else (cause, (name,))
        flaws.append(Flaw(causes_at(cause, where), before, after, fix))
    return list(dict.fromkeys(flaws))


def _upmost(tree: Tree, differences: Mapping[str, Sequence[Difference]]) -> list[str]:
    """Return the links and joints that differ, in the order of the tree.

    A joint whose difference follows from one nearer to the root is left out.
    """
    above = {joint.child: joint for joint in tree.joints}
    moved = {n for n, ds in differences.items() if {"origin", "joint"} & {d.quantity for d in ds}}

    def carried(parent: str) -> bool:
        while parent in above:
            if above[parent].name in moved:
                return True
            parent = above[parent].parent
        return False

    joints = [j.name for j in tree.joints if j.name in differences and not carried(j.parent)]
    links = [k.name for k in tree.links if k.name in differences]
    in_tree = {*links, *(joint.name for joint in tree.joints)}
    return [*links, *joints, *(name for name in differences if name not in in_tree)]


def _with(reference: ReferenceReading, reading: Reading, names: Iterable[str]) -> float | None:
    """Return the error of a reading if the reference has some links and joints as the engine."""
    tree = reference.tree
    for name in names:
        tree = _transplant(tree, reference, reading, name)
    try:
        changed = ReferenceReading(tree, reference.question, reference.rounded)
    except AccordError:
        return None
    return compare(changed, reading)[0].finite


def _transplant(tree: Tree, reference: ReferenceReading, reading: Reading, name: str) -> Tree:
    """Return a tree in which the link or joint of a name is as the engine has read it."""
    links, joints = list(tree.links), list(tree.joints)
    if name in reading.links:
        have, members = reading.links[name], lumps(reference, reading).get(name, ())
        for i, link in enumerate(links):
            if link.name == name:
                links[i] = replace(link, mass=have.mass, centre=have.centre, inertia=have.inertia)
            elif link.name in members:
                links[i] = replace(link, mass=0.0, inertia=np.zeros((3, 3)))
    for i, joint in enumerate(joints):
        if joint.name == name and name in reading.hinges:
            hinge, poses = reading.hinges[name], relative_poses(tree, tree.links[0].name)
            at, turn = poses[joint.parent]
            joints[i] = replace(
                joint,
                position=turn.T @ (hinge.anchor - at),
                axis=poses[joint.child][1].T @ hinge.axis,
                lower=hinge.lower,
                upper=hinge.upper,
                kind="revolute" if joint.kind == "continuous" else joint.kind,
                armature=reading.apart.get("armature", {}).get(name, 0.0),
            )
    return replace(tree, links=tuple(links), joints=tuple(joints))


def _name(
    differences: Sequence[Difference],
    reference: ReferenceReading,
    reading: Reading,
    traps: Sequence[Trap],
) -> tuple[str, str]:
    """Return the name of a cause and its cure, from the differences of one link or joint."""
    where, off = differences[0].where, {d.quantity: d.text for d in differences}
    for trap in traps:
        of_link = trap.cause.startswith("0 kg") or "inertia" in trap.cause
        if where in trap.where and (of_link and off.keys() & set(OF_LINKS)):
            return trap.cause, trap.fix
    if off.keys() & {"link", "joint"}:
        return _named("link dropped" if "link" in off else "joint dropped")
    if off.keys() & set(OF_LINKS):
        return _name_link(kept(reference, reading)[where], reading.links[where], off)
    if "armature" in off:
        rotors = (each.apart.get("armature", {}) for each in (reading, reference.reading))
        one, two = (each.get(where, 0.0) for each in rotors)
        return _named("armature", have=one, want=two)
    want, have = reference.reading.hinges[where], reading.hinges[where]
    if "axis" in off:
        if np.allclose(want.axis, -have.axis, atol=LIKE):
            return _named("axis flipped")
        return _named("axis", how=off["axis"])
    if "origin" in off:
        return _named("origin")
    ends = np.array([[want.lower, want.upper], [have.lower, have.upper]])
    if np.isfinite(ends).all() and ends.any():
        ratio = float(np.abs(ends[1]).max() / (np.abs(ends[0]).max() or 1.0))
        if abs(ratio / DEGREES - 1.0) < RATIO:
            return _named("limit in degrees")
    return _named("limit", lower=have.lower, upper=have.upper)


def _named(cause: str, **figures: Any) -> tuple[str, str]:
    """Return a cause with its cure."""
    return cause, cure(cause, **figures)


def _name_link(
    want: LinkProperties, have: LinkProperties, off: Mapping[str, str]
) -> tuple[str, str]:
    """Return the name of what is wrong in a link, and its cure."""
    if not have.mass and want.mass:
        return _named("missing inertial")
    if "mass" in off:
        return _named("mass", how=off["mass"], have=have.mass, want=want.mass)
    if "centre" in off:
        return _named("centre")
    mine, axes = np.linalg.eigh(have.inertia)
    other, frame = np.linalg.eigh(want.inertia)
    if np.allclose(mine, other, rtol=LIKE, atol=0.0):
        same = np.isclose(mine, mine[:, None], rtol=LIKE, atol=0.0)  # of equal ones, any axes do
        u, _, v = np.linalg.svd(np.where(same, frame.T @ axes, 0.0))
        turn = frame @ u @ v @ axes.T
        angle = np.degrees(np.arccos(np.clip((np.trace(turn) - 1.0) / 2.0, -1.0, 1.0)))
        return _named("inertial rotated", angle=angle)
    return _named("inertia")
