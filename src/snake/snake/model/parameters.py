"""Physical parameters of the snake, and the friction laws that scenarios may name.

`SnakeParameters` has the values of config/parameters.yaml, where each value names its source.
`law_of` returns the function that makes a friction law from the keys under `friction` in a
scenario: coefficients, slip speed, contact points and loads.

A run may change values by `--set parameters.NAME=...`; values marked "post" are the blog post's and
stay. A new parameter needs an entry in the file and in the docstring below. A new friction law is
one more `law_of(...)`, registered in robot.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from roboaccord.contract import Array, EllipseFriction, PyramidFriction, check_positive
from roboaccord.contract import results as si
from roboaccord.description import Parameters
from roboaccord.scenario import Setup


class SnakeParameters(Parameters):
    """Snake's parameters, in SI units.

    Attributes:
        joints: number n of joints; there are n + 1 links.
        link_mass: [kg].
        link_length, link_width, link_height: along, across and upwards [m].
        inertia_along, inertia_across, inertia_vertical: about the link's axes [kg m^2].
        pivot_behind_front: distance a from a link's centre back to the joint behind it [m].
        pivot_ahead_of_rear: distance b from a link's centre to the joint ahead of it [m].
        joint_limit: joints stop at plus and minus this [rad].
        effort_limit: [N m].
        gravity: [m/s^2]; the weight that it causes loads the friction.
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


def law_of(kind: type[EllipseFriction]) -> Callable[..., EllipseFriction]:
    """Return a function that makes a friction law from the keys of a scenario.

    Args:
        kind: EllipseFriction, in which forces along and across a link are bounded together by an
            ellipse, or PyramidFriction, in which each is bounded by itself.
    """

    def make(
        setup: Setup,
        mu_along: float = 0.1,
        mu_across: float = 1.0,
        slip_speed: si.MetresPerSecond = 0.01,
        points: str = "centre",
        loads: str = "equal",
        beyond: Mapping[str, si.Metres] | None = None,
    ) -> EllipseFriction:
        """Make the friction of the links on the ground.

        Args:
            setup: robot and scenario.
            mu_along, mu_across: coefficients along and across the body.
            slip_speed: smoothing speed; with 0 the pyramid sticks, in the reference simulator only
                (simulators/sticking.py).
            points: where a link touches the ground: `centre`, or its four lower `corners`.
            loads: `equal`: each link carries its own weight; `rigid`: the weight is shared out as a
                contact solver does it for a body that does not bend upwards.
            beyond: `x` [m] of a line, and `mu_along` and `mu_across` of links beyond it.
        """
        p: SnakeParameters = setup.parameters
        contacts, gyration = _points(p, points), _gyration(p, loads)
        load = p.link_mass * p.gravity
        return kind(p.link_names, contacts, load, mu_along, mu_across, slip_speed, beyond, gyration)

    return make


ellipse, pyramid = law_of(EllipseFriction), law_of(PyramidFriction)


def _points(p: SnakeParameters, name: str) -> Array:
    """Return the contact points of a link, along and across it from its centre (k, 2) [m]."""
    x, y = 0.5 * p.link_length, 0.5 * p.link_width
    corners = np.array([[x, y], [x, -y], [-x, y], [-x, -y]])
    positions = {"centre": np.zeros((1, 2)), "corners": corners}
    if name not in positions:
        raise ValueError(f"points is {name!r}, and must be centre or corners")
    return positions[name]


def _gyration(p: SnakeParameters, loads: str) -> tuple[float, float] | None:
    """Return the squared radii of gyration of a link [m^2] for rigid loads, None for equal ones."""
    if loads not in ("equal", "rigid"):
        raise ValueError(f"loads is {loads!r}, and must be equal or rigid")
    squared = p.inertia_along / p.link_mass, p.inertia_across / p.link_mass
    return squared if loads == "rigid" else None
