"""Friction between the rollers and the ball, as a force law that is the same in every simulator.

With the slip zeta of the ball against a roller, tangential to both, the force on the ball is

    viscous   f = -c zeta
    coulomb   f = -mu N zeta / sqrt(|zeta|^2 + slip_speed^2)

The slip is the velocity of the ball's surface at the contact less that of the roller's. The force
is smoothed below `slip_speed`, so it is 1 / sqrt(2) = 0.71 of mu N at that slip, and 0 without
slip. The paper (model/rig.py) has no forces, so these laws are our choice. Its model minimises the
sum of the squared slips. That is also where the moments of viscous friction with equal coefficients
balance on a ball that is free to turn.

Coefficients are defaults of keys below `friction` of a scenario. A new law is a function like
`viscous`, entered in robot.py, with its force and slope in `fill_friction`, which both reference
simulators call. LINKS are names of the URDF.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from roboaccord.contract import Array, Contact, Fixture, LinkMotion, check_positive
from roboaccord.contract import results as si
from roboaccord.numerics import kernel
from roboaccord.scenario import Setup

from roller_sphere.model.parameters import RollerSphereParameters

LINKS = ("base_link", "roller_1_link", "roller_2_link")  # the ball, and the rollers
# The ground: a box whose top is at z = 0 [m]. At 2 m/s it takes 50 s from its middle to an edge.
GROUND_SIZE, GROUND_CENTRE = np.array([200.0, 200.0, 1.0]), np.array([0.0, 0.0, -0.5])  # m
GROUND = Fixture(name="ground", size=GROUND_SIZE, position=GROUND_CENTRE)


@dataclass(frozen=True, kw_only=True)
class Friction:
    """Friction law of one contact.

    Args:
        viscous: viscous coefficient c [N s/m].
        dry: largest dry friction mu N [N].
        slip_speed: slip at which dry friction reaches 1 / sqrt(2) of its largest value [m/s].
    """

    viscous: float = 0.0
    dry: float = 0.0
    slip_speed: float = 1.0

    def __post_init__(self) -> None:
        for name in ("viscous", "dry"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise ValueError(f"friction is {value:g}, and must be a number from 0 on")
        check_positive({"slip_speed": self.slip_speed})

    @property
    def row(self) -> tuple[float, float, float]:
        """Viscous, dry and slip_speed, for kernels."""
        return self.viscous, self.dry, self.slip_speed


@kernel
def dot(a, b):
    """Return the dot product of two vectors."""
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@kernel
def fill_friction(friction, load, slip, force, slope):
    """Fill the force on the ball, f = -(c + d / size) zeta, and its slope df / dzeta.

    Here d is `dry` times the load, and size = sqrt(|zeta|^2 + slip_speed^2). The slope is
    -(c + d / size) I + d / size^3 zeta zeta'.

    Args:
        friction: a row of `Friction`.
        load: of the contact [N], if `dry` is mu; 1 if `dry` is mu N.
        slip: zeta (3,) [m/s].
        force: filled (3,) [N].
        slope: filled (3, 3) [N s/m].
    """
    viscous, dry, slip_speed = friction
    square = dot(slip, slip) + slip_speed * slip_speed
    size = math.sqrt(square)
    factor = viscous + dry * load / size
    for a in range(3):
        force[a] = -factor * slip[a]
        for b in range(3):
            slope[a, b] = dry * load / size * slip[a] * slip[b] / square
        slope[a, a] -= factor


@kernel
def _fill_wrenches(position, linear, angular, radius, friction, forces, torques):
    """Fill the forces and torques of friction on the links, the ball first.

    For each roller: the direction n from the ball's centre to it, the slip of the surfaces at the
    contact, tangential to both, and the friction on the ball, opposite on the roller.

    Args:
        position, linear, angular: of the links' centres, and their velocities (3, 3) [m, m/s,
            rad/s].
        radius: of the ball [m].
        friction: a row of `Friction`.
        forces, torques: filled (3, 3) [N, N m].
    """
    n, slip, f, slope = np.empty(3), np.empty(3), np.empty(3), np.empty((3, 3))
    forces[:] = 0.0
    torques[:] = 0.0
    for i in range(1, position.shape[0]):
        n[:] = position[i] - position[0]
        distance = math.sqrt(n @ n)
        n /= distance
        lever = distance - radius  # the roller's radius
        slip[:] = linear[0] - linear[i]
        slip += np.cross(radius * angular[0] + lever * angular[i], n)
        slip -= (slip @ n) * n
        fill_friction(friction, 1.0, slip, f, slope)
        moment = np.cross(n, f)
        forces[0] += f
        torques[0] += radius * moment
        forces[i] -= f
        torques[i] += lever * moment


class RollerFriction:
    """A friction law at the contacts of rollers and ball (ForceLaw).

    Args:
        radius: of the ball [m].
        friction: the law, the same at all contacts.
    """

    links: tuple[str, ...] = LINKS

    def __init__(self, radius: float, friction: Friction) -> None:
        self.radius, self.friction = radius, friction
        self._forces, self._torques = np.zeros((2, len(LINKS), 3))

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (3, 3) [N] and torques (3, 3) [N m]; the arrays are used again."""
        position, linear, angular = motion.position, motion.linear, motion.angular
        forces, torques, friction = self._forces, self._torques, self.friction.row
        _fill_wrenches(position, linear, angular, self.radius, friction, forces, torques)
        return forces, torques


def viscous(
    setup: Setup, coefficient: Annotated[float, si.Quantity("N s/m")] = 20.0
) -> RollerFriction:
    """Return viscous friction, by which the ball turns as in the paper's model.

    Args:
        setup: robot and scenario.
        coefficient: force over slip.
    """
    return RollerFriction(setup.parameters.radius, Friction(viscous=coefficient))


def coulomb(setup: Setup, mu: float = 0.5, slip_speed: si.MetresPerSecond = 0.05) -> RollerFriction:
    """Return dry friction of the pressed rollers, smoothed below a slip speed.

    Args:
        setup: robot and scenario.
        mu: coefficient.
        slip_speed: slip at which friction reaches 0.71 of its largest value.
    """
    p: RollerSphereParameters = setup.parameters
    return RollerFriction(p.radius, Friction(dry=mu * p.press_force, slip_speed=slip_speed))


def engine_contact(setup: Setup, mu: float = 0.5, mu_ground: float = 0.8) -> Contact:
    """Return the contact of an engine: rollers pressed on the ball, and the ball on the ground.

    Args:
        setup: robot and scenario.
        mu: coefficient between rollers and ball.
        mu_ground: between ball and ground, for a ball that lies there.
    """
    if min(mu, mu_ground) < 0:
        raise ValueError("a friction coefficient is negative")
    ball, *rollers = LINKS
    pairs = [(ball, roller) for roller in rollers]  # that touch each other
    friction = {ball: max(mu, mu_ground), **dict.fromkeys(rollers, mu), GROUND.name: mu_ground}
    if setup.scenario.base != "free":  # the ball is in a bearing
        return Contact(pairs=tuple(pairs), friction=friction)
    pairs.append((ball, GROUND.name))
    return Contact(pairs=tuple(pairs), friction=friction, fixtures=(GROUND,))
