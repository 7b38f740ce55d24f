"""Search of collisionless gaits: passive motions in which the free hand grips while at rest.

Such a gait needs no motor and loses no energy in an impact: without friction the robot swings from
a pose at rest, with both hands at the same height, to its mirror image. The motion is symmetric
about the instant at which both links hang straight down. So it is found by one unknown, the angle
of the held link at rest, and one condition: th2 = 0 when th1 = 0. From a guess, steps to both sides
bracket the nearest root, which Brent's method then finds.

TRIED_DISTANCES may be widened. The fields of CollisionlessGait stay, for `accord monkeybot gait`
prints them as JSON keys.
"""

import itertools
import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import LEFT_OUT, AccordError, Array, Quantity

from monkeybot.model.coordinates import Mode
from monkeybot.model.events import VERTICAL
from monkeybot.model.hybrid import LIMIT
from monkeybot.model.motion import Motion, frictionless
from monkeybot.model.parameters import MonkeyBotParameters

# rad: distances from the guess that are tried. The robot's two gaits are 28 degrees apart
# (measured): one of them is within 15 of any guess between, and any step up to 5 would do.
TRIED_DISTANCES = np.deg2rad(np.arange(0.0, 15.0, 0.25))
# rad: if th2 changes by more between two tried angles, it has jumped by a turn, 6.3 rad: any well
# below that and above the change from one angle to the next would do.
MAX_CHANGE = 1.0
REST_TOLERANCE = 1e-14  # of the integrator, so that the angle is found to round-off

HALF_WAY = Quantity("rad/s", name="rates half-way", form=".8f")


@dataclass(frozen=True)
class CollisionlessGait:
    """A gait that needs neither motor nor impact.

    Args:
        angle: of the held link from straight down, where both hands rest on the line.
        period: from one change of hands to the next.
        stride: between the hands.
        rates: of th1 and th2 half-way, where both links hang straight down (2,).
        residual: largest change of angles [rad] and rates [rad/s] after one gait.
    """

    angle: Annotated[float, Quantity("rad", form=".8f")]
    period: Annotated[float, Quantity("s", form=".8f")]
    stride: Annotated[float, Quantity("m", form=".8f")]
    rates: Annotated[Array, HALF_WAY] = field(metadata=LEFT_OUT)
    residual: Annotated[float, Quantity("rad, rad/s", form=".2g")]


def start_of(angle: float) -> Array:
    """Return the state in which both hands are level and at rest, the free one behind (8,)."""
    return np.array([-angle, 2.0 * angle - math.pi, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])


def find_collisionless(parameters: MonkeyBotParameters, angle: float) -> CollisionlessGait:
    """Find the collisionless gait nearest to a guess.

    Released at rest with both hands level, the robot must hang straight, th1 = th2 = 0, at one
    instant half-way.

    Args:
        parameters: of a robot with two equal links.
        angle: guess [rad].

    Raises:
        AccordError: for links that differ, an angle outside (0, pi/2), or if no gait is found.
    """
    p = frictionless(parameters)
    if not np.allclose(p.row(0), p.row(1), rtol=1e-9, atol=0.0):
        raise AccordError("a collisionless gait needs both links alike, seen from their hands")
    if p.gravity == 0.0:
        raise AccordError("gravity is 0, and a robot at rest stays there")
    if not 0.0 < angle < 0.5 * math.pi:
        raise AccordError(f"angle is {angle:g} rad, and must be between 0 and pi/2")
    root = _nearest_angle(p, angle)
    half = _half_gait(p, root)
    stride = 2.0 * p.length_a * math.sin(root)
    period = 2.0 * half.time
    return CollisionlessGait(root, period, stride, half.u[2:4], _residual(p, root, period))


def _half_gait(parameters: MonkeyBotParameters, angle: float) -> Motion:
    """Return the motion from rest up to the instant at which the held link hangs straight down."""
    motion = Motion(parameters, start_of(angle), tolerance=REST_TOLERANCE)
    motion.advance(LIMIT, until=VERTICAL)
    return motion


def _nearest_angle(p: MonkeyBotParameters, guess: float) -> float:
    """Return the angle nearest to the guess for which th2 = 0 half-way [rad]."""

    def th2_half_way(angle: float) -> float:
        """Return th2 where the held link hangs straight down [rad], for an angle at rest."""
        return float(_half_gait(p, angle).u[1])

    # By side of the guess, below and above: th2 half-way at the outermost angle that was tried.
    last_th2 = dict.fromkeys((-1.0, 1.0), th2_half_way(guess))
    for inner, outer in itertools.pairwise(TRIED_DISTANCES):
        for side in (-1.0, 1.0):
            a, b = guess + side * inner, guess + side * outer
            if not 0.0 < b < 0.5 * math.pi:
                continue
            before, after = last_th2[side], th2_half_way(b)
            last_th2[side] = after
            if before * after <= 0.0 and abs(before - after) < MAX_CHANGE:
                return float(scipy.optimize.brentq(th2_half_way, a, b, xtol=1e-15, rtol=1e-15))
    raise AccordError(f"no collisionless gait is within 15 degrees of {guess:g} rad")


def _residual(parameters: MonkeyBotParameters, angle: float, period: float) -> float:
    """Return the largest difference of angles and rates between start and end of a whole gait."""
    start = start_of(angle)
    motion = Motion(parameters, start, tolerance=REST_TOLERANCE)
    motion.advance(period)
    motion.switch_to(Mode.SWING_B)
    return float(np.abs(motion.hand_state[:4] - start[:4]).max())
