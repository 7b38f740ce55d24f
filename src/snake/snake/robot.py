"""Registration of the snake: brings the package into the workspace.

`Snake` names the parameters, controllers, friction laws and commands, and makes the reference. Its
joints and effort limits come from SnakeParameters; test/test_conformance.py compares them with the
URDF. Figures of a run come from `tally`.

A controller, a friction law or a shape of contact is added as an entry in `controllers`,
`friction_laws` or `contact_shapes`. The keys that exist stay, for scenarios use them. The post that
the robot comes from is named in docs/snake.md.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from roboaccord.contract import Array, RobotState, Tally
from roboaccord.scenario import GazeboHooks, Robot, Setup, commands_of
from roboaccord.simulators import Simulator

from snake.controllers.serpenoid import SerpenoidController
from snake.controllers.steering import SteeringController
from snake.model.parameters import SnakeParameters, ellipse, pyramid
from snake.simulators.metrics import GaitFigures
from snake.simulators.reference import SnakeReference
from snake.source.post import AsCoded, AsDescribed


class Snake(Robot):
    """A chain of cuboids with vertical joints on the ground."""

    name = "snake"
    summary = "chain of cuboids with vertical joints; lateral undulation"
    parameters = SnakeParameters
    controllers = {
        "serpenoid": SerpenoidController,
        "steering": SteeringController,
        "as_described": AsDescribed,
        "as_coded": AsCoded,
    }
    friction_laws = {"ellipse": ellipse, "pyramid": pyramid}
    gazebo = GazeboHooks({
        "spheres": {"law": "pyramid", "slip_speed": 0.0, "points": "centre", "loads": "equal"},
        "boxes": {},
    })  # fmt: skip
    cli = commands_of("snake", {"shapes": "shapes"})

    def joints(self, setup: Setup) -> tuple[str, ...]:
        parameters: SnakeParameters = setup.parameters
        return parameters.joint_names

    def effort_limits(self, setup: Setup) -> Array:
        return np.full(len(setup.joints), setup.parameters.effort_limit)

    def reference(self, setup: Setup) -> Simulator:
        return SnakeReference(setup)

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Put the centre of the links at half their height."""
        x, y, _ = state.position
        height = 0.5 * setup.parameters.link_height
        return dataclasses.replace(state, position=np.array([x, y, height]))

    def tally(self, setup: Setup, ticks: int) -> Tally:
        return GaitFigures(setup)


ROBOT = Snake()
