"""Physical parameters of the Packbot, which config/parameters.yaml declares, and its named poses.

A parameter that each joint has is seven entries KIND_JOINT there, such as `viscous_wrist`;
`PackbotParameters.of_joints` returns them as an array. config/real.yaml has the inertia and
friction of real drives, config/packbot.srdf the named poses.

Lengths, masses and drives are estimates and may be changed, since no drawing is public. The order
of JOINTS, that of all arrays (7,), must stay. test_packbot_kinematics checks parameters, poses and
refusals.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from functools import cache

import numpy as np
from roboaccord import description
from roboaccord.contract import AccordError, Array, check_known
from roboaccord.description import Parameters

JOINTS = ("turret", "shoulder", "elbow1", "elbow2", "tilt", "pan", "wrist")
POSITIVE = ("_mass", "_radius", "_speed", "_length")  # endings of names of positive parameters
LIMITS = ("effort_limit", "speed_limit")  # beginnings of names of positive parameters
NOT_NEGATIVE = ("viscous", "coulomb", "stiction", "reflected")  # beginnings: at least 0
# The lens is in the middle of the front of the camera head (config/shapes.yaml); it sees along x.
LENS = np.array([0.065, 0.0, 0.03])  # m, in pan_link


class PackbotParameters(Parameters):
    """Packbot's parameters, in SI units; config/parameters.yaml describes each.

    Parameters that each joint has end in its name: `lower_`, `upper_` [rad], `effort_limit_`
    [N m], `speed_limit_` [rad/s], `viscous_` [N m s/rad], `coulomb_`, `stiction_` [N m] and
    `reflected_inertia_` [kg m^2]; `of_joints` returns those of all joints.
    """

    def check(self) -> None:
        """Refuse values that no robot can have."""
        for name, value in self.as_dict().items():
            if (name.endswith(POSITIVE) or name.startswith(LIMITS)) and not value > 0:
                raise ValueError(f"{name} is {value:g}, and must be positive")
            if name.startswith(NOT_NEGATIVE) and value < 0:
                raise ValueError(f"{name} is {value:g}, and must not be negative")
        for joint in JOINTS:
            if not getattr(self, f"lower_{joint}") < getattr(self, f"upper_{joint}"):
                raise ValueError(f"lower_{joint} must be below upper_{joint}")

    @property
    def limits(self) -> Array:
        """Lower and upper angles of the joints (2, 7) [rad]."""
        return np.array([self.of_joints("lower"), self.of_joints("upper")])

    def of_joints(self, kind: str) -> Array:
        """Return the parameter `KIND_JOINT` of every joint (7,)."""
        return np.array([getattr(self, f"{kind}_{joint}") for joint in JOINTS])


def pose(name: str) -> Array:
    """Return the joint angles (7,) [rad] of a named pose.

    Raises:
        AccordError: if there is none of that name.
    """
    poses = named_poses()
    check_known("unknown pose ", name, poses)
    return np.array(poses[name])


@cache
def named_poses() -> dict[str, tuple[float, ...]]:
    """Return the angles of all joints [rad] by the name of the pose."""
    top = ET.parse(description.share("packbot") / "config" / "packbot.srdf").getroot()
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
        where: prefix of the joint's name in the message.

    Raises:
        AccordError: naming the first joint that is outside.
    """
    for name, angle, low, high in zip(JOINTS, q, *parameters.limits, strict=True):
        if not low <= angle <= high:
            limits = f"{low:g} to {high:g}"
            raise AccordError(f"{where}{name}: {angle:g} rad is outside its limits, {limits}")
