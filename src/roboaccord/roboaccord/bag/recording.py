"""Write a motion that is in memory into a bag, as if it had been recorded."""

from __future__ import annotations

from pathlib import Path

from roboaccord.bag.writer import BagWriter
from roboaccord.contract.trajectory import Trajectory
from roboaccord.scenario.setup import Setup


def write_trajectory(
    path: Path, setup: Setup, engine: str, engine_version: str, trajectory: Trajectory
) -> None:
    """Write a trajectory with its events.

    The command at a sample is the effort of the next one.

    Raises:
        AccordError: if the folder exists or cannot be written.
    """
    with BagWriter(path, setup, engine, engine_version, "direct") as bag:
        for i in range(len(trajectory)):
            state = trajectory.state(i)
            bag.on_state(state)
            if i + 1 < len(trajectory):
                bag.on_command(state, trajectory.command(i))
        for event in trajectory.events:
            bag.on_event(event)
        bag.finish(trajectory.sha256())
