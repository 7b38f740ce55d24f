"""The simulator node with many more events than a mechanism has, for a recorder to keep.

A burst comes in one step, of times within it, and one event in each other step. Before the first
step an event tells how many states the bag in `BURSTING_BAG` could be read to hold.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from roboaccord.bag.reader import read_run
from roboaccord.contract.state import Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup

BURST, BURST_AT = 5478, 20
ON_DISK = "states_on_disk"


class Bursting:
    """Simulate as the engine does, and add events."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        self._events: list[Event] = []
        self._steps = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._simulator, name)

    def step(self, command: Command, duration: float) -> RobotState:
        """Step, and see something happen again and again."""
        start = self._simulator.state().time
        if not self._steps and os.environ.get("BURSTING_BAG"):
            found = read_run(Path(os.environ["BURSTING_BAG"])).trajectory
            self._events.append(Event(start, ON_DISK, "bag", float(len(found))))
        self._steps += 1
        count = BURST if self._steps == BURST_AT else 1
        for i in range(count):
            when = round(start + duration * i / count, 9)
            self._events.append(Event(when, "tick", f"number_{i}", 0.5 * i))
        return self._simulator.step(command, duration)  # type: ignore[no-any-return]

    def take_events(self) -> Sequence[Event]:
        """Return the engine's and ours."""
        events, self._events = self._events, []
        return [*self._simulator.take_events(), *events]


def make(setup: Setup, engine: str = "reference") -> Any:
    """Make the simulator of an engine, with a burst."""
    return Bursting(make_simulator(setup, engine))


if __name__ == "__main__":
    from roboaccord_ros.nodes.simulator import SimulatorShell

    SimulatorShell.make = staticmethod(make)
    SimulatorShell.main()
