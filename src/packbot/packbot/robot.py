"""Registration of the Packbot in the workspace.

`Packbot` tells the core what the robot consists of: parameters, controllers, contact laws,
simulators, obstacles. "The report" in this package is GRRC Technical Report 2010-02
(docs/packbot.md).

A controller or contact law is added as an entry of `controllers` or `friction_laws`; scenarios name
it by its key, and its arguments are further keys there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.random import Generator
from roboaccord.contract import AccordError, Aim, AnyEngine, Array, ContactPoint, RobotState, Tally
from roboaccord.description import Faces
from roboaccord.scenario import GazeboHooks, InputTopics, Robot, Setup, commands_of
from roboaccord.simulators import Simulator

from packbot.contact import collisions, laws
from packbot.controllers.reach import ReachController
from packbot.controllers.recovery import RecoveryController
from packbot.controllers.transition import TransitionController
from packbot.controllers.velocity import VelocityController
from packbot.model import compiled
from packbot.model.parameters import JOINTS, LENS, PackbotParameters, pose
from packbot.simulators.engines import make_engine_simulator
from packbot.simulators.figures import ArmFigures
from packbot.simulators.world import make_world

SHOWN_GAP = 1e-3  # m; smaller gaps are shown as contacts: twice the default margin of the reference
# Fraction of the effort limits of random efforts: with 1, the light wrist's acceleration would
# exceed all others by far (`Packbot.draw_state`); 10 N m on 6e-4 kg m^2 are 16,000 rad/s^2.
DRAWN_EFFORT = 0.01


class Packbot(Robot):
    """An arm of seven joints on a chassis that stands still."""

    name = "packbot"
    summary = "a tracked chassis with a seven-joint arm made of convex hulls"
    parameters = PackbotParameters
    controllers = {
        "reach": ReachController,
        "recover": RecoveryController,
        "transition": TransitionController,
        "velocity": VelocityController,
    }
    friction_laws = {"normal": laws.normal, "joint_clamp": laws.joint_clamp}
    input_topics = InputTopics(velocity="joint_velocity_command", position="joint_position_command")
    gazebo = GazeboHooks(world=make_world)
    cli = commands_of("packbot", {"collapse": "fall", "look": "look", "reach": "plan reach-target"})
    terrain = staticmethod(collisions.make_environment)

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the joints of the arm.

        Raises:
            AccordError: for a base other than fixed.
        """
        if setup.scenario.base != "fixed":
            raise AccordError(f"base is {setup.scenario.base}; the Packbot takes fixed")
        return JOINTS

    def effort_limits(self, setup: Setup) -> Array:
        return np.asarray(setup.parameters.of_joints("effort_limit"))

    def reference(self, setup: Setup) -> Simulator:
        """Make the analytical simulator.

        Raises:
            AccordError: without pinocchio and coal.
        """
        with compiled("the Packbot's reference"):
            from packbot.simulators.reference import PackbotReference
            from packbot.source.variants import JointClampReference
        if isinstance(setup.contact, laws.ClampContact):
            if setup.bodies:
                raise AccordError("contact joint_clamp takes no bodies; try friction.law=normal")
            return JointClampReference(setup, setup.contact)
        return PackbotReference(setup)

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        return make_engine_simulator(setup, engine)

    def contact_points(self, setup: Setup) -> Callable[[RobotState], Sequence[ContactPoint]]:
        """Return a function of a state: where hulls are closer than `SHOWN_GAP`, with forces 0.

        Raises:
            AccordError: without pinocchio and coal.
        """
        with compiled("showing contacts"):
            from packbot.contact.clearance import Clearance
        clearance = Clearance.of(setup)
        return lambda state: clearance.contact_points(state.q, clearance.near(state.q, SHOWN_GAP))

    def surroundings(self, setup: Setup) -> Mapping[str, tuple[Array, Faces]]:
        solids = collisions.drawn_obstacles(setup)
        return {f"solid_{i}": solid for i, solid in enumerate(solids, 1)}

    def draw_state(self, setup: Setup, rng: Generator, index: int) -> tuple[RobotState, Array]:
        """Draw joints anywhere within their limits of angle and speed, and efforts.

        Efforts are within a hundredth of their limits: larger ones would accelerate the light wrist
        so much that the accelerations of all other joints would be negligible.
        """
        p: PackbotParameters = setup.parameters
        lower, upper = p.limits
        q = rng.uniform(lower, upper)
        qd = rng.uniform(-1.0, 1.0, len(q)) * p.of_joints("speed_limit")
        effort = DRAWN_EFFORT * rng.uniform(-1.0, 1.0, len(q)) * setup.effort_limits
        return RobotState(0.0, q, qd, np.zeros(len(q))), effort

    def aim(self, setup: Setup) -> Aim:
        """Return the finger tips, or the point that the camera watches, with the target."""
        spec = setup.scenario.controller
        target = None if spec.get("target") is None else np.array(spec["target"], dtype=float)
        watch = float(spec.get("watch", 0.0))  # m before the lens
        if watch:
            return Aim("point watched", "pan_link", LENS + np.array([watch, 0.0, 0.0]), target)
        tips = Aim("tips", "gripper_link", np.array([setup.parameters.gripper_length, 0.0, 0.0]))
        if spec.get("pose"):
            rest = np.zeros(len(JOINTS))
            goal = RobotState(0.0, pose(spec["pose"]), rest, rest)
            origins, turns = setup.tree.forward(JOINTS, goal.q, goal.position, goal.orientation)
            hand = [link.name for link in setup.tree.links].index(tips.link)
            target = origins[hand] + turns[hand] @ tips.offset
        return replace(tips, target=target)

    def tally(self, setup: Setup, ticks: int) -> Tally:
        return ArmFigures(setup, ticks)


ROBOT = Packbot()
