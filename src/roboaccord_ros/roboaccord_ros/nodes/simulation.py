"""A simulation in the graph: commands step it, and its states, events and result are published."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rclpy.node import Node
from roboaccord.contract.checks import NANOSECONDS, check_command, count_steps
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Observer, Tally
from roboaccord.contract.results import Json
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.run.loop import advance
from roboaccord.run.metrics import Motion
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.watch import START_TIMEOUT, TIMEOUT
from roboaccord.simulators.base import Simulator

from roboaccord_ros.graph.outlet import Outlet, ResultShell, contact_markers
from roboaccord_ros.graph.shell import Run


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


class Simulation(ResultShell):
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
        super().__init__(node, setup.robot.name, run)
        self._driven = setup.scenario.driven
        seen = contact_markers(node, setup, simulator)
        self.stepper = Stepper(
            setup, simulator, options.duration, (*seen, *observers), make_tally=options.make_tally
        )
        self._version = version = simulator.version
        self.outlet = Outlet(node, setup, options.engine, version, options.transport, clock=True)
        self._started, self.wall_time = time.perf_counter(), 0.0

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
        result: dict[str, Json] = {
            "engine_version": self._version,
            "trajectory_sha256": "" if error else self.stepper.motion.sha256,
            "steps": self.stepper.tick,
            "wall_time": self.wall_time,
            "real_time_factor": simulated / self.wall_time if self.wall_time else 0.0,
        }
        self.conclude(result, error)

    def may_end(self) -> bool:
        """Return whether steps were done of a run that ends when it is interrupted."""
        return (self._driven or not self.stepper.ticks) and self.stepper.tick > 0


class Stepper:
    """Step a simulator tick by tick, as `roboaccord.run.loop.drive` does, and hash the motion.

    Args:
        setup: robot and scenario.
        simulator: what simulates.
        duration: infinite for a run without end.
        observers: told of each state, command and event.
        make_tally: as of `Motion`.
    """

    def __init__(
        self,
        setup: Setup,
        simulator: Simulator,
        duration: float,
        observers: Sequence[Observer],
        *,
        make_tally: Callable[[], Tally] | None = None,
    ) -> None:
        self.motion = Motion(simulator.joints, make_tally)
        self._simulator, self._initial = simulator, setup.initial
        self._observers = (self.motion, *observers)
        self.joints = simulator.joints
        self.period = setup.scenario.control_period
        count_steps(self.period, simulator.physics_step, "control period over physics step")
        self._period_ns = round(self.period * NANOSECONDS)
        self.ticks = 0
        if math.isfinite(duration):
            self.ticks = count_steps(setup.scenario.duration, self.period, "duration")
        self.tick = 0
        self.state: RobotState = setup.initial
        self._faults: list[Fault] = []

    @property
    def over(self) -> bool:
        """True once the last tick is done."""
        return self.tick == self.ticks > 0

    def start(self) -> None:
        """Begin, or begin again."""
        self.tick = 0
        self.state = self._simulator.reset(self._initial)
        self._simulator.take_events()
        self.motion.clear()
        for observer in self._observers:
            observer.on_state(self.state)

    def fail(self, fault: Fault) -> None:
        """Let a joint fail at the next step, which can be the first."""
        self._faults.append(fault)

    def step(self, command: Command) -> Sequence[Event]:
        """Advance by one control period, and return the events.

        Raises:
            AccordError: for a command that is not valid, or a simulation that diverged.
        """
        check_command(command, self.joints, "the controller", self.state.time)
        for observer in self._observers:
            observer.on_command(self.state, command)
        while self._faults:
            self._simulator.fail(self._faults.pop(0))
        self.tick += 1
        self.state = advance(self._simulator, command, self.period, self.tick, self._period_ns)
        events = self._simulator.take_events()
        for observer in self._observers:
            for event in events:
                observer.on_event(event)
            observer.on_state(self.state)
        return events
