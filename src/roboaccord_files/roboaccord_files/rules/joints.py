"""Rules for joints: types, axes, limits, angles, gear ratios without rotors, and mimics.

A rule is a row of rules.yaml and a `yield` here, with a planted fault in test/planted/faults.yaml,
on whose line it must be found. The bounds may be tuned as long as sound robots have nothing but
notes (test_rules.py).
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from contextlib import suppress

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import IDENTITY, ORIGIN
from roboaccord.description.broken import Found
from roboaccord.description.rotors import rotor_inertias
from roboaccord.description.source import label, numbers
from roboaccord.description.tree import MOVING
from roboaccord.description.tree_text import ENDLESS
from roboaccord.engines.reading import read_tree

from roboaccord_files.rules.source import Source, norm

# m; a joint farther from its parent is in another unit: 20 mm are 20 in mm, and no link of robots
# is as long.
FAR = 20.0
TYPES = (*MOVING, "fixed", "floating", "planar")
REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")
# rad/s^2 or m/s^2; a joint that its effort limit accelerates more lacks its rotor's inertia. Of 529
# public files (158 with transmissions) 49 have such joints, 161 in all: each has gears and no
# rotor, or an effort of 1000 and more that no drive has (docs/rules.md).
RACING = 2e5
# rad or m; a stop beyond it (115 turns) is no stop. As a limit of 720 degrees, two turns, it is in
# degrees (repair/limits.py).
WIDE = 720.0


def joints(source: Source) -> Found:
    """Yield joints whose type, axis, origin, limits, friction or angles cannot be right."""
    away = list[ET.Element]()
    for joint in source.joints.values():
        origin, limit, axis = (joint.find(tag) for tag in ("origin", "limit", "axis"))
        kind, dynamics = joint.get("type"), joint.find("dynamics")
        if kind not in TYPES:
            message = f"{label(joint)} is of type {kind}"
            yield "joint-type", joint, message, f"one of {', '.join(TYPES)}"
        if kind != "fixed" and axis is not None and (length := norm(numbers(axis, "xyz"))) != 1.0:
            if not length:
                cure = 'write an axis, such as xyz="0 0 1"'
                yield "axis-zero", axis, f"{label(joint)}: its axis is 0", cure
            elif abs(length - 1.0) > 1e-3:
                cure = f"divide it by {length:.6g}"
                yield "axis-length", axis, f"{label(joint)}: an axis of length {length:.4g}", cure
        if origin is not None and norm(numbers(origin, "xyz")) > FAR:
            message = f"{label(joint)} is {norm(numbers(origin, 'xyz')):.4g} m off its parent"
            yield "length-unit", origin, message, "write it in m"
        if limit is not None and kind in ("revolute", "prismatic", "continuous"):
            lower, upper = (numbers(limit, key) for key in ("lower", "upper"))
            if lower and upper and lower > upper:
                message = f"{label(joint)}: lower {lower[0]:g} above upper {upper[0]:g}"
                yield "limits-swapped", limit, message, "swap them"
            if kind != "continuous" and lower and upper and lower[0] <= upper[0]:
                away += [] if lower[0] <= 0.0 <= upper[0] else [joint]
            wide = max(map(abs, [*lower, *upper]), default=0.0)
            ours = source.file.form and wide == ENDLESS
            if kind != "continuous" and wide > WIDE and not ours:
                message = f"{label(joint)}: a stop at {wide:g}"
                yield "limit-wide", limit, message, 'type="continuous", or the true stop'
            for key in ("effort", "velocity"):
                if numbers(limit, key) == [0.0]:
                    message = f"{label(joint)}: {key} is 0"
                    yield f"{key}-zero", limit, message, "write what the drive can do"
        for key in ("damping", "friction"):
            if sum(numbers(dynamics, key)) < 0.0:
                message = f"{label(joint)}: {key} is below 0"
                yield "damping-negative", joint, message, "write it positive"
    if away:
        message = f"0 is outside the limits of {', '.join(map(label, away[:4]))}"
        message += f" and {len(away) - 4} more" if len(away) > 4 else ""
        yield "limits-without-0", away[0], message, "start each within its limits"
    yield from _reductions(source)
    for origin in source.top.iter("origin"):
        turn = max(map(abs, numbers(origin, "rpy")), default=0.0)
        if turn > 2.0 * math.pi + 1e-3:
            owner = source.parents[origin]
            owner = owner if owner.get("name") else source.parents[owner]
            message = f"{label(owner)}: an rpy of {turn:g} rad"
            yield "angle-unit", origin, message, "write it in rad"


def _reductions(source: Source) -> Found:
    """Yield gears whose rotor has no inertia in the file.

    A gear of ratio r adds r^2 times its rotor's inertia to the joint. A ratio of 1 may be a default
    that nobody set: it is found only if the effort limit would accelerate the joint beyond RACING.
    """
    with_rotor, moved = rotor_inertias(source.top), dict[str, float]()
    for drive in source.top.iter("transmission"):
        named = (e for tag in REDUCTIONS for e in drive.iter(tag))
        words = [word for e in named for word in (e.text or "").split()]
        ratio = 1.0
        with suppress(ValueError):
            ratio = max((abs(float(word)) for word in words), default=1.0)
        names = [joint.get("name", "") for joint in drive.iter("joint")]
        if any(name in with_rotor for name in names):
            continue
        cure = "write <drake:rotor_inertia>, or armature"
        for joint in (source.joints[n] for n in names if n in source.joints and ratio <= 1.0):
            moved = moved or moved_inertias(source)
            name, effort = joint.get("name", ""), sum(numbers(joint.find("limit"), "effort"))
            if effort > RACING * moved.get(name, math.inf) > 0.0:
                unit = "m/s^2" if joint.get("type") == "prismatic" else "rad/s^2"
                message = (
                    f"{label(joint)}: an effort of {effort:g} accelerates it to "
                    f"{effort / moved[name]:.1g} {unit}: its rotor is not in the file, "
                    "or no drive has this effort"
                )
                yield "reduction-inertia", drive, message, cure
        if ratio > 1.0:
            times = f"{ratio:g} to 1, {ratio * ratio:g} times the rotor's inertia"
            message = f"{label(drive)}: {times}, which is not in the file"
            yield "reduction-inertia", drive, message, cure


def moved_inertias(source: Source) -> dict[str, float]:
    """Return the inertia that each joint moves about its axis, or the mass along it, at q = 0.

    In kg m^2 or kg, by name of the joint.
    """
    try:
        tree = read_tree(source.file.stripped())
        names = tuple(joint.name for joint in tree.moving)
        places, turns = tree.forward(names, np.zeros(len(names)), ORIGIN, IDENTITY)
    except (AccordError, ValueError):  # other rules find the reason
        return {"": 0.0}
    at = {link.name: i for i, link in enumerate(tree.links)}
    masses = np.array([link.mass for link in tree.links])
    inertias = turns @ np.array([link.inertia for link in tree.links]) @ turns.swapaxes(1, 2)
    offsets = np.array([link.centre for link in tree.links])
    centres = places + np.einsum("kij,kj->ki", turns, offsets)
    carried = {name: {name} for name in at}
    for joint in reversed(tree.joints):
        carried[joint.parent] |= carried[joint.child]
    moved = dict[str, float]()
    for joint in tree.moving:
        foot, links = at[joint.child], [at[name] for name in carried[joint.child]]
        axis = turns[foot] @ joint.axis
        arms = np.cross(axis, centres[links] - places[foot])
        about = masses[links] * (arms**2).sum(axis=1) + axis @ inertias[links] @ axis
        moved[joint.name] = float(sum(masses[links] if joint.kind == "prismatic" else about))
    return moved


def mimics(source: Source) -> Found:
    """Yield joints that mimic an absent joint, or, over others, themselves."""
    leads = dict[str, str]()
    for name, joint in source.joints.items():
        mimic = joint.find("mimic")
        if mimic is not None:
            leads[name] = mimic.get("joint", "")
            if leads[name] not in source.joints:
                message = f"{label(joint)} mimics {leads[name] or 'nothing'}, which is not there"
                yield "mimic-unknown", mimic, message, "name a joint of this file"
    for name in leads:
        seen = [name]
        while (lead := leads.get(seen[-1])) is not None and lead not in seen:
            seen.append(lead)
        if lead == name:
            element = source.joints[name]
            over = f" over {', '.join(seen[1:])}" if seen[1:] else ""
            message = f"{label(element)} mimics itself{over}"
            yield "mimic-cycle", element, message, "name a joint that moves by itself"
