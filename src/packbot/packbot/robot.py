"""Registration of the Packbot: brings the package into the workspace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Tally
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.solids import Faces
from roboaccord.scenario.perturbation import Perturbations
from roboaccord.scenario.setup import Robot, Setup
from roboaccord.simulators.base import Simulator

from packbot.contact.contact_points import contact_points
from packbot.contact.law import ClampContact, joint_clamp, normal
from packbot.controllers.reach import ReachController
from packbot.controllers.recovery import RecoveryController
from packbot.controllers.teleoperation import VelocityController
from packbot.hulls.environment import make_environment, stand_around
from packbot.model.libraries import compiled
from packbot.model.parameters import JOINTS, PackbotParameters
from packbot.simulators.engines import make_engine_simulator
from packbot.simulators.metrics import ArmFigures
from packbot.simulators.world_file import make_world


class Packbot(Robot):
    """An arm of seven joints on a chassis that stands still."""

    name = "packbot"
    summary = "a tracked chassis with an arm of seven joints made of convex hulls"
    parameters = PackbotParameters
    controllers = {
        "reach": ReachController,
        "recover": RecoveryController,
        "velocity": VelocityController,
    }
    contacts = {"normal": normal, "joint_clamp": joint_clamp}
    velocity_topic = "joint_velocity_command"
    position_topic = "joint_position_command"
    cli = {
        "collapse": "packbot.cli.collapse:collapse_command",
        "figures": "packbot.cli.collapse:figures_command",
        "dynamics": "packbot.cli.poses:dynamics_command",
        "pose": "packbot.cli.poses:pose_command",
        "reduced": "packbot.cli.bodies:reduced_command",
        "plan": "packbot.cli.reach:plan_command",
        "distance": "packbot.cli.poses:distance_command",
        "reach": "packbot.cli.reach:reach_command",
        "recover": "packbot.cli.failures:recover_command",
        "equilibria": "packbot.cli.failures:equilibria_command",
        "workspace": "packbot.cli.workspace:workspace_command",
        "detect": "packbot.cli.detect:detect_command",
        "sight": "packbot.cli.poses:sight_command",
        "hulls": "packbot.cli.bodies:hulls_command",
        "shapes": "packbot.cli.bodies:shapes_command",
    }
    terrain = staticmethod(make_environment)

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the joints of the arm.

        Raises:
            AccordError: for a base other than fixed.
        """
        if setup.scenario.base != "fixed":
            raise AccordError(f"base is {setup.scenario.base}; the Packbot takes fixed")
        return JOINTS

    def effort_limits(self, setup: Setup) -> Array:
        parameters: PackbotParameters = setup.parameters
        return parameters.of_joints("effort_limit")

    def reference(self, setup: Setup) -> Simulator:
        """Make the analytical simulator.

        Raises:
            AccordError: without pinocchio and coal.
        """
        with compiled("the Packbot's reference"):
            from packbot.simulators.reference import PackbotReference
            from packbot.source.variants import JointClampReference
        if isinstance(setup.contact, ClampContact):
            return JointClampReference(setup, setup.contact)
        return PackbotReference(setup)

    def engine(self, setup: Setup, engine: str, perturbations: Perturbations) -> Simulator:
        return make_engine_simulator(setup, engine, perturbations)

    def contact_points(self, setup: Setup) -> Callable[[RobotState], Sequence[ContactPoint]]:
        return contact_points(setup)

    def surroundings(self, setup: Setup) -> Sequence[tuple[Array, Faces]]:
        return stand_around(setup)

    def world(self, setup: Setup) -> Path | None:
        return make_world(setup)

    def draw_state(
        self, setup: Setup, rng: np.random.Generator, index: int
    ) -> tuple[RobotState, Array]:
        """Draw joints anywhere within their limits of angle and speed, and efforts.

        A hundredth of the effort limits: more would turn the light wrist at rates beside which the
        accelerations of all others were small.
        """
        p: PackbotParameters = setup.parameters
        q = rng.uniform(p.of_joints("lower"), p.of_joints("upper"))
        qd = rng.uniform(-1.0, 1.0, len(q)) * p.of_joints("speed_limit")
        effort = 0.01 * rng.uniform(-1.0, 1.0, len(q)) * setup.effort_limits
        return RobotState(0.0, q, qd, np.zeros(len(q))), effort

    def tally(self, setup: Setup, ticks: int) -> Tally:
        return ArmFigures(setup, ticks)


ROBOT = Packbot()
