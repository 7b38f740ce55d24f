"""Setups, simulators, short runs and their fingerprints, made once for all conformance tests."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration, Observer
from roboaccord.contract.state import NO_TWIST, STATE_ARRAYS, Array, Command, RobotState, Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.engines import REFERENCE, spec
from roboaccord.engines.spec import Missing
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Robot, Setup, find_robot
from roboaccord.simulators.base import Simulator

TICKS = 5  # of a run
SEED = 3
A_LOT = 10.0  # m/s, rad/s, N m: of what a controller is asked for


@cache
def setup_of(robot: str, scenario: str, *changes: str) -> Setup:
    """Return a setup, made once for all tests."""
    return Setup.of(load_scenario(find_robot(robot).package, robot, scenario, changes))


@cache
def try_simulator(robot: str, scenario: str, engine: str) -> Simulator | str:
    """Return a simulator, made once for all tests, or the reason why it cannot be had.

    Raises:
        AccordError: if an engine refuses a robot that leaves it all to its description.
    """
    if engine != REFERENCE and isinstance(found := spec(engine).look(), Missing):
        return found.reason
    setup = setup_of(robot, scenario)
    try:
        return make_simulator(setup, engine)
    except AccordError as error:
        if engine == REFERENCE or type(setup.robot).engine is Robot.engine:
            raise
        return f"{scenario} in {engine}: {error}"


def simulator_of(robot: str, scenario: str, engine: str) -> Simulator:
    """Return a simulator; the test is skipped, with the reason, where that cannot be had."""
    found = try_simulator(robot, scenario, engine)
    if isinstance(found, str):
        pytest.skip(found)
    return found


def run_of(
    setup: Setup, simulator: Simulator, target: Target | None = None, keeper: Keeper | None = None
) -> Trajectory:
    """Return the first ticks of a scenario, with its controller and what that is asked for."""
    period = setup.scenario.control_period
    return simulate(
        simulator=simulator,
        controller=make_controller(setup),
        initial=setup.initial,
        duration=TICKS * period,
        control_period=period,
        seed=SEED,
        inputs=Hold(target),
        observers=(keeper,) if keeper else (),
    )


class Keeper(Observer):
    """Keep each state with a copy of what it said."""

    def __init__(self) -> None:
        self.kept: list[tuple[RobotState, dict[str, Array], dict[str, bool]]] = []

    def on_state(self, state: RobotState) -> None:
        arrays = {name: np.array(getattr(state, name)) for name in STATE_ARRAYS}
        self.kept.append((state, arrays, dict(state.switches)))


def at_rest(state: RobotState) -> RobotState:
    """Return a state whose rates are 0."""
    return RobotState(
        state.time, state.q, 0.0 * state.qd, state.effort, state.position, state.orientation,
        NO_TWIST, state.switches,
    )  # fmt: skip


def coordinates(setup: Setup, found: Acceleration | None) -> Array | None:
    """Return accelerations in the order of the engines' mass matrix (m,); None if kinematic."""
    if found is None:
        return None
    return np.concatenate([found.base[[*setup.base.axes]], found.joints])


@cache
def fingerprint(robot: str, scenario: str, *changes: str) -> tuple[str, ...]:
    """Return hashes of the reference's first ticks: asked for a lot, and at the effort limits."""
    setup = setup_of(robot, scenario, *changes)
    simulator, period = make_simulator(setup), setup.scenario.control_period
    n = len(setup.joints)
    run = run_of(setup, simulator, Target(np.full(6, A_LOT), np.full(n, A_LOT), np.full(n, A_LOT)))
    command = Command(np.array(setup.effort_limits))
    simulator.reset(setup.initial)
    states = [simulator.step(command, period) for _ in range(TICKS)]
    return run.sha256(), Trajectory.from_states(setup.joints, states).sha256()
