"""Fixtures of the ROS tests; ROS is imported where it is used, as tests can be skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from roboaccord.run.loop import make_simulator
from roboaccord.run.metrics import KeptMotion
from roboaccord.run.runner import RunRequest
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup


@pytest.fixture
def setup_for() -> Callable[..., Setup]:
    """Make the snake's gait, short."""

    def make(*changes: str, duration: float = 0.2) -> Setup:
        changes = (f"duration={duration}", *changes)
        return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))

    return make


class Graph:
    """Run a simulator node, a controller node if asked, and whatever a test adds."""

    def __init__(self, context: Any, nodes: list[Any]) -> None:
        from roboaccord_ros.graph.spinning import Run

        self.context, self.nodes = context, nodes
        self.namespace = ""
        self.run = Run()
        self.run.nodes = nodes

    def node(self, name: str) -> Any:
        """Make a node of the graph."""
        from rclpy.node import Node

        options = {"namespace": self.namespace, "enable_rosout": False}
        self.nodes.append(Node(name, context=self.context, **options))
        return self.nodes[-1]

    def simulator(self, setup: Setup, **options: Any) -> Any:
        """Make the simulator node."""
        from roboaccord_ros.graph.parameters import Options
        from roboaccord_ros.nodes.simulator import SimulatorShell

        options_of_run = Options(**{"peers": ("controller",), **options})
        simulator = make_simulator(setup, options_of_run.engine)
        self.motion = KeptMotion(setup.joints)
        node, observers = self.node("simulator"), (self.motion,)
        return SimulatorShell(node, setup, simulator, self.run, options_of_run, observers)

    def controller(self, setup: Setup, custom: str = "") -> Any:
        """Make the controller node."""
        from roboaccord_ros.graph.parameters import Options
        from roboaccord_ros.nodes.controller import ControllerShell
        from roboaccord_ros.nodes.inputs import subscribed_inputs

        self.run.expect()
        inputs = subscribed_inputs(self.node("input"), setup, self.run)
        options = Options(controller=custom, peers=("simulator",))
        return ControllerShell(self.node("controller"), setup, self.run, options, inputs)

    def spin(self) -> None:
        """Spin to the end of the run, and raise what ended it early."""
        from roboaccord_ros.graph.spinning import spin

        spin(self.context, self.nodes, self.run)
        if self.run.error:
            raise self.run.error


@pytest.fixture
def graph() -> Iterator[Graph]:
    """Make a ROS graph in a domain of its own."""
    from rclpy.context import Context
    from roboaccord_ros.graph.spinning import session
    from roboaccord_ros.run.domain import private_domain

    context = Context()
    with private_domain() as domain, session(context, domain_id=domain) as nodes:
        yield Graph(context, nodes)


@pytest.fixture
def request_for(tmp_path: Path) -> Callable[..., RunRequest]:
    """Make requests whose bags go to a temporary folder."""

    def make(setup: Setup, engine: str = "reference", controller: str = "") -> RunRequest:
        bag = tmp_path / f"bag_{len(list(tmp_path.iterdir()))}"
        return RunRequest(setup=setup, engine=engine, bag=bag, controller=controller)

    return make
