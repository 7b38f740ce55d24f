"""Physical parameters of the voxel sphere; values and sources are in config/parameters.yaml."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class VoxelSphereParameters:
    """Hold the parameters of the ball, in SI units.

    Args:
        radius: of the ball [m]; with its radius in voxels it makes the size of a voxel.
        mass: [kg].
        inertia_ratio: inertia over m r^2.
        torque_limit: of what drives it [N m].
        gravity: [m/s^2].
    """

    radius: float
    mass: float
    inertia_ratio: float
    torque_limit: float
    gravity: float

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value):
                raise ValueError(f"{field.name} is {value}, and must be finite")
            if value < 0 or (value == 0 and field.name != "gravity"):
                raise ValueError(f"{field.name} is {value:g}, and must be positive")
        if self.inertia_ratio > 2.0 / 3.0:
            raise ValueError(f"inertia_ratio is {self.inertia_ratio:g}: a shell has 2/3")

    @property
    def inertia(self) -> float:
        """Of the ball about its centre [kg m^2]."""
        return self.inertia_ratio * self.mass * self.radius**2
