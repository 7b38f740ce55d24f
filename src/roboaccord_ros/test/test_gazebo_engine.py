"""Gazebo as an engine: what it takes where it is missing, and its motions where it is there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import gazebo_answers
import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Command, RobotState
from roboaccord.crosscheck.levels.invariance import check_invariance
from roboaccord.crosscheck.measures.scheme import SchemeCheck, check_scheme
from roboaccord.crosscheck.restart import restart
from roboaccord.engines import default_names, engine_names, spec
from roboaccord.engines.spec import Missing
from roboaccord.gazebo.twin import on_ground
from roboaccord.report.cause_words import text_of
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.run.metrics import KeptMotion
from roboaccord.scenario import Setup, load_scenario, make_scenario
from roboaccord.scenario.gazebo_contacts import by_contacts
from roboaccord_ros.gazebo import simulator as gazebo_simulator
from roboaccord_ros.gazebo import transport, world

pytest.importorskip("snake", reason="the snake, which Gazebo runs here, is not installed")

BAG = Path(__file__).resolve().parents[2] / "snake" / "test" / "data" / "serpenoid_gz"
LACKING = transport.installed_release().lacking()
needs_gazebo = pytest.mark.skipif(
    bool(LACKING), reason=f"Python modules of Gazebo are not installed: {', '.join(LACKING)}"
)


def snake(*changes: str) -> Setup:
    return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))


def test_it_is_asked_for_by_name_alone() -> None:
    assert "gz" in engine_names()
    assert "gz" not in default_names()


@pytest.mark.skipif(not LACKING, reason="Gazebo is installed")
def test_where_gazebo_is_missing_one_line_names_the_package() -> None:
    missing = spec("gz").look()
    assert isinstance(missing, Missing)
    packages = "ros-lyrical-gz-sim-vendor or ros-jazzy-gz-sim-vendor"
    assert packages in missing.reason and "\n" not in missing.reason
    with pytest.raises(AccordError, match=packages):
        make_simulator(snake(), "gz")


def test_the_reference_gets_gazebo_s_ground_and_the_controller_keeps_its_own() -> None:
    setup = snake()
    laid = on_ground(setup, "spheres")
    assert laid.scenario.friction == by_contacts(setup, "spheres")[0].scenario.friction
    assert laid.scenario.friction != setup.scenario.friction
    assert laid.assumed.scenario.friction == setup.scenario.friction
    assert on_ground(setup, "boxes") is setup


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let recorded answers stand for Gazebo's server."""
    monkeypatch.setattr(transport, "gazebo_module", lambda name: None)
    monkeypatch.setattr(transport, "message_class", lambda name: None)
    monkeypatch.setattr(world, "gazebo_version", lambda: gazebo_answers.VERSION)
    monkeypatch.setattr(gazebo_simulator, "InProcess", gazebo_answers.Replayed)
    gazebo_answers.replay()


@pytest.mark.slow
@pytest.mark.usefixtures("recorded")
def test_recorded_answers_of_a_server_are_judged_as_an_engine_s() -> None:
    """Steps that Gazebo took at 1, 0.5 and 0.25 ms are the reference's under Gazebo's law.

    But for its carriages, which make up to 7e-7 rad/s in a tick (docs/gazebo.md).
    """
    result = gazebo_answers.check()
    assert not gazebo_answers.Replayed.unanswered
    assert result.max < 7e-7
    assert make_simulator(gazebo_answers.setup_of(), "gz").version == gazebo_answers.VERSION


@pytest.mark.usefixtures("recorded")
def test_a_server_that_is_asked_otherwise_has_no_recorded_answer() -> None:
    setup = gazebo_answers.setup_of()
    simulator = make_simulator(setup, "gz")
    simulator.reset(setup.initial)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        simulator.step(Command(np.full(len(setup.joints), 0.1)), 1e-3)


class Looking(KeptMotion):
    """Have a window served after each state, which takes the thread from the next step."""

    def __init__(self, simulator: gazebo_simulator.GazeboSimulator) -> None:
        super().__init__(simulator.joints)
        self._simulator = simulator

    def on_state(self, state: RobotState) -> None:
        super().on_state(state)
        self._simulator.serve_window()


@needs_gazebo
def test_a_run_is_that_of_a_launch_bit_for_bit() -> None:
    """The bag is of `ros2 launch`, when Gazebo was a process of its own."""
    recorded = read_run(BAG)
    length = float(recorded.trajectory.time[-1])
    setup = Setup.of(make_scenario({**recorded.scenario, "duration": length}))
    simulator = make_simulator(setup, "gz")
    assert isinstance(simulator, gazebo_simulator.GazeboSimulator)
    for observers in ([], [Looking(simulator)]):  # whatever was before, and who looks
        assert run_setup(setup, simulator, observers).sha256() == recorded.sha256
    simulator.close()


@needs_gazebo
def test_joints_start_where_they_are_to_start_however_little_they_are_turned() -> None:
    """Built there instead, a link is turned by a sixth of the cube of its angle too little."""
    setup = snake("duration=0.01", "initial.spread_q=0.001")
    run = run_setup(setup, make_simulator(setup, "gz"))
    check = check_scheme(on_ground(setup, "spheres"), spec("gz"), run, named=False)
    assert isinstance(check, SchemeCheck) and check.error <= check.floor < 1e-8


@needs_gazebo
def test_a_robot_goes_on_from_a_state_of_its_own_run() -> None:
    setup = snake("duration=0.2", "parameters.joints=5")
    run = run_setup(setup, make_simulator(setup, "gz"))
    after = restart(make_simulator(setup, "gz"), run, 150, 152).run
    assert np.abs(after.position[-1] - run.position[152]).max() < 1e-12
    assert np.abs(after.q[-1] - run.q[152]).max() < 1e-12


@needs_gazebo
def test_its_twin_takes_the_same_steps_wherever_the_snake_heads() -> None:
    setup = snake("duration=0.2")
    run = run_setup(setup, make_simulator(setup, "gz"))
    check = check_scheme(on_ground(setup, "spheres"), spec("gz"), run)
    assert isinstance(check, SchemeCheck) and check.error <= check.floor < 1e-8
    worse = replace(run, effort=run.effort * (1.0 + 1e-3 * np.eye(21)[10]))
    check = check_scheme(on_ground(setup, "spheres"), spec("gz"), worse)
    assert isinstance(check, SchemeCheck) and check.error > check.floor
    cause = check.explanation.cause
    assert (cause.quantity, cause.where) == ("gear", "joint_11")
    moved = check_invariance(setup, spec("gz"), run).changes
    assert [*moved] == ["turned by 45 degrees"] and not moved["turned by 45 degrees"].outside


JOINT, LIMIT, FEET = (
    r'(name="joint_05" type="revolute">)',
    r'(name="joint_10".*?effort=)"10.0"',
    r'(reference="segment_07_link"><mu1>)0.1(.*?<mu2>)1.0',
)
PLANTED = [
    (JOINT, r'\1<dynamics damping="0.002"/>', "damping of joint_05 is +0.002 N m s/rad off"),
    (LIMIT, r'\1"1.5"', "the effort of joint_10 is clipped at 1.5 N m"),
    (FEET, r"\g<1>0.09\g<2>0.9", "friction of segment_07_link is -10 % off"),
]


@needs_gazebo
@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "name"), PLANTED)
def test_what_is_off_in_gazebo_s_own_description_is_named(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str, name: str
) -> None:
    """A limit that acts there is clamped to, while the state holds the effort that was asked."""
    setup = snake("duration=0.3")
    text = gazebo_simulator.expand_for_gazebo(setup, "", started=False)
    changed, count = re.subn(old, new, text)
    assert count == 1
    monkeypatch.setattr(gazebo_simulator, "expand_for_gazebo", lambda *_, **__: changed)
    run = run_setup(setup, make_simulator(setup, "gz"))
    check = check_scheme(on_ground(setup, "spheres"), spec("gz"), run)
    assert isinstance(check, SchemeCheck) and check.error > check.floor
    assert name in text_of(check.explanation)
