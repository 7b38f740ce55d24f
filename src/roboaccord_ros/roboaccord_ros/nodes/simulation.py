"""A simulation in the graph: commands step it, and its states, events and result are published."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rclpy.node import Node
from roboaccord.contract.interfaces import Observer, Tally
from roboaccord.contract.state import Command
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.watch import START_TIMEOUT, TIMEOUT
from roboaccord.simulators.base import Simulator

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.outlet import Outlet, contact_markers
from roboaccord_ros.graph.shell import Run
from roboaccord_ros.nodes.stepper import Stepper


@dataclass(frozen=True, kw_only=True)
class SimulatorOptions:
    """Hold how a simulator is run; see the parameters of the node.

    `settle` is how long no other simulator must be seen before the first step [s of wall time];
    `make_tally` makes what measures the figures of the motion, where they are wanted.
    """

    engine: str
    lockstep: bool = True
    duration: float = 0.0
    pace: float = 0.0
    timeout: float = TIMEOUT
    start_timeout: float = START_TIMEOUT
    peers: Sequence[str] = ("controller",)
    transport: str = "ros"
    settle: float = 0.0
    make_tally: Callable[[], Tally] | None = None


class Simulation:
    """Step a simulator, and publish the state, what happens, and at the end the result."""

    def __init__(
        self,
        node: Node,
        setup: Setup,
        simulator: Simulator,
        run: Run,
        options: SimulatorOptions,
        observers: Sequence[Observer] = (),
    ) -> None:
        self._run, self._driven = run, setup.scenario.driven
        seen = contact_markers(node, setup, simulator)
        self.stepper = Stepper(
            setup, simulator, options.duration, (*seen, *observers), make_tally=options.make_tally
        )
        self._version = version = simulator.version
        self.outlet = Outlet(node, setup, options.engine, version, options.transport, clock=True)
        self._started, self.wall_time = time.perf_counter(), 0.0
        self.result: dict[str, object] = {}

    def start(self) -> None:
        """Go to the start, and publish the initial state."""
        self._started = time.perf_counter()
        self.stepper.start()
        self.outlet.state(self.stepper.state)

    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""
        if not self.stepper.tick:  # what was before is waiting
            self._started = time.perf_counter()
        self.outlet.events(self.stepper.step(command))
        self.outlet.state(self.stepper.state)
        if self.stepper.over:
            self.finish()

    def finish(self, error: str = "") -> None:
        """Publish the result, once."""
        self.wall_time = time.perf_counter() - self._started
        simulated = self.stepper.state.time
        self.result = {
            "engine_version": self._version,
            "trajectory_sha256": "" if error else self.stepper.motion.sha256,
            "steps": self.stepper.tick,
            "wall_time": self.wall_time,
            "real_time_factor": simulated / self.wall_time if self.wall_time else 0.0,
            "error": error,
        }
        self.outlet.result(self.result)
        if not error:
            self._run.done()

    def close(self) -> None:
        """Publish the result if that is pending, and wait until it is delivered."""
        if not self.result and not isinstance(self._run.error, graph.RivalError):
            open_ended = (self._driven or not self.stepper.ticks) and self.stepper.tick
            self.finish(str(self._run.error or ("" if open_ended else "interrupted")))
        self.outlet.deliver()
