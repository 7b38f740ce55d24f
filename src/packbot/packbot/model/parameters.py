"""Physical parameters of the Packbot, which config/parameters.yaml declares."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.parameters import Parameters

JOINTS = ("turret", "shoulder", "elbow1", "elbow2", "tilt", "pan", "wrist")
POSITIVE = ("_mass", "_radius", "_speed", "_length")  # ends of names
LIMITS = ("effort_limit", "speed_limit")  # beginnings of names


class PackbotParameters(Parameters):
    """Hold the Packbot's parameters, in SI units; config/parameters.yaml says what each is.

    Names of the joints' parameters end in the joint: `lower_`, `upper_` [rad], `effort_limit_`
    [N m], `speed_limit_` [rad/s], `viscous_` [N m s/rad], `coulomb_`, `stiction_` [N m] and
    `reflected_inertia_` [kg m^2]; `of_joints` gives those of all.
    """

    def check(self) -> None:
        """Refuse values that make no robot."""
        for name, value in self.as_dict().items():
            must = name.endswith(POSITIVE) or name.startswith(LIMITS)
            if must and not value > 0:
                raise ValueError(f"{name} is {value:g}, and must be positive")
            least = name.startswith(("viscous", "coulomb", "stiction", "reflected"))
            if least and value < 0:
                raise ValueError(f"{name} is {value:g}, and must not be negative")
        for joint in JOINTS:
            if not getattr(self, f"lower_{joint}") < getattr(self, f"upper_{joint}"):
                raise ValueError(f"lower_{joint} must be below upper_{joint}")

    def of_joints(self, kind: str) -> Array:
        """Return the parameter `KIND_JOINT` of every joint (7,)."""
        return np.array([getattr(self, f"{kind}_{joint}") for joint in JOINTS])
