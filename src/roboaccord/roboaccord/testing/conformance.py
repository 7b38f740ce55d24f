"""Rules that every robot keeps: names, limits, determinism, independent states, equal engines.

`RobotConformance` is a class of pytest tests. For each scenario of a robot they simulate a few
control periods in the reference (the analytical simulator) and in each installed engine, such as
DART or MuJoCo, and compare. A robot's package inherits the tests in a test module of its own:

    class TestConformance(RobotConformance):
        robot = "snake"

A test that has a parameter `scenario` runs for each scenario of the robot, one with `engine` in the
reference and each engine, and one with `other` in each engine. Tolerances are the defaults of a
scenario (`Tolerances`), and are not widened for a robot. STATE_COUNT and PARAMETER_CHANGE trade
time against strength.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection

import numpy as np
import pytest

from roboaccord.contract import Command, plugins
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.crosscheck.levels.acceleration import check_acceleration, check_model
from roboaccord.description import parameter_file, share
from roboaccord.engines import REFERENCE, EngineSimulator, default_names
from roboaccord.gazebo.tool import sdformat_tool
from roboaccord.run.loop import make_simulator
from roboaccord.scenario import Setup, find_robot, make_controller, scenario_names
from roboaccord.scenario.installed import GROUP
from roboaccord.scenario.scenario import Tolerances
from roboaccord.simulators.base import Simulator
from roboaccord.testing import robot_runs as runs
from roboaccord.testing.small_robots import assert_same

NAME = re.compile(r"[a-z][a-z0-9_]*")  # a valid name in ROS, in lower case
# Number of random states in each scenario: an error in 15 % of all states is missed once in 20
# (rule of three).
STATE_COUNT = 20
# Relative change of a parameter by which the motion must change: any from 1e-6 to 0.1 would do.
PARAMETER_CHANGE = 0.01
# Value that the first parameter that is 0 gets; the second gets twice that, and so on: small in SI
# units, so that no limit is exceeded.
SMALL_VALUE = 1e-3


class RobotConformance:
    """Tests of one robot, its scenarios and every installed engine.

    Attributes:
        robot: name of the robot's entry point.
        slow: scenarios whose controllers take long to make; their tests are marked `slow`.
    """

    robot: str
    slow: Collection[str] = ()

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run a test for each scenario and simulator that its parameters ask for."""
        names, engines = scenario_names(find_robot(self.robot).package), default_names()
        marked = [pytest.param(n, marks=pytest.mark.slow) if n in self.slow else n for n in names]
        values = {"scenario": marked, "engine": (REFERENCE, *engines), "other": engines}
        for argument, cases in values.items():
            if argument in metafunc.fixturenames:
                metafunc.parametrize(argument, cases)

    def _simulator(self, scenario: str, engine: str) -> Simulator:
        """Return the shared simulator of a scenario in an engine, or skip the test."""
        return runs.simulator_of(self.robot, scenario, engine)

    def _without_faults(self, scenario: str, engine: str) -> tuple[Setup, Simulator, Simulator]:
        """Return setup, reference and engine, without faults of joints."""
        setup = runs.setup_of(self.robot, scenario)
        # Skips the test where the engine refuses the scenario.
        simulators = self._simulator(scenario, "reference"), self._simulator(scenario, engine)
        if setup.faults:
            setup = setup.failing([])
            simulators = make_simulator(setup), make_simulator(setup, engine)
        return setup, *simulators

    def test_names(self) -> None:
        """The robot has its entry point's name; its names are valid in topics and file names."""
        robot = find_robot(self.robot)
        assert robot.name == self.robot, GROUP
        assert robot.summary
        assert scenario_names(robot.package), "no scenario"
        inputs = robot.input_topics
        topics = [*inputs.efforts, *filter(None, [inputs.velocity, inputs.position])]
        tables = (robot.controllers, robot.friction_laws, robot.switches)
        for name in [robot.name, *topics, *(n for table in tables for n in table)]:
            assert NAME.fullmatch(name), name

    def test_names_of_links_and_joints(self, scenario: str) -> None:
        """Links end in _link; arrays have the joints of the description and of the simulators."""
        assert NAME.fullmatch(scenario)
        setup = runs.setup_of(self.robot, scenario)
        for link in setup.tree.links:
            assert NAME.fullmatch(link.name), link.name
            assert link.name.endswith("_link") or link.name == "world", link.name
        for name in setup.joints:
            assert NAME.fullmatch(name), name
        assert len(set(setup.joints)) == len(setup.joints)
        assert set(setup.joints) <= {joint.name for joint in setup.tree.moving}
        assert set(find_robot(self.robot).input_topics.efforts.values()) <= set(setup.joints)
        assert self._simulator(scenario, "reference").joints == setup.joints

    def test_parameters_are_declared(self) -> None:
        """Each has a unit, a source and an uncertainty; engines need gravity."""
        entries = parameter_file(find_robot(self.robot).package)
        assert "gravity" in entries
        for name, entry in entries.items():
            assert NAME.fullmatch(name), name
            assert set(entry) == {"value", "unit", "source", "uncertainty"}, name

    def test_limits(self, scenario: str, engine: str) -> None:
        """Every simulator clips efforts to the same limits, and reports them as clipped."""
        setup = runs.setup_of(self.robot, scenario)
        limits = setup.effort_limits
        assert limits.shape == (len(setup.joints),)
        assert (limits > 0).all()
        simulator = self._simulator(scenario, engine)
        np.testing.assert_allclose(simulator.effort_limits, limits, rtol=1e-12)
        signs = np.where(np.arange(len(limits)) % 2, -1.0, 1.0)
        loose = [fault.joint for fault in setup.faults if (fault.kind, fault.time) == ("loose", 0)]
        in_force = np.where(np.isin(setup.joints, loose), 0.0, signs * limits)
        ends = []
        for factor in (1.0, 2.0):
            simulator.reset(setup.initial)
            command = Command(signs * factor * limits)
            ends.append(simulator.step(command, setup.scenario.control_period))
            np.testing.assert_array_equal(ends[-1].effort, in_force)
        np.testing.assert_array_equal(ends[0].qd, ends[1].qd)

    def test_a_run_is_the_same_again(self, scenario: str, engine: str) -> None:
        """Equal bit for bit: from a second simulator and controller, and after a reset."""
        setup, simulator = runs.setup_of(self.robot, scenario), self._simulator(scenario, engine)
        controller = runs.controller_of(self.robot, scenario)
        once = runs.run_of(setup, simulator, controller).sha256()
        assert runs.run_of(setup, simulator, controller).sha256() == once, "after a reset"
        # Of slow controllers, each kind is made again in one scenario only.
        slow = [runs.setup_of(self.robot, name).scenario for name in self.slow]
        once_each = {s.controller.get("name"): s.name for s in slow}.values()
        if engine == REFERENCE and (scenario in once_each or scenario not in self.slow):
            controller = make_controller(setup)
        assert runs.run_of(setup, make_simulator(setup, engine), controller).sha256() == once

    def test_it_is_made_where_its_scenario_starts(self, scenario: str, engine: str) -> None:
        """A new simulator is in the state of a reset, bit for bit."""
        setup = runs.setup_of(self.robot, scenario)
        self._simulator(scenario, engine)
        simulator = make_simulator(setup, engine)
        initial, reset = simulator.state(), simulator.reset(setup.initial)
        assert_same(initial, reset)
        np.testing.assert_allclose(initial.q, setup.initial.q, atol=1e-9)
        np.testing.assert_allclose(initial.position, setup.initial.position, atol=1e-9)

    def test_states_have_memory_of_their_own(self, scenario: str, engine: str) -> None:
        """A stored state neither changes nor can be changed; nor does a given command."""
        setup = runs.setup_of(self.robot, scenario)
        simulator, copies = self._simulator(scenario, engine), runs.CopyingObserver()
        runs.run_of(setup, simulator, runs.controller_of(self.robot, scenario), observer=copies)
        effort = 0.5 * setup.effort_limits
        copies.on_state(simulator.step(Command(effort), setup.scenario.control_period))
        effort[:] = np.nan
        copies.on_state(simulator.state())
        assert len(copies.states) == runs.TICKS + 3
        for state, arrays, switches in copies.states:
            assert state.switches == switches
            for name, before in arrays.items():
                array = getattr(state, name)
                np.testing.assert_array_equal(array, before, name)
                owner = array if array.base is None else array.base
                assert not owner.flags.writeable, name
            assert np.isfinite(state.effort).all()

    def test_model(self, scenario: str, other: str) -> None:
        """An engine has the description's masses, inertias, axes, limits, and reads states back."""
        setup, reference, engine = self._without_faults(scenario, other)
        assert check_model(setup, reference, engine, Tolerances().mass).differences == ()

    def test_accelerations(self, scenario: str, other: str) -> None:
        """An engine has the reference's accelerations in random states."""
        setup = runs.setup_of(self.robot, scenario)
        reference, engine = self._simulator(scenario, "reference"), self._simulator(scenario, other)
        check = check_acceleration(setup, reference, engine, STATE_COUNT, runs.SEED)
        if check.max is None:
            pytest.skip(f"{scenario}: {check.reason}")
        assert check.max < Tolerances().acceleration

    def test_mass_matrix_and_gravity(self, scenario: str, other: str) -> None:
        """M (a(e_i) - a(0)) = e_i and M a(0) = -g, at rest: M and g are an engine's, a is ours."""
        setup, reference, engine = self._without_faults(scenario, other)
        if not isinstance(engine, EngineSimulator):
            pytest.skip(f"{other} has several models, which accelerations compare")
        if {joint.name for joint in engine.tree.moving} - {*engine.joints}:
            pytest.skip("the model has uncommanded joints")
        for state, _ in draw_states(setup, STATE_COUNT, runs.SEED):
            efforts = np.eye(len(setup.joints))
            resting = runs.at_rest(state)
            mass, gravity = engine.mass_matrix(resting), engine.gravity_forces(resting)
            base = len(mass) - len(efforts)
            free = runs.coordinates(setup, reference.acceleration(resting, np.zeros(len(efforts))))
            size = np.abs(mass).max() * max(1.0, np.abs(free).max())
            np.testing.assert_allclose(mass @ free, -gravity, atol=1e-9 * size)
            for i, effort in enumerate(efforts):
                driven = runs.coordinates(setup, reference.acceleration(resting, effort))
                expected = np.eye(len(mass))[base + i]
                np.testing.assert_allclose(mass @ (driven - free), expected, atol=1e-8)

    def test_every_parameter_counts(self) -> None:
        """Change one by 1 %: the description or the reference's motion changes with it.

        Parameters that are 0 get a value first, since a damping of 0 hides others of its law.
        """
        entries = parameter_file(find_robot(self.robot).package)
        zeros = [name for name, entry in entries.items() if not entry["value"]]
        nonzero = {name: SMALL_VALUE * number for number, name in enumerate(zeros, 1)}
        values = {name: nonzero.get(name, entry["value"]) for name, entry in entries.items()}
        unnoticed = [name for name in values if not self._is_noticed(name, values[name], nonzero)]
        assert not unnoticed, f"nothing changes with {', '.join(unnoticed)}"

    def _is_noticed(self, name: str, value: float, changes: dict[str, float]) -> bool:
        """Return whether the description or the reference changes with a parameter.

        Args:
            name: of the parameter.
            value: before the change.
            changes: of other parameters, before and after.
        """
        new_value = value - 1 if isinstance(value, int) else value * (1.0 - PARAMETER_CHANGE)
        before = [f"parameters.{n}={v!r}" for n, v in changes.items()]
        # The last change of a key counts.
        after = [*before, f"parameters.{name}={new_value!r}"]
        for scenario in scenario_names(find_robot(self.robot).package):
            old, new = (self.robot, scenario, *before), (self.robot, scenario, *after)
            is_in_urdf = runs.setup_of(*old).urdf() != runs.setup_of(*new).urdf()
            if is_in_urdf or runs.fingerprint(*old) != runs.fingerprint(*new):
                return True
        return False

    def test_launch_file(self, scenario: str) -> None:
        """Each scenario has a launch file, and its package depends on the bring-up."""
        package = find_robot(self.robot).package
        if not (share(package) / "scenarios" / f"{scenario}.yaml").is_file():
            package = plugins.entries("scenarios")[package].value
        folder = share(package)
        text = (folder / "launch" / f"{scenario}.launch.py").read_text(encoding="utf-8")
        words = " ".join(re.findall(r"\w+", text))
        assert f"robot {self.robot} scenario {scenario}" in words
        assert f"ros2 launch {package} {scenario}.launch.py" in text
        needed = ET.parse(folder / "package.xml").getroot().findall("exec_depend")
        assert "roboaccord_ros" in [dependency.text for dependency in needed]

    def test_gazebo_check(self) -> None:
        """`accord check` finds nothing wrong with description and bridge."""
        if line := plugins.lacking("functions", "check.ROBOT", "the check"):
            pytest.skip(line)
        assert plugins.load("functions", "check.ROBOT")(self.robot, sdformat_tool()) == []
