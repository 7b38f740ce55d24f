"""Measure how many control ticks a second lockstep over ROS carries, recorder on, no physics.

    python benchmarks/lockstep.py                 in one process
    python benchmarks/lockstep.py --processes     simulator, controller and recorder apart
    python benchmarks/lockstep.py --direct        the same without ROS

The simulator does nothing and the controller is `none`, so that only messages are measured: 21
joints, and for each tick clock, odometry and joint states out, efforts back, all but the clock
recorded.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario import Setup, load_scenario
from roboaccord.simulators.base import Simulator
from roboaccord_ros.nodes.simulator import SimulatorShell
from roboaccord_ros.run.processes import NODES, run_commands
from roboaccord_ros.run.runner import run_nodes


class Still(Simulator):
    """Simulate a robot that does not move."""

    name, version, order = "still", "0", 1

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup.joints, setup.effort_limits, setup.scenario.physics_step)
        self._now = setup.initial

    def masses(self) -> Mapping[str, float]:
        """Return nothing."""
        return {}

    def _place(self, state: RobotState) -> None:
        self._now = state

    def _advance(self, command: Command, duration: float) -> None:
        """Let time go on."""

    def _read(self) -> RobotState:
        return RobotState(self._time, self._now.q, self._now.qd, self._effort)

    def _accelerate(self, state: RobotState, effort: Array) -> None:
        return None


def main() -> None:
    """Run and print one line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--processes", action="store_true", help="three processes instead of one")
    kinds.add_argument("--direct", action="store_true", help="the direct loop, without ROS")
    parser.add_argument("--ticks", type=int, default=10000)
    options = parser.parse_args()
    changes = [f"duration={options.ticks / 1000}", "controller={name: none}"]
    setup = Setup.of(load_scenario("snake", "snake", "serpenoid", changes))
    with tempfile.TemporaryDirectory() as folder:
        request = RunRequest(setup=setup, engine="still", bag=Path(folder) / "bag")
        if options.direct:
            request = replace(request, engine="reference", wrap=lambda _: Still(setup))
            result = run_direct(request)
        elif options.processes:
            commands = {
                name: [sys.executable, "-P", "-m", f"roboaccord_ros.nodes.{name}"] for name in NODES
            }
            commands["simulator"] = [sys.executable, __file__, "--simulator"]
            result = run_commands(request, commands)
        else:
            result = run_nodes(request, Still(setup))
    rate = options.ticks / result.wall_time
    print(f"{rate:.0f} ticks/s, {options.ticks} ticks of {len(setup.joints)} joints")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--simulator"]:
        sys.argv.remove("--simulator")
        SimulatorShell.make = lambda setup, engine: Still(setup)
        SimulatorShell.main()
    else:
        main()
