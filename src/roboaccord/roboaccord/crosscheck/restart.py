"""Restarts: parts of a run that a simulator repeats from a recorded state, at smaller steps.

Levels `one_step`, `events` and `energy` simulate some control periods of an engine's run again,
under the recorded commands. A short path from one state is not chaotic even if the motion is, so
its change with the physics step shows the effect of time stepping on the recorded run there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.extrapolation import STEPS
from roboaccord.engines.base import engine_parts
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import make_simulator
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


class Restart(NamedTuple):
    """Motion of a simulator from a state of a run, over some of its control periods.

    Args:
        run: states, efforts and events.
        lost: energy dissipated by channel [J].
    """

    run: Trajectory
    lost: Mapping[str, float]


def restart(simulator: Simulator, run: Trajectory, first: int, last: int) -> Restart:
    """Simulate a run again from sample `first` to sample `last`, under the recorded commands."""
    states, commands, events = [simulator.reset(run.state(first))], [], list[Event]()
    simulator.take_losses()  # drop those of the motion before
    lost: dict[str, float] = {}
    for i in range(first, last):
        command = run.command(i)
        states.append(simulator.step(command, run.period(i)))
        commands.append(command)
        events += simulator.take_events()
        for channel, energy in simulator.take_losses().items():
            lost[channel] = lost.get(channel, 0.0) + energy
    return Restart(Trajectory.from_states(run.joints, states, events, commands), lost)


def simulators_by_step(setup: Setup, engine: EngineSpec) -> list[Simulator]:
    """Return simulators of an engine at the physics step, a half and a quarter of it.

    STEPS = 3 steps are needed for two estimates at a step of 0 (extrapolation.py).
    """
    step = setup.scenario.physics_step
    return [make_simulator(setup, engine, physics_step=step / 2**i) for i in range(STEPS)]


def why_no_restart(simulator: Simulator) -> str:
    """Return why an engine cannot start from the states of a run; "" if it can."""
    # An engine that cannot be put in a state gives the reason itself.
    if simulator.unplaced:
        return simulator.unplaced
    # Joints that move in the engine, but whose angles are not in the run.
    moving = {joint.name for part in engine_parts(simulator) for joint in part.tree.moving}
    recorded = {name for part in engine_parts(simulator) for name in part.joints}
    hidden = ", ".join(sorted(moving - recorded))
    return f"the record lacks {hidden}" if hidden else ""
