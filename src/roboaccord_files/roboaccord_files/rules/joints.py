"""Rules for joints: types, axes, limits, angles, gear ratios without rotors, and mimics.

find.py calls `joints` and `mimics`, which take the file (source.py) and yield findings: rule,
element, message and cure. A further rule is a row of rules.yaml and a `yield` here, with a planted
fault in test/planted/faults.yaml, on whose line it must be found. The bounds may be tuned as long
as sound robots have nothing but notes (test_rules.py).
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from contextlib import suppress

import numpy as np
from roboaccord.contract import IDENTITY, ORIGIN, AccordError
from roboaccord.description.broken import Found
from roboaccord.description.rotors import rotor_inertias
from roboaccord.description.source import label, numbers
from roboaccord.description.tree import MOVING
from roboaccord.description.tree_text import ENDLESS
from roboaccord.engines.reading import read_tree

from roboaccord_files.repair.joints import LENGTH_ERROR
from roboaccord_files.rules.source import Source, norm

# m; a joint at a larger distance from its parent is in another unit: the number 20 is 20 mm in mm,
# and no robot has a link of 20 m.
MAX_DISTANCE = 20.0
MAX_ANGLE = 2.0 * math.pi + 1e-3  # rad; a larger rpy is in degrees; a turn, and its rounding
TYPES = (*MOVING, "fixed", "floating", "planar")
REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")  # elements with a gear ratio
# rad/s^2 or m/s^2; if the effort limit of a joint would accelerate it more, the inertia of its
# rotor is missing. Of 529 public files (158 with transmissions) 49 have such joints, 161 in all:
# each has gears and no rotor, or an effort of 1000 and more that no drive has (docs/rules.md).
MAX_ACCELERATION = 2e5
# rad or m; a larger limit (115 turns) is no stop. In degrees it would be two turns
# (repair/limits.py).
MAX_STOP = 720.0


def joints(source: Source) -> Found:
    """Yield joints whose type, axis, origin, limits, friction, gears or angles are implausible."""
    for joint in source.joints.values():
        yield from _type_and_geometry(joint)
        yield from _limits(source, joint)
        for key in ("damping", "friction"):
            if sum(numbers(joint.find("dynamics"), key)) < 0.0:
                message = f"{label(joint)}: {key} is below 0"
                yield "damping-negative", joint, message, "write it positive"
    without_zero = [joint for joint in source.joints.values() if _excludes_zero(joint)]
    if without_zero:
        message = f"0 is outside the limits of {', '.join(map(label, without_zero[:4]))}"
        message += f" and {len(without_zero) - 4} more" if len(without_zero) > 4 else ""
        yield "limits-without-0", without_zero[0], message, "start each within its limits"
    yield from _reductions(source)
    for origin in source.top.iter("origin"):
        angle = max(map(abs, numbers(origin, "rpy")), default=0.0)
        if angle > MAX_ANGLE:
            owner = source.parents[origin]
            owner = owner if owner.get("name") else source.parents[owner]
            message = f"{label(owner)}: an rpy of {angle:g} rad"
            yield "angle-unit", origin, message, "write it in rad"


def _type_and_geometry(joint: ET.Element) -> Found:
    """Yield findings on the type, the axis and the origin of a joint."""
    kind, axis, origin = joint.get("type"), joint.find("axis"), joint.find("origin")
    if kind not in TYPES:
        message = f"{label(joint)} is of type {kind}"
        yield "joint-type", joint, message, f"one of {', '.join(TYPES)}"
    if kind != "fixed" and axis is not None:
        length = norm(numbers(axis, "xyz"))
        if not length:
            cure = 'write an axis, such as xyz="0 0 1"'
            yield "axis-zero", axis, f"{label(joint)}: its axis is 0", cure
        elif abs(length - 1.0) > LENGTH_ERROR:
            cure = f"divide it by {length:.6g}"
            yield "axis-length", axis, f"{label(joint)}: an axis of length {length:.4g}", cure
    if origin is not None and norm(numbers(origin, "xyz")) > MAX_DISTANCE:
        message = f"{label(joint)} is {norm(numbers(origin, 'xyz')):.4g} m off its parent"
        yield "length-unit", origin, message, "write it in m"


def _limits(source: Source, joint: ET.Element) -> Found:
    """Yield findings on the limits of a joint."""
    kind, limit = joint.get("type"), joint.find("limit")
    if limit is None or kind not in ("revolute", "prismatic", "continuous"):
        return
    lower, upper = numbers(limit, "lower"), numbers(limit, "upper")
    if lower and upper and lower > upper:
        message = f"{label(joint)}: lower {lower[0]:g} above upper {upper[0]:g}"
        yield "limits-swapped", limit, message, "swap them"
    widest = max(map(abs, [*lower, *upper]), default=0.0)
    is_converted = source.file.form and widest == ENDLESS  # by us, from a joint without limits
    if kind != "continuous" and widest > MAX_STOP and not is_converted:
        message = f"{label(joint)}: a stop at {widest:g}"
        yield "limit-wide", limit, message, 'type="continuous", or the true stop'
    for key in ("effort", "velocity"):
        if numbers(limit, key) == [0.0]:
            message = f"{label(joint)}: {key} is 0"
            yield f"{key}-zero", limit, message, "write what the drive can do"


def _excludes_zero(joint: ET.Element) -> bool:
    """Return whether a joint has limits in the right order, and 0 is not between them."""
    limit = joint.find("limit")
    lower, upper = (numbers(limit, key) for key in ("lower", "upper"))
    if joint.get("type") not in ("revolute", "prismatic") or not (lower and upper):
        return False
    return lower[0] <= upper[0] and not lower[0] <= 0.0 <= upper[0]


def _reductions(source: Source) -> Found:
    """Yield gears whose rotor has no inertia in the file.

    A gear of ratio r adds r^2 times its rotor's inertia to the joint. A ratio of 1 may be a default
    that nobody set: it is found only if the effort limit would accelerate the joint beyond
    MAX_ACCELERATION.
    """
    with_rotor = rotor_inertias(source.top)
    moved = dict[str, float]()  # inertias, once they are needed
    cure = "write <drake:rotor_inertia>, or armature"
    for drive in source.top.iter("transmission"):
        ratio = _ratio(drive)
        names = [joint.get("name", "") for joint in drive.iter("joint")]
        if any(name in with_rotor for name in names):
            continue
        if ratio > 1.0:
            times = f"{ratio:g} to 1, {ratio * ratio:g} times the rotor's inertia"
            message = f"{label(drive)}: {times}, which is not in the file"
            yield "reduction-inertia", drive, message, cure
            continue
        for name in (name for name in names if name in source.joints):
            joint = source.joints[name]
            moved = moved or moved_inertias(source)
            effort = sum(numbers(joint.find("limit"), "effort"))
            if effort > MAX_ACCELERATION * moved.get(name, math.inf) > 0.0:
                unit = "m/s^2" if joint.get("type") == "prismatic" else "rad/s^2"
                rate = f"{effort / moved[name]:.1g} {unit}"
                result = f"an effort of {effort:g} accelerates it to {rate}"
                why = "its rotor is not in the file, or no drive has this effort"
                yield "reduction-inertia", drive, f"{label(joint)}: {result}: {why}", cure


def _ratio(transmission: ET.Element) -> float:
    """Return the largest gear ratio of a transmission, 1 if it has none that is a number."""
    tags = (element for tag in REDUCTIONS for element in transmission.iter(tag))
    words = [word for element in tags for word in (element.text or "").split()]
    with suppress(ValueError):
        return max((abs(float(word)) for word in words), default=1.0)
    return 1.0


def moved_inertias(source: Source) -> dict[str, float]:
    """Return the inertia [kg m^2] that each joint moves about its axis, at q = 0, by its name.

    Of a sliding joint it is the mass [kg].
    """
    try:
        tree = read_tree(source.file.stripped())
        names = tuple(joint.name for joint in tree.moving)
        origins, turns = tree.forward(names, np.zeros(len(names)), ORIGIN, IDENTITY)
    except (AccordError, ValueError):  # other rules find the reason
        return {"": 0.0}
    index = {link.name: i for i, link in enumerate(tree.links)}
    masses = np.array([link.mass for link in tree.links])
    inertias = turns @ np.array([link.inertia for link in tree.links]) @ turns.swapaxes(1, 2)
    offsets = np.array([link.centre for link in tree.links])
    centres = origins + np.einsum("kij,kj->ki", turns, offsets)
    carried = {name: {name} for name in index}  # links that each link carries, and the link itself
    for joint in reversed(tree.joints):
        carried[joint.parent] |= carried[joint.child]
    moved = dict[str, float]()
    for joint in tree.moving:
        child = index[joint.child]
        links = [index[name] for name in carried[joint.child]]
        axis = turns[child] @ joint.axis
        arms = np.cross(axis, centres[links] - origins[child])
        about = masses[links] * (arms**2).sum(axis=1) + axis @ inertias[links] @ axis
        moved[joint.name] = float(sum(masses[links] if joint.kind == "prismatic" else about))
    return moved


def mimics(source: Source) -> Found:
    """Yield joints that mimic an absent joint, or that mimic themselves by way of others."""
    leader_of = dict[str, str]()
    for name, joint in source.joints.items():
        mimic = joint.find("mimic")
        if mimic is not None:
            leader = mimic.get("joint", "")
            leader_of[name] = leader
            if leader not in source.joints:
                message = f"{label(joint)} mimics {leader or 'nothing'}, which is not there"
                yield "mimic-unknown", mimic, message, "name a joint of this file"
    for name in leader_of:
        chain = [name]
        leader = leader_of[name]
        while leader in leader_of and leader not in chain:
            chain.append(leader)
            leader = leader_of[leader]
        if leader == name:
            element = source.joints[name]
            over = f" over {', '.join(chain[1:])}" if chain[1:] else ""
            message = f"{label(element)} mimics itself{over}"
            yield "mimic-cycle", element, message, "name a joint that moves by itself"
