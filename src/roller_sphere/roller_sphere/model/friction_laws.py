"""Friction laws of the rollers on the ball, and contact left to an engine."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.contact import Contact, Fixture
from roboaccord.scenario.setup import Setup

from roller_sphere.model.contact import LINKS, Friction, RollerFriction
from roller_sphere.model.parameters import RollerSphereParameters

GROUND = Fixture(
    name="ground", size=np.array([200.0, 200.0, 1.0]), position=np.array([0.0, 0.0, -0.5])
)


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
