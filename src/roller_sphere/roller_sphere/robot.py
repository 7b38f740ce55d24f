"""The roller sphere's registration: the one object that brings the package into the workspace."""

from __future__ import annotations

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.contact import Contact, Fixture
from roboaccord.errors import AccordError
from roboaccord.robot import Robot
from roboaccord.state import Array, RobotState

from roller_sphere.contact import LINKS, Friction, RollerFriction
from roller_sphere.controllers import DriveController, FigureEightController, HeadingsController
from roller_sphere.dribble import DribbleController
from roller_sphere.dribble_reference import DribbleReference
from roller_sphere.engines import make_engine_simulator
from roller_sphere.metrics import metrics
from roller_sphere.odometry import RollingOdometry
from roller_sphere.parameters import RollerSphereParameters
from roller_sphere.reference import RollerSphereReference

ROLLERS = ("roller_1", "roller_2")
CARRIER = ("carrier_x", "carrier_y", "carrier_yaw")
FINE = 1e-3  # m/s: slip speed by which the reference stands for an engine's own Coulomb friction
GROUND = Fixture(
    name="ground", size=np.array([200.0, 200.0, 1.0]), position=np.array([0.0, 0.0, -0.5])
)


def joints(setup: Setup) -> tuple[str, ...]:
    """Return the joints: the carrier moves where the ball lies on the ground."""
    base = setup.scenario.base
    if base not in ("ball", "free"):
        raise AccordError(f"base is {base}; the roller sphere takes ball (in a bearing) or free")
    return ROLLERS if base == "ball" else (*ROLLERS, *CARRIER)


def effort_limits(setup: Setup) -> Array:
    """Return the limits of the motors, and of what drives the carrier."""
    p: RollerSphereParameters = setup.parameters
    carrier = [p.carrier_force, p.carrier_force, p.carrier_torque]
    limits = [p.effort_limit] * len(ROLLERS) + carrier
    return np.array(limits[: len(setup.joints)])


def viscous(setup: Setup, coefficient: float = 20.0) -> RollerFriction:
    """Make viscous friction, by which the ball turns as the paper's model says.

    Args:
        setup: robot and scenario.
        coefficient: force over slip [N s/m].
    """
    return RollerFriction(setup.parameters.radius, Friction(viscous=coefficient))


def coulomb(setup: Setup, mu: float = 0.5, slip_speed: float = 0.05) -> RollerFriction:
    """Make dry friction of the pressed rollers, smoothed below a slip speed.

    Args:
        setup: robot and scenario.
        mu: coefficient.
        slip_speed: [m/s].
    """
    p: RollerSphereParameters = setup.parameters
    return RollerFriction(p.radius, Friction(dry=mu * p.press_force, slip_speed=slip_speed))


def pressed(setup: Setup, mu: float = 0.5, mu_ground: float = 0.8) -> Contact:
    """Let the engine deal with the rollers pressed on the ball, and the ball on the ground.

    Args:
        setup: robot and scenario.
        mu: coefficient between rollers and ball.
        mu_ground: between ball and ground, where it lies there.
    """
    if min(mu, mu_ground) < 0:
        raise ValueError("a friction coefficient is negative")
    ball, *rollers = LINKS
    pairs = [(ball, roller) for roller in rollers]
    on_ground = setup.scenario.base == "free"
    return Contact(
        pairs=(*pairs, *([(ball, GROUND.name)] if on_ground else [])),
        friction={ball: max(mu, mu_ground), **dict.fromkeys(rollers, mu), GROUND.name: mu_ground},
        fixtures=(GROUND,) if on_ground else (),
    )


def make_reference(setup: Setup) -> RollerSphereReference | DribbleReference:
    """Make the analytical simulator; it stands for an engine's contact by dry friction."""
    law = setup.force_law
    reference = DribbleReference if setup.scenario.base == "free" else RollerSphereReference
    if isinstance(law, RollerFriction):
        return reference(setup, law.friction)
    if setup.contact is None:
        raise AccordError("friction.law is none, and rollers without friction drive nothing")
    dry = setup.contact.mu((LINKS[0], LINKS[1])) * setup.parameters.press_force
    return reference(setup, Friction(dry=dry, slip_speed=FINE))


def lie_at_height(setup: Setup, state: RobotState) -> RobotState:
    """Put the centre of the ball at the height of its radius; it starts at rest."""
    given = setup.scenario.initial
    if given.position[2] or any(given.twist[:3]):
        raise AccordError("initial: the ball's height is its radius, and it starts without speed")
    x, y, _ = state.position
    state = RobotState(
        state.time, state.q, state.qd, state.effort, np.array([x, y, setup.parameters.radius]),
        state.orientation, state.twist,
    )  # fmt: skip
    odometry = odometry_of(setup)
    return odometry.reset(state) if odometry else state


def odometry_of(setup: Setup) -> RollingOdometry | None:
    """Return what makes the place of the ball of its turning; None where it really rolls."""
    return RollingOdometry(setup.parameters.radius) if setup.scenario.base == "ball" else None


ROBOT = Robot(
    name="roller_sphere",
    package="roller_sphere",
    summary="a ball driven by two rollers, with slip",
    parameters=RollerSphereParameters,
    joints=joints,
    effort_limits=effort_limits,
    reference=make_reference,
    controllers={
        "drive": DriveController,
        "headings": HeadingsController,
        "figure_eight": FigureEightController,
        "dribble": DribbleController,
    },
    friction_laws={"viscous": viscous, "coulomb": coulomb},
    contacts={"contact": pressed},
    engine=make_engine_simulator,
    odometry=odometry_of,
    initial=lie_at_height,
    metrics=metrics,
    cli="roller_sphere.cli:app",
)
