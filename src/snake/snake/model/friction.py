"""Friction of the snake's links on the ground."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import numpy as np
from roboaccord.contract import Array, EllipseFriction, PyramidFriction
from roboaccord.scenario import Setup

from snake.model.parameters import SnakeParameters

Law = TypeVar("Law", bound=EllipseFriction)


def friction_of(kind: type[Law]) -> Callable[..., Law]:
    """Return the factory of a law of friction, whose arguments are the keys of a scenario.

    Args:
        kind: the body-fixed Coulomb ellipse, or the pyramid, which is bounded on each axis by
            itself.
    """

    def make(
        setup: Setup,
        mu_along: float = 0.1,
        mu_across: float = 1.0,
        slip_speed: float = 0.01,
        points: str = "centre",
        loads: str = "equal",
        beyond: Mapping[str, float] | None = None,
    ) -> Law:
        """Make the friction of the links on the ground.

        Args:
            setup: robot and scenario.
            mu_along, mu_across: coefficients along and across the body.
            slip_speed: smoothing speed [m/s]; at 0 the pyramid sticks, in the reference alone:
                simulators/sticking.py.
            points: `centre` of each link, or its four lower `corners`.
            loads: `equal`, each link's own weight; or `rigid`, as a contact solver shares the
                weight out among the points of a body that does not bend upwards.
            beyond: `x` [m], and the `mu_along` and `mu_across` of links beyond it.
        """
        p: SnakeParameters = setup.parameters
        places, gyration = _points(setup, points), _gyration(setup, loads)
        load = p.link_mass * p.gravity
        return kind(p.link_names, places, load, mu_along, mu_across, slip_speed, beyond, gyration)

    return make


ellipse, pyramid = friction_of(EllipseFriction), friction_of(PyramidFriction)


def _points(setup: Setup, name: str) -> Array:
    p: SnakeParameters = setup.parameters
    x, y = 0.5 * p.link_length, 0.5 * p.link_width
    places = {
        "centre": np.zeros((1, 2)),
        "corners": np.array([[x, y], [x, -y], [-x, y], [-x, -y]]),
    }
    if name not in places:
        raise ValueError(f"points is {name!r}, and must be centre or corners")
    return places[name]


def _gyration(setup: Setup, loads: str) -> tuple[float, float] | None:
    if loads not in ("equal", "rigid"):
        raise ValueError(f"loads is {loads!r}, and must be equal or rigid")
    p: SnakeParameters = setup.parameters
    squared = p.inertia_along / p.link_mass, p.inertia_across / p.link_mass
    return squared if loads == "rigid" else None
