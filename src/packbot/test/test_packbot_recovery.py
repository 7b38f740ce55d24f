"""Reaching with failed joints: rests, refusals and paths, by sampling; the diagnosis `told`."""

from __future__ import annotations

import numpy as np
import pytest
from failed_arms import ENGINES, TOLD, recoverer, setup_of, simulated, tips_of, two_link
from packbot.contact.clearance import Clearance
from packbot.controllers.diagnosis import Told
from packbot.controllers.trial import run_reach
from packbot.model.arm import Arm, Kinematics
from packbot.planning.failed_arm import CONTACT_GAP, FailedArm
from packbot.planning.failed_planner import FailedPlanner
from packbot.planning.goals import MIN_PROGRESS, NEAR, Goals
from packbot.planning.reaching import MARGIN
from packbot.planning.sight import Sight
from roboaccord import AccordError
from roboaccord.cli.options import load_setup
from roboaccord.contract import plugins
from roboaccord.contract.fault import Fault
from roboaccord.contract.interfaces import Observer
from roboaccord.contract.state import RobotState
from roboaccord.scenario.controllers import make_controller
from slow_cases import late

pytestmark = pytest.mark.thorough


class Findings(Observer):
    """Observer of what the controller finds."""

    def __init__(self):
        self.found = []

    def on_state(self, state):
        pass

    def on_command(self, state, command):
        self.found += command.findings


@pytest.mark.parametrize("joint", ["shoulder", "elbow1", "elbow2", "tilt", "pan"])
def test_hanging_is_a_minimum_of_the_energy(joint):
    """By the potential energy alone, on a circle of angles; limits apart."""
    setup = load_setup("packbot", "reach")
    arm, plain = FailedArm(setup, [Fault(joint, "loose")]), Arm.of(setup)
    (i,) = arm.loose
    arm.lower[i], arm.upper[i] = -10.0, 10.0
    rng, p = np.random.default_rng(1), setup.parameters
    for _ in range(20):
        q = rng.uniform(p.of_joints("lower"), p.of_joints("upper"))
        hung = arm.hanging_pose(q)
        angles = np.linspace(-np.pi, np.pi, 721)
        turned = np.tile(hung, (len(angles), 1))
        turned[:, i] += angles
        energies = [plain.energy(each, np.zeros(7)) for each in turned]
        assert energies[360] == pytest.approx(min(energies), abs=1e-9)
        assert abs(arm.gravity(hung)[i]) < 1e-9
        assert np.delete(hung, i) == pytest.approx(np.delete(q, i))


@pytest.mark.parametrize("joint", ["shoulder", "elbow1", "elbow2"])
def test_a_fallen_joint_presses_on_what_it_lies_on(joint):
    """From the drive pose: gap of the contact, sign of its force, and balance of all torques."""
    setup = load_setup("packbot", "reach")
    arm = FailedArm(setup, [Fault(joint, "loose")])
    (i,) = arm.loose
    q = arm.resting_pose(setup.initial.q)
    (pair, *_) = arm.propping_pairs(q)
    gap = arm.clearance.distances(q)[pair]
    assert CONTACT_GAP <= gap < CONTACT_GAP + 2e-4
    line = arm.clearance.witness(q, [pair]).jacobian[0]
    force = arm.gravity(q)[i] / line[i]
    assert force > 0.0
    expected = arm.gravity(q) - force * line
    assert arm.holding_efforts(q) == pytest.approx(expected, abs=1e-9)
    into = q - 0.01 * np.sign(line[i]) * np.eye(7)[i]
    assert arm.clearance.distances(into)[pair] < 0.0
    planner = FailedPlanner(arm)  # may lean on something, and not be in it
    assert planner.is_free(q) and not planner.is_free(into)


@pytest.mark.parametrize(("joint", "other"), [("shoulder", 2), ("elbow1", 1), ("elbow2", 1)])
def test_a_joint_that_lies_on_something_does_so_on_the_way_to_a_target(joint, other, monkeypatch):
    """A target that it has with another joint turned; hanging freely it is 0.1 m off."""
    for name in ("POSE_COUNT", "PROPPED_POSE_COUNT"):
        monkeypatch.setattr(f"packbot.planning.goals.{name}", 2)
    setup = load_setup("packbot", "reach")
    arm = FailedArm(setup, [Fault(joint, "loose")])
    tip, q = arm.kinematics.tip, arm.resting_pose(setup.initial.q)
    turned = arm.resting_pose(q + 0.05 * np.eye(7)[other])
    found = Goals(arm, q).refine(q, tip(turned))
    assert tip(found) == pytest.approx(tip(turned), abs=MIN_PROGRESS)
    assert len(arm.propping_pairs(found)) and arm.resting_pose(found) == pytest.approx(
        found, abs=1e-3
    )
    assert np.linalg.norm(tip(arm.hanging_pose(found)) - tip(found)) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES[1:])
def test_a_fall_in_an_engine_ends_where_it_is_to_rest(engine):
    """Elbow 1 loose from the drive pose, the other joints as they are held."""
    setup = setup_of("elbow1=loose", changes=[TOLD])
    arm = FailedArm(setup, setup.faults)
    run = run_reach(setup, np.array([3.0, 0.0, 0.0]), engine)
    start = run.planner.present
    assert run.reason in ("torque", "out_of_reach") and not run.reached
    held = setup.initial.q.copy()
    held[arm.active] = start[arm.active]
    assert arm.resting_pose(held)[2] == pytest.approx(start[2], abs=0.005)
    assert arm.propping_pairs(start).tolist() == arm.propping_pairs(arm.resting_pose(held)).tolist()


@pytest.mark.parametrize("fault", ["elbow1=frozen:0.4", "elbow2=frozen:-2.2"])
def test_refusals_and_paths_of_frozen_elbows_against_closed_forms(fault):
    """By all solutions of the two links that are left."""
    mine = recoverer(setup_of(fault))
    arm, clearance, paths = mine.arm, mine.arm.clearance, 0
    for target in tips_of(arm.setup, 12, 5):
        recovery, exact = mine.reach(target), two_link(arm, target)
        clear = [q for q in exact if not clearance.touches(q, MARGIN)]
        if recovery.reason:
            blocked = "collision" if len(exact) else "out_of_reach"
            assert recovery.reason == ("no_path" if clear else blocked)
            continue
        paths += 1
        assert np.linalg.norm(arm.kinematics.tip(recovery.corners[-1]) - target) < NEAR
        assert not any(clearance.touches(q, MARGIN) for q in recovery.corners)
        assert (recovery.corners[:, arm.frozen] == arm.lower[arm.frozen]).all()
    assert paths > 2


@pytest.mark.parametrize(
    ("fault", "target"),
    [("elbow1=frozen:-2.0", (-0.56, 0.1, 1.49)), ("elbow2=frozen:1.0", (2.1, 0.0, 1.2))],
)
def test_the_nearest_point_to_a_target_out_of_reach_has_both_links_in_line_with_it(fault, target):
    """Those that a frozen elbow leaves, from the shoulder on."""
    mine, target = recoverer(setup_of(fault)), np.array(target)
    p, (joint,) = mine.arm.setup.parameters, mine.arm.frozen
    a, b, hand = p.shoulder_a, p.elbow1_a, p.wrist_x + p.gripper_length
    bend = np.exp(1j * mine.arm.lower[joint])
    reach = abs(a + b * bend) + hand if joint == 2 else a + abs(b + hand * bend)
    away = np.linalg.norm(target - [p.base_x, 0.0, p.base_z + p.turret_d]) - reach
    found = mine.reach(target)
    assert found.reason == "out_of_reach"
    assert np.linalg.norm(found.nearest - target) == pytest.approx(away, abs=NEAR)


def test_what_a_failed_arm_explores_are_rests_that_its_active_joints_lead_to(monkeypatch):
    """Turret, shoulder and elbow1 lead there, elbow2 hangs or lies; camera and wrist stay."""
    monkeypatch.setattr("packbot.planning.failed_planner.TREE_SAMPLES", 40)
    setup = setup_of("elbow2=loose")
    arm = FailedArm(setup, setup.faults)
    start = arm.resting_pose(setup.initial.q)
    nodes = FailedPlanner(arm).explore(start, 0).nodes
    assert len(nodes) > 10 and np.ptp(nodes[:, :4], axis=0).min() > 0.1
    assert (nodes[:, 4:] == start[4:]).all()
    assert all(arm.resting_pose(q) == pytest.approx(q, abs=1e-3) for q in nodes)


def test_a_planner_serves_the_same_failures_at_the_same_angles():
    """To 0.02 rad of turret, shoulder and elbows, wherever camera and wrist are."""
    setup = setup_of("elbow1=frozen:0.4")
    mine, other = recoverer(setup), FailedArm(setup, [Fault("elbow2", "frozen")])
    near, q = 0.019 * np.eye(7), mine.present
    assert all(mine.starts_at(mine.arm, q + sign * part) for part in near[:4] for sign in (-1, 1))
    assert not any(mine.starts_at(mine.arm, q + 1.1 * part) for part in near[:4])
    assert mine.starts_at(mine.arm, q + 20.0 * near[4:].sum(axis=0))
    assert not mine.starts_at(other, q)


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["elbow1", "elbow2"])
def test_refusals_of_loose_elbows_against_sampling(joint):
    """No rest drawn elsewhere, hanging or fallen, has its finger tips within 5 mm."""
    setup = setup_of(f"{joint}=loose")
    mine = recoverer(setup)
    arm, rng = mine.arm, np.random.default_rng(99)
    drawn = np.tile(mine.present, (13_500, 1))
    drawn[:, :4] = rng.uniform(arm.lower[:4], arm.upper[:4], (len(drawn), 4))
    hung = [arm.hanging_pose(q) for q in drawn[:12_500]]
    fell = [arm.resting_pose(q) for q in drawn[12_500:] if not arm.clearance.touches(q)]
    rests = np.array([*hung, *(q for q in fell if q is not None)])
    tips = np.array([arm.kinematics.tip(q) for q in rests])
    axis = np.array([setup.parameters.base_x, 0.0])
    flat = np.column_stack([np.hypot(*(tips[:, :2] - axis).T), tips[:, 2]])
    refused = 0
    for target in tips_of(setup, 7, 5):
        recovery = mine.reach(target)
        assert recovery.reason in ("", "torque", "collision", "no_path")  # none is out of reach
        if recovery.reason == "torque":
            refused += 1
            place = [np.hypot(*(target[:2] - axis)), target[2]]
            near = np.linalg.norm(flat - place, axis=1) < NEAR
            steady = [q for q in rests[near] if mine.is_possible(q) and arm.can_hold(q)]
            assert not steady
        present = np.linalg.norm(arm.kinematics.tip(mine.present) - target)
        assert np.linalg.norm(recovery.nearest - target) <= present + 1e-9
    assert refused > 3


@pytest.mark.slow
def test_weak_joints_refuse_for_torque():
    """Holding still takes more of elbow 2 than it has wherever the target is reached."""
    setup = setup_of("elbow1=frozen:0.4", changes=["parameters.effort_limit_elbow2=3"])
    mine = recoverer(setup)
    reasons = set()
    for target in tips_of(setup, 10, 5):
        recovery = mine.reach(target)
        reasons.add(recovery.reason)
        exact = two_link(mine.arm, target)
        held = [abs(mine.arm.gravity(q)[3]) <= 2.7 for q in exact]
        if recovery.reason == "torque":
            assert len(exact) and not any(held)
        if not recovery.reason:
            assert all(abs(mine.arm.gravity(q)[3]) <= 2.7 for q in recovery.corners)
    assert "torque" in reasons


def test_a_target_out_of_reach_is_refused_and_the_nearest_point_held():
    """The tips end where the stretched arm has them; after 3 s of rest the run is over."""
    setup, target, watch = setup_of(changes=[TOLD]), np.array([2.1, 0.0, 1.2]), Findings()
    run, p = run_reach(setup, target, "mujoco", observers=[watch]), setup.parameters
    assert [(f.kind, f.subject) for f in watch.found] == [("target_refused", "out_of_reach")]
    assert (run.reason, run.reached) == ("out_of_reach", False)
    shoulder = np.array([p.base_x, 0.0, p.base_z + p.turret_d])
    reach = p.shoulder_a + p.elbow1_a + p.wrist_x + p.gripper_length
    away = np.linalg.norm(target - shoulder) - reach
    assert away > 0.1
    assert np.linalg.norm(run.nearest - target) == pytest.approx(away, abs=NEAR)
    assert Kinematics(setup).tip(run.trajectory.q[-1]) == pytest.approx(run.nearest, abs=1e-3)
    time, rates = run.trajectory.time, np.abs(run.trajectory.qd[:, :4]).max(axis=1)
    assert time[-1] - time[rates > 0.02][-1] == pytest.approx(3.0, abs=0.2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "target", "engine"),
    [
        ("elbow1=frozen:0.4", (0.9, 0.0, 0.6), "reference"),
        ("shoulder=frozen:0.588", (-0.488, -0.454, 1.081), "dart"),
        ("elbow2=loose", (0.75, 0.2, 0.35), "mujoco"),
    ],
)
def test_targets_are_reached_in_every_engine(fault, target, engine):
    """Each failure in one, for the plan knows no engine."""
    run = run_reach(setup_of(fault, changes=[TOLD]), np.array(target), engine)
    assert run.reached, run.reason
    assert run.error < 0.01 and not run.touched and run.load < 1.0
    assert run.detected.joint == fault.split("=")[0]


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("frozen_elbow", "reference"),
        *late(("frozen_and_loose", "mujoco"), ("watch_target", "mujoco")),
    ],
)
def test_an_arm_that_is_told_its_failures_ends_at_the_target(name, engine):
    """Each is known at the tick at which it comes."""
    setup = load_setup("packbot", name, [TOLD])
    run, controller = simulated(setup, engine)
    assert {(f.joint, f.kind) for f in setup.faults} == {
        (found.joint, found.kind) for found in controller.detected.values()
    }
    for fault in setup.faults:
        assert controller.detected[fault.joint].time == pytest.approx(fault.time, abs=1e-9)
    assert not controller.reason
    assert not any(event.kind in ("contact", "impact") for event in run.events)
    spec = setup.scenario.controller
    if name == "watch_target":
        assert Sight.of(setup).look(run.q[-1], np.array(spec["target"])).visible
    else:
        assert Kinematics(setup).tip(run.q[-1]) == pytest.approx(spec["target"], abs=0.005)


def test_told_reports_faults_in_order_and_leaves_out_what_has_no_name():
    """Those of one tick together; a backlash is none of its findings."""
    faults = ["elbow1=frozen@1", "wrist=weak:0.5@1", "pan=backlash:0.1", "tilt=stuck@2"]
    setup = load_setup("packbot", "reach", faults=faults)
    told, none = Told(setup), np.zeros(7)
    times = (0.0, 1.0, 1.5, 2.01)
    seen = {time: told.update(RobotState(time, none, none, none), none) for time in times}
    found = {time: [(f.joint, f.kind, f.size) for f in each] for time, each in seen.items()}
    assert found[0.0] == found[1.5] == []
    assert sorted(found[1.0]) == [("elbow1", "frozen", 0.0), ("wrist", "weak", 0.5)]
    assert found[2.01] == [("tilt", "stuck", 0.0)]
    assert seen[2.01][0].delay == pytest.approx(0.01)
    told.reset()
    assert len(told.update(RobotState(3.0, none, none, none), none)) == 3


def test_a_diagnosis_that_is_not_installed_is_refused_and_told_is_named(monkeypatch):
    """In one line, which a shipped scenario gives, too."""
    setup = load_setup("packbot", "frozen_elbow")
    monkeypatch.setattr(plugins, "entries", lambda group: {})
    with pytest.raises(AccordError) as caught:
        make_controller(setup)
    assert str(caught.value) == (
        "detected is in the distribution roboaccord-studies, not installed: src/roboaccord_studies "
        "of the repository; with controller.diagnosis=told the faults are read instead"
    )


def test_visible_fraction_is_the_share_of_rays_that_pass():
    """By 300 points of the disc, where a board hides part of it."""
    boxes = "terrain.boxes={board: {size: [0.01, 1.0, 1.0], position: [1.0, 0.5, 0.5]}}"
    setup = load_setup("packbot", "collapse", [boxes])
    sight = Sight(Clearance.of(setup))
    q = np.array([0.0, 2.6, -2.3, 0.4, 0.0, 0.0, 0.0])
    values = []
    for y in (-0.3, 0.0, 0.3):
        target = np.array([1.4, y, 0.5])
        lens = sight.clearance.hull_poses(q)[sight.clearance.links.index("pan_link")].act(
            np.array([0.065, 0.0, 0.03])
        )
        u, v = np.linalg.svd((target - lens)[None])[2][1:]
        rng = np.random.default_rng(2)
        r, a = 0.1 * np.sqrt(rng.random(300)), 2 * np.pi * rng.random(300)
        spots = target + np.outer(r * np.cos(a), u) + np.outer(r * np.sin(a), v)
        share = np.mean([sight.look(q, spot).visible for spot in spots])
        values.append(sight.fraction(q, target, 0.2))
        assert values[-1] == pytest.approx(share, abs=0.12)
    assert values[0] > values[-1]


def test_wrong_words_of_failures(complaint):
    words = "reach-target --target 1 0 0.5 --controller ingore".split()
    assert "unknown controller ingore; did you mean ignore?" in complaint(words)
    with pytest.raises(AccordError):
        FailedArm(load_setup("packbot", "reach"), [Fault("elbow3", "loose")])
