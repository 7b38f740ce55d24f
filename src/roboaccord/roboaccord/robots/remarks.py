"""Remarks to the user on the model that is made of a file: what acts in it, and what is left out.

`remarks_on_file` is called by `FileRobot` (file.py), and a run shows its texts. Each function here
returns texts by subject; the subjects are keys of `model` in `--json`, and stay. Every change to a
file, by urdf_changes.py or by a parameter, has a remark with the option that switches it
(test_any_robot).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np

from roboaccord.description.rotors import rotor_inertias
from roboaccord.description.tree import rotors_of
from roboaccord.description.urdf_file import UrdfFile
from roboaccord.robots.controllers import inertias
from roboaccord.scenario.setup import Setup

# Text on how the root moves, by kind of base.
BASE_TEXTS = {"fixed": "fixed to the world; --base free lets it move", "free": "free"}


def remarks_on_file(
    setup: Setup, file: UrdfFile, ranges: Mapping[str, tuple[float, float]], moved: float
) -> dict[str, str]:
    """Return all remarks by subject: contact, base, initial state, joints, and notes of readers.

    Args:
        setup: the robot of the file in its scenario.
        file: the file as it was read.
        ranges: limits of the moving joints in the file [rad or m].
        moved: distance by which the start was moved away from an equilibrium [rad or m], or 0.
    """
    base = setup.scenario.base
    renamed = [f"{new} is {old} in the file" for old, new in file.new_names().items() if old != new]
    called = f" ({', '.join(renamed)})" if renamed else ""
    remarks = {
        "contact": "none: there is no ground, and what is drawn touches nothing",
        "base": f"the root link{called} is {BASE_TEXTS.get(base, base)}",
    }
    if setup.initial.q.any() and moved:
        remarks["start"] = f"joints are moved {moved:g} rad or m away from an equilibrium"
    remarks |= _joint_remarks(setup, ranges)
    remarks |= _rotor_remark(setup, file) | _mimic_remark(setup, file)
    if file.notes:
        remarks["file"] = "; ".join(file.notes)
    return remarks


def _joint_remarks(setup: Setup, ranges: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """Return how many joints have stops, friction, springs and actuators, and if these act."""
    parameters, moving = setup.parameters, setup.tree.moving
    stops = sum(np.inf not in map(abs, ends) for ends in ranges.values())
    viscous = sum(joint.damping > 0 for joint in moving)
    dry = sum(joint.friction > 0 for joint in moving)
    servos = sum(any(joint.servo) for joint in moving)
    springs = sum(joint.spring[0] > 0 for joint in moving)
    # Subject, number of joints that have it, whether it acts, and the option that switches it on.
    rows = (
        ("joint stops", stops, parameters.stops, "stops=1 puts them in"),
        ("damping", viscous, parameters.damping, "damping=1 puts it in"),
        ("springs", springs, parameters.springs, "springs=1 puts them in"),
        ("actuators", servos, parameters.actuators, "actuators=1: they hold the start"),
        ("dry friction", dry, parameters.dry_friction, "dry_friction=1"),
    )
    return {
        subject: f"{_of_joints(count)}: "
        + ("acts" if acts else f"left out; --set parameters.{option}")
        for subject, count, acts, option in rows
        if count
    }


def _of_joints(count: int) -> str:
    """Return "of 1 joint", "of 2 joints", ..."""
    return f"of {count} joint" if count == 1 else f"of {count} joints"


def _rotor_remark(setup: Setup, file: UrdfFile) -> dict[str, str]:
    """Return how many joints have rotors, and the largest share of these in a joint's inertia."""
    by_joint = rotor_inertias(ET.fromstring(file.text))
    driven = [name for name, inertia in by_joint.items() if inertia and name in setup.joints]
    if not driven:
        return {}
    count = _of_joints(len(driven))
    if not setup.parameters.armature:
        return {"rotor inertia": f"{count}: left out; --set parameters.armature=1 puts it in"}
    shares = rotors_of(setup.tree, setup.joints) / inertias(setup)
    largest = int(np.argmax(shares))
    share = f"up to {100.0 * shares[largest]:.3g} % of what {setup.joints[largest]} moves"
    return {"rotor inertia": f"{count}: acts, {share}"}


def _mimic_remark(setup: Setup, file: UrdfFile) -> dict[str, str]:
    """Return which joints mimic others in the file, and whether they follow them."""
    joints = ET.fromstring(file.text).findall("joint[mimic]")
    mimics = [str(joint.get("name")) for joint in joints]
    if not mimics:
        return {}
    how = "free; --set parameters.mimic=1 holds them to what they mimic"
    if setup.parameters.mimic:
        how = "exact in the reference, in engines by laws of their own"
    return {"mimic": f"{', '.join(mimics)}: {how}"}
