"""Joints of every robot fail alike in every simulator; ROS apart, which has its own tests."""

from __future__ import annotations

import dataclasses
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from roboaccord.cli.keys import Keyboard, KeyMap, read_key_map
from roboaccord.cli.main import run as accord
from roboaccord.contract.errors import AccordError
from roboaccord.contract.fault import Fault, parse_fault
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array
from roboaccord.crosscheck.drawn import draw_states
from roboaccord.run.energy_book import Stored, energy_of
from roboaccord.run.loop import make_simulator
from roboaccord.run.runner import RunRequest, run_direct
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.proxy import Proxy
from roboaccord.testing.robot_runs import simulator_of
from running import run_in, setup_of

pytestmark = pytest.mark.thorough
ENGINES = ("reference", "dart", "mujoco")
STATES = 8  # drawn at random
CASES = [
    ("snake", "serpenoid", ["joint_05"]),
    ("snake", "serpenoid", ["joint_01", "joint_11", "joint_12"]),
    ("monkeybot", "swing", ["elbow"]),
    ("monkeybot", "flight", ["elbow"]),
    ("roller_sphere", "headings", ["roller_2"]),
    ("roller_sphere", "dribble", ["carrier_yaw", "roller_1"]),
    ("packbot", "collapse", ["shoulder"]),
    ("packbot", "collapse", ["turret", "elbow1", "elbow2", "pan", "wrist"]),
]


def failing(setup: Setup, *texts: str) -> Setup:
    return setup.failing([parse_fault(text) for text in texts])


def stacked(setup: Setup, found: Acceleration | None) -> Array:
    assert found is not None
    base = found.base if setup.scenario.base != "fixed" else np.zeros(0)
    return np.concatenate([base, found.joints])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("robot", "scenario", "frozen"), CASES)
def test_a_frozen_joint_has_the_effort_that_holds_it(
    robot: str, scenario: str, frozen: list[str], engine: str
) -> None:
    """Its accelerations are those of the healthy robot under the constraint's efforts.

    Accelerations are affine in the efforts, a = a0 + B f; the lock asks for a_L = 0.
    """
    healthy = simulator_of(robot, scenario, engine)
    setup = setup_of(robot, scenario)
    locked = make_simulator(failing(setup, *(f"{name}=frozen" for name in frozen)), engine)
    held = [setup.joints.index(name) for name in frozen]
    base = 6 if setup.scenario.base != "fixed" else 0
    for state, effort in draw_states(setup, STATES, 5):
        qd = np.array(state.qd)
        qd[held] = 0.0
        still = dataclasses.replace(state, qd=qd)
        free = stacked(setup, healthy.acceleration(still, effort))
        units = effort + np.eye(len(effort))[held]
        B = np.array([stacked(setup, healthy.acceleration(still, e)) - free for e in units]).T
        rows = [base + j for j in held]
        expected = free - B @ np.linalg.solve(B[rows], free[rows])
        found = stacked(setup, locked.acceleration(state, effort))
        assert (found[rows] == 0.0).all()
        assert np.abs(found - expected).max() < 1e-9 * max(np.abs(free).max(), 1.0)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("robot", "scenario", "frozen"), CASES)
def test_a_freeze_takes_energy(robot: str, scenario: str, frozen: list[str], engine: str) -> None:
    """What the kinetic energy of the description's links falls by is that of the events."""
    simulator_of(robot, scenario, engine)
    law = ["friction={law: none}"] if robot == "packbot" else []  # else contact takes more
    setup = setup_of(robot, scenario, *law)
    simulator = make_simulator(setup, engine)
    if isinstance(simulator, Proxy):
        pytest.skip("a simulator in front of another: that has its own test")
    if scenario == "dribble":
        pytest.skip("slides and rolling take part, which the description's joints do not tell")
    for state, _ in draw_states(setup, 10, 7):
        simulator.reset(state)
        before = simulator.state()
        for name in frozen:
            simulator.fail(Fault(name, "frozen"))
        simulator._begin_faults()
        after, events = simulator.state(), simulator.take_events()
        assert [event.subject for event in events] == frozen
        assert (after.qd[[setup.joints.index(name) for name in frozen]] == 0.0).all()
        energies = [Stored(setup.tree, setup.joints, 0.0).of(s)[0] for s in (before, after)]
        taken = sum(event.energy for event in events)
        assert taken > 0.0
        if not np.any(simulator.armature):
            assert energies[0] - energies[1] == pytest.approx(taken, rel=1e-7)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("robot", "scenario", "joint"),
    [("snake", "serpenoid", "joint_07"), ("monkeybot", "swing", "elbow"),
     ("roller_sphere", "headings", "roller_1"), ("packbot", "reach", "elbow1")],
)  # fmt: skip
def test_the_last_fault_of_a_joint_counts(
    robot: str, scenario: str, joint: str, engine: str
) -> None:
    """It stays, is loose, and stays again; the run repeats itself."""
    simulator_of(robot, scenario, engine)
    kinds = {0.2: "frozen", 0.4: "loose", 0.5: "frozen"}
    setup = failing(setup_of(robot, scenario), *(f"{joint}={k}@{t}" for t, k in kinds.items()))
    motion = run_in(setup, engine, duration=0.6)
    k, time = motion.joints.index(joint), motion.time
    held, loose, again = (
        (time > start + 1e-9) & (time < end + 1e-9) for start, end in pairwise((*kinds, 0.6))
    )
    for stays in (held, again):
        assert np.ptp(motion.q[stays, k]) < 1e-12 < 1e-3 < np.ptp(motion.q[loose, k])
        assert np.abs(motion.qd[stays, k]).max() < 1e-12
    assert (motion.effort[loose, k] == 0.0).all()
    reported = [
        (e.time, e.kind) for e in motion.events if e.subject == joint and "joint_s" not in e.kind
    ]
    assert reported == [(time, f"joint_{kind}") for time, kind in kinds.items()]
    assert run_in(setup, engine, duration=0.6).sha256() == motion.sha256()


@pytest.mark.parametrize("engine", ENGINES)
def test_the_energy_book_closes_with_a_freeze(engine: str) -> None:
    """A swing without friction: what is missing is what the freeze took."""
    simulator_of("monkeybot", "swing", engine)
    names = ("viscous_hand", "viscous_elbow", "constant_hand", "constant_elbow")
    still = [f"parameters.{name}=0" for name in names]
    setup = failing(setup_of("monkeybot", "swing", *still, "duration=0.45"), "elbow=frozen@0.3")
    motion = run_in(setup, engine)
    (event,) = [e for e in motion.events if e.kind == "joint_frozen"]
    assert event.energy > 0.01  # J
    book = energy_of(setup, engine, motion)
    assert book.impacts[-1] == pytest.approx(event.energy, rel=1e-12)
    size = np.abs(np.diff(book.kinetic)).sum()
    # DART's steps are of the first order.
    assert abs(book.rest[-1]) < (1e-2 if engine == "dart" else 1e-6) * size


def test_the_snake_s_stops_hold_beside_a_lock() -> None:
    """Joints at their stops beside a frozen one: an LCP in the space that the lock leaves."""
    setup = setup_of("snake", "serpenoid", "duration=1.5")
    limit = setup.parameters.joint_limit
    motion = run_in(failing(setup, "joint_05=frozen@1.0"))
    assert any(event.kind == "joint_stop" for event in motion.events)
    assert np.abs(motion.q).max() < limit + 1e-6
    assert np.ptp(motion.q[motion.time > 1.0 + 1e-9, 4]) < 1e-12


def test_a_joint_that_slides_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert accord(["run", "roller_sphere", "dribble", "--fault", "carrier_x=loose"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "carrier_x slides; hinges can fail, and no base or prismatic joint" in line
    assert accord(["run", "voxel_sphere", "bowl", "--fault", "ball=loose"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "no joint ball" in line


def test_a_live_fault_has_neither_angle_nor_a_joint_unknown() -> None:
    simulator = make_simulator(setup_of("snake", "serpenoid"))
    with pytest.raises(AccordError, match="an angle is for the start"):
        simulator.fail(Fault("joint_05", "frozen", angle=0.1))
    with pytest.raises(AccordError, match="no joint joint_99"):
        simulator.fail(Fault("joint_99", "loose"))
    ball = make_simulator(setup_of("voxel_sphere", "bowl"))
    with pytest.raises(AccordError, match="no joint any"):
        ball.fail(Fault("any", "loose"))


def test_a_key_lets_a_joint_fail_and_the_bag_repeats_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    setup = setup_of("monkeybot", "teleop", "duration=0.4")
    pressed = {30: "f", 60: "F"}
    ticks = iter(range(1000))
    keyboard = Keyboard(setup, read_key_map(), lambda: [*pressed.get(next(ticks), "")])
    result = run_direct(
        RunRequest(setup=setup, engine="reference", bag=tmp_path / "bag", inputs=keyboard)
    )
    period = setup.scenario.control_period
    reported = [(event.kind, event.time) for event in result.trajectory.events]
    assert ("joint_frozen", pytest.approx(30 * period)) in reported
    assert ("joint_loose", pytest.approx(60 * period)) in reported
    words = ["run", "monkeybot", "teleop", "--inputs", "bag", "--transport", "direct", "--json"]
    assert accord([*words, "--out", "again"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["trajectory_sha256"] == result.trajectory.sha256()


def test_a_key_of_what_cannot_fail_is_refused() -> None:
    setup = setup_of("monkeybot", "teleop")
    keys = KeyMap(robots={"monkeybot": {"x": {"magnet_a": "frozen"}}})
    with pytest.raises(AccordError, match="no joint magnet_a"):
        Keyboard(setup, keys, list)
