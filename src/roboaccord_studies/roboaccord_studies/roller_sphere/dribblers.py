"""A dribbler in one call: what its rollers must do to keep a ball in its place, by statics.

`hold_ball` takes a dribbler and a motion of its robot. It returns the speeds of the rollers, by
inverse kinematics, and which shares of the available friction the motion needs. Statics leaves one
number of the friction free (statics.py); it is chosen such that the largest share is as small as
possible.

Fields of `Dribbler` and `Hold` are what users of docs/dribblers.md call: they stay, and
test_dribblers runs the page. PRESS_RANGE, TRIED and LARGEST_SHARE may be tuned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array, check_positive
from roboaccord.description import load_parameters
from roller_sphere import Kinematics, RollerSphereParameters

from roboaccord_studies.roller_sphere.statics import Statics

# Moment of inertia over m r^2 of a hollow ball, as those of the league are; (2/3) m r^2 is that of
# a thin spherical shell.
SHELL = 2.0 / 3.0
# N; press forces between which bounds are searched: 1e-4 and 1e3 times the weight of a league's
# ball, 4 N, and more.
PRESS_RANGE = 1e-3, 1e4
# Number of press forces that are tried before a bound is refined, about five per decade: a bound
# lies between two, a factor of 1.7 apart.
TRIED = 33
# Share of friction that stands for a ball without contact: any above 1, at which it slips, by far.
LARGEST_SHARE = 1e6


@dataclass(frozen=True, kw_only=True)
class Dribbler:
    """A dribbler: two driven rollers that press a ball on the ground.

    The robot's frame has x forwards, y to the left and z up. Defaults are those of the workspace.

    Args:
        ball_radius, ball_mass: radius and mass of the ball [m, kg].
        azimuth: azimuths of the rollers' contacts, about z from x (2,) [degrees].
        latitude: latitudes of the contacts, from the ball's equator up (2,) [degrees].
        alpha: angle of each roller's axis, from the plane through the ball's centre and both
            contacts (2,) [degrees].
        roller_radius: radius of a roller [m].
        holder_mass: mass of each roller with its holder [kg].
        press_force: force of each roller towards the ball's centre [N].
        ball_ahead: distance from the robot's middle forward to the ball [m].
        mu, mu_ground: coefficients of friction at the rollers and on the ground.
    """

    ball_radius: float = 0.11
    ball_mass: float = 0.43
    azimuth: tuple[float, float] = (125.0, 235.0)
    latitude: tuple[float, float] = (60.0, 60.0)
    alpha: tuple[float, float] = (10.0, -10.0)
    roller_radius: float = 0.025
    holder_mass: float = 0.15
    press_force: float = 15.0
    ball_ahead: float = 0.3
    mu: float = 0.5
    mu_ground: float = 0.8

    def parameters(self, press_force: float | None = None) -> RollerSphereParameters:
        """Return the parameters of the workspace, with another press force if it is given.

        Raises:
            AccordError: for numbers that make no dribbler.
        """
        check_positive({"mu": self.mu, "mu_ground": self.mu_ground}, AccordError)
        angles = dict[str, float]()
        for name in ("azimuth", "latitude", "alpha"):
            for i in (0, 1):
                angles[f"{name}_{i + 1}"] = math.radians(getattr(self, name)[i])
        values = {
            **angles,
            "radius": self.ball_radius,
            "ball_mass": self.ball_mass,
            "ball_inertia": SHELL * self.ball_mass * self.ball_radius**2,
            "roller_radius": self.roller_radius,
            "roller_mass": 0.5 * self.holder_mass,
            "holder_mass": 0.5 * self.holder_mass,
            "press_force": self.press_force if press_force is None else press_force,
            "ball_ahead": self.ball_ahead,
        }
        return load_parameters(RollerSphereParameters, "roller_sphere", values)


@dataclass(frozen=True)
class Hold:
    """What a dribbler does to keep the ball in its position.

    Args:
        surface_speeds: of the rollers where they touch the ball (2,) [m/s].
        roller_rates: of the rollers about their axes (2,) [rad/s].
        slip: of the ball against either roller, along X_i (2,) [m/s].
        spin: of the ball about the vertical [rad/s].
        loads: of the rollers on the ball (2,) [N].
        roller_share, ground_share: friction that the motion needs over the available friction.
        press_bounds: smallest and largest press force with which friction can hold the ball [N];
            NaN if none can, infinite without an upper bound.
    """

    surface_speeds: Array
    roller_rates: Array
    slip: Array
    spin: float
    loads: Array
    roller_share: float
    ground_share: float
    press_bounds: tuple[float, float]

    @property
    def held(self) -> bool:
        """Whether friction can hold the ball, in whichever direction the rollers slip."""
        touches = bool((self.loads > 0.0).all())
        return touches and max(self.roller_share, self.ground_share) <= 1.0


def hold_ball(
    dribbler: Dribbler,
    *,
    velocity: tuple[float, float],
    turn_rate: float = 0.0,
    acceleration: tuple[float, float] = (0.0, 0.0),
    turn_acceleration: float = 0.0,
) -> Hold:
    """Return what a dribbler does for a motion of its robot.

    The ball is to keep its position in the robot, rolling on the ground: its velocity is v + w z x
    d, with d from the robot's middle to it, its acceleration dv/dt + w z x v + dw/dt z x d - w^2 d.
    Roller speeds are those of the inverse map, equation (22) of Kimura, Ogata and Ishii (2019, see
    roller_sphere/model/rig.py). Friction is shared out between both rollers and the ground such
    that the largest share of the available one is least.

    Args:
        dribbler: geometry, masses, press force and friction.
        velocity: v of the robot's middle, forwards and to the left [m/s].
        turn_rate: w of the robot, to the left [rad/s].
        acceleration: rate of `velocity` in the robot's frame [m/s^2].
        turn_acceleration: rate of `turn_rate` [rad/s^2].

    Raises:
        AccordError: for numbers that make no dribbler, a motion that is not finite, or rollers that
            cannot drive the ball in every direction.
    """
    motion = (*velocity, turn_rate, *acceleration, turn_acceleration)
    if not np.isfinite(motion).all():
        raise AccordError(f"the motion {motion} is not finite")
    p = dribbler.parameters()
    vx, vy = velocity
    ax, ay = acceleration
    w, ahead = turn_rate, p.ball_ahead
    forwards = ax - w * vy - w * w * ahead
    sideways = ay + w * vx + turn_acceleration * ahead
    ball_acceleration = np.array([forwards, sideways, 0.0])
    # A ball that rolls with a velocity V turns with z x V / r: x and y are (-V_y, V_x) / r.
    kinematics = Kinematics(p.rig)
    nu = kinematics.driving @ (np.array([-(vy + w * ahead), vx]) / p.radius)
    statics = Statics(p, dribbler.mu, dribbler.mu_ground, ball_acceleration)
    rollers, ground = best_shares(statics)
    return Hold(
        surface_speeds=nu,
        roller_rates=nu / p.roller_radius,
        slip=kinematics.slipping @ nu,
        spin=float(kinematics.turning[2] @ nu),
        loads=statics.loads,
        roller_share=rollers,
        ground_share=ground,
        press_bounds=_press_bounds(dribbler, ball_acceleration),
    )


def best_shares(statics: Statics) -> tuple[float, float]:
    """Return the shares of friction at rollers and ground, with the larger one minimized."""
    return statics.shares(statics.least(lambda number: max(statics.shares(number))))


def _press_bounds(dribbler: Dribbler, acceleration: Array) -> tuple[float, float]:
    """Return the smallest and largest press force [N] that hold a ball with an acceleration (3,).

    Friction cones are convex and forces linear in the press force, so it is one interval.
    """

    def excess(logarithm: float) -> float:
        """Return the largest share less 1, by the logarithm of the press force."""
        p = dribbler.parameters(math.exp(logarithm))
        statics = Statics(p, dribbler.mu, dribbler.mu_ground, acceleration)
        if not (statics.loads > 0.0).all():
            return LARGEST_SHARE
        return min(max(best_shares(statics)) - 1.0, LARGEST_SHARE)

    low, high = np.log(PRESS_RANGE).tolist()
    best = min(np.linspace(low, high, TRIED).tolist(), key=excess)
    if excess(best) > 0.0:
        return math.nan, math.nan
    lower = scipy.optimize.brentq(excess, low, best) if excess(low) > 0.0 else -math.inf
    upper = scipy.optimize.brentq(excess, best, high) if excess(high) > 0.0 else math.inf
    return math.exp(lower), math.exp(upper)
