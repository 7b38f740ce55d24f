"""The simulator node: state out, command in, step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, Self

from rclpy.node import Node
from roboaccord.contract.interfaces import Observer
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator

from roboaccord_ros.graph.parameters import FaultInlet, declare, declare_faults, setup_of
from roboaccord_ros.graph.shell import Run
from roboaccord_ros.nodes.pacing import Pacing, add_services
from roboaccord_ros.nodes.simulation import Simulation, SimulatorOptions

SETTLE = 0.3  # s of wall time in which another simulator would be discovered
OPTIONS = (
    "engine", "lockstep", "pace", "duration", "timeout", "start_timeout", "peers", "transport",
)  # fmt: skip
Make = Callable[[Setup, str], Simulator]


class SimulatorShell(Simulation):
    """A simulation with its pacing and the services `sim/reset` and `sim/pause`.

    Attributes:
        make: makes the simulator that the parameters of a node ask for.
    """

    name = "simulator"
    make: ClassVar[Make] = staticmethod(make_simulator)

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

    @classmethod
    def build(cls, node: Node, run: Run) -> Self:
        """Make the simulator that the parameters of a node ask for."""
        values = declare(node, "robot", "scenario", "set", *OPTIONS)
        setup = declare_faults(node, setup_of(values))
        options = SimulatorOptions(**{name: values[name] for name in OPTIONS}, settle=SETTLE)
        return cls(node, setup, cls.make(setup, options.engine), run, options)


main = SimulatorShell.main

if __name__ == "__main__":
    main()
