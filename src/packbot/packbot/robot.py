"""Registration of the Packbot in the workspace, and the figures of its runs.

`Packbot` tells the core what the robot consists of: parameters, controllers, contact laws,
simulators, obstacles. `ArmFigures` computes the figures of a run. "The report" in this package is
GRRC Technical Report 2010-02 (docs/packbot.md).

A controller or contact law is added as an entry of `controllers` or `friction_laws`; scenarios name
it by its key, and its arguments are further keys there. Figures of a run are keys of `--json` and
must stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from roboaccord.contract import (
    IDENTITY,
    ORIGIN,
    AccordError,
    Aim,
    AnyEngine,
    Array,
    ContactPoint,
    Event,
    RobotState,
    Tally,
    Trajectory,
)
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
from packbot.simulators.world import make_world

CLOSE = 1e-3  # m; smaller gaps are shown as contacts: twice the default margin of the reference
TOUCHING = ("contact", "impact")  # kinds of events that are counted as contacts
# Number of states at which distances are measured, evenly over the run: at 0.1 to 0.3 ms each they
# take 20 to 60 ms a run.
SAMPLES = 200
# Fraction of the effort limits of random efforts: with 1, the light wrist's acceleration would
# exceed all others by far (`Packbot.draw_state`); 10 N m on 6e-4 kg m^2 are 16,000 rad/s^2.
DRAWN_EFFORT = 0.01


class ArmFigures(Tally):
    """Figures of a run: number of contact events, and the smallest signed distance [m].

    For a reach, also the distance of the finger tips (or of the point that the camera watches) from
    their target [m]. Distances are left out if the libraries for them are missing.

    Args:
        setup: robot and scenario.
        ticks: number of control periods of the run, over which the measured states are spread.
    """

    def __init__(self, setup: Setup, ticks: int) -> None:
        self._setup = setup
        self._indices = np.unique(np.linspace(0, ticks, SAMPLES).round().astype(int))
        self._count = 0  # number of states so far
        self._poses: list[Array] = []  # angles (7,) of the selected states so far [rad]

    def add(self, piece: Trajectory) -> None:
        """Add the next piece of the motion, which begins with the last state of the one before."""
        first = max(self._count - 1, 0)
        end = first + len(piece)
        due = self._indices[(self._indices >= self._count) & (self._indices < end)]
        self._poses.extend(piece.q[due - first])
        self._last, self._count = piece.q[-1], end

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures."""
        contacts = {"contacts": float(sum(event.kind in TOUCHING for event in events))}
        try:
            from packbot.contact.clearance import Clearance
            from packbot.model.arm import Kinematics
        except ImportError:
            return contacts
        setup = self._setup
        clearance = Clearance.of(setup)
        figures = {
            **contacts,
            "least_distance": min(clearance.closest(q)[1] for q in (*self._poses, self._last)),
        }
        spec = setup.scenario.controller
        if spec.get("name") in ("reach", "recover"):
            watch = spec.get("watch", 0.0) if spec["name"] == "recover" else 0.0
            kinematics = Kinematics(setup, watch)
            target = spec.get("target")
            goal = kinematics.tip(pose(spec["pose"])) if target is None else np.array(target)
            figures["tip_error"] = float(np.linalg.norm(kinematics.tip(self._last) - goal))
        return figures


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
    cli = commands_of("packbot", {"collapse": "collapse", "look": "look", "reach": "plan reach"})
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
        if isinstance(setup.contact, laws.ClampContact):
            return JointClampReference(setup, setup.contact)
        return PackbotReference(setup)

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        return make_engine_simulator(setup, engine)

    def contact_points(self, setup: Setup) -> Callable[[RobotState], Sequence[ContactPoint]]:
        """Return a function of a state: the points where hulls are closer than `CLOSE`, forces 0.

        Raises:
            AccordError: without pinocchio and coal.
        """
        with compiled("showing contacts"):
            from packbot.contact.clearance import Clearance
        clearance = Clearance.of(setup)
        return lambda state: clearance.contact_points(state.q, clearance.near(state.q, CLOSE))

    def surroundings(self, setup: Setup) -> Mapping[str, tuple[Array, Faces]]:
        return {f"solid_{i}": s for i, s in enumerate(collisions.stand_around(setup), 1)}

    def draw_state(
        self, setup: Setup, rng: np.random.Generator, index: int
    ) -> tuple[RobotState, Array]:
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
        if watch := float(spec.get("watch", 0.0)):
            return Aim("point watched", "pan_link", LENS + np.array([watch, 0.0, 0.0]), target)
        tips = Aim("tips", "gripper_link", np.array([setup.parameters.gripper_length, 0.0, 0.0]))
        if spec.get("pose"):
            origins, turns = setup.tree.forward(JOINTS, pose(spec["pose"]), ORIGIN, IDENTITY)
            hand = [link.name for link in setup.tree.links].index(tips.link)
            target = origins[hand] + turns[hand] @ tips.offset
        return replace(tips, target=target)

    def tally(self, setup: Setup, ticks: int) -> Tally:
        return ArmFigures(setup, ticks)


ROBOT = Packbot()
