"""Registration of the roller sphere in the workspace.

RollerSphere names the controllers, friction laws and commands of the robot and makes its
simulators: the ball in a bearing (base `ball`), or on the ground with a carrier (base `free`). The
order of joints, rollers before carrier, is that of efforts in all controllers and fixed by the
URDF. The paper is Kimura, Ogata and Ishii (2019), docs/roller_sphere.md.

Entries of `controllers` and `friction_laws` may be added; their keys are names in scenarios and
stay. SMOOTHING_SPEED may be tuned.
"""

from dataclasses import replace

import numpy as np
from roboaccord.contract import AccordError, AnyEngine, Array, RobotState, Tally
from roboaccord.scenario import GazeboHooks, Robot, Setup, commands_of
from roboaccord.simulators import Simulator

from roller_sphere.controllers import drive
from roller_sphere.controllers.dribble import DribbleController
from roller_sphere.dribbling.reference import DribbleReference
from roller_sphere.model import contact
from roller_sphere.model.figures import BallFigures
from roller_sphere.model.odometry import RollingOdometry
from roller_sphere.model.parameters import RollerSphereParameters
from roller_sphere.simulators.engines import make_engine_simulator
from roller_sphere.simulators.reference import RollerSphereReference

ROLLERS = ("roller_1", "roller_2")
CARRIER = ("carrier_x", "carrier_y", "carrier_yaw")
# m/s; slip speed of the smoothed dry friction by which the reference imitates an engine's contact.
# The slips of a run are some hundred times larger, so that smoothing weakens friction by 1e-4 / 2.
SMOOTHING_SPEED = 1e-3


def bearing_odometry(setup: Setup) -> RollingOdometry | None:
    """Return the odometry of a ball in a bearing; None where it really rolls."""
    return RollingOdometry(setup.parameters.radius) if setup.scenario.base == "ball" else None


class RollerSphere(Robot):
    """A ball that two rollers drive, in a bearing or on the ground."""

    name = "roller_sphere"
    summary = "a ball driven by two rollers, with slip"
    parameters = RollerSphereParameters
    controllers = {
        "drive": drive.DriveController,
        "headings": drive.HeadingsController,
        "figure_eight": drive.FigureEightController,
        "dribble": DribbleController,
    }
    friction_laws = {
        "viscous": contact.viscous,
        "coulomb": contact.coulomb,
        "contact": contact.engine_contact,
    }
    gazebo = GazeboHooks(odometry=bearing_odometry)
    cli = commands_of("roller_sphere", {"rig": "inverse forward figures"})

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the rollers, and the carrier's joints where the ball lies on the ground.

        Raises:
            AccordError: for a base other than ball or free.
        """
        base = setup.scenario.base
        if base not in ("ball", "free"):
            bases = "ball (in a bearing) or free"
            raise AccordError(f"base is {base}; the roller sphere takes {bases}")
        return ROLLERS if base == "ball" else (*ROLLERS, *CARRIER)

    def effort_limits(self, setup: Setup) -> Array:
        """Return the effort limits of the roller motors and of the carrier."""
        p: RollerSphereParameters = setup.parameters
        carrier = [p.carrier_force, p.carrier_force, p.carrier_torque]
        limits = [p.effort_limit] * len(ROLLERS) + carrier
        return np.array(limits[: len(setup.joints)])

    def reference(self, setup: Setup) -> Simulator:
        """Make the analytical simulator; dry friction imitates the contact of an engine.

        Raises:
            AccordError: for rollers without friction, which drive nothing.
        """
        law = setup.force_law
        reference = DribbleReference if setup.scenario.base == "free" else RollerSphereReference
        if isinstance(law, contact.RollerFriction):
            return reference(setup, law.friction)
        if setup.contact is None:
            raise AccordError("friction.law is none, and rollers without friction drive nothing")
        # The engine's friction between the ball and a roller; that of the other roller is equal.
        ball_and_roller = contact.LINKS[:2]
        dry = setup.contact.mu(ball_and_roller) * setup.parameters.press_force
        return reference(setup, contact.Friction(dry=dry, slip_speed=SMOOTHING_SPEED))

    def engine(self, setup: Setup, engine: AnyEngine) -> Simulator:
        """Make the simulator of a physics engine."""
        return make_engine_simulator(setup, engine)

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Put the centre of the ball at the height of its radius; it starts at rest.

        Raises:
            AccordError: for another height, or a speed.
        """
        initial = setup.scenario.initial
        if initial.position[2] or any(initial.twist[:3]):
            message = "initial: the ball's height is its radius, and it starts without speed"
            raise AccordError(message)
        x, y, _ = state.position
        state = replace(state, position=np.array([x, y, setup.parameters.radius]), switches={})
        odometry = bearing_odometry(setup)
        return odometry.reset(state) if odometry else state

    def tally(self, setup: Setup, ticks: int) -> Tally:
        """Return the figures of a run, empty as yet."""
        return BallFigures(setup)


ROBOT = RollerSphere()
