"""Rows of the control tick of `accord run`: each simulator on one physics step of 1 ms a tick.

Ours is the whole loop, with the controller and the checks of a state, as `accord run` has it. Its
peer is the simulator alone on the same commands, so that the two have the same motion. Nothing is
recorded in a file.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from benchmarks.speed.rows import Row, rate, sized
from benchmarks.speed.trees import collection
from roboaccord.contract import Command, Observer, RobotState
from roboaccord.engines import REFERENCE, simulator_names, spec
from roboaccord.engines.spec import Missing
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.setups import load_setup

# Ticks of a pass, so that it takes 0.1 s to 2 s, and fewer of an engine that takes over 1 ms each.
TICKS, SLOW = sized(1000), {"mjwarp": sized(60), "newton": sized(400)}
# Without Gazebo, whose server runs in processes of its own (gazebo.py).
ENGINES = ("dart", "mujoco", "drake", "mjwarp", "newton", "sapien")


class Commands(Observer):
    """Keep the commands of a run."""

    def __init__(self) -> None:
        self.all: list[Command] = []

    def on_state(self, state: RobotState) -> None:
        """Keep no states."""

    def on_command(self, state: RobotState, command: Command) -> None:
        """Keep a command."""
        self.all.append(command)


def rows() -> Iterator[Row]:
    robots = {"MonkeyBot, swing": ("monkeybot", "swing", "")}
    if folder := collection():
        panda = str(folder / "robots" / "panda_description/urdf/panda.urdf")
        robots["Panda, released"] = panda, "", "fixed"
    else:
        print("no row of a Panda: the collection of robots is not installed", file=sys.stderr)
    for engine in (REFERENCE, *ENGINES):
        if why := lacking(engine):
            print(f"no row of {engine}: not installed: {why}", file=sys.stderr)
            continue
        for name, (robot, scenario, base) in robots.items():
            duration = 1e-3 * SLOW.get(engine, TICKS)
            setup = load_setup(robot, scenario, [f"duration={duration}"], base=base)
            yield row(f"tick of accord run, {name}, {engine}", setup, engine)


def lacking(engine: str) -> str:
    """Return what is to be installed before a simulator can be used, or ""."""
    if engine not in simulator_names():
        return f"roboaccord_{engine}"
    found = None if engine == REFERENCE else spec(engine).look()
    return found.reason if isinstance(found, Missing) else ""


def row(name: str, setup: Setup, engine: str) -> Row:
    """Return the row of a setup in one simulator."""
    simulator = make_simulator(setup, engine)
    commands = Commands()
    run_setup(setup, simulator, [commands])
    ticks, period = len(commands.all), setup.scenario.control_period

    def alone() -> float:
        simulator.reset(setup.initial)
        return rate(lambda: [simulator.step(each, period) for each in commands.all], ticks)

    return Row(
        name, "ticks/s",
        lambda: rate(lambda: run_setup(setup, simulator), ticks),
        alone,
        f"{engine} {simulator.version}, its step alone",
    )  # fmt: skip
