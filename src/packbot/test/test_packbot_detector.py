"""Detection of failed joints: the momentum balance by theory, and failures in the reference."""

import numpy as np
import pinocchio as pin
import pytest
from packbot.controllers.reach import ReachController
from packbot.failures.detection_study import Bench, judge_trial, summary
from packbot.failures.detector import Detector
from packbot.failures.evidence import BALANCE, EFFORT, LOAD
from packbot.failures.momentum import MomentumBalance
from packbot.failures.probing import Prober
from packbot.model.arm import Arm
from packbot.model.parameters import JOINTS
from packbot.simulators.reference import PackbotReference
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Command, RobotState
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

NOISE = np.array([1e-3, 1e-2])  # rad, rad/s
EFFORT_HELD = np.array([2.0, 30.0, 12.0, 5.0, 0.3, 0.1, 0.1])  # N m
TIME = 0.4  # s


@pytest.fixture(scope="module")
def setup():
    return Setup.of(load_scenario("packbot", "packbot", "reach"))


def change(setup, period, loose=None, payload=0.0, known=0.0):
    """Return by how much the series change in a motion, by RK4 on pinocchio's forward dynamics."""
    arm = Arm.of(setup)
    arm.carry(payload, setup.parameters.gripper_length)
    balance = MomentumBalance(setup, known, (0.0, 0.0), 0.0)
    given = EFFORT_HELD.copy()
    if loose is not None:
        given[loose] = 0.0

    def slope(x):
        q, v = x[:7], x[7:]
        tau = given - balance.viscous * v
        return np.concatenate([v, pin.aba(arm.model, arm.data, q, v, tau)])

    x, small = np.concatenate([setup.initial.q, np.zeros(7)]), 2.5e-4
    first = balance.add(0.0, x[:7], x[7:], np.zeros(7))
    for k in range(1, round(TIME / period) + 1):
        for _ in range(round(period / small)):
            a = slope(x)
            b = slope(x + 0.5 * small * a)
            c = slope(x + 0.5 * small * b)
            x = x + small / 6.0 * (a + 2.0 * b + 2.0 * c + slope(x + small * c))
        last = balance.add(k * period, x[:7], x[7:], EFFORT_HELD)
    return last - first


def exact(setup, **failure):
    """Return the change without the trapezoid's error of second order (Richardson)."""
    fine, coarse = (change(setup, period, **failure) for period in (5e-4, 1e-3))
    return (4.0 * fine - coarse) / 3.0


def test_the_balance_of_a_healthy_arm_is_constant_to_second_order(setup):
    errors = [np.abs(change(setup, period)[:, BALANCE]).max() for period in (1e-3, 2e-3, 4e-3)]
    assert errors[0] < 1e-5 * TIME * EFFORT_HELD.max()
    assert errors[1] / errors[0] == pytest.approx(4.0, rel=0.2)
    assert errors[2] / errors[1] == pytest.approx(4.0, rel=0.2)
    assert np.abs(exact(setup)[:, BALANCE]).max() < 1e-7


@pytest.mark.parametrize("joint", [0, 1, 2, 3, 4, 6])
def test_a_loose_joint_lacks_its_effort_and_no_other_does(setup, joint):
    series = exact(setup, loose=joint)
    lack = np.zeros(7)
    lack[joint] = -TIME * EFFORT_HELD[joint]
    np.testing.assert_allclose(series[:, BALANCE], lack, atol=1e-6)
    np.testing.assert_allclose(series[:, EFFORT], TIME * EFFORT_HELD, rtol=1e-12)


def test_an_unknown_payload_moves_the_balance_along_its_regressor(setup):
    series = exact(setup, payload=1.3, known=1.0)
    assert np.abs(series[:, BALANCE]).max() > 0.5
    np.testing.assert_allclose(series[:, BALANCE], 0.3 * series[:, LOAD], atol=1e-6)


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
        seen = RobotState(0.0 if hold else state.time, q, qd, effort)
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
    _, found = run(setup, duration=5.0, seed=1)
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


@pytest.mark.thorough
def test_drawn_failures_are_found_and_nothing_else(setup):
    bench = Bench(4000)
    trials = [*(bench.failure() for _ in range(4)), bench.nominal(8.0)]
    figures = summary([judge_trial(setup, trial, 25.0) for trial in trials])
    assert figures["false_alarms"] == 0
    assert figures["found"] + figures["undetermined"] >= 3
    assert figures["wrong"] == 0


def test_the_study_of_a_bench_repeats_itself():
    a, b = (Bench(4001).failure() for _ in range(2))
    np.testing.assert_array_equal(a.rows, b.rows)
    assert a.joint in JOINTS
