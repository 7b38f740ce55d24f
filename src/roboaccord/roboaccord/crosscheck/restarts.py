"""An engine that starts again from states of its own run, at smaller and smaller physics steps.

A short way from the same state is not chaotic, whatever the motion is; so how the step changes it
shows what time stepping makes of the recorded run there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.extrapolation import STEPS
from roboaccord.engines.base import engine_parts
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.factory import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


class Way(NamedTuple):
    """Hold a simulator's way from a state of a run, through some of its control periods.

    Args:
        run: states, efforts and events.
        lost: energy taken by channel [J].
    """

    run: Trajectory
    lost: Mapping[str, float]


def engines_of(setup: Setup, engine: EngineSpec) -> list[Simulator]:
    """Return an engine at the scenario's physics step, a half and a quarter of it."""
    step = setup.scenario.physics_step
    return [make_simulator(setup, engine, physics_step=step / 2**i) for i in range(STEPS)]


def no_restart(simulator: Simulator) -> str:
    """Return why an engine cannot start from the states of a run; "" where it can."""
    if simulator.unplaced:
        return simulator.unplaced
    names = {j.name for part in engine_parts(simulator) for j in part.tree.moving}
    known = {name for part in engine_parts(simulator) for name in part.joints}
    hidden = ", ".join(sorted(names - known))
    return f"the record lacks {hidden}" if hidden else ""


def go(simulator: Simulator, run: Trajectory, first: int, last: int) -> Way:
    """Let a simulator go from one sample of a run to another, as that was commanded."""
    states, commands, events = [simulator.reset(run.state(first))], [], list[Event]()
    simulator.take_losses()
    lost: dict[str, float] = {}
    for i in range(first, last):
        command = run.command(i)
        states.append(simulator.step(command, run.period(i)))
        commands.append(command)
        events += simulator.take_events()
        for channel, energy in simulator.take_losses().items():
            lost[channel] = lost.get(channel, 0.0) + energy
    return Way(Trajectory.from_states(run.joints, states, events, commands), lost)
