"""The simulator node with many more events than a mechanism has, for a recorder to keep.

A burst comes in one step, of times within it, and one event in each other step. Before the first
step an event tells how many states the bag in `BURSTING_BAG` could be read to hold.
"""

from __future__ import annotations

import os
from pathlib import Path

from roboaccord.bag.reader import read_run
from roboaccord.contract.state import Command
from roboaccord.contract.trajectory import Event
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.proxy import Proxy

BURST, BURST_AT = 5478, 20
ON_DISK = "states_on_disk"


class Bursting(Proxy):
    """Simulate as the engine does, and add events."""

    _count = 0

    def _advance(self, command: Command, duration: float) -> None:
        """Move on, and see something happen again and again."""
        start = self.state().time
        if not self._count and os.environ.get("BURSTING_BAG"):
            found = read_run(Path(os.environ["BURSTING_BAG"])).trajectory
            self._events.append(Event(start, ON_DISK, "bag", float(len(found))))
        self._count += 1
        count = BURST if self._count == BURST_AT else 1
        for i in range(count):
            when = round(start + duration * i / count, 9)
            self._events.append(Event(when, "tick", f"number_{i}", 0.5 * i))
        super()._advance(command, duration)


def make(setup: Setup, engine: str = "reference") -> Bursting:
    """Make the simulator of an engine, with a burst."""
    return Bursting(make_simulator(setup, engine))


if __name__ == "__main__":
    from roboaccord_ros.nodes.simulator import SimulatorShell

    SimulatorShell.make = staticmethod(make)
    SimulatorShell.main()
