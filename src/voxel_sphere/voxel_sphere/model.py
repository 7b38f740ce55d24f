"""Parameters of the ball, and its contact laws, named by a scenario's `friction.law`.

rolling   the kinematic ball: it rolls without slipping at a given angular velocity. Only the
          reference has it; an infinite coefficient of friction stands for it (`is_kinematic`).
contact   the heavy ball: it has weight, lies loose on the ground and grips by dry friction. Each
          simulator has it.

Numbers are in config/parameters.yaml. The grid is 10 radii wide, as in the source (the description
of a MATLAB program, docs/voxel_sphere.md); masses and torques may be changed, for the source's
sphere has none. A new law is a function like `touching`, entered in robot.py.
"""

from __future__ import annotations

import math

from roboaccord.contract import AccordError, Contact
from roboaccord.description import Parameters
from roboaccord.scenario import Setup

BALL, GROUND = "base_link", "terrain"  # names of the links that touch
SHELL_RATIO = 2.0 / 3.0  # I / (m r^2) of a thin shell, the largest that a ball can have


def rolling(setup: Setup) -> Contact:  # noqa: ARG001 - every law is made of a setup
    """Return the contact of rolling without slipping, which no engine has."""
    return Contact(pairs=((BALL, GROUND),), friction={BALL: math.inf, GROUND: math.inf})


def touching(setup: Setup, mu: float = 1.0) -> Contact:  # noqa: ARG001
    """Return the contact of ball and ground with dry friction.

    The simulator adds the shape of the terrain.

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
        AccordError: where the scenario states no contact.
    """
    contact = setup.contact
    if contact is None:
        laws = "rolling (the kinematic ball) or contact (the heavy one)"
        raise AccordError(f"friction.law is none: {laws}")
    return math.isinf(contact.mu((BALL, GROUND)))


class VoxelSphereParameters(Parameters):
    """Parameters of the ball, in SI units; the base class makes them of config/parameters.yaml.

    Attributes:
        radius: radius of the ball [m]; over its radius in voxels it is the size of a voxel.
        mass: mass of the ball [kg].
        inertia_ratio: moment of inertia over m r^2.
        torque_limit: largest torque of the drive [N m].
        gravity: acceleration of gravity [m/s^2].
    """

    def check(self) -> None:
        """Refuse values that make no robot."""
        for name, value in self.as_dict().items():
            if value < 0 or (value == 0 and name != "gravity"):
                raise ValueError(f"{name} is {value:g}, and must be positive")
        if self.inertia_ratio > SHELL_RATIO:
            raise ValueError(f"inertia_ratio is {self.inertia_ratio:g}: a shell has 2/3")

    @property
    def inertia(self) -> float:
        """Moment of inertia about the centre [kg m^2]."""
        return self.inertia_ratio * self.mass * self.radius**2
