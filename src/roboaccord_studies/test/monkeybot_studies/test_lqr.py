"""The report's gait held by feedback on the time of the change of hands alone."""

import lagrangian
import numpy as np
import pytest
from monkeybots import REPORT, oracle
from roboaccord import AccordError, load_scenario
from roboaccord_studies.monkeybot.basin import Draws, basin
from roboaccord_studies.monkeybot.lqr import (
    STATE_COST,
    TIME_COST,
    conditioning,
    controllability,
    linearise,
    lqr_gain,
    time_law,
)
from roboaccord_studies.monkeybot.orbits import shipped_gait
from roboaccord_studies.monkeybot.rollouts import Feedback, walk
from scipy.optimize import brentq
from slow_cases import late

pytestmark = pytest.mark.thorough

BESIDE = {"sd_angle": 0.005, "sd_rate": 0.025, "draws": Draws(50, 300)}
ROUNDED = Feedback(np.zeros((3, 4)), sample=1e-3)  # both times to 1 ms, and nothing else


@pytest.fixture(scope="module")
def orbit():
    return shipped_gait("report_lqr", REPORT)


@pytest.fixture(scope="module")
def law(orbit):
    return time_law(orbit, REPORT)


def test_with_times_of_whole_milliseconds_it_walks_300_of_300_steps(orbit, law):
    assert law.sample == 1e-3
    found = walk(orbit, REPORT, orbit.start, 300, feedback=law.feedback)
    assert found.cycles[0] == 300 and found.survived[0]
    beside = basin(orbit, REPORT, **BESIDE, feedback=law.feedback)
    assert beside.survived == 1.0


def test_without_feedback_none_of_50_starts_survives(orbit):
    beside = basin(orbit, REPORT, **BESIDE, feedback=ROUNDED)
    assert len(beside.starts) == 50 and beside.survived == 0.0


def test_a_walk_survives_only_near_the_orbit(orbit):
    """Within 0.2 rad and 1 rad/s of it, a turn of the held link more or less: walks of no cycle."""
    sides = np.concatenate([np.eye(4), -np.eye(4)]) * [0.2, 0.2, 1.0, 1.0]
    near = np.concatenate([0.99 * sides, 2.0 * np.pi * np.outer([1, -1], [1, 0, 0, 0])])
    assert walk(orbit, REPORT, orbit.start + near, 0).survived.all()
    assert not walk(orbit, REPORT, orbit.start + 1.01 * sides, 0).survived.any()


def test_closed_loop_multipliers_are_those_of_the_walked_map(orbit):
    """Eigenvalues of A - B K against central differences of walks without rounding."""
    law = time_law(orbit, REPORT, sample=0.0)
    A, B = linearise(orbit, REPORT)
    expected = np.linalg.eigvals(A - np.outer(B[:, 0], law.gain))
    sides = 1e-5 * np.eye(4)[1:]
    starts = np.concatenate([orbit.start + sides, orbit.start - sides])
    found = walk(orbit, REPORT, starts, 1, feedback=law.feedback, tolerance=1e-13).final[:, 1:]
    slope = (found[:3] - found[3:]).T / 2e-5
    values = np.linalg.eigvals(slope)
    assert np.sort_complex(values) == pytest.approx(np.sort_complex(expected), abs=1e-5)
    assert np.abs(values).max() < 1.0 < orbit.spectral_radius


def test_the_gain_is_that_of_dynamic_programming(orbit):
    """Bellman's recursion from a horizon of 200 steps, in place of the Riccati equation."""
    A, B = linearise(orbit, REPORT)
    b, Q = B[:, :1], np.diag(STATE_COST)
    S, gain = Q, np.zeros((1, 3))
    for _ in range(200):
        gain = (b.T @ S @ A) / (TIME_COST + b.T @ S @ b)
        S = Q + A.T @ S @ (A - b @ gain)
    assert lqr_gain(A, B[:, 0]) == pytest.approx(gain[0], rel=1e-9)


@pytest.mark.parametrize(("faster", "up"), [(0.04, False), *late((0.02, True))])
def test_a_step_with_feedback_is_the_lagrangians(orbit, law, faster, up):
    """Times by the law in whole milliseconds, motion by scipy, up to the next vertical."""
    start = orbit.start + np.array([0.0, 0.01, -0.03, faster])
    away = start[1:] - np.array(law.target)
    exact = law.switch - np.dot(law.gain, away)
    switch = round(exact / 1e-3) * 1e-3
    assert (switch > exact) == up
    assert abs(switch - law.switch) > 1e-3
    motor = round(law.motor / 1e-3) * 1e-3
    x, v = oracle(np.array([*start, 0.0, 0.0, 0.0, 0.0]))
    x, v = lagrangian.move(REPORT, x, v, 0.0, "a", switch)
    v, _ = lagrangian.impact(REPORT, x, v, "b")
    x, v = lagrangian.move(REPORT, x, v, -law.torque, "b", motor)

    def seen(time):
        y, w = lagrangian.move(REPORT, x, v, 0.0, "b", time)
        return np.array([np.sin(y[2] + y[3] - np.pi), -y[3], w[2] + w[3], -w[3]])

    coast = float(orbit.times[2])
    at = brentq(lambda time: seen(time)[0], coast - 0.1, coast + 0.1, xtol=1e-13)
    found = walk(orbit, REPORT, start, 1, feedback=law.feedback, tolerance=1e-12).final[0]
    assert found == pytest.approx(seen(at), abs=1e-8)


def test_one_input_reaches_all_states_and_three_are_hardly_more_than_two(orbit, law):
    """Time and torque of the motor make one impulse: their columns are all but parallel."""
    A, B = linearise(orbit, REPORT)
    assert controllability(A, B[:, 0]).min() > 1.0
    motor, torque = (column / np.linalg.norm(column) for column in B.T[1:])
    assert np.linalg.norm(np.cross(motor, torque)) < np.sin(np.radians(1.0))
    assert conditioning(B, law.torque) > 1000.0
    # 1 % more torque for the same time is the impulse of 1 % more time.
    ratio = B[:, 2] * law.torque / (B[:, 1] * law.motor)
    assert ratio == pytest.approx(np.ones(3), abs=0.1)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(AccordError, match="cannot hold"):
        lqr_gain(np.diag([2.0, 0.5, 0.1]), np.array([0.0, 1.0, 1.0]))


@pytest.mark.slow
def test_the_command_prints_the_law(law, figures):
    message = figures("lqr")
    assert tuple(message["gain"]) == law.gain and tuple(message["target"]) == law.target
    assert message["closed_radius"] < 1.0 < message["open_radius"]


def test_the_scenario_has_this_law(law):
    given = load_scenario("monkeybot", "monkeybot", "report_lqr", []).controller
    assert given["gain"] == pytest.approx(law.gain, abs=1e-6)
    assert given["nominal"] == pytest.approx(law.target, abs=1e-8)
    found = [given["switch_t"], given["motor_t"], given["power"]]
    assert found == pytest.approx([law.switch, law.motor, law.torque], abs=1e-9)
