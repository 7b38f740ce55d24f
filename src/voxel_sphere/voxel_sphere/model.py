"""Parameters of the ball, and its contact laws as named by a scenario's `friction.law`.

Numbers are in config/parameters.yaml: the grid is 10 radii wide, fixed by the source; all that is
heavy may be changed, for the source's sphere has no mass, and so may `mu` of 1. A new law is a
function like `touching`, entered in robot.py; an infinite coefficient makes it the kinematic ball's
(`is_kinematic`), whose spin is given.

rolling   it rolls without slipping whatever happens, and is given its angular velocity: the
          kinematic ball, of the reference alone
contact   it has weight, lies loose on the ground, and grips by dry friction: the heavy ball, of
          every simulator
"""

from __future__ import annotations

import math

from roboaccord.contract import AccordError, Contact
from roboaccord.description import Parameters
from roboaccord.scenario import Setup

BALL, GROUND = "base_link", "terrain"


def rolling(setup: Setup) -> Contact:  # noqa: ARG001 - every law is made of a setup
    """Make rolling without slipping, which no engine has."""
    return Contact(pairs=((BALL, GROUND),), friction={BALL: math.inf, GROUND: math.inf})


def touching(setup: Setup, mu: float = 1.0) -> Contact:  # noqa: ARG001
    """Let the ball touch the ground; the terrain itself is added as the simulator takes it.

    Args:
        setup: robot and scenario.
        mu: coefficient of friction.
    """
    if not 0 <= mu < math.inf:
        raise ValueError(f"mu is {mu:g}, and must be a number from 0 on")
    return Contact(pairs=((BALL, GROUND),), friction={BALL: mu, GROUND: mu})


def is_kinematic(setup: Setup) -> bool:
    """Return whether the ball is kinematic (commanded by its angular velocity).

    Raises:
        AccordError: where nothing is stated of the contact.
    """
    contact = setup.contact
    if contact is None:
        raise AccordError(
            "friction.law is none: rolling (the kinematic ball) or contact (the heavy one)"
        )
    return math.isinf(contact.mu((BALL, GROUND)))


class VoxelSphereParameters(Parameters):
    """Parameters of the ball, in SI units.

    Attributes:
        radius: of the ball [m]; with its radius in voxels it makes the size of a voxel.
        mass: [kg].
        inertia_ratio: inertia over m r^2.
        torque_limit: of what drives it [N m].
        gravity: [m/s^2].
    """

    def check(self) -> None:
        """Refuse values that make no robot."""
        for name, value in self.as_dict().items():
            if value < 0 or (value == 0 and name != "gravity"):
                raise ValueError(f"{name} is {value:g}, and must be positive")
        if self.inertia_ratio > 2.0 / 3.0:
            raise ValueError(f"inertia_ratio is {self.inertia_ratio:g}: a shell has 2/3")

    @property
    def inertia(self) -> float:
        """Of the ball about its centre [kg m^2]."""
        return self.inertia_ratio * self.mass * self.radius**2
