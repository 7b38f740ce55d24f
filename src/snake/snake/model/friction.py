"""Friction of the snake's links on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import numpy as np
from roboaccord.contract.friction import EllipseFriction, PyramidFriction
from roboaccord.contract.state import Array
from roboaccord.scenario.setup import Setup

from snake.model.parameters import SnakeParameters

Law = TypeVar("Law", bound=EllipseFriction)


def ellipse(
    setup: Setup,
    mu_along: float = 0.1,
    mu_across: float = 1.0,
    slip_speed: float = 0.01,
    points: str = "centre",
    loads: str = "equal",
    beyond: Mapping[str, float] | None = None,
) -> EllipseFriction:
    """Make the body-fixed Coulomb ellipse, loaded by each link's own weight.

    Args:
        setup: robot and scenario.
        mu_along, mu_across: coefficients along and across the body.
        slip_speed: smoothing speed [m/s].
        points: `centre` of each link, or its four lower `corners`.
        loads: `equal`, each link's own weight; or `rigid`, as a contact solver shares the weight
            out among the points of a body that does not bend upwards.
        beyond: `x` [m], and the `mu_along` and `mu_across` of links beyond it.
    """
    chosen = _points(setup, points), _gyration(setup, loads)
    return _law(EllipseFriction, setup, (mu_along, mu_across), slip_speed, *chosen, beyond)


def pyramid(
    setup: Setup,
    mu_along: float = 0.1,
    mu_across: float = 1.0,
    slip_speed: float = 0.01,
    points: str = "centre",
    loads: str = "equal",
    beyond: Mapping[str, float] | None = None,
) -> PyramidFriction:
    """Make the body-fixed friction that is bounded on each axis by itself; as `ellipse`.

    With a slip speed of 0 it sticks, in the reference alone: simulators/sticking.py.
    """
    chosen = _points(setup, points), _gyration(setup, loads)
    return _law(PyramidFriction, setup, (mu_along, mu_across), slip_speed, *chosen, beyond)


def _law(
    kind: type[Law],
    setup: Setup,
    mu: tuple[float, float],
    slip_speed: float,
    points: Array,
    gyration: tuple[float, float] | None,
    beyond: Mapping[str, float] | None,
) -> Law:
    p: SnakeParameters = setup.parameters
    load = p.link_mass * p.gravity
    return kind(p.link_names, points, load, *mu, slip_speed, beyond, gyration)


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
