"""Runs of a setup, for tests: in an engine or simulator, by a controller, for a time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Controller
from roboaccord.contract.state import Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.energy_book import EnergyBook, energy_of
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.base import Simulator


@contextmanager
def or_skip(word: str = "needs") -> Iterator[None]:
    """Skip a test with the reason where an error that has a word says what is not there."""
    try:
        yield
    except AccordError as error:
        if word in str(error):
            pytest.skip(str(error))
        raise


def setup_of(robot: str, scenario: str, *changes: str) -> Setup:
    """Return the setup of a scenario with changes, or skip where the robot is not installed."""
    pytest.importorskip(robot, reason=f"{robot} is not installed")
    return Setup.of(load_scenario(robot, robot, scenario, changes))


def run_in(
    setup: Setup,
    engine: str | Simulator = "reference",
    *,
    duration: float | None = None,
    controller: Controller | None = None,
    target: Target | None = None,
    step: float | None = None,
) -> Trajectory:
    """Run a setup; what is not given is the scenario's. Skip where the engine is not installed."""
    if isinstance(engine, str):
        with or_skip(f"engine {engine} needs"):
            engine = make_simulator(setup, engine, physics_step=step)
    return simulate(
        simulator=engine, controller=controller or make_controller(setup), initial=setup.initial,
        duration=setup.scenario.duration if duration is None else duration,
        control_period=setup.scenario.control_period, seed=setup.scenario.seed,
        inputs=Hold(target),
    )  # fmt: skip


def book_of(setup: Setup, engine: str) -> tuple[EnergyBook, Trajectory]:
    """Return the energy book of a run of a setup in an engine, and the run."""
    run = run_in(setup, engine)
    found = energy_of(setup, engine, run)
    assert isinstance(found, EnergyBook) and found.reason is None
    return found, run
