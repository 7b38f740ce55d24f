"""The ball in its bearing: odometry, controllers and programs, and engines, against theory."""

from __future__ import annotations

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command, RobotState, Target
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.levels.invariance import InvarianceLevel, check_invariance
from roboaccord.engines import spec
from roboaccord.numerics.rotations import (
    matrix_quaternion,
    quaternion_matrix,
    quaternion_product,
    rpy_matrix,
)
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup
from roller_sphere.controllers.programs import figure_eight, figure_eight_time, headings
from roller_sphere.controllers.speed_loops import speeds_for
from roller_sphere.model.kinematics import Kinematics
from roller_sphere.model.odometry import RollingOdometry, slips
from roller_sphere.simulators.reference import slip_matrix
from running import run_in
from scipy.linalg import expm

pytestmark = pytest.mark.thorough


def make_setup(scenario: str, *changes: str) -> Setup:
    return Setup.of(load_scenario("roller_sphere", "roller_sphere", scenario, changes))


def run(setup: Setup, engine: str = "reference") -> Trajectory:
    return run_setup(setup, make_simulator(setup, engine))


def asked_path(program: object, times: Array) -> Array:
    """Return the path of a program, by Simpson's rule over each interval of `times`."""
    middle = 0.5 * (times[1:] + times[:-1])
    v = {name: np.array([program(t) for t in ts]) for name, ts in  # type: ignore[operator]
         (("ends", times), ("middle", middle))}  # fmt: skip
    steps = (v["ends"][1:] + 4.0 * v["middle"] + v["ends"][:-1]) / 6.0
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps * np.diff(times)[:, None], axis=0)])


@pytest.fixture(scope="module")
def eights() -> dict[bool, tuple[Setup, Trajectory]]:
    """Run the figure of eight with and without compensation."""
    found = {}
    for compensation in (True, False):
        setup = make_setup("figure_eight", f"controller.compensation={compensation}".lower())
        found[compensation] = setup, run(setup)
    return found


def test_the_programs_ask_for_closed_ways() -> None:
    """Both circles have the length and the width of circles, and end where they began, at rest."""
    speed, radius, ramp = 0.5, 0.4, 0.5
    times = np.linspace(0.0, figure_eight_time(speed, radius, ramp), 4001)
    program = figure_eight(speed, radius, ramp)
    path = asked_path(program, times)
    assert np.abs(program(times[0])).max() == np.abs(program(times[-1])).max() == 0.0
    assert np.linalg.norm(path[-1]) < 1e-6
    assert np.ptp(path[:, 1]) == pytest.approx(4.0 * radius, abs=1e-5)
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert length == pytest.approx(4.0 * math.pi * radius, rel=1e-5)


def test_headings_go_around() -> None:
    program = headings(0.5, 12, 1.0, 0.2)
    found = [math.degrees(math.atan2(*program(i + 0.5)[::-1])) % 360.0 for i in range(12)]
    assert found == pytest.approx([30.0 * i for i in range(12)], abs=1e-9)
    assert np.linalg.norm(program(3.5)) == pytest.approx(0.5)
    assert np.linalg.norm(program(3.1)) == pytest.approx(0.25)


@pytest.mark.slow
def test_figure_of_eight_closes_with_compensation(
    eights: dict[bool, tuple[Setup, Trajectory]],
) -> None:
    """Closes within 1 % of its length, and keeps to the eight that was asked for."""
    _, motion = eights[True]
    path = motion.position[:, :2]
    length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
    assert length == pytest.approx(4.0 * math.pi * 0.4, rel=0.01)
    assert np.linalg.norm(path[-1] - path[0]) < 0.01 * length
    asked = asked_path(figure_eight(0.5, 0.4, 0.5), motion.time)
    assert np.linalg.norm(path - asked, axis=1).max() < 0.02 * length  # the loops' lag


@pytest.mark.slow
def test_drift_without_compensation_is_the_models(
    eights: dict[bool, tuple[Setup, Trajectory]],
) -> None:
    """Rollers at nu_i = r <eta_i, w> turn the ball by M nu, so the velocity by a fixed matrix."""
    setup, motion = eights[False]
    rig = setup.parameters.rig
    turned = Kinematics(rig).turning @ speeds_for(rig, compensation=False)
    distorted = rig.radius * np.array([turned[1], -turned[0]])  # V = r w x z
    asked = asked_path(figure_eight(0.5, 0.4, 0.5), motion.time)
    drift, predicted = motion.position[:, :2] - asked, asked @ distorted.T - asked
    largest = np.linalg.norm(predicted, axis=1).max()
    assert largest > 0.1  # m: the slip is not small
    assert np.linalg.norm(drift - predicted, axis=1).max() < 0.03 * largest  # the loops' lag


@pytest.mark.parametrize("heading", [40.0, 90.0, 250.0])
def test_the_reference_slips_as_the_model_says(heading: float) -> None:
    """At steady roller speeds the slips are S_i X_i, opposite, whatever the orientation."""
    angle = math.radians(heading)
    controller = f"controller={{name: drive, speed: 0.5, heading: {angle}}}"
    setup = make_setup("headings", "duration=0.7", controller, "initial.yaw=0.7")
    rig = setup.parameters.rig
    found = slips(setup.parameters, run(setup))[-1]
    expected = Kinematics(rig).inverse(0.5, angle).slip
    assert expected[0] == pytest.approx(-expected[1])
    assert np.abs(found - expected[:, None] * rig.across).max() < 2e-3 * np.abs(expected).max()


def test_exact_step_of_the_viscous_reference() -> None:
    """M x' = B tau - c G'G x has the solution of its matrix exponential."""
    setup = make_setup("headings", "physics_step=0.01", "control_period=0.01")
    p = setup.parameters
    matrix = slip_matrix(p)
    mass = np.array([p.ball_inertia] * 3 + [p.roller_inertia] * 2)
    effort = np.array([0.02, -0.01])
    system = np.zeros((6, 6))
    system[:5, :5] = -20.0 * (matrix.T @ matrix) / mass[:, None]
    system[3:5, 5] = effort / mass[3:]
    rates = np.array([0.3, -0.5, 0.8, 2.0, -3.0])
    start = replace(setup.initial, qd=rates[3:], twist=np.array([0.0, 0.0, 0.0, *rates[:3]]))
    simulator = make_simulator(setup)
    simulator.reset(start)
    found = simulator.step(Command(effort), 0.01)
    expected = (expm(0.01 * system) @ [*rates, 1.0])[:5]
    spin = quaternion_matrix(found.orientation) @ found.twist[3:]
    assert np.abs(np.concatenate([spin, found.qd]) - expected).max() < 1e-12


def test_odometry_rolls_as_the_ball_turns() -> None:
    """V = r w x z, at a constant turning about a tilted axis, whatever the orientation."""
    setup = make_setup("headings")
    odometry, w = RollingOdometry(0.11), np.array([1.0, -2.0, 3.0])
    first = matrix_quaternion(rpy_matrix(0.3, -0.4, 0.5))
    angle = float(np.linalg.norm(w))

    def state(time: float) -> RobotState:
        half, axis = 0.5 * angle * time, w / angle
        turn = np.array([*(math.sin(half) * axis), math.cos(half)])
        orientation = quaternion_product(turn, first)
        own = w @ quaternion_matrix(orientation)
        twist = np.concatenate([np.zeros(3), own])
        return replace(setup.initial, time=time, orientation=orientation, twist=twist)

    odometry.reset(state(0.0))
    for tick in range(1, 501):
        last = odometry.follow(state(0.002 * tick))
    assert last.position[:2] == pytest.approx(0.11 * np.array([-2.0, -1.0]), abs=1e-12)
    velocity = quaternion_matrix(last.orientation) @ last.twist[:3]
    assert velocity == pytest.approx(0.11 * np.array([-2.0, -1.0, 0.0]), abs=1e-12)


def test_a_target_goes_before_the_program() -> None:
    """`cmd_vel` is approached at the acceleration allowed, and then held."""
    setup = make_setup("headings", "controller.acceleration=2.0")
    motion = run_in(setup, duration=0.8, target=Target(np.array([0.3, -0.4, 0.0, 0.0, 0.0, 0.0])))
    velocity = quaternion_matrix(motion.orientation[-1]) @ motion.twist[-1, :3]
    assert velocity == pytest.approx([0.3, -0.4, 0.0], abs=1e-3)
    early = quaternion_matrix(motion.orientation[125]) @ motion.twist[125, :3]
    assert np.linalg.norm(early) < 2.0 * 0.125


def make_all(changes: list[str]) -> None:
    """Make everything that a run of `headings` would."""
    setup = make_setup("headings", *changes)
    make_controller(setup)
    make_simulator(setup)
    pytest.importorskip("dartpy")
    make_simulator(setup, "dart")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (["base=fixed"], "base is fixed"),
        (["friction={law: none}"], "friction.law is none"),
        (["friction={law: viscous, coefficient: -1}"], "friction is -1"),
        (["parameters.azimuth_2=3.752457891787809"], "contacts 1 and 2 are the same point"),
        (["parameters.alpha_1=0.6799209", "parameters.alpha_2=-0.6799209"], "(X x Y)_z = 0"),
        (["initial.position=[0, 0, 1]"], "the ball's height is its radius"),
        (["controller.hold=0.1"], "hold at least two ramps"),
        (["engine_options={dart: {z_axes: [0, 0, 1]}}"], "unknown key engine_options.dart.z_axes"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(changes: list[str], line: str) -> None:
    with pytest.raises(AccordError, match=re.escape(line)) as caught:
        make_all(changes)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("engine", "outcome"), [("dart", "outside"), ("mujoco", "within")])
def test_contact_of_the_rollers_shows_the_axes_of_darts_box(engine: str, outcome: str) -> None:
    """Its z axis lies along e, which a turned rig has elsewhere; docs/roller_sphere.md."""
    setup = make_setup("headings", "friction={law: contact, mu: 0.5}", "duration=0.2")
    found = check_invariance(setup, spec(engine), run(setup, engine))
    assert InvarianceLevel().judge(found, Tolerances()).outcome == outcome
    assert found.law == ("unequal" if outcome == "outside" else "")
    assert list(found.refused) == ["shifted"]
