"""Setups, simulators, controllers and short runs of a robot's scenarios, for the conformance tests.

A setup is a robot in a scenario. All are made once and shared by the tests of conformance.py,
because making them takes long; so each test resets the simulator that it uses. TICKS trades time
against strength.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from roboaccord.contract import Acceleration, AccordError, Controller, Observer, Trajectory, plugins
from roboaccord.contract.state import NO_TWIST, STATE_ARRAYS, Array, Command, RobotState, Target
from roboaccord.engines import REFERENCE, Missing, spec
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario import Robot, Setup, find_robot, load_scenario, make_controller
from roboaccord.simulators.base import Simulator

# Control periods of a run: few, as each costs time in every test; after five, values that a tick
# stores have had an effect on later ticks.
TICKS = 5
SEED = 3  # arbitrary
LARGE_TARGET = 10.0  # m/s, rad/s, N m: target of a controller, out of its reach


@cache
def setup_of(robot: str, scenario: str, *changes: str) -> Setup:
    """Return the setup of a scenario with changes, made once for all tests."""
    return Setup.of(load_scenario(find_robot(robot).package, robot, scenario, changes))


@cache
def try_simulator(robot: str, scenario: str, engine: str) -> Simulator | str:
    """Return a simulator, made once for all tests, or the reason why there is none.

    Raises:
        AccordError: if an engine refuses a robot that is nothing but its description.
    """
    availability = None if engine == REFERENCE else spec(engine).look()
    if isinstance(availability, Missing):
        return availability.reason
    setup = setup_of(robot, scenario)
    try:
        return make_simulator(setup, engine)
    except AccordError as error:
        if engine == REFERENCE or type(setup.robot).engine is Robot.engine:
            raise
        return f"{scenario} in {engine}: {error}"


def simulator_of(robot: str, scenario: str, engine: str) -> Simulator:
    """Return a simulator, or skip the test with the reason why there is none."""
    simulator = try_simulator(robot, scenario, engine)
    if isinstance(simulator, str):
        pytest.skip(simulator)
    return simulator


@cache
def controller_of(robot: str, scenario: str) -> Controller:
    """Return a scenario's controller, made once for all tests; each run resets it.

    The test is skipped if the controller's package is not installed.
    """
    try:
        return make_controller(setup_of(robot, scenario))
    except plugins.NotInstalledError as error:
        pytest.skip(f"{scenario}: {error}")


def run_of(
    setup: Setup,
    simulator: Simulator,
    controller: Controller,
    target: Target | None = None,
    observer: Observer | None = None,
) -> Trajectory:
    """Return the first TICKS periods of a scenario, for a target; an observer may follow them."""
    period = setup.scenario.control_period
    return simulate(
        simulator=simulator,
        controller=controller,
        initial=setup.initial,
        seed=SEED,
        duration=TICKS * period,
        control_period=period,
        inputs=Hold(target),
        observers=(observer,) if observer else (),
    )


class CopyingObserver(Observer):
    """Observer that stores each state with a copy of its arrays and switches."""

    def __init__(self) -> None:
        # Each state, with copies of its arrays and its switches by name.
        self.states: list[tuple[RobotState, dict[str, Array], dict[str, bool]]] = []

    def on_state(self, state: RobotState) -> None:
        """Store a state."""
        arrays = {name: np.array(getattr(state, name)) for name in STATE_ARRAYS}
        self.states.append((state, arrays, dict(state.switches)))


def at_rest(state: RobotState) -> RobotState:
    """Return the state with all rates 0."""
    return replace(state, qd=0.0 * state.qd, twist=NO_TWIST)


def coordinates(setup: Setup, accelerations: Acceleration | None) -> Array:
    """Return accelerations (m,) in the order of the engines' mass matrix; skip the test if None."""
    if accelerations is None:
        pytest.skip(f"{setup.scenario.name}: the reference is kinematic")
    return np.concatenate([accelerations.base[[*setup.base.axes]], accelerations.joints])


@cache
def fingerprint(robot: str, scenario: str, *changes: str) -> tuple[str, ...]:
    """Return hashes of two runs of the reference: with a large target, and at effort limits."""
    setup = setup_of(robot, scenario, *changes)
    simulator, period = make_simulator(setup), setup.scenario.control_period
    by_joint = np.full(len(setup.joints), LARGE_TARGET)
    target = Target(np.full(6, LARGE_TARGET), by_joint, by_joint)
    run = run_of(setup, simulator, make_controller(setup), target)
    command = Command(np.array(setup.effort_limits))
    simulator.reset(setup.initial)
    states = [simulator.step(command, period) for _ in range(TICKS)]
    return run.sha256(), Trajectory.from_states(setup.joints, states).sha256()
