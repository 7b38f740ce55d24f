"""The Packbot's registration: the one object that brings the package into the workspace."""

from __future__ import annotations

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.errors import AccordError
from roboaccord.interfaces import Simulator
from roboaccord.robot import Robot
from roboaccord.state import Array, RobotState

from packbot.contact import ClampContact, joint_clamp, normal
from packbot.contact_points import contact_points
from packbot.controllers import ReachController
from packbot.engines import make_engine_simulator
from packbot.environment import make_environment, stand_around
from packbot.libraries import compiled
from packbot.metrics import metrics
from packbot.parameters import JOINTS, PackbotParameters
from packbot.teleoperation import VelocityController
from packbot.world_file import make_world


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
    with compiled("the Packbot's reference"):
        from packbot.reference import PackbotReference
        from packbot.report_variants import JointClampReference
    if isinstance(setup.contact, ClampContact):
        return JointClampReference(setup, setup.contact)
    return PackbotReference(setup)


def draw_state(
    setup: Setup,
    rng: np.random.Generator,
    index: int,  # noqa: ARG001 - every draw is alike
) -> tuple[RobotState, Array]:
    """Draw joints anywhere within their limits of angle and speed, and efforts.

    A hundredth of the limits: more would turn the light wrist at rates beside which the
    accelerations of all others were small.
    """
    p: PackbotParameters = setup.parameters
    q = rng.uniform(p.of_joints("lower"), p.of_joints("upper"))
    qd = rng.uniform(-1.0, 1.0, len(q)) * p.of_joints("speed_limit")
    effort = 0.01 * rng.uniform(-1.0, 1.0, len(q)) * setup.effort_limits
    return RobotState(0.0, q, qd, np.zeros(len(q))), effort


ROBOT = Robot(
    name="packbot",
    package="packbot",
    summary="a tracked chassis with an arm of seven joints made of convex hulls",
    parameters=PackbotParameters,
    joints=joints,
    effort_limits=effort_limits,
    reference=make_reference,
    controllers={"reach": ReachController, "velocity": VelocityController},
    contacts={"normal": normal, "joint_clamp": joint_clamp},
    contact_points=contact_points,
    terrain=make_environment,
    surroundings=stand_around,
    world=make_world,
    velocity_topic="joint_velocity_command",
    engine=make_engine_simulator,
    draw_state=draw_state,
    metrics=metrics,
    cli="packbot.cli:app",
)
