"""Detection of failed joints: a tick by forward dynamics, drawn arms, and failures of them."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from benchmarks.campaigns.detection import alarms_of, counts_of, draw_delays
from benchmarks.campaigns.drawn_arms import Plant, draw_arm
from benchmarks.campaigns.failing_arms import Bench, Outcome, judge, judge_arm
from drawn_figures import keep_figures
from packbot.controllers.reach import ReachController
from packbot.controllers.trial import REACHED
from packbot.model.arm import Arm, Kinematics
from packbot.simulators.reference import PackbotReference
from roboaccord.contract.fault import Fault
from roboaccord.contract.state import Command, RobotState
from roboaccord.engines import REFERENCE
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup
from roboaccord_studies.packbot.detection.balance import Balance, Belief
from roboaccord_studies.packbot.detection.detected import detections
from roboaccord_studies.packbot.detection.detector import Detection, Detector
from roboaccord_studies.packbot.detection.noise import Noise
from roboaccord_studies.packbot.detection.probing import Prober
from roboaccord_studies.packbot.detection.touching import Touching
from roboaccord_studies.packbot.detection.uncertainty import Uncertainty, effort_basis
from roboaccord_studies.packbot.identification.base_parameters import LINK_NAMES
from roboaccord_studies.packbot.identification.drawn_arm import drawn_setup
from roboaccord_studies.packbot.identification.unknowns import vector

NOISE = np.array([1e-3, 1e-2])  # rad, rad/s
EFFORT_HELD = np.array([2.0, 30.0, 12.0, 5.0, 0.3, 0.1, 0.1])  # N m
EXACT = Uncertainty(latency=0.0, payload=0.0)


@pytest.fixture(scope="module")
def setup():
    return Setup.of(load_scenario("packbot", "packbot", "reach"))


def exact(setup, x, effort, period, payload=0.0):
    """Return x = (q, qd) after a period, by RK4 on pinocchio's forward dynamics."""
    arm = Arm.of(setup)
    arm.carry(payload, setup.parameters.gripper_length)
    viscous = setup.parameters.of_joints("viscous")

    def slope(x):
        q, v = x[:7], x[7:]
        return np.concatenate([v, pin.aba(arm.model, arm.data, q, v, effort - viscous * v)])

    y, small = x.copy(), period / 64
    for _ in range(64):
        a = slope(y)
        b = slope(y + 0.5 * small * a)
        c = slope(y + 0.5 * small * b)
        y = y + small / 6.0 * (a + 2.0 * b + 2.0 * c + slope(y + small * c))
    return y


@pytest.fixture(scope="module")
def moving(setup):
    rates = [0.3, -0.4, 0.5, 0.2, -0.3, 0.4, 0.1]
    return np.concatenate([setup.initial.q, rates])


def predicted(setup, x, period, end, unknowns=None, payload=0.0, loose=(), most=0.0):
    """Return the rates after a tick that ends at angles `end`, by the filters' balance."""
    balance = Balance(setup, payload, replace(EXACT, payload=most))
    state = np.concatenate([x[7:], np.zeros(len(balance.unknowns.prior))])
    if unknowns is not None:
        state[7:] = unknowns(balance)
    spread = np.zeros((len(state), len(state)))
    balance.angles = x[:7]
    is_loose = np.isin(np.arange(7), loose)
    tick = balance.tick(end, Belief(state, spread, is_loose), EFFORT_HELD, period, 0.0)
    motor = np.where(is_loose, 0.0, tick.motor)
    return tick.keep @ x[7:] + tick.free @ (tick.modelled + motor + tick.effects @ state[7:])


def test_a_tick_is_predicted_to_second_order(setup, moving):
    """The error of a tick falls as its cube: half the tick, an eighth of the error."""
    errors = []
    for h in (5e-4, 1e-3, 2e-3):
        true = exact(setup, moving, EFFORT_HELD, h)
        heavy = np.abs(predicted(setup, moving, h, true[:7]) - true[7:])[:4]
        errors.append(heavy.max() / h)
    assert errors[2] / errors[1] > 1.5 and errors[1] / errors[0] > 1.5
    assert errors[2] * 2e-3 < 2e-3  # rad/s, a fifth of the noise


@pytest.mark.parametrize("joint", range(7))
def test_a_loose_joint_lacks_its_effort(setup, moving, joint):
    h, less = 1e-3, EFFORT_HELD.copy()
    less[joint] = 0.0
    true, lacking = (exact(setup, moving, effort, h) for effort in (EFFORT_HELD, less))
    change = predicted(setup, moving, h, true[:7]) - predicted(
        setup, moving, h, true[:7], loose=(joint,)
    )
    expected = (true - lacking)[7:]
    np.testing.assert_allclose(change, expected, atol=0.3 * np.abs(expected).max())


def test_a_payload_that_is_estimated_is_in_the_mass_matrix(setup, moving):
    """The unknowns by which a payload of 1.5 kg is seen move the arm as one that is known."""
    h = 1e-3
    true = exact(setup, moving, EFFORT_HELD, h, payload=1.5)

    def unknowns(balance):
        loaded = Arm.of(setup)
        loaded.carry(1.5, setup.parameters.gripper_length)
        rng = np.random.default_rng(1)
        states = rng.uniform(-1.0, 1.0, (60, 3, 7))
        rows = np.vstack([loaded.regressor(*s) for s in states])
        change = loaded.parameters - balance._parameters
        fit = np.linalg.lstsq(rows @ balance._basis, rows @ change, rcond=None)[0]
        x = np.zeros(len(balance.unknowns.prior))
        x[balance.unknowns.inertial] = fit
        return x

    found = predicted(setup, moving, h, true[:7], unknowns, most=2.0)
    known = predicted(setup, moving, h, true[:7], payload=1.5)
    without = predicted(setup, moving, h, true[:7])
    assert np.abs(found - known)[:4].max() < 0.05 * np.abs(without - known)[:4].max()


def test_the_basis_has_the_variance_of_what_is_not_known(setup):
    """Of efforts at rest, against drawn arms whose description is changed: an independent path."""
    limits, u = setup.effort_limits, Uncertainty(encoder_offset=0.0)
    arm, rng = Arm.of(setup), np.random.default_rng(0)
    arm.carry(0.5 * u.payload, setup.parameters.gripper_length)  # what is expected
    basis = effort_basis(setup, arm, u, u.hidden(limits))
    q, rest = np.array([0.3, 0.8, -0.9, 0.5, 0.2, 0.1, 0.4]), np.zeros(7)
    expected = np.linalg.norm(arm.regressor(q, rest, rest) @ basis, axis=1)
    nominal = arm.bias(q, rest)
    squares = []
    for _ in range(60):
        other = Arm.of(drawn_setup(draw_arm(rng, u, limits), setup.scenario))
        squares.append((other.bias(q, rest) - nominal) ** 2)
    found = np.sqrt(np.mean(squares, axis=0))
    # A payload from 0 to 2 kg has a variance of 1/3 kg^2; 60 arms tell it to a fifth.
    np.testing.assert_allclose(found[1:4], expected[1:4], rtol=0.3)


def test_a_drawn_arm_weighs_what_is_drawn(setup):
    draw = draw_arm(np.random.default_rng(3), Uncertainty(), setup.effort_limits)
    drawn, nominal = drawn_setup(draw, setup.scenario), Arm.of(setup).masses()
    masses = Arm.of(drawn).masses()
    more = dict(zip((f"{link}_link" for link in LINK_NAMES), draw.of("mass").tolist(), strict=True))
    more["gripper_link"] += draw.of("payload")[0]
    for link, mass in nominal.items():
        assert masses[link] == pytest.approx(mass + more[link], abs=1e-12)
    exact_draw = draw_arm(np.random.default_rng(3), Uncertainty().scaled(0.0), setup.effort_limits)
    same = Arm.of(drawn_setup(exact_draw, setup.scenario))
    np.testing.assert_allclose(same.parameters, Arm.of(setup).parameters, atol=1e-12)


def test_noise_is_estimated_whatever_is_assumed():
    rng, noise = np.random.default_rng(0), Noise((1e-3, 1e-2))
    time = np.arange(300) * 0.01
    for t in time:
        error = rng.standard_normal((2, 7)) * np.array([[3e-3], [5e-2]])
        motion = np.sin(2.0 * t + np.arange(7))
        found = noise.update(
            motion + error[0], 2.0 * np.cos(2.0 * t + np.arange(7)) + error[1], 0.01
        )
    assert found == pytest.approx([3e-3, 5e-2], rel=0.25)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("mass", -0.1, "uncertainty.mass: -0.1 is not a number from 0 on"),
        ("weight", 0.1, "uncertainty: unknown key weight"),
        ("payload", "much", "uncertainty.payload: 'much' is not a number from 0 on"),
    ],
)
def test_what_is_no_uncertainty_is_refused(key, value, line):
    with pytest.raises(ValueError, match=line):
        Uncertainty.read({key: value})


def run(setup, fault=None, *, at=1.5, duration=3.0, hold=False, seed=0):
    """Return the detector, and what it finds in a noisy run of the scenario's reach."""
    rng, simulator, detector = np.random.default_rng(seed), PackbotReference(setup), Detector(setup)
    controller = ReachController(setup, target=[1.2, 0.3, 0.15])
    controller.reset(0)
    state, effort, detected = simulator.reset(setup.initial), np.zeros(7), []
    for k in range(round(duration / 0.01)):
        noise = rng.standard_normal((2, 7)) * NOISE[:, None]
        q, qd = state.q + noise[0], state.qd + noise[1]
        seen = RobotState(state.time, q, qd, effort)
        detected += detector.update(seen, effort)
        if hold:  # by efforts that no noise excites
            seen = RobotState(0.0, state.q, state.qd, effort)
        effort = controller.update(seen, None).effort
        if fault and k == round(at / 0.01):
            simulator.fail(fault)
        state = simulator.step(Command(effort), 0.01)
    return detector, detected


@pytest.mark.parametrize(
    ("joint", "kind"),
    [pytest.param("shoulder", "loose", marks=pytest.mark.slow), ("elbow1", "frozen")],
)
def test_a_failure_is_named_within_its_time(setup, joint, kind):
    _, detected = run(setup, Fault(joint, kind), duration=2.2)
    assert (detected[-1].joint, detected[-1].kind) == (joint, kind)
    assert {each.joint for each in detected} == {joint}
    assert 1.5 < detected[0].time < 1.9
    assert detected[-1].fault.time == pytest.approx(1.5, abs=0.4)


def test_nothing_is_found_in_a_healthy_reach(setup):
    _, found = run(setup, duration=3.0, seed=1)
    assert found == []


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_impacts_of_a_collapse_are_no_failures(noise):
    setup = Setup.of(load_scenario("packbot", "packbot", "collapse"))
    rng, simulator, detector = np.random.default_rng(0), PackbotReference(setup), Detector(setup)
    state, effort = simulator.reset(setup.initial), np.zeros(7)
    detected, fastest = [], 0.0
    for _ in range(60):
        error = noise * rng.standard_normal((2, 7)) * NOISE[:, None]
        seen = replace(state, q=state.q + error[0], qd=state.qd + error[1])
        detected += detector.update(seen, effort)
        before, state = state, simulator.step(Command(effort), 0.01)
        fastest = max(fastest, np.abs(state.qd - before.qd).max())
    assert fastest > 1.0  # rad/s: there were impacts
    assert detected == []


def test_a_joint_frozen_at_rest_is_undetermined_until_it_is_turned(setup):
    detector, found = run(setup, Fault("elbow1", "frozen"), at=0.0, duration=2.0, hold=True)
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


@pytest.mark.slow
def test_a_name_is_taken_back_where_the_joint_turns_again(setup):
    """A joint that was frozen is let go of: the simulator is put anew where it is."""
    detector = Detector(setup)
    simulator, controller = PackbotReference(setup), ReachController(setup, [1.2, 0.3, 0.15])
    controller.reset(0)
    state, effort, detected = simulator.reset(setup.initial), np.zeros(7), []
    for k in range(400):
        if k == 150:
            simulator.fail(Fault("elbow1", "frozen"))
        if k == 220:  # reset heals
            healed = simulator.reset(replace(state, qd=np.zeros(7)))
            state = replace(healed, time=state.time)
        detected += detector.update(state, effort)
        effort = controller.update(state, None).effort
        state = simulator.step(Command(effort), 0.01)
    kinds = [each.kind for each in detected if each.joint == "elbow1"]
    assert kinds[0] == "frozen" and "healthy" in kinds


@pytest.mark.slow
@pytest.mark.thorough
def test_drawn_failures_are_found_and_nothing_else():
    found = judge_arm(4000, 3, 20.0, "mujoco", 1.0)["detector"]
    assert alarms_of(found).false_alarms == 0
    counts = counts_of([each for each in found if each.joint])
    assert counts.right + counts.undetermined >= 2
    assert counts.wrong == 0


def test_an_arm_of_the_study_repeats_itself():
    one, two = (Bench(4006, "mujoco", Uncertainty()).nominal(1.0) for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_commands_arrive_late_and_as_the_drives_give_them(setup):
    """After its ticks of latency the arm has the gain's part of an effort."""
    draw = draw_arm(np.random.default_rng(5), Uncertainty().scaled(0.0), setup.effort_limits)
    draw = draw._replace(x=draw.x + vector({"latency": 2, "gain": 0.02}), noise=(0.0, 0.0))
    plant, q = Plant(draw, REFERENCE), setup.initial.q
    seen = plant.reset(q, 0)
    efforts = 1.01 * Arm.of(setup).bias(q, np.zeros(7))
    for _ in range(2):
        seen = plant.step(Command(efforts))
    late = PackbotReference(setup)
    late.reset(setup.initial)
    for effort in (np.zeros(7), np.zeros(7), 1.02 * efforts):
        state = late.step(Command(effort), 0.01)
    np.testing.assert_allclose(plant.step(Command(efforts)).q, state.q, atol=1e-9)
    assert seen.time == pytest.approx(0.02)


class Told:
    """A watcher that finds what it is given."""

    def __init__(self, *found):
        self.found = found

    def reset(self):
        """Forget nothing."""

    def update(self, state, effort):
        """Return what is due."""
        return tuple(each for each in self.found if each.time == state.time)


def test_a_run_is_judged_by_joint_kind_and_time(setup):
    """What is named is right, open, of the other kind, another joint's, or too early."""
    rows = np.zeros((5, 22))
    rows[:, 0] = [0.0, 1.0, 2.0, 3.0, 4.0]
    fault = Fault("elbow1", "frozen", 1.5)

    def result(*found):
        watcher = Told(*(Detection(joint, kind, time, 0.0) for joint, kind, time in found))
        judged = judge(watcher, fault, True, rows)
        return judged.result, judged.false_alarms, judged.delay

    assert result(("elbow1", "frozen", 2.0)) == ("right", 0, 0.5)
    assert result(("elbow1", "undetermined", 2.0)) == ("undetermined", 0, 0.5)
    assert result(("elbow1", "loose", 2.0))[0] == "wrong"
    assert result(("elbow1", "frozen", 2.0), ("pan", "loose", 3.0))[0] == "wrong"
    taken = (("elbow1", "frozen", 2.0), ("pan", "loose", 3.0), ("pan", "healthy", 4.0))
    assert result(*taken) == ("right", 0, 0.5)
    early = result(("pan", "frozen", 1.0))
    assert early[:2] == ("missed", 1) and np.isnan(early[2])
    healthy = judge(Told(Detection("pan", "frozen", 1.0, 0.0)), None, False, rows)
    assert (healthy.result, healthy.false_alarms, healthy.time) == ("", 1, 4.0)


def test_false_alarms_are_bounded_by_the_poisson_distribution():
    """None in an hour: below 3 an hour with 95 %, the rule of three (-log 0.05 = 2.996)."""
    hour = Outcome("", "", False, "", np.nan, 0, 3600.0)
    assert alarms_of([hour]).per_hour_95 == pytest.approx(-np.log(0.05))


@pytest.mark.slow
def test_the_figure_of_the_study_has_shares_over_delays(tmp_path, monkeypatch):
    """Of four failures that move the tips three are named, after 0.1, 0.2 and 0.9 s."""
    shown = keep_figures(monkeypatch)
    delays = (0.9, 0.1, np.nan, 0.2)
    outcomes = [Outcome("turret", "loose", True, "right", d, 0, 1.0) for d in delays]
    draw_delays({"detector": outcomes}, tmp_path / "detection.svg")
    (line,) = shown["detection"].axes[0].lines
    assert line.get_xydata().tolist() == [[0.1, 25.0], [0.2, 50.0], [0.9, 75.0]]


def test_a_joint_is_at_the_limit_that_it_is_at():
    """Of each limit in turn, and in the middle between them at neither."""
    touchable = Setup.of(load_scenario("packbot", "packbot", "collapse"))
    p, rest = touchable.parameters, np.zeros(7)
    lower, upper = (np.array(p.of_joints(name)) for name in ("lower", "upper"))
    for q, expected in ((lower, (1, 0)), (upper, (0, 1)), (0.5 * (lower + upper), (0, 0))):
        _, stops = Touching(touchable, 0.0, 0.0, 0.0).update(0.0, q, rest)
        assert stops.tolist() == [[bool(one) for one in expected]] * 7


EXACT_ARM = draw_arm(np.random.default_rng(0), Uncertainty().scaled(0.0), np.ones(7))
MASSES = np.array([2.15, 2.0, 1.9, 1.2, 0.3, 0.8, 0.79])  # kg, of `LINK_NAMES`


def controlled(setup, name, **more):
    """Return a controller of the arm, given that its model is not exact."""
    controller = setup.robot.controllers[name](setup, [1.2, 0.3, 0.15], uncertainty={}, **more)
    controller.reset(0)
    return controller


@pytest.mark.slow
@pytest.mark.parametrize(
    "error",
    [
        pytest.param({"mass": 0.001 * MASSES}, id="0.1 % heavier"),
        pytest.param({"mass": 0.01 * MASSES}, id="1 % heavier"),
        pytest.param({"gain": 0.003}, id="torque constants 0.3 % up"),
        pytest.param({"zero": 5e-3}, id="zeros 5 mrad off"),
        pytest.param({"latency": 1}, id="a tick late"),
        pytest.param({"payload": [2.0, 0.02, 0.0]}, id="a payload"),
        pytest.param({}, id="ten times the noise"),
    ],
)
def test_an_arm_that_is_not_its_model_is_not_taken_for_a_broken_one(setup, error):
    """With each, the detector before named a sound joint, or, with the noise, never any.

    The hand ends within 2 mm of where plain `reach` ends.
    """
    noise = EXACT_ARM.noise if error else (1e-2, 1e-1)
    draw = EXACT_ARM._replace(x=vector(error), noise=noise)
    plant, ends = Plant(draw, "mujoco"), []
    for name in ("recover", "reach"):
        more = {"diagnosis": "detected"} if name == "recover" else {}
        controller = controlled(setup, name, **more)
        seen = plant.reset(setup.initial.q, 1)
        for _ in range(350):
            seen = plant.step(controller.update(seen, None))
        if name == "recover":
            assert not controller.detected
        ends.append(Kinematics(setup).tip(plant.state.q))
    assert np.linalg.norm(ends[0] - ends[1]) < 2e-3


def test_the_noise_of_accelerations_is_not_taken_for_knowledge(setup):
    """A payload beside the wrist's axis is found in noise, and the wrist not called loose.

    Its moment is known from the drawn arm. Accelerations of single ticks are mostly noise: a
    filter that takes them for true learns that what they would show is not there.
    """
    bench = Bench(10_004, "mujoco", Uncertainty())
    rows, detector = bench.nominal(4.0), Detector(setup)
    assert bench.draw.noise[1] > 2.0 * Uncertainty().rate_noise
    assert not detections(detector, rows[:, 0], *np.split(rows[:, 1:], 3, axis=1))
    q, still = rows[-1, 1:8], np.zeros(7)
    known, drawn = Arm.of(setup), Arm.of(drawn_setup(bench.draw, setup.scenario))
    known.carry(1.0, setup.parameters.gripper_length)
    more = drawn.bias(q - bench.draw.of("zero"), still) - known.bias(q, still)
    inertial = slice(7, -3 * 7 - 2)  # of what is unknown
    found = -detector.tick.effects[:, inertial] @ detector.unknowns[inertial]
    assert more[-1] > 0.4
    assert found[-1] == pytest.approx(more[-1], abs=0.15)


@pytest.mark.slow
def test_with_ten_times_the_noise_a_failure_is_still_found(setup):
    plant = Plant(EXACT_ARM._replace(noise=(1e-2, 1e-1)), "mujoco")
    controller = controlled(setup, "recover", diagnosis="detected")
    seen = plant.reset(setup.initial.q, 1)
    for k in range(300):
        if k == 150:
            plant.simulator.fail(Fault("shoulder", "loose"))
        seen = plant.step(controller.update(seen, None))
    assert controller.detected["shoulder"].kind == "loose"


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["elbow2", pytest.param("shoulder", marks=pytest.mark.slow)])
def test_a_drive_that_was_without_power_for_a_while_is_not_given_up(setup, joint):
    """The drive gives nothing for 0.6 s; what is turned a little then shows that it is sound."""
    plant = Plant(EXACT_ARM, "mujoco")
    controller = controlled(setup, "recover", diagnosis="detected")
    seen, named = plant.reset(setup.initial.q, 1), list[tuple[str, str]]()
    dead = setup.joints.index(joint)
    while not controller.done and seen.time < 40.0:
        command = controller.update(seen, None)
        named += [(finding.subject, finding.kind) for finding in command.findings]
        effort = command.effort.copy()
        effort[dead] *= not 1.0 <= seen.time < 1.6
        seen = plant.step(Command(effort))
    assert named[0] == (joint, "found_loose")
    assert not controller.arm.faults, named
    tips = Kinematics(setup).tip(plant.state.q)
    np.testing.assert_allclose(tips, [1.2, 0.3, 0.15], atol=REACHED)
