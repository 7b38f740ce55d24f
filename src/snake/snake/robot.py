"""The snake's registration: the one object that brings the package into the workspace."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.friction import EllipseFriction
from roboaccord.robot import Robot
from roboaccord.state import RobotState

from snake.adaptive import AdaptiveController
from snake.controllers import SerpenoidController
from snake.metrics import metrics
from snake.parameters import SnakeParameters
from snake.post import AsCoded, AsDescribed
from snake.reference import SnakeReference
from snake.steering import SteeringController


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


def stand_on_ground(setup: Setup, state: RobotState) -> RobotState:
    """Put the centre of the links at half their height."""
    x, y, _ = state.position
    return dataclasses.replace(state, position=np.array([x, y, 0.5 * setup.parameters.link_height]))


ROBOT = Robot(
    name="snake",
    package="snake",
    summary="chain of cuboids with vertical joints; lateral undulation",
    parameters=SnakeParameters,
    joints=lambda setup: setup.parameters.joint_names,
    effort_limits=lambda s: np.full(len(s.joints), s.parameters.effort_limit),
    reference=SnakeReference,
    controllers={
        "serpenoid": SerpenoidController,
        "steering": SteeringController,
        "adaptive": AdaptiveController,
        "as_described": AsDescribed,
        "as_coded": AsCoded,
    },
    friction_laws={"ellipse": ellipse},
    initial=stand_on_ground,
    metrics=metrics,
    cli="snake.cli:app",
)
