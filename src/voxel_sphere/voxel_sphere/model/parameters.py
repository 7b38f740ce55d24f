"""Physical parameters of the voxel sphere, which config/parameters.yaml declares."""

from __future__ import annotations

from roboaccord.description import Parameters


class VoxelSphereParameters(Parameters):
    """Hold the parameters of the ball, in SI units.

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
