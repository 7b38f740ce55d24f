"""Physical parameters of the roller sphere; values and sources are in config/parameters.yaml."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np

from roller_sphere.model.rig import Rig

# What must be above 0; the angles may be anything that makes a rig, gravity may be 0.
POSITIVE = (
    "ball_mass", "ball_inertia", "roller_radius", "roller_mass", "roller_inertia", "holder_mass",
    "press_force", "effort_limit", "carrier_mass", "carrier_inertia", "carrier_force",
    "carrier_torque",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RollerSphereParameters:
    """Hold the parameters of ball, rollers and carrier, in SI units.

    Args:
        radius, ball_mass, ball_inertia: of the ball [m, kg, kg m^2].
        azimuth_1, azimuth_2, latitude_1, latitude_2: of the contacts, theta_1i and theta_2i [rad].
        alpha_1, alpha_2: of the rollers' axes to the plane of the contacts [rad].
        roller_radius, roller_mass, roller_inertia: of a roller, about its axis [m, kg, kg m^2].
        holder_mass: of what carries a roller [kg].
        press_force: by which each roller is pressed on the ball [N].
        effort_limit: of a roller's motor [N m].
        ball_ahead: from the middle of the carrier to the ball that it dribbles [m].
        carrier_mass, carrier_inertia: of the carrier [kg, kg m^2].
        carrier_force, carrier_torque: limits of what drives it [N, N m].
        gravity: [m/s^2].
    """

    radius: float
    ball_mass: float
    ball_inertia: float
    azimuth_1: float
    azimuth_2: float
    latitude_1: float
    latitude_2: float
    alpha_1: float
    alpha_2: float
    roller_radius: float
    roller_mass: float
    roller_inertia: float
    holder_mass: float
    press_force: float
    effort_limit: float
    ball_ahead: float
    carrier_mass: float
    carrier_inertia: float
    carrier_force: float
    carrier_torque: float
    gravity: float

    def __post_init__(self) -> None:
        for field in fields(self):
            if not math.isfinite(getattr(self, field.name)):
                raise ValueError(f"{field.name} is {getattr(self, field.name)}, and must be finite")
        for name in POSITIVE:
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name):g}, and must be positive")
        if min(self.gravity, self.ball_ahead) < 0:
            raise ValueError("gravity and ball_ahead must not be negative")
        _ = self.rig

    @property
    def rig(self) -> Rig:
        """The rig of the paper: contacts and axes of both rollers."""
        return Rig(
            radius=self.radius,
            azimuth=np.array([self.azimuth_1, self.azimuth_2]),
            latitude=np.array([self.latitude_1, self.latitude_2]),
            alpha=np.array([self.alpha_1, self.alpha_2]),
        )
