"""Friction of the snake's links on the ground."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.friction import EllipseFriction
from roboaccord.scenario.setup import Setup

from snake.model.parameters import SnakeParameters


def ellipse(
    setup: Setup,
    mu_along: float = 0.1,
    mu_across: float = 1.0,
    slip_speed: float = 0.01,
    points: str = "centre",
    beyond: Mapping[str, float] | None = None,
) -> EllipseFriction:
    """Make the body-fixed Coulomb ellipse, loaded by each link's own weight.

    Args:
        setup: robot and scenario.
        mu_along, mu_across: coefficients along and across the body.
        slip_speed: smoothing speed [m/s].
        points: `centre` of each link, or its four lower `corners`.
        beyond: `x` [m], and the `mu_along` and `mu_across` of links beyond it.
    """
    p: SnakeParameters = setup.parameters
    x, y = 0.5 * p.link_length, 0.5 * p.link_width
    places = {
        "centre": np.zeros((1, 2)),
        "corners": np.array([[x, y], [x, -y], [-x, y], [-x, -y]]),
    }
    if points not in places:
        raise ValueError(f"points is {points!r}, and must be centre or corners")
    load = p.link_mass * p.gravity
    return EllipseFriction(
        p.link_names, places[points], load, mu_along, mu_across, slip_speed, beyond
    )
