"""A dribbler in one call: what its rollers do to keep a ball in its place, by statics.

Fields of `Dribbler` and of the result are what users of docs/dribblers.md call: they stay, and
test_dribblers runs the page. SHELL, which takes the ball for hollow, stays. PRESSES, TRIED and
LARGEST_SHARE, where bounds of the press force are looked for, may be tuned.

Roller speeds are those of the inverse map; friction is shared out so that the largest share is
least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from roboaccord.contract import AccordError, Array, check_positive
from roboaccord.description import load_parameters
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.parameters import RollerSphereParameters

from roboaccord_studies.roller_sphere.statics import Statics

SHELL = 2.0 / 3.0  # inertia of a hollow ball, in m r^2
PRESSES = 1e-3, 1e4  # N: between which bounds are looked for
TRIED = 33  # of them, at first
LARGEST_SHARE = 1e6  # a share beyond it is as bad as none


@dataclass(frozen=True, kw_only=True)
class Dribbler:
    """Specify a dribbler: two driven rollers that press a ball on the ground.

    The robot's frame has x forwards, y to the left and z up. Defaults are those of the workspace.

    Args:
        ball_radius, ball_mass: [m, kg].
        azimuth: where the rollers touch the ball, about z from x (2,) [degrees].
        latitude: likewise from the ball's equator up (2,) [degrees].
        alpha: from the plane through the ball's centre and both contacts to the axis of each
            roller (2,) [degrees].
        roller_radius: [m].
        holder_mass: of a roller with what it is pressed by (2 alike) [kg].
        press_force: of each roller towards the ball's centre [N].
        ball_ahead: from the robot's middle to the ball [m].
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
        angles = {
            f"{name}_{i + 1}": math.radians(getattr(self, name)[i])
            for name in ("azimuth", "latitude", "alpha")
            for i in (0, 1)
        }
        force = self.press_force if press_force is None else press_force
        return load_parameters(
            RollerSphereParameters,
            "roller_sphere",
            {
                **angles,
                "radius": self.ball_radius,
                "ball_mass": self.ball_mass,
                "ball_inertia": SHELL * self.ball_mass * self.ball_radius**2,
                "roller_radius": self.roller_radius,
                "roller_mass": 0.5 * self.holder_mass,
                "holder_mass": 0.5 * self.holder_mass,
                "press_force": force,
                "ball_ahead": self.ball_ahead,
            },
        )


@dataclass(frozen=True)
class Hold:
    """Means of a dribbler to keep the ball in its place.

    Args:
        surface_speeds: of the rollers where they touch the ball (2,) [m/s].
        roller_rates: of the rollers about their axes (2,) [rad/s].
        slip: of the ball against either roller, along X_i (2,) [m/s].
        spin: of the ball about the vertical [rad/s].
        loads: by which the rollers press on the ball (2,) [N].
        roller_share, ground_share: of the friction there is, that the motion needs.
        press_bounds: least and largest press force with which friction can hold the ball [N];
            NaN where none can, infinite where more is never too much.
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
        """True if friction can hold the ball, in whichever direction the rollers slip."""
        pressed = bool((self.loads > 0.0).all())
        return pressed and max(self.roller_share, self.ground_share) <= 1.0


def hold_ball(
    dribbler: Dribbler,
    *,
    velocity: tuple[float, float],
    turn_rate: float = 0.0,
    acceleration: tuple[float, float] = (0.0, 0.0),
    turn_acceleration: float = 0.0,
) -> Hold:
    """Return what a dribbler does for a motion of its robot.

    The ball is to stay in its place, rolling on the ground: its velocity is v + w z x d, with d
    from the robot's middle to it, its acceleration dv/dt + w z x v + dw/dt z x d - w^2 d. Roller
    speeds are those of the inverse map (22). The friction is shared out between both rollers and
    the ground so that the largest share of what there is is least.

    Args:
        dribbler: geometry, masses, press force and friction.
        velocity: v of the robot's middle, forwards and to the left [m/s].
        turn_rate: w of the robot, to the left [rad/s].
        acceleration: how `velocity` changes, in the robot's frame [m/s^2].
        turn_acceleration: how `turn_rate` changes [rad/s^2].

    Raises:
        AccordError: for numbers that make no dribbler, a motion that is not finite, or rollers that
            cannot drive the ball in every direction.
    """
    motion = (*velocity, turn_rate, *acceleration, turn_acceleration)
    if not np.isfinite(motion).all():
        raise AccordError(f"the motion {motion} is not finite")
    p = dribbler.parameters()
    (vx, vy), (ax, ay), w, ahead = velocity, acceleration, turn_rate, p.ball_ahead
    ball = np.array([vx, vy + w * ahead])
    push = np.array([ax - w * vy - w * w * ahead, ay + w * vx + turn_acceleration * ahead, 0.0])
    kinematics = Kinematics(p.rig)
    nu = kinematics.driving @ (np.array([-ball[1], ball[0]]) / p.radius)
    statics = Statics(p, dribbler.mu, dribbler.mu_ground, push)
    rollers, ground = best_shares(statics)
    return Hold(
        surface_speeds=nu,
        roller_rates=nu / p.roller_radius,
        slip=kinematics.slipping @ nu,
        spin=float(kinematics.turning[2] @ nu),
        loads=statics.loads,
        roller_share=rollers,
        ground_share=ground,
        press_bounds=_press_bounds(dribbler, push),
    )


def best_shares(statics: Statics) -> tuple[float, float]:
    """Return the fractions of friction at rollers and ground where the larger one is least."""
    return statics.shares(statics.least(lambda amount: max(statics.shares(amount))))


def _press_bounds(dribbler: Dribbler, push: Array) -> tuple[float, float]:
    """Return between which press forces friction can hold the ball under an acceleration (3,).

    Cones are convex, and forces linear in the press force: what holds is one interval.
    """

    def excess(logarithm: float) -> float:
        p = dribbler.parameters(math.exp(logarithm))
        statics = Statics(p, dribbler.mu, dribbler.mu_ground, push)
        if not (statics.loads > 0.0).all():
            return LARGEST_SHARE
        return min(max(best_shares(statics)) - 1.0, LARGEST_SHARE)

    low, high = (math.log(force) for force in PRESSES)
    tried = np.linspace(low, high, TRIED).tolist()
    best = min(tried, key=excess)
    if excess(best) > 0.0:
        return math.nan, math.nan
    low = scipy.optimize.brentq(excess, low, best) if excess(low) > 0.0 else -math.inf
    high = scipy.optimize.brentq(excess, best, high) if excess(high) > 0.0 else math.inf
    return math.exp(low), math.exp(high)
