"""Named poses, from config/packbot.srdf, and the joints' limits that every pose keeps."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.state import Array
from roboaccord.description.resources import share

from packbot.model.parameters import JOINTS, PackbotParameters


def pose(name: str) -> Array:
    """Return the joint angles (7,) [rad] of a named pose.

    Raises:
        AccordError: if there is none of that name.
    """
    poses = named_poses()
    if name not in poses:
        raise AccordError(f"unknown pose {name}{did_you_mean(name, poses)}")
    return np.array(poses[name])


@cache
def named_poses() -> dict[str, tuple[float, ...]]:
    """Return the angles of all joints [rad] by the name of the pose."""
    top = ET.parse(share("packbot") / "config" / "packbot.srdf").getroot()
    poses = {}
    for state in top.findall("group_state"):
        values = {e.attrib["name"]: float(e.attrib["value"]) for e in state.findall("joint")}
        poses[state.attrib["name"]] = tuple(values[joint] for joint in JOINTS)
    return poses


def check_limits(parameters: PackbotParameters, q: Array, where: str = "") -> None:
    """Refuse joint angles (7,) [rad] outside the limits.

    Args:
        parameters: with the limits.
        q: angles (7,) [rad].
        where: what stands before the joint's name in the message.

    Raises:
        AccordError: naming the first joint that is outside.
    """
    lower, upper = parameters.of_joints("lower"), parameters.of_joints("upper")
    for name, angle, low, high in zip(JOINTS, q, lower, upper, strict=True):
        if not low <= angle <= high:
            raise AccordError(
                f"{where}{name}: {angle:g} rad is outside its limits, {low:g} to {high:g}"
            )
