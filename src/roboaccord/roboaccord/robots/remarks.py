"""What a user should know of the model that is made of a file: what acts, and what is left out.

Each change to a file, in urdf_changes.py or by a parameter, has a line here, with the option that
undoes it (test_any_robot). The subjects are keys of `model` in `--json`, and stay.
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

HELD = {"fixed": "fixed to the world; --base free lets it move", "free": "free"}
"""How the root moves, by the scenario's base."""


def remarks_on_file(
    setup: Setup, file: UrdfFile, ranges: Mapping[str, tuple[float, float]], moved: float
) -> dict[str, str]:
    """Return what of a file is taken, what is not, and how the base is held, by subject.

    Args:
        setup: the robot of the file in its scenario.
        file: as it was read.
        ranges: limits of the moving joints in the file [rad or m].
        moved: how far the start was moved away from an equilibrium [rad or m]; 0 if it was not.
    """
    base = setup.scenario.base
    renamed = [f"{new} is {old} in the file" for old, new in file.new_names().items() if old != new]
    called = f" ({', '.join(renamed)})" if renamed else ""
    remarks = {
        "contact": "none: there is no ground, and what is drawn touches nothing",
        "base": f"the root link{called} is {HELD.get(base, base)}",
    }
    if setup.initial.q.any() and moved:
        remarks["start"] = f"joints are moved {moved:g} rad or m away from an equilibrium"
    remarks |= _joint_remarks(setup, ranges)
    remarks |= _rotor_remark(setup, file) | _mimic_remark(setup, file)
    if file.notes:
        remarks["file"] = "; ".join(file.notes)
    return remarks


def _joint_remarks(setup: Setup, ranges: Mapping[str, tuple[float, float]]) -> dict[str, str]:
    """Return on how many joints a file has stops, friction and drives, and whether they act."""
    p, moving = setup.parameters, setup.tree.moving
    stops = sum(np.inf not in map(abs, ends) for ends in ranges.values())
    viscous = sum(joint.damping > 0 for joint in moving)
    dry = sum(joint.friction > 0 for joint in moving)
    servos = sum(any(joint.servo) for joint in moving)
    springs = sum(joint.spring[0] > 0 for joint in moving)
    rows = (
        ("joint stops", stops, p.stops, "--set parameters.stops=1 puts them in"),
        ("damping", viscous, p.damping, "--set parameters.damping=1 puts it in"),
        ("springs", springs, p.springs, "--set parameters.springs=1 puts them in"),
        ("actuators", servos, p.actuators, "--set parameters.actuators=1: they hold the start"),
        ("dry friction", dry, p.dry_friction, "--set parameters.dry_friction=1"),
    )
    return {
        name: f"of {count} joint{'s' * (count > 1)}: {'acts' if taken else f'left out; {how}'}"
        for name, count, taken, how in rows
        if count
    }


def _rotor_remark(setup: Setup, file: UrdfFile) -> dict[str, str]:
    """Return of how many joints rotors add to the inertia, and their largest share."""
    by_joint = rotor_inertias(ET.fromstring(file.text))
    driven = [name for name, inertia in by_joint.items() if inertia and name in setup.joints]
    if not driven:
        return {}
    count = f"of {len(driven)} joint{'s' * (len(driven) > 1)}"
    if not setup.parameters.armature:
        return {"rotor inertia": f"{count}: left out; --set parameters.armature=1 puts it in"}
    shares = rotors_of(setup.tree, setup.joints) / inertias(setup)
    most = int(np.argmax(shares))
    share = f"up to {100.0 * shares[most]:.3g} % of what {setup.joints[most]} moves"
    return {"rotor inertia": f"{count}: acts, {share}"}


def _mimic_remark(setup: Setup, file: UrdfFile) -> dict[str, str]:
    """Return which joints mimic others in the file, and what they do here."""
    mimics = [
        str(joint.get("name"))
        for joint in ET.fromstring(file.text).findall("joint")
        if joint.find("mimic") is not None
    ]
    if not mimics:
        return {}
    how = "free; --set parameters.mimic=1 holds them to what they mimic"
    if setup.parameters.mimic:
        how = "exact in the reference, in engines by laws of their own"
    return {"mimic": f"{', '.join(mimics)}: {how}"}
