"""Detection of failed joints: a tick by forward dynamics, and failures in the reference."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from drawn_figures import keep_figures
from packbot.cli.detect import _draw
from packbot.controllers.reach import ReachController
from packbot.detection.detector import Detector, detections
from packbot.detection.filters import Prediction
from packbot.detection.probing import Prober
from packbot.detection.touching import Touching
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from packbot.simulators.reference import PackbotReference
from packbot.source.detection import Bench, Delays, judge_trial, summary
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Command, RobotState
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

NOISE = np.array([1e-3, 1e-2])  # rad, rad/s
NONE = np.array([], dtype=int)
EFFORT_HELD = np.array([2.0, 30.0, 12.0, 5.0, 0.3, 0.1, 0.1])  # N m


@pytest.fixture(scope="module")
def setup():
    return Setup.of(load_scenario("packbot", "packbot", "reach"))


def exact(setup, x, effort, period, payload=0.0, locked=()):
    """Return the change of x = (q, qd) over a period, by RK4 on pinocchio's forward dynamics.

    Locked joints have the efforts by which they do not accelerate.
    """
    arm = Arm.of(setup)
    arm.carry(payload, setup.parameters.gripper_length)
    viscous = setup.parameters.of_joints("viscous")

    def slope(x):
        q, v = x[:7], x[7:]
        a = pin.aba(arm.model, arm.data, q, v, effort - viscous * v)
        inverse = np.linalg.inv(arm.mass_matrix(q))[:, locked]
        return np.concatenate([v, a - inverse @ np.linalg.solve(inverse[locked, :], a[locked])])

    locked = np.array(locked, dtype=int)
    y, small = x.copy(), period / 64
    for _ in range(64):
        a = slope(y)
        b = slope(y + 0.5 * small * a)
        c = slope(y + 0.5 * small * b)
        y = y + small / 6.0 * (a + 2.0 * b + 2.0 * c + slope(y + small * c))
    return y - x


@pytest.fixture(scope="module")
def moving(setup):
    rates = [0.3, -0.4, 0.5, 0.2, -0.3, 0.4, 0.1]
    return np.concatenate([setup.initial.q, rates])


def ahead(setup, x, period, known=0.0, load=0.0):
    estimate = np.concatenate([x, [load], np.zeros(7)])
    return Prediction(setup, known).over(estimate, EFFORT_HELD, period, NONE)


def test_a_tick_is_predicted_to_third_order(setup, moving):
    errors = [
        np.abs(ahead(setup, moving, h)[2] - exact(setup, moving, EFFORT_HELD, h)).max()
        for h in (5e-4, 1e-3, 2e-3)
    ]
    assert errors[1] / errors[0] > 6.0 and errors[2] / errors[1] > 6.0
    assert errors[2] < 1e-3  # rad/s, a tenth of the noise


@pytest.mark.parametrize("contact", [False, True])
def test_a_tick_is_predicted_of_a_joint_that_is_kept_from_falling(setup, contact):
    """Without its lock, or the contact that holds it, elbow1 would gain 1 rad/s in the tick."""
    h, held = 0.01, np.array([1])
    x = np.array([0, 0.588, -1.016, 2.178, -1.57, 0, 0, 0.3, 0, 0.5, 0.2, -0.3, 0.4, 0.1])
    effort = np.where(np.arange(7) == 1, 0.0, Arm.of(setup).bias(x[:7], np.zeros(7)))
    truth = exact(setup, x, effort, h, locked=(1,))
    _, pushed, change = Prediction(setup, 0.0).over(
        np.concatenate([x, np.zeros(8)]),
        effort,
        h,
        NONE if contact else held,
        x + truth if contact else None,
    )
    assert change[9] > 1.0
    locks = np.linalg.solve(pushed[np.ix_(7 + held, held)], change[7 + held])
    error = np.abs(change - pushed[:, held] @ locks - truth)
    assert error.max() < 3e-4  # rad/s; ten times more about the fall


@pytest.mark.parametrize("joint", range(7))
def test_a_loose_joint_lacks_what_its_effort_pushes(setup, moving, joint):
    h, less = 1e-3, EFFORT_HELD.copy()
    less[joint] = 0.0
    _, pushed, _ = ahead(setup, moving, h)
    change = exact(setup, moving, EFFORT_HELD, h) - exact(setup, moving, less, h)
    lack = pushed[:, joint] * EFFORT_HELD[joint]
    np.testing.assert_allclose(lack, change, atol=0.02 * np.abs(change).max())


def test_an_error_of_the_payload_is_predicted(setup, moving):
    h = 1e-3
    truth = exact(setup, moving, EFFORT_HELD, h, payload=1.3)
    np.testing.assert_allclose(ahead(setup, moving, h, 1.0, 0.3)[2], truth, atol=1e-4)
    motion, _, _ = ahead(setup, moving, h, 1.0)
    wrong = exact(setup, moving, EFFORT_HELD, h, payload=1.001) - exact(
        setup, moving, EFFORT_HELD, h, payload=1.0
    )
    np.testing.assert_allclose(0.001 * motion[:, 14], wrong, atol=0.02 * np.abs(wrong).max())


def run(setup, fault=None, *, at=1.5, duration=3.0, hold=False, seed=0):
    """Return the detector, and what it finds in a noisy run of the scenario's reach."""
    rng, simulator, detector = np.random.default_rng(seed), PackbotReference(setup), Detector(setup)
    controller = ReachController(setup, target=[1.2, 0.3, 0.15])
    controller.reset(0)
    state, effort, found = simulator.reset(setup.initial), np.zeros(7), []
    for k in range(round(duration / 0.01)):
        noise = rng.standard_normal((2, 7)) * NOISE[:, None]
        q, qd = state.q + noise[0], state.qd + noise[1]
        found += detector.update(state.time, q, qd, effort)
        seen = RobotState(state.time, q, qd, effort)
        if hold:  # by efforts that no noise excites
            seen = RobotState(0.0, state.q, state.qd, effort)
        effort = controller.update(seen, None).effort
        if fault and k == round(at / 0.01):
            simulator.fail(fault)
        state = simulator.step(Command(effort), 0.01)
    return detector, found


@pytest.mark.parametrize(("joint", "kind"), [("shoulder", "loose"), ("elbow1", "frozen")])
def test_a_failure_is_named_within_its_time(setup, joint, kind):
    _, (found,) = run(setup, Fault(joint, kind), duration=2.0)
    assert (found.joint, found.kind) == (joint, kind)
    assert 1.5 < found.time < 1.85
    assert found.fault.time == pytest.approx(1.5, abs=0.1)


def test_nothing_is_found_in_a_healthy_reach(setup):
    _, found = run(setup, duration=3.0, seed=1)
    assert found == []


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_impacts_of_a_collapse_are_no_failures(noise):
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse"))
    rng, simulator, detector = np.random.default_rng(0), PackbotReference(setup), Detector(setup)
    state, effort = simulator.reset(setup.initial), np.zeros(7)
    found, fastest = [], 0.0
    for _ in range(60):
        error = noise * rng.standard_normal((2, 7)) * NOISE[:, None]
        found += detector.update(state.time, state.q + error[0], state.qd + error[1], effort)
        before, state = state, simulator.step(Command(effort), 0.01)
        fastest = max(fastest, np.abs(state.qd - before.qd).max())
    assert fastest > 1.0  # rad/s: there were impacts
    assert found == []


def test_a_joint_frozen_at_rest_is_undetermined_until_it_is_turned(setup):
    detector, found = run(setup, Fault("elbow1", "frozen"), at=0.0, duration=1.0, hold=True)
    assert found == []
    kinds = detector.open_explanations()
    assert kinds["elbow1"] == ("healthy", "frozen")  # not loose: gravity would have turned it
    assert kinds["wrist"] == ("healthy", "frozen", "loose")  # balanced
    doubts = {d.joint: d for d in Prober(setup, 0.0).doubts(setup.initial.q, kinds)}
    probe = doubts["elbow1"].probe
    assert probe.joint == "elbow1" and probe.size <= 0.2


def test_gravity_tells_a_frozen_tilt_from_a_loose_one_but_not_a_wrist(setup):
    doubts = Prober(setup, 0.0).doubts(
        setup.initial.q, dict.fromkeys(("tilt", "wrist"), ("frozen", "loose"))
    )
    by_joint = {doubt.joint: doubt.probe for doubt in doubts}
    assert by_joint["wrist"] is None  # its load is on its axis: gravity never turns it
    assert by_joint["tilt"] is not None and by_joint["tilt"].joint not in ("tilt", "wrist")


def test_after_a_state_that_nothing_predicts_it_tells_nothing_for_a_tenth_of_a_second(setup):
    """The arm is put elsewhere, with elbow1 loose, which otherwise would be told at once."""
    simulator, detector = PackbotReference(setup), Detector(setup)
    effort = Arm.of(setup).bias(setup.initial.q, np.zeros(7))  # at which it hangs still
    state, found = simulator.reset(setup.initial), []
    for k in range(35):
        if k == 20:
            q = state.q + 0.5 * np.eye(7)[1]
            state = simulator.reset(RobotState(state.time, q, np.zeros(7), state.effort))
            simulator.fail(Fault("elbow1", "loose"))
        found += detector.update(state.time, state.q, state.qd, effort)
        state = simulator.step(Command(effort), 0.01)
    (loose,) = found
    assert (loose.joint, loose.kind) == ("elbow1", "loose")
    assert 0.3 <= loose.time < 0.33


@pytest.mark.slow
@pytest.mark.thorough
def test_drawn_failures_are_found_and_nothing_else(setup):
    bench = Bench(4000)
    trials = [*(bench.failure() for _ in range(4)), bench.nominal(8.0)]
    figures = summary([judge_trial(setup, trial, 30.0) for trial in trials], 30.0)
    assert figures.false_alarms == 0
    assert figures.found + figures.undetermined >= 3
    assert figures.wrong == 0


@pytest.fixture(scope="module")
def trial():
    return Bench(4006).failure()


def test_the_study_of_a_bench_repeats_itself(trial):
    np.testing.assert_array_equal(trial.rows, Bench(4006).failure().rows)
    assert trial.joint in JOINTS


def test_a_trial_is_judged_by_joint_kind_and_time(setup, trial):
    """What the detector names is right, of the other kind, another joint's, or too early."""
    trial = replace(trial, rows=trial.rows[-60:])
    time, q, qd, effort = np.split(trial.rows, (1, 8, 15), axis=1)
    (told,) = detections(Detector(setup, trial.payload), time.ravel(), q, qd, effort)
    right = replace(trial, joint=told.joint, kind=told.kind, failed=told.time - 0.01)
    other = "frozen" if told.kind == "loose" else "loose"
    somebody = next(joint for joint in JOINTS if joint != told.joint)
    for case, result, early in (
        (right, "found", 0),
        (replace(right, kind=other), "wrong", 0),
        (replace(right, joint=somebody), "missed", 0),
        (replace(right, failed=told.time + 0.01), "missed", 1),
        (replace(right, joint="", kind="", failed=np.inf), "nominal", 1),
    ):
        judged = judge_trial(setup, case, 30.0)
        assert (judged.result, judged.false_alarms) == (result, early)
        delay = told.time - case.missed if result == "found" else np.nan
        assert judged.delay == pytest.approx(delay, nan_ok=True)


def test_the_figure_of_the_study_has_delays_over_false_alarms(tmp_path, monkeypatch):
    """Of 6 and 1 false alarms in 2 h, in ms."""
    shown = keep_figures(monkeypatch)
    rows = [
        replace(summary([], threshold), false_alarms=alarms, hours=2.0, delay=Delays(*late, 0.1))
        for threshold, alarms, late in ((8.0, 6, (0.01, 0.03)), (50.0, 1, (0.02, 0.05)))
    ]
    _draw(rows, tmp_path / "detection.svg")
    figure = shown["detection"]
    median, late = (line.get_xydata().tolist() for line in figure.axes[0].lines)
    assert (median, late) == ([[3.0, 10.0], [0.5, 20.0]], [[3.0, 30.0], [0.5, 50.0]])
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["50 % of the failures", "95 % of the failures"]


def test_a_joint_is_at_the_limit_that_it_is_at():
    """Of each limit in turn, and in the middle between them at neither."""
    touchable = Setup.of(load_scenario("packbot", "packbot", "collapse"))
    p, rest = touchable.parameters, np.zeros(7)
    lower, upper = (np.array(p.of_joints(name)) for name in ("lower", "upper"))
    for q, expected in ((lower, (1, 0)), (upper, (0, 1)), (0.5 * (lower + upper), (0, 0))):
        _, stops = Touching(touchable, 0.0).look(0.0, q, rest)
        assert stops.tolist() == [[bool(one) for one in expected]] * 7
