"""Physical parameters of the snake, which config/parameters.yaml declares."""

from __future__ import annotations

from roboaccord.contract import check_positive
from roboaccord.description import Parameters


class SnakeParameters(Parameters):
    """Hold the snake's parameters, in SI units.

    Attributes:
        joints: number n of joints; there are n + 1 links.
        link_mass: [kg].
        link_length, link_width, link_height: along, across and upwards [m].
        inertia_along, inertia_across, inertia_vertical: about the link's axes [kg m^2].
        pivot_behind_front: from a link's centre back to the joint behind it [m].
        pivot_ahead_of_rear: from a link's centre forward to the joint ahead of it [m].
        joint_limit: joints stop at plus and minus this [rad].
        effort_limit: [N m].
        gravity: [m/s^2]; loads the friction.
    """

    joints: int

    def check(self) -> None:
        """Refuse values that make no robot."""
        if not 1 <= self.joints <= 200:
            raise ValueError(f"joints is {self.joints}, and must be 1 to 200")
        names = ("link_mass", "inertia_vertical", "joint_limit", "effort_limit", "link_length")
        check_positive({name: getattr(self, name) for name in names})

    @property
    def links(self) -> int:
        """Number of links."""
        return self.joints + 1

    @property
    def mass(self) -> float:
        """Mass of the whole robot [kg]."""
        return self.links * self.link_mass

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints, from the head end to the tail."""
        return tuple(f"joint_{i:02d}" for i in range(1, self.joints + 1))

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of the links, from the head to the tail, which is `base_link`."""
        return (*(f"segment_{i:02d}_link" for i in range(1, self.joints + 1)), "base_link")
