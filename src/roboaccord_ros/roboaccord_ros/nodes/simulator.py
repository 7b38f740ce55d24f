"""The simulator node: it steps a simulation on commands, and publishes states, events and result.

`Stepper` of the core makes the steps, pacing.py decides when, and graph/outlet.py publishes. With
the parameter `composed` the controller runs in this process, too; in lockstep both then pass states
and efforts without messages. A run equals that of the direct loop, bit for bit (test_transports),
and nothing here may change it.

A parameter is entered in OPTIONS and in graph/parameters.py. QUIET_TIME may be raised.
"""

from __future__ import annotations

import importlib.util
import json
import logging
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
from roboaccord.scenario import Setup, origin_of
from roboaccord.simulators import Simulator
from std_srvs.srv import SetBool, Trigger

from roboaccord_ros.gazebo.camera import PERIOD, Window
from roboaccord_ros.gazebo.simulator import GazeboSimulator
from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.faults import FaultInlet, declare_faults
from roboaccord_ros.graph.outlet import Outlet, contact_markers
from roboaccord_ros.graph.parameters import Options, declare, setup_of
from roboaccord_ros.graph.peers import RivalError
from roboaccord_ros.graph.reading import itself
from roboaccord_ros.graph.spinning import Run
from roboaccord_ros.nodes.controller import ControllerShell
from roboaccord_ros.nodes.pacing import Pacing, Simulation
from roboaccord_ros.speed import store_factor

_log = logging.getLogger(__name__)
# s of wall time without another simulator before the start: six checks (spinning.POLL). One that is
# discovered later is refused then.
QUIET_TIME = 0.3
# Parameters that are fields of Options.
OPTIONS = "engine controller lockstep pace duration timeout start_timeout peers transport".split()


class SimulatorShell(Simulation):
    """Steps a simulator, and publishes states, events, and at the end the result.

    Attributes:
        make: makes the simulator of a setup in an engine.
        controller: the controller node in this process, or None.
        window: Gazebo's window, if the run waits for it.
        motion: gathers the motion, whose hash is in the result.
        pacing: decides when steps are taken.
        faults: lets joints fail while the run goes on.
        result: result of the run; empty until the run has ended.
        wall_time: wall time of the run [s]; 0 until the run has ended.
    """

    name = "simulator"
    make: ClassVar[Callable[[Setup, str], Simulator]] = staticmethod(make_simulator)
    controller: ControllerShell | None = None
    window: Window | None = None

    def __init__(
        self, node: Node, setup: Setup, simulator: Simulator, run: Run, options: Options,
        observers: Sequence[Observer] = (),
    ) -> None:  # fmt: skip
        super().__init__(node, setup.robot.name, run)
        self._is_driven = setup.scenario.driven
        self.result = {}
        self._simulator = simulator
        self.motion = Motion(simulator.joints, options.make_tally)
        period = setup.scenario.control_period
        notified = (self.motion, *contact_markers(node, setup, simulator), *observers)
        self.stepper = Stepper(simulator, setup.initial, period, notified)
        if options.pace or not options.lockstep:
            simulator.compile_all()
        # Passes a state to a controller in this process; does nothing without one.
        self._pass_state: Callable[[RobotState], object] = itself
        self._total_ticks = 0  # control periods of the whole run; 0 for a run without an end
        if math.isfinite(options.duration):
            self._total_ticks = count_steps(setup.scenario.duration, period, "duration")
        self._version, self._on_factor = simulator.version, options.on_factor
        kind, *shapes = options.transport.split(", ")  # shapes of contact follow in Gazebo
        transport = ", ".join([kind if options.lockstep else kind + graph.FREE, *shapes])
        record = graph.RECORDER in options.peers
        facts = options.engine, self._version, transport, origin_of(options.controller)
        self.outlet = Outlet(node, setup, *facts, recorded=record)
        self._start_time = time.perf_counter()  # of the first step [s]
        self.wall_time = 0.0
        self.pacing = Pacing(setup, self, options)
        self.faults = FaultInlet(self, setup, self.stepper.fail)
        add_services(self, setup, f"{options.engine} {self._version}")

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the simulator that the parameters of a node specify."""
        values = declare(node, "robot", "scenario", "set", "composed", "window", *OPTIONS)
        setup = declare_faults(node, setup_of(values))
        options = Options.of(values, quiet_time=QUIET_TIME)
        if values["composed"] and options.lockstep:
            peers = [name for name in options.peers if name != graph.CONTROLLER]
            options = replace(options, shared_process=True, peers=peers)
        simulator = cls.make(setup, options.engine)
        if isinstance(simulator, GazeboSimulator):
            shapes = options.transport.partition(", ")[2]
            on_factor = partial(store_factor, setup, contacts=shapes, lockstep=options.lockstep)
            options, window = replace(options, on_factor=on_factor), Window(setup, simulator)
            shell = cls(node, setup, simulator, run, options, [window])
            shell.every(PERIOD, window.serve_idle_window)
            if values["window"]:
                simulator.load()  # the window asks it for the world
                shell.window = window
        else:
            shell = cls(node, setup, simulator, run, options)
        if values["composed"]:
            shell._compose(options)
        return shell

    def _compose(self, options: Options) -> None:
        """Run the controller in this process, so that neither waits for the other to wake."""
        node = Node(ControllerShell.name, context=self.node.context)
        self.run.nodes.append(node)
        self.run.expect()
        recorder = [name for name in options.peers if name == graph.RECORDER]
        shared = options.shared_process
        peers = ([] if shared else [self.name]) + recorder
        self.controller = ControllerShell.build(node, self.run, peers=peers, shared_process=shared)
        if shared:
            self.connect_controller(self.controller)

    def connect_controller(self, controller: ControllerShell) -> None:
        """Pass states to a controller in this process, and take its answers, without messages."""
        self._pass_state = partial(controller.answer_directly, on_efforts=self.pacing.answer)

    def missing(self) -> str:
        """Return a line while Gazebo's window is not open yet, else ""."""
        return self.window.missing() if self.window else ""

    def start(self, state: RobotState | None = None) -> None:
        """Go to the start of the scenario, or to another state, and publish it."""
        self._start_time = time.perf_counter()
        self.motion.clear()
        self.stepper.start(state)
        self._simulator.load()
        self.outlet.publish_state(self.stepper.state)
        self._pass_state(self.stepper.state)

    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""
        if not self.stepper.tick:  # the time until the first command does not count
            self._start_time = time.perf_counter()
        self.outlet.publish_events(self.stepper.step(command))
        self.outlet.publish_state(self.stepper.state)
        if self.is_over:
            self.finish()
        self._pass_state(self.stepper.state)

    def finish(self, error: str = "") -> None:
        """Publish the result; end the run if there is no error."""
        self.wall_time = time.perf_counter() - self._start_time
        factor = self.stepper.state.time / self.wall_time if self.wall_time else 0.0
        self.result = {
            "engine_version": self._version,
            "trajectory_sha256": "" if error else self.motion.sha256,
            "steps": self.stepper.tick,
            "wall_time": self.wall_time,
            "real_time_factor": factor,
            "error": error,
        }
        if self.wall_time and not error:
            self._on_factor(factor)
        self.outlet.publish_result(self.result)
        if not error:
            self.run.done()

    def close(self) -> None:
        """Publish the result if that is pending, and wait until it is delivered.

        The controller, whose node may be in this process, is closed first.
        """
        if self.controller:
            self.controller.close()
        if not self.result and not isinstance(self.run.error, RivalError):
            # An interruption is a good end of a run that a person drives or that has no end.
            may_end = (self._is_driven or not self._total_ticks) and self.stepper.tick > 0
            self.finish(str(self.run.error or ("" if may_end else "interrupted")))
        self.pacing.halt.end_steps(str(self.run.error or "the run ended"))
        self.outlet.deliver()
        if isinstance(self._simulator, GazeboSimulator):
            self._simulator.close()

    def report(self) -> None:
        """Write the result to stdout as JSON."""
        sys.stdout.write(json.dumps(self.result) + "\n")

    @property
    def is_over(self) -> bool:
        """Whether the last control period is done."""
        return self.stepper.tick == self._total_ticks > 0


def add_services(shell: SimulatorShell, setup: Setup, engine: str) -> None:
    """Offer `sim/reset` and `sim/pause`, and, where it is installed, the standard's services.

    Args:
        shell: the node.
        setup: robot and scenario.
        engine: name and version of the engine.
    """
    pacing, guard = shell.pacing, shell.run.guard

    def reset(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Go back to the start of the scenario."""
        response.message, response.success = pacing.unready, not pacing.unready
        if response.success:
            guard(pacing.restart)()
        return response

    def pause(request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Pause the run, or let it go on."""
        guard(pacing.pause)(bool(request.data))
        response.success = True
        return response

    shell.node.create_service(Trigger, graph.RESET, reset)
    shell.node.create_service(SetBool, graph.PAUSE, pause)
    if importlib.util.find_spec("simulation_interfaces") is None:
        _log.info("simulation_interfaces is not installed: its services are not offered")
        return
    from roboaccord_ros.nodes.standard import StandardServices

    StandardServices(shell, pacing, setup, engine)


main = SimulatorShell.main

if __name__ == "__main__":
    main()
