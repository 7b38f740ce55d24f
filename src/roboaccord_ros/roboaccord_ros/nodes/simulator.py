"""The simulator node: state out, command in, step."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from rclpy.node import Node
from roboaccord.cdr import EffortCodec
from roboaccord.contract.errors import LockstepError
from roboaccord.contract.interfaces import Observer, Simulator
from roboaccord.contract.state import Array, Command
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.extras import ExtraInputs
from roboaccord_ros.graph.outlet import Outlet, contact_markers
from roboaccord_ros.graph.parameters import declare, setup_of
from roboaccord_ros.graph.shell import Run, report_main_of
from roboaccord_ros.nodes.pacing import Pacing, SimulatorOptions, add_services
from roboaccord_ros.nodes.stepper import Stepper

Make = Callable[[Setup, str], Simulator]


class SimulatorShell:
    """Publish the state, wait for the command that answers it, step, until the end of the run."""

    def __init__(
        self,
        node: Node,
        setup: Setup,
        simulator: Simulator,
        run: Run,
        options: SimulatorOptions,
        observers: Sequence[Observer] = (),
    ) -> None:
        self._run, self._lockstep = run, options.lockstep
        seen = contact_markers(node, setup, simulator)
        self.stepper = Stepper(setup, simulator, options.duration, (*seen, *observers))
        self._efforts = EffortCodec(simulator.joints)
        version = simulator.version
        self._outlet = Outlet(node, setup, options.engine, version, options.transport, clock=True)
        self._effort: Array | None = None
        self._started, self.wall_time = time.perf_counter(), 0.0
        self.result: dict[str, object] = {}
        robot = setup.robot.name
        self.extras = ExtraInputs(node, robot, run, setup.initial.switches, self.resume)
        commands = graph.subscribe(node, robot, graph.EFFORTS, run.guard(self._on_command))
        self.pacing = Pacing(node, self, run, options, self._outlet, commands)
        add_services(node, self.pacing, run)

    def start(self) -> None:
        """Go to the start, and publish the initial state."""
        self._effort = None
        self._started = time.perf_counter()
        self.extras.start()
        self.stepper.start()
        self._outlet.state(self.stepper.state)

    def resume(self) -> None:
        """Step if everything that answers the present state is there."""
        effort = self._effort
        if effort is None or self.pacing.held or not self.pacing.recorded:
            return
        if self.result:  # the last state is answered, too, while others have yet to end
            return
        if not self.extras.ready(self.stepper.state.time):
            return
        self._effort = None
        self.step(self.extras.complete(effort))

    def step(self, command: Command) -> None:
        """Advance by one control period, and publish the state; at the end, the result."""
        if not self.stepper.tick:  # what was before is waiting
            self._started = time.perf_counter()
        self._outlet.events(self.stepper.step(command))
        self._outlet.state(self.stepper.state)
        if self.stepper.over:
            self.finish()

    def finish(self, error: str = "") -> None:
        """Publish the result, once."""
        self.wall_time = time.perf_counter() - self._started
        self.result = {
            "trajectory_sha256": self.stepper.trajectory.sha256() if self.stepper.over else "",
            "steps": self.stepper.tick,
            "wall_time": self.wall_time,
            "error": error,
        }
        self._outlet.result(self.result)
        if not error:
            self._run.done()

    def close(self) -> None:
        """Say how it ended, if that is not said, and see the result delivered."""
        if not self.result:
            self.finish(str(self._run.error or "interrupted"))
        self._outlet.deliver()

    def _on_command(self, data: bytes) -> None:
        stamp, effort = self._efforts.decode(data)
        now = self.stepper.state.time
        if not self._lockstep:
            self.pacing.hold(effort)
        elif stamp == now and self.pacing.started:
            self.pacing.in_step = True
            self._effort = effort
            self.resume()
        elif stamp > now and self.pacing.in_step:
            raise LockstepError(
                f"the controller answered t = {stamp:.6f} s, the simulator is at t = {now:.6f} s"
            )


def build(node: Node, run: Run, make: Make) -> SimulatorShell:
    """Make the simulator that the parameters of a node ask for."""
    names = ("engine", "lockstep", "duration", "timeout", "start_timeout", "peers", "transport")
    values = declare(node, "robot", "scenario", "set", *names)
    setup = setup_of(values)
    options = SimulatorOptions(**{name: values[name] for name in names})
    return SimulatorShell(node, setup, make(setup, options.engine), run, options)


def main(make: Make = make_simulator) -> None:
    """Run the simulator node with what `make` makes; the result goes to stdout as JSON."""
    sys.exit(report_main_of("simulator", lambda node, run: build(node, run, make)))


if __name__ == "__main__":
    main()
