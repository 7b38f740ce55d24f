"""The Packbot's registration: the one object that brings the package into the workspace."""

from __future__ import annotations

from roboaccord.assembly import Setup
from roboaccord.errors import AccordError
from roboaccord.interfaces import Simulator
from roboaccord.robot import Robot
from roboaccord.state import Array

from packbot.contact import joint_clamp, normal
from packbot.engines import make_engine_simulator
from packbot.environment import make_environment
from packbot.parameters import JOINTS, PackbotParameters
from packbot.world_file import make_world

INSTALL = "the Packbot's reference needs {name}; run: pip install pin coal"


def joints(setup: Setup) -> tuple[str, ...]:
    """Return the joints; the chassis stands still."""
    if setup.scenario.base != "fixed":
        raise AccordError(f"base is {setup.scenario.base}; the Packbot takes fixed")
    return JOINTS


def effort_limits(setup: Setup) -> Array:
    """Return what the efforts are clipped to (7,) [N m]."""
    parameters: PackbotParameters = setup.parameters
    return parameters.of_joints("effort_limit")


def make_reference(setup: Setup) -> Simulator:
    """Make the analytical simulator.

    Raises:
        AccordError: without pinocchio and coal.
    """
    try:
        from packbot.reference import PackbotReference
    except ImportError as error:
        raise AccordError(INSTALL.format(name=error.name)) from None
    return PackbotReference(setup)


ROBOT = Robot(
    name="packbot",
    package="packbot",
    summary="a tracked chassis with an arm of seven joints made of convex hulls",
    parameters=PackbotParameters,
    joints=joints,
    effort_limits=effort_limits,
    reference=make_reference,
    controllers={},
    contacts={"normal": normal, "joint_clamp": joint_clamp},
    terrain=make_environment,
    world=make_world,
    engine=make_engine_simulator,
    cli="packbot.cli:app",
)
