"""The Packbot's registration: the one object that brings the package into the workspace."""

from __future__ import annotations

from roboaccord.assembly import Setup
from roboaccord.errors import AccordError
from roboaccord.robot import Robot
from roboaccord.state import Array

from packbot.contact import joint_clamp, normal
from packbot.environment import make_environment
from packbot.parameters import JOINTS, PackbotParameters
from packbot.reference import PackbotReference


def joints(setup: Setup) -> tuple[str, ...]:
    """Return the joints; the chassis stands still."""
    if setup.scenario.base != "fixed":
        raise AccordError(f"base is {setup.scenario.base}; the Packbot takes fixed")
    return JOINTS


def effort_limits(setup: Setup) -> Array:
    """Return what the efforts are clipped to (7,) [N m]."""
    parameters: PackbotParameters = setup.parameters
    return parameters.of_joints("effort_limit")


ROBOT = Robot(
    name="packbot",
    package="packbot",
    summary="a tracked chassis with an arm of seven joints made of convex hulls",
    parameters=PackbotParameters,
    joints=joints,
    effort_limits=effort_limits,
    reference=PackbotReference,
    controllers={},
    contacts={"normal": normal, "joint_clamp": joint_clamp},
    terrain=make_environment,
    cli="packbot.cli:app",
)
