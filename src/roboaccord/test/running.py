"""Runs of a setup, for tests: in an engine or simulator, by a controller, for a time."""

from __future__ import annotations

from roboaccord.contract.interfaces import Controller
from roboaccord.contract.state import Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


def run_in(
    setup: Setup,
    engine: str | Simulator = "reference",
    *,
    duration: float | None = None,
    controller: Controller | None = None,
    target: Target | None = None,
    step: float | None = None,
) -> Trajectory:
    """Run a setup; what is not given is the scenario's."""
    made = make_simulator(setup, engine, physics_step=step) if isinstance(engine, str) else engine
    return simulate(
        simulator=made, controller=controller or make_controller(setup), initial=setup.initial,
        duration=setup.scenario.duration if duration is None else duration,
        control_period=setup.scenario.control_period, seed=setup.scenario.seed,
        inputs=Hold(target),
    )  # fmt: skip
