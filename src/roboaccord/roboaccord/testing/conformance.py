"""What every robot keeps: names, limits, determinism, memory of its own, agreement of engines.

Rules may be added: write a method `test_...`; parameters `scenario`, `engine` and `other` make it
run for each of them. Every robot, a user's too, must then pass it. STATES, TICKS and STEP may be
tuned (time against strength), SEED be any number. Tolerances are the defaults of a scenario
(`Tolerances`), and are not widened for a robot.

A robot's package inherits it in a test module of its own:

    class TestConformance(RobotConformance):
        robot = "snake"

Setups, simulators, short runs and their fingerprints are made once for all tests.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration, Controller, Observer
from roboaccord.contract.plugins import NotInstalledError, entries, lacking, load
from roboaccord.contract.state import NO_TWIST, STATE_ARRAYS, Array, Command, RobotState, Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.crosscheck.levels.acceleration import check_model, relative
from roboaccord.description.parameters import parameter_file
from roboaccord.description.resources import share
from roboaccord.engines import REFERENCE, default_names, spec
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.spec import Missing
from roboaccord.gazebo.tool import sdformat_tool
from roboaccord.run.inputs import Hold
from roboaccord.run.loop import make_simulator, simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario, scenario_names
from roboaccord.scenario.installed import GROUP
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Robot, Setup, find_robot
from roboaccord.simulators.base import Simulator
from roboaccord.testing.engines import assert_same

NAME = re.compile(r"[a-z][a-z0-9_]*")  # of ROS, kept to small letters
STATES = 20  # drawn at random, of each scenario
STEP = 0.01  # relative, by which a parameter is changed
LITTLE = 1e-3  # given to parameters that are 0, times their number among these: no two alike
TICKS = 5  # of a run
SEED = 3
A_LOT = 10.0  # m/s, rad/s, N m: of what a controller is asked for


class RobotConformance:
    """Tests of one robot, its scenarios and every engine that is installed.

    Attributes:
        robot: name of the robot, as its entry point has it.
    """

    robot: str
    slow: Collection[str] = ()
    """Scenarios whose controllers take long to set up: tests of these are marked `slow`."""

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test in every scenario and simulator that it asks for."""
        names = scenario_names(find_robot(self.robot).package)
        engines = default_names()
        late = [pytest.param(n, marks=pytest.mark.slow) if n in self.slow else n for n in names]
        values = {"scenario": late, "engine": (REFERENCE, *engines), "other": engines}
        for argument, each in values.items():
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, each)

    @property
    def _found(self) -> Robot:
        return find_robot(self.robot)

    def _simulator(self, scenario: str, engine: str) -> Simulator:
        return simulator_of(self.robot, scenario, engine)

    def _healthy(self, scenario: str, engine: str) -> tuple[Setup, Simulator, Simulator]:
        """Return setup, reference and engine without the scenario's failures of joints."""
        setup = setup_of(self.robot, scenario)
        found = self._simulator(scenario, "reference"), self._simulator(scenario, engine)
        if setup.faults:
            setup = setup.failing([])
            found = make_simulator(setup), make_simulator(setup, engine)
        return setup, *found

    def test_names(self) -> None:
        """The robot is called as its entry point; its names make topics and file names."""
        robot = self._found
        assert robot.name == self.robot, GROUP
        assert robot.summary
        assert scenario_names(robot.package), "no scenario"
        inputs = robot.input_topics
        topics = [*inputs.efforts, *filter(None, [inputs.velocity, inputs.position])]
        tables = (robot.controllers, robot.friction_laws, robot.switches)
        for name in [robot.name, *topics, *(n for table in tables for n in table)]:
            assert NAME.fullmatch(name), name

    def test_names_of_links_and_joints(self, scenario: str) -> None:
        """Links end in _link; the joints of the arrays are those of description and simulators."""
        assert NAME.fullmatch(scenario)
        setup = setup_of(self.robot, scenario)
        for link in setup.tree.links:
            assert NAME.fullmatch(link.name), link.name
            assert link.name.endswith("_link") or link.name == "world", link.name
        for name in setup.joints:
            assert NAME.fullmatch(name), name
        assert len(set(setup.joints)) == len(setup.joints)
        assert set(setup.joints) <= {joint.name for joint in setup.tree.moving}
        assert set(self._found.input_topics.efforts.values()) <= set(setup.joints)
        assert self._simulator(scenario, "reference").joints == setup.joints

    def test_parameters_are_declared(self) -> None:
        """Each has a unit, a source and an uncertainty; engines need gravity."""
        entries = parameter_file(self._found.package)
        assert "gravity" in entries
        for name, entry in entries.items():
            assert NAME.fullmatch(name), name
            assert set(entry) == {"value", "unit", "source", "uncertainty"}, name

    def test_limits(self, scenario: str, engine: str) -> None:
        """Efforts are clipped to limits alike in every simulator, and reported as clipped."""
        setup = setup_of(self.robot, scenario)
        limits = setup.effort_limits
        assert limits.shape == (len(setup.joints),)
        assert (limits > 0).all()
        simulator = self._simulator(scenario, engine)
        np.testing.assert_allclose(simulator.effort_limits, limits, rtol=1e-12)
        signs = np.where(np.arange(len(limits)) % 2, -1.0, 1.0)
        loose = [each.joint for each in setup.faults if (each.kind, each.time) == ("loose", 0.0)]
        in_force = np.where(np.isin(setup.joints, loose), 0.0, signs * limits)
        ends = []
        for factor in (1.0, 2.0):
            simulator.reset(setup.initial)
            command = Command(signs * factor * limits)
            ends.append(simulator.step(command, setup.scenario.control_period))
            np.testing.assert_array_equal(ends[-1].effort, in_force)
        np.testing.assert_array_equal(ends[0].qd, ends[1].qd)

    def test_a_run_is_the_same_again(self, scenario: str, engine: str) -> None:
        """Equal in every bit: from a second simulator and controller, and after a reset."""
        setup, controller = setup_of(self.robot, scenario), controller_of(self.robot, scenario)
        simulator = self._simulator(scenario, engine)
        once = run_of(setup, simulator, controller).sha256()
        assert run_of(setup, simulator, controller).sha256() == once, "after a reset"
        kinds = {setup_of(self.robot, n).scenario.controller.get("name"): n for n in self.slow}
        if engine == REFERENCE and (scenario in kinds.values() or scenario not in self.slow):
            controller = make_controller(setup)  # what takes long is set up once more of each kind
        assert run_of(setup, make_simulator(setup, engine), controller).sha256() == once

    def test_it_is_made_where_its_scenario_starts(self, scenario: str, engine: str) -> None:
        """As a reset would put it there, in every bit."""
        setup = setup_of(self.robot, scenario)
        self._simulator(scenario, engine)
        simulator = make_simulator(setup, engine)
        made, reset = simulator.state(), simulator.reset(setup.initial)
        assert_same(made, reset)
        np.testing.assert_allclose(made.q, setup.initial.q, atol=1e-9)
        np.testing.assert_allclose(made.position, setup.initial.position, atol=1e-9)

    def test_states_have_memory_of_their_own(self, scenario: str, engine: str) -> None:
        """A state that somebody keeps does not change, nor can it be; nor does a given command."""
        setup = setup_of(self.robot, scenario)
        simulator, keeper = self._simulator(scenario, engine), Keeper()
        run_of(setup, simulator, controller_of(self.robot, scenario), keeper=keeper)
        effort = 0.5 * setup.effort_limits
        keeper.on_state(simulator.step(Command(effort), setup.scenario.control_period))
        effort[:] = np.nan
        keeper.on_state(simulator.state())
        assert len(keeper.kept) == TICKS + 3
        for state, arrays, switches in keeper.kept:
            assert state.switches == switches
            for name, before in arrays.items():
                array = getattr(state, name)
                np.testing.assert_array_equal(array, before, name)
                owner = array if array.base is None else array.base
                assert not owner.flags.writeable, name
            assert np.isfinite(state.effort).all()

    def test_model(self, scenario: str, other: str) -> None:
        """An engine has the description's masses, inertias, axes and limits; states read back."""
        setup, reference, engine = self._healthy(scenario, other)
        assert check_model(setup, reference, engine, Tolerances().mass).differences == ()

    def test_accelerations(self, scenario: str, other: str) -> None:
        """An engine has the reference's accelerations in states drawn at random."""
        setup = setup_of(self.robot, scenario)
        reference, engine = self._simulator(scenario, "reference"), self._simulator(scenario, other)
        for state, effort in draw_states(setup, STATES, SEED):
            expected = reference.acceleration(state, effort)
            found = engine.acceleration(state, effort)
            if expected is None or found is None:
                pytest.skip(f"{scenario}: the reference is kinematic")
            assert relative(found.joints, expected.joints) < Tolerances().acceleration
            if setup.base.moves:
                assert relative(found.base, expected.base) < Tolerances().acceleration

    def test_mass_matrix_and_gravity(self, scenario: str, other: str) -> None:
        """M (a(e_i) - a(0)) = e_i and M a(0) = -g, at rest: M and g are an engine's, a is ours."""
        setup, reference, engine = self._healthy(scenario, other)
        if not isinstance(engine, EngineSimulator):
            pytest.skip(f"{other} has several models: accelerations show all that they have")
        if {joint.name for joint in engine.tree.moving} - {*engine.joints}:
            pytest.skip("the model has uncommanded joints")
        for state, _ in draw_states(setup, STATES, SEED):
            rest = at_rest(state)
            mass, gravity = engine.mass_matrix(rest), engine.gravity_forces(rest)
            efforts = np.eye(len(setup.joints))
            base = len(mass) - len(efforts)
            free = coordinates(setup, reference.acceleration(rest, np.zeros(len(efforts))))
            if free is None:
                pytest.skip(f"{scenario}: the reference is kinematic")
            size = np.abs(mass).max() * max(1.0, np.abs(free).max())
            np.testing.assert_allclose(mass @ free, -gravity, atol=1e-9 * size)
            for i, effort in enumerate(efforts):
                driven = coordinates(setup, reference.acceleration(rest, effort))
                assert driven is not None
                expected = np.eye(len(mass))[base + i]
                np.testing.assert_allclose(mass @ (driven - free), expected, atol=1e-8)

    def test_every_parameter_counts(self) -> None:
        """Change one by 1 %: the description, or what the reference does, changes with it.

        What is 0 is given a value first, for a damping that is 0 hides what shapes it.
        """
        entries = parameter_file(self._found.package)
        zeros = [name for name, entry in entries.items() if not entry["value"]]
        given = {name: LITTLE * number for number, name in enumerate(zeros, 1)}
        values = {name: given.get(name, entry["value"]) for name, entry in entries.items()}
        idle = [name for name in values if not self._counts(name, values[name], given)]
        assert not idle, f"nothing changes with {', '.join(idle)}"

    def _counts(self, name: str, value: float, given: dict[str, float]) -> bool:
        """Whether the description, or failing that the reference, shows a change of a parameter."""
        other = value - 1 if isinstance(value, int) else value * (1.0 - STEP)
        before, after = (
            [f"parameters.{n}={v!r}" for n, v in values.items()]
            for values in (given, {**given, name: other})
        )
        for each in scenario_names(self._found.package):
            old, new = (setup_of(self.robot, each, *changes) for changes in (before, after))
            marks = (fingerprint(self.robot, each, *changes) for changes in (before, after))
            if old.urdf() != new.urdf() or next(marks) != next(marks):
                return True
        return False

    def test_launch_file(self, scenario: str) -> None:
        """Each scenario has a launch file beside it, and its package asks for the bring-up."""
        package = self._found.package
        if not (share(package) / "scenarios" / f"{scenario}.yaml").is_file():
            package = entries("scenarios")[package].value
        folder = share(package)
        text = (folder / "launch" / f"{scenario}.launch.py").read_text(encoding="utf-8")
        words = " ".join(re.findall(r"\w+", text))
        assert f"robot {self.robot} scenario {scenario}" in words
        assert f"ros2 launch {package} {scenario}.launch.py" in text
        needed = ET.parse(folder / "package.xml").getroot().findall("exec_depend")
        assert "roboaccord_ros" in [each.text for each in needed]

    def test_gazebo_check(self) -> None:
        """`accord check` has nothing against description and bridge."""
        if line := lacking("functions", "check.ROBOT", "the check"):
            pytest.skip(line)
        assert load("functions", "check.ROBOT")(self.robot, sdformat_tool()) == []


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


@cache
def controller_of(robot: str, scenario: str) -> Controller:
    """Return a scenario's controller, made once for all tests: runs reset it.

    The test is skipped where a package of it is not installed.
    """
    try:
        return make_controller(setup_of(robot, scenario))
    except NotInstalledError as error:
        pytest.skip(f"{scenario}: {error}")


def run_of(
    setup: Setup,
    simulator: Simulator,
    controller: Controller,
    target: Target | None = None,
    keeper: Keeper | None = None,
) -> Trajectory:
    """Return the first ticks of a scenario, with its controller and what that is asked for."""
    period = setup.scenario.control_period
    return simulate(
        simulator=simulator, controller=controller, initial=setup.initial, seed=SEED,
        duration=TICKS * period, control_period=period, inputs=Hold(target),
        observers=(keeper,) if keeper else (),
    )  # fmt: skip


class Keeper(Observer):
    """Keep each state with a copy of its values."""

    def __init__(self) -> None:
        self.kept: list[tuple[RobotState, dict[str, Array], dict[str, bool]]] = []

    def on_state(self, state: RobotState) -> None:
        arrays = {name: np.array(getattr(state, name)) for name in STATE_ARRAYS}
        self.kept.append((state, arrays, dict(state.switches)))


def at_rest(state: RobotState) -> RobotState:
    """Return a state whose rates are 0."""
    return replace(state, qd=0.0 * state.qd, twist=NO_TWIST)


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
    target = Target(np.full(6, A_LOT), np.full(n, A_LOT), np.full(n, A_LOT))
    run = run_of(setup, simulator, make_controller(setup), target)
    command = Command(np.array(setup.effort_limits))
    simulator.reset(setup.initial)
    states = [simulator.step(command, period) for _ in range(TICKS)]
    return run.sha256(), Trajectory.from_states(setup.joints, states).sha256()
