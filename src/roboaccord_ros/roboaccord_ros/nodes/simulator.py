"""The simulator node: commands step a simulation, whose states, events and result are published.

To add a parameter, enter it in OPTIONS and in graph/parameters.py. SETTLE may be raised: so long
another simulator is looked for. Steps are made by `Stepper` of the core, pace by pacing.py,
messages by graph/outlet.py: a run is that of the direct loop, bit for bit (test_transports), and
nothing here may change it.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar, Self

from rclpy.node import Node
from roboaccord.contract import Command, Observer, RobotState, count_steps
from roboaccord.run import Motion, Stepper, make_simulator
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator

from roboaccord_ros.gazebo.camera import PERIOD, Window
from roboaccord_ros.gazebo.simulator import GazeboSimulator
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.outlet import Outlet, contact_markers
from roboaccord_ros.graph.parameters import FaultInlet, Options, declare, declare_faults, setup_of
from roboaccord_ros.graph.reading import itself
from roboaccord_ros.graph.spinning import Run
from roboaccord_ros.nodes.controller import ControllerShell
from roboaccord_ros.nodes.pacing import Pacing, Simulation, add_services
from roboaccord_ros.speed import keep_factor

SETTLE = 0.3  # s of wall time in which another simulator would be discovered
OPTIONS = (
    "engine", "lockstep", "pace", "duration", "timeout", "start_timeout", "peers", "transport",
)  # fmt: skip
Make = Callable[[Setup, str], Simulator]


class SimulatorShell(Simulation):
    """Step a simulator, and publish the state, what happens, and at the end the result.

    Attributes:
        make: makes the simulator that the parameters of a node specify.
        controller: the controller node of this process, if it has one.
        window: of Gazebo, where a run waits for it.
    """

    name = "simulator"
    make: ClassVar[Make] = staticmethod(make_simulator)
    controller: ControllerShell | None = None
    window: Window | None = None

    def __init__(
        self,
        node: Node,
        setup: Setup,
        simulator: Simulator,
        run: Run,
        options: Options,
        observers: Sequence[Observer] = (),
    ) -> None:
        super().__init__(node, setup.robot.name, run)
        self._driven = setup.scenario.driven
        self.result = {}
        self._simulator = simulator
        self.motion = Motion(simulator.joints, options.make_tally)
        seen = contact_markers(node, setup, simulator)
        period, notified = setup.scenario.control_period, (self.motion, *seen, *observers)
        self.stepper = Stepper(simulator, setup.initial, period, notified)
        if options.pace or not options.lockstep:
            simulator.compile_all()
        self._ticks = 0
        self._hand: Callable[[RobotState], object] = itself  # to a controller of this process
        if math.isfinite(options.duration):
            self._ticks = count_steps(setup.scenario.duration, period, "duration")
        self._version, self._keep = simulator.version, options.keep
        how, *shapes = options.transport.split(", ")
        transport = ", ".join([how if options.lockstep else how + graph.FREE, *shapes])
        recorded = graph.RECORDER in options.peers
        made_by = options.engine, self._version, transport
        self.outlet = Outlet(node, setup, *made_by, recorded=recorded)
        self._started, self.wall_time = time.perf_counter(), 0.0
        self.pacing = Pacing(setup, self, options)
        self.faults = FaultInlet(self, setup, self.stepper.fail)
        add_services(self, self.pacing)

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the simulator that the parameters of a node specify."""
        values = declare(node, "robot", "scenario", "set", "composed", "window", *OPTIONS)
        setup = declare_faults(node, setup_of(values))
        options = Options.of(values, settle=SETTLE)
        if values["composed"] and options.lockstep:
            peers = [name for name in options.peers if name != graph.CONTROLLER]
            options = replace(options, handed=True, peers=peers)
        simulator = cls.make(setup, options.engine)
        if isinstance(simulator, GazeboSimulator):
            shapes = options.transport.partition(", ")[2]
            keep = partial(keep_factor, setup, contacts=shapes, lockstep=options.lockstep)
            options, window = replace(options, keep=keep), Window(setup, simulator)
            shell = cls(node, setup, simulator, run, options, [window])
            shell.every(PERIOD, window.look)
            if values["window"]:
                simulator.load()  # the window asks it what there is
                shell.window = window
        else:
            shell = cls(node, setup, simulator, run, options)
        if values["composed"]:
            shell._compose(options)
        return shell

    def _compose(self, options: Options) -> None:
        """Run the controller beside: neither of both then sleeps until another process wakes it."""
        node = Node(ControllerShell.name, context=self.node.context)
        self.run.nodes.append(node)
        self.run.expect()
        recorder = [name for name in options.peers if name == graph.RECORDER]
        peers, handed = ([] if options.handed else [self.name]) + recorder, options.handed
        self.controller = ControllerShell.build(node, self.run, peers=peers, handed=handed)
        if handed:
            self.hand_to(self.controller)

    def hand_to(self, controller: ControllerShell) -> None:
        """Hand states to a controller of this process, and take its answers, without messages."""
        self._hand = partial(controller.take, give=self.pacing.take)

    def missing(self) -> str:
        """Return that Gazebo's window is still to come, or ""."""
        return self.window.missing() if self.window else ""

    def start(self) -> None:
        """Go to the start, and publish the initial state."""
        self._started = time.perf_counter()
        self.motion.clear()
        self.stepper.start()
        self._simulator.load()
        self.outlet.state(self.stepper.state)
        self._hand(self.stepper.state)

    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""
        if not self.stepper.tick:  # what was before is waiting
            self._started = time.perf_counter()
        self.outlet.events(self.stepper.step(command))
        self.outlet.state(self.stepper.state)
        if self.over:
            self.finish()
        self._hand(self.stepper.state)

    def finish(self, error: str = "") -> None:
        """Publish the result, once; end the run where there is no error."""
        self.wall_time = time.perf_counter() - self._started
        simulated = self.stepper.state.time
        self.result = {
            "engine_version": self._version,
            "trajectory_sha256": "" if error else self.motion.sha256,
            "steps": self.stepper.tick,
            "wall_time": self.wall_time,
            "real_time_factor": simulated / self.wall_time if self.wall_time else 0.0,
            "error": error,
        }
        if self.wall_time and not error:
            self._keep(simulated / self.wall_time)
        self.outlet.result(self.result)
        if not error:
            self.run.done()

    def close(self) -> None:
        """Publish the result if that is pending, and wait until it is delivered.

        The controller, whose node may be in this process, is closed first.
        """
        if self.controller:
            self.controller.close()
        if not self.result and not isinstance(self.run.error, graph.RivalError):
            # A run that a person drives, or without an end, may end whenever it is interrupted.
            may_end = (self._driven or not self._ticks) and self.stepper.tick > 0
            self.finish(str(self.run.error or ("" if may_end else "interrupted")))
        self.outlet.deliver()
        if isinstance(self._simulator, GazeboSimulator):
            self._simulator.close()

    def report(self) -> None:
        """Write the result to stdout as JSON."""
        sys.stdout.write(json.dumps(self.result) + "\n")

    @property
    def over(self) -> bool:
        """True once the last tick is done."""
        return self.stepper.tick == self._ticks > 0


main = SimulatorShell.main

if __name__ == "__main__":
    main()
