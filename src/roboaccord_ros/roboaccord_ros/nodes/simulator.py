"""The simulator node: state out, command in, step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rclpy.node import Node
from roboaccord.contract.interfaces import Observer
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

from roboaccord_ros.graph.faults import FaultInlet, declare_faults
from roboaccord_ros.graph.parameters import declare, setup_of
from roboaccord_ros.graph.shell import Run, report_main_of
from roboaccord_ros.nodes.pacing import Pacing, add_services
from roboaccord_ros.nodes.simulation import Simulation, SimulatorOptions

SETTLE = 0.3  # s of wall time in which another simulator would be discovered
Make = Callable[[Setup, str], Simulator]


class SimulatorShell(Simulation):
    """A simulation with its pacing and the services `sim/reset` and `sim/pause`."""

    def __init__(
        self,
        node: Node,
        setup: Setup,
        simulator: Simulator,
        run: Run,
        options: SimulatorOptions,
        observers: Sequence[Observer] = (),
    ) -> None:
        super().__init__(node, setup, simulator, run, options, observers)
        self.pacing = Pacing(node, setup, self, run, options)
        self.faults = FaultInlet(node, setup, run, self.stepper.fail)
        add_services(node, self.pacing, run)


def build(node: Node, run: Run, make: Make) -> SimulatorShell:
    """Make the simulator that the parameters of a node ask for."""
    names = (
        "engine",
        "lockstep",
        "pace",
        "duration",
        "timeout",
        "start_timeout",
        "peers",
        "transport",
    )
    values = declare(node, "robot", "scenario", "set", *names)
    setup = declare_faults(node, setup_of(values))
    options = SimulatorOptions(**{name: values[name] for name in names}, settle=SETTLE)
    return SimulatorShell(node, setup, make(setup, options.engine), run, options)


def main(make: Make = make_simulator) -> None:
    """Run the simulator node with what `make` makes; the result goes to stdout as JSON."""
    report_main_of("simulator", lambda node, run: build(node, run, make))


if __name__ == "__main__":
    main()
