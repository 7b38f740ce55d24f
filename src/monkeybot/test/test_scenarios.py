"""The shipped gaits as scenarios: the motion stays on its orbit, hands change where they should.

Strides and heights come from the orbits, which are found without any controller or control tick.
"""

import lagrangian
import numpy as np
import pytest
from monkeybot.model.motion import Motion
from monkeybots import REPORT, oracle
from roboaccord import Setup, load_scenario
from roboaccord.run import metrics_of
from roboaccord_studies.monkeybot.orbits import shipped_data, shipped_gait
from running import run_in
from slow_cases import late

pytestmark = pytest.mark.thorough

LENGTH = 0.61  # m, of a link
TICK = 1e-3  # s
CLOCKED = ("clocked", "flying", "two_step", "climbing", "passive", "pulses")


def walk(name, steps, *changes, engine="reference"):
    """Walk a scenario until just after a number of changes of hands."""
    setup = Setup.of(load_scenario("monkeybot", "monkeybot", name, changes))
    period = setup.scenario.control_period
    orbit = shipped_gait(name.removesuffix("_from_rest"), REPORT)
    ticks = round((orbit.period / orbit.changes * steps + 0.02) / period)
    return setup, run_in(setup, engine, duration=ticks * period)


def hands(motion):
    """Return where hands A and B are, to the right and up [m] (2, k, 2)."""
    th1 = 2.0 * np.arctan2(motion.orientation[:, 0], motion.orientation[:, 3])
    th12 = th1 + motion.q[:, 0]
    reach = LENGTH * np.array([np.sin(th1) + np.sin(th12), -np.cos(th1) - np.cos(th12)]).T
    return np.array([motion.position[:, 1:], motion.position[:, 1:] + reach])


def grips(setup, motion):
    """Return times of the grips [s] (n,), and where they are, to the right and up [m] (n, 2)."""
    both, events = hands(motion), [e for e in motion.events if e.kind == "magnet_on"]
    ticks = [round(e.time / setup.scenario.control_period) for e in events]
    hand = [int(e.subject == "magnet_b") for e in events]
    assert hand == [(i + 1) % 2 for i in range(len(hand))], "B grips first, then they take turns"
    return np.array([e.time for e in events]), both[hand, ticks]


def moves(places):
    """Return the displacements between grips, the first from hand A at the origin (n, 2)."""
    return np.diff(places, axis=0, prepend=np.zeros((1, 2)))


def test_every_shipped_gait_has_a_scenario_that_starts_on_its_orbit():
    for name in shipped_data():
        setup, orbit = walk(name, 0)[0], shipped_gait(name, REPORT)
        state = setup.initial
        th1 = 2.0 * np.arctan2(state.orientation[0], state.orientation[3])
        start = [th1, state.q[0], state.twist[3], state.qd[0]]
        assert start == pytest.approx(orbit.start, abs=1e-9), name


@pytest.mark.parametrize("name", CLOCKED)
def test_by_the_clock_the_motion_stays_on_its_orbit(name):
    setup, motion = walk(name, 8)
    times, places = grips(setup, motion)
    orbit = shipped_gait(name, REPORT)
    steps = orbit.times.reshape(orbit.changes, -1).sum(axis=1)
    # A scenario has times to 1 ns, and states to ten digits.
    assert times == pytest.approx(np.cumsum(np.tile(steps, 8))[:8], abs=1e-8)
    cycles = moves(places).reshape(-1, orbit.changes, 2).mean(axis=1)
    # Errors of 1e-9 grow in the passive gait alone, by 1.66 a step.
    bound = 1e-9 * max(1.0, orbit.spectral_radius) ** 8 * 10.0
    assert np.abs(cycles - [orbit.stride, -orbit.drop]).max() < bound


@pytest.mark.parametrize("name", ["climbing", "flying"])
def test_travel_and_rise_are_whole_steps_of_the_orbit_wherever_a_run_ends(name):
    """Stride and drop come from the orbit; a run may end in a swing, or in flight."""
    setup, motion = walk(name, 5)
    orbit, (times, places) = shipped_gait(name, REPORT), grips(setup, motion)
    for end in np.append(times[1:] - 0.005, times + 0.015):
        figures = metrics_of(setup, motion.window(0.0, end))
        steps = (times < end).sum()
        expected = steps * np.array([orbit.stride, -orbit.drop])
        assert [figures["travel"], figures["rise"]] == pytest.approx(expected, abs=1e-7)
        assert [figures["travel"], figures["rise"]] == pytest.approx(places[steps - 1], abs=1e-9)


def test_the_motor_of_the_clocked_gait_is_on_from_the_start_and_never_off():
    _, motion = walk("clocked", 2)
    torque = shipped_gait("clocked", REPORT).controls["torque"]
    sign = np.where(motion.time <= 0.943, 1.0, np.where(motion.time <= 1.886, -1.0, 1.0))
    assert motion.effort[1:, 0] == pytest.approx(sign[1:] * torque, abs=1e-9)


def test_the_clocked_scenario_is_walked_by_the_lagrangian_too():
    """Two steps by scipy in coordinates that are never flipped, from the numbers of the file."""
    setup, motion = walk("clocked", 2)
    torque = setup.scenario.controller["power"]
    state = setup.initial
    th1 = 2.0 * np.arctan2(state.orientation[0], state.orientation[3])
    x, v = oracle(np.array([th1, state.q[0], state.twist[3], state.qd[0], 0.0, 0.0, 0.0, 0.0]))
    for held, free, sign in (("a", "b", 1.0), ("b", "a", -1.0)):
        x, v = lagrangian.move(REPORT, x, v, sign * torque, held, 0.943)
        v, _ = lagrangian.impact(REPORT, x, v, free)
    at = round(1.886 / TICK)
    assert motion.position[at, 1:] == pytest.approx(x[:2], abs=1e-7)
    assert motion.q[at, 0] == pytest.approx(x[3], abs=1e-7)


def test_the_flying_robot_lets_go_ten_milliseconds_before_it_grips():
    _, motion = walk("flying", 3)
    reported = [(round(e.time, 9), e.kind, e.subject) for e in motion.events]
    assert reported == [
        (0.92, "magnet_off", "magnet_a"), (0.93, "magnet_on", "magnet_b"),
        (1.85, "magnet_off", "magnet_b"), (1.86, "magnet_on", "magnet_a"),
        (2.78, "magnet_off", "magnet_a"), (2.79, "magnet_on", "magnet_b"),
    ]  # fmt: skip


def test_without_motor_and_impact_no_impulse_and_no_work():
    _, motion = walk("passive", 6)
    assert not motion.effort.any()
    # A hand rests when it grips: its speed is that of an error of 1e-9, grown by 1.66 a step.
    assert max(event.impulse for event in motion.events) < 1e-6


@pytest.mark.parametrize("tick", [1e-3, 2e-3])
def test_on_the_line_no_hand_is_further_off_than_it_sinks_in_half_a_tick(tick):
    """Neither are all of them together, as they would be if each step began a line of its own."""
    orbit = shipped_gait("level", REPORT)
    motion = Motion(REPORT, np.array([*orbit.start, 0.0, 0.0, 0.0, 0.0]))
    motion.advance(orbit.period, orbit.controls["torque"])
    th1, th2, w1, w2 = motion.u[:4]
    falls = -LENGTH * (np.sin(th1) * w1 + np.sin(th1 + th2) * (w1 + w2))
    assert falls > 0.0
    # With 0.65 N m the period is no whole number of ticks.
    for power in (orbit.controls["torque"], 0.65):
        changes = f"control_period={tick}", f"physics_step={tick}", f"controller.power={power}"
        setup, motion = walk("level", 12, *changes)
        places = grips(setup, motion)[1]
        assert len(places) == 12
        assert np.abs(places[:, 1]).max() < 1.1 * falls * 0.5 * tick


@pytest.mark.slow
def test_feedback_holds_the_reports_gait_with_times_of_whole_milliseconds():
    orbit = shipped_gait("report_lqr", REPORT)
    setup, motion = walk("report_lqr", 60)
    times, places = grips(setup, motion)
    assert len(times) == 60
    # Times are off by up to half a tick: strides by a few mm, and no step is lost.
    assert np.abs(moves(places)[1:, 0] / orbit.stride - 1.0).max() < 0.02
    assert np.abs(places[:, 1]).max() < 0.01
    assert np.abs(np.diff(times) - orbit.period).max() < 0.01


def test_from_rest_it_comes_onto_the_orbit_and_is_drawn_to_it():
    """After the start an error is left, which fades with the largest multiplier."""
    setup, motion = walk("clocked_from_rest", 14)
    orbit = shipped_gait("clocked", REPORT)
    assert not setup.initial.q.any() and not setup.initial.qd.any()
    assert not setup.initial.twist.any()
    times, places = grips(setup, motion)
    assert times == pytest.approx(0.92 + 0.943 * np.arange(len(times)), abs=1e-9)
    away = np.abs(moves(places)[1:] - [orbit.stride, -orbit.drop]).max(axis=1)
    assert away[0] < 1e-3
    assert away[-1] < 10.0 * away[0] * orbit.spectral_radius ** len(away)


@pytest.mark.parametrize(
    ("name", "steps"), [("clocked", 10), ("flying", 6), *late(("climbing", 10), ("two_step", 6))]
)
def test_in_mujoco_the_gaits_stay_on_their_orbits(name, steps):
    pytest.importorskip("mujoco")
    setup, motion = walk(name, steps, engine="mujoco")
    orbit = shipped_gait(name, REPORT)
    cycles = moves(grips(setup, motion)[1]).reshape(-1, orbit.changes, 2).mean(axis=1)
    # Runge-Kutta 4 at 1 ms and rates of some 10 rad/s: (w h)^4 = 1e-8.
    assert np.abs(cycles - [orbit.stride, -orbit.drop]).max() < 1e-6


@pytest.mark.parametrize("engine", ["reference", "mujoco", "dart"])
def test_three_short_pulses_a_step_carry_the_robot_for_twenty_steps(engine):
    """On the orbit in the reference and MuJoCo; DART, of order 1 at 1 ms, settles beside it."""
    if engine != "reference":
        pytest.importorskip({"mujoco": "mujoco", "dart": "dartpy"}[engine])
    setup, motion = walk("pulses", 20, engine=engine)
    orbit, steps = shipped_gait("pulses", REPORT), moves(grips(setup, motion)[1])
    assert len(steps) == 20
    away = np.abs(steps - [orbit.stride, -orbit.drop]).max(axis=1)
    assert away.max() < {"reference": 1e-8, "mujoco": 1e-6, "dart": 6e-3}[engine]
    assert np.abs(np.diff(steps[-3:], axis=0)).max() < 1e-4  # it has settled


@pytest.mark.slow
def test_in_dart_the_clocked_gait_settles_nearby_and_nearer_with_shorter_steps():
    """DART's steps are of order 1, and a stable gait bears them: half the step, half the error."""
    pytest.importorskip("dartpy")
    orbit = shipped_gait("clocked", REPORT)
    away = []
    for step in (1e-3, 5e-4):
        setup, motion = walk("clocked", 16, f"physics_step={step}", engine="dart")
        steps = moves(grips(setup, motion)[1])
        assert len(steps) == 16
        assert np.abs(np.diff(steps[-3:], axis=0)).max() < 1e-4  # it has settled
        away.append(np.linalg.norm(steps[-1] - [orbit.stride, -orbit.drop]))
    assert away[0] < 1e-3
    assert away[0] / away[1] == pytest.approx(2.0, abs=0.3)
