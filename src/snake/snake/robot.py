"""Registration of the snake in the workspace.

The commands find the robot through the class `Snake`. It names the parameters, controllers,
friction laws and the robot's own commands, and creates the reference simulator and the figures of a
run. The names of joints and their effort limits come from SnakeParameters and must agree with the
URDF. docs/snake.md describes the robot and names the blog post that it comes from.

A controller or a friction law is added as an entry in `controllers` or `friction_laws`. The keys
that exist stay, for scenarios use them.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array, RobotState, Tally
from roboaccord.description import Faces
from roboaccord.scenario import GazeboHooks, Robot, Setup, commands_of
from roboaccord.simulators import Simulator

from snake.controllers.compliant import CompliantController
from snake.controllers.serpenoid import SerpenoidController
from snake.controllers.steering import SteeringController
from snake.model.parameters import SnakeParameters, ellipse, pyramid
from snake.model.pegs import make_pegs
from snake.model.touches import solids_of
from snake.simulators.metrics import GaitFigures
from snake.simulators.peg_figures import PegFigures
from snake.simulators.peg_world import make_world
from snake.simulators.reference import SnakeReference
from snake.source.post import AsCoded, AsDescribed

# Keys of `friction` that describe the contact of spheres in Gazebo, one under each link, which have
# no slip speed; boxes are as the scenario states.
SPHERES = {"law": "pyramid", "slip_speed": 0.0, "points": "centre", "loads": "equal"}


class Snake(Robot):
    """A chain of cuboids with vertical joints on the ground."""

    name = "snake"
    summary = "chain of cuboids with vertical joints; lateral undulation"
    parameters = SnakeParameters
    controllers = {
        "serpenoid": SerpenoidController,
        "steering": SteeringController,
        "compliant": CompliantController,
        "as_described": AsDescribed,
        "as_coded": AsCoded,
    }
    friction_laws = {"ellipse": ellipse, "pyramid": pyramid}
    gazebo = GazeboHooks({"spheres": SPHERES, "boxes": {}}, world=make_world)
    terrain = staticmethod(make_pegs)
    cli = commands_of("snake", {"shapes": "shapes"})

    def joints(self, setup: Setup) -> tuple[str, ...]:
        """Return the names of the joints from the head to the tail."""
        parameters: SnakeParameters = setup.parameters
        return parameters.joint_names

    def effort_limits(self, setup: Setup) -> Array:
        """Return the limit of every joint's effort (n,) [N m]."""
        return np.full(len(setup.joints), setup.parameters.effort_limit)

    def description(self, setup: Setup, base: str, more: Mapping[str, str]) -> tuple[str, str]:
        """Return the URDF and its file; among pegs the links have the shape that touches these."""
        arguments = {"pegs": "true"} if setup.scenario.terrain.get("pegs") else {}
        return super().description(setup, base, {**arguments, **more})

    def reference(self, setup: Setup) -> Simulator:
        """Return the analytical simulator."""
        return SnakeReference(setup)

    def initial(self, setup: Setup, state: RobotState) -> RobotState:
        """Put the centre of the links at half their height."""
        x, y, _ = state.position
        height = 0.5 * setup.parameters.link_height
        return dataclasses.replace(state, position=np.array([x, y, height]))

    def surroundings(self, setup: Setup) -> Mapping[str, tuple[Array, Faces]]:
        """Return the pegs."""
        return solids_of(setup.contact)

    def tally(self, setup: Setup, ticks: int) -> Tally:
        """Return the figures of a run, empty as yet."""
        return PegFigures(setup) if setup.contact else GaitFigures(setup)


ROBOT = Snake()
