"""Reaching with failed joints: equilibria, refusals and paths, by sampling and other planners."""

from __future__ import annotations

import functools
import sys
import threading

import numpy as np
import pytest
from drawn_figures import keep_figures
from packbot.contact.clearance import Clearance
from packbot.model.arm import Arm, Kinematics
from packbot.planning.failed_arm import EXACT, GAP, NEAR, FailedArm, Goals
from packbot.planning.reaching import MARGIN
from packbot.planning.recovery import FailedPlanner, Recoverer
from packbot.planning.roadmap import PACE, Roadmap
from packbot.planning.rrt import SearchTree
from packbot.planning.sight import Sight
from packbot.source.equilibria import Equilibria, draw_equilibria, find_equilibria
from packbot.source.reaching import clear_start, run_reach
from packbot.source.recovery import Attempt, Case, all_cases, counts, draw_targets
from packbot.source.workspace import _drawn, angles_of, kept, workspace
from roboaccord import AccordError
from roboaccord.cli.options import load_setup
from roboaccord.contract.fault import Fault, parse_fault
from roboaccord.contract.interfaces import Observer
from roboaccord.run.loop import drive, make_simulator, reset_controller
from roboaccord.run.metrics import KeptMotion

pytestmark = pytest.mark.thorough
ENGINES = ("reference", "dart", "mujoco")
REFERENCE_FIRST = ["reference", *(pytest.param(e, marks=pytest.mark.slow) for e in ENGINES[1:])]


def setup_of(*faults, changes=()):
    return clear_start(load_setup("packbot", "reach", [*changes], [*faults]))


class Findings(Observer):
    """Keep what the controller finds."""

    def __init__(self):
        self.found = []

    def on_state(self, state):
        pass

    def on_command(self, state, command):
        self.found += command.findings


def recoverer(setup):
    return Recoverer(FailedArm(setup, setup.faults), setup.initial.q)


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
        hung = arm.hang(q)
        angles = np.linspace(-np.pi, np.pi, 721)
        turned = np.tile(hung, (len(angles), 1))
        turned[:, i] += angles
        energies = [plain.energy(each, np.zeros(7)) for each in turned]
        assert energies[360] == pytest.approx(min(energies), abs=1e-9)
        assert abs(arm.gravity(hung)[i]) < 1e-9
        assert np.delete(hung, i) == pytest.approx(np.delete(q, i))


@pytest.mark.slow
def test_equilibria_are_extremes_of_the_energy():
    """It rises to both sides of stable ones, falls to both of unstable ones."""
    setup = setup_of("elbow2=loose")
    arm, plain = FailedArm(setup, setup.faults), Arm.of(setup)
    found = find_equilibria(arm, setup.initial.q, 20)
    assert found.stable and found.unstable and found.linked > 0
    for poses, sign in ((found.stable, 1.0), (found.unstable, -1.0)):
        for q in poses:
            turned = [q + turn * np.eye(7)[3] for turn in (-0.01, 0.0, 0.01)]
            below, here, above = (sign * plain.energy(each, np.zeros(7)) for each in turned)
            assert min(below, above) > here


@pytest.mark.parametrize("joint", ["shoulder", "elbow1", "elbow2"])
def test_a_fallen_joint_presses_on_what_it_lies_on(joint):
    """From the drive pose: gap of the contact, sign of its force, and balance of all torques."""
    setup = load_setup("packbot", "reach")
    arm = FailedArm(setup, [Fault(joint, "loose")])
    (i,) = arm.loose
    q = arm.rest(setup.initial.q)
    (pair, *_) = arm.propping(q)
    gap = arm.clearance.distances(q)[pair]
    assert GAP <= gap < GAP + 2e-4
    line = arm.clearance.witness(q, [pair]).jacobian[0]
    force = arm.gravity(q)[i] / line[i]
    assert force > 0.0
    expected = arm.gravity(q) - force * line
    assert arm.holding(q) == pytest.approx(expected, abs=1e-9)
    into = q - 0.01 * np.sign(line[i]) * np.eye(7)[i]
    assert arm.clearance.distances(into)[pair] < 0.0
    planner = FailedPlanner(arm)  # may lean on something, and not be in it
    assert planner.is_free(q) and not planner.is_free(into)


@pytest.mark.parametrize(("joint", "other"), [("shoulder", 2), ("elbow1", 1), ("elbow2", 1)])
def test_a_joint_that_lies_on_something_does_so_on_the_way_to_a_target(joint, other, monkeypatch):
    """A target that it has with another joint turned; hanging freely it is 0.1 m off."""
    for name in ("POSES", "PROPPED"):
        monkeypatch.setattr(f"packbot.planning.failed_arm.{name}", 2)
    setup = load_setup("packbot", "reach")
    arm = FailedArm(setup, [Fault(joint, "loose")])
    tip, q = arm.kinematics.tip, arm.rest(setup.initial.q)
    turned = arm.rest(q + 0.05 * np.eye(7)[other])
    found = Goals(arm, q).refine(q, tip(turned))
    assert tip(found) == pytest.approx(tip(turned), abs=EXACT)
    assert len(arm.propping(found)) and arm.rest(found) == pytest.approx(found, abs=1e-3)
    assert np.linalg.norm(tip(arm.hang(found)) - tip(found)) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_a_fall_in_an_engine_ends_where_it_is_to_rest(engine):
    """Elbow 1 loose from the drive pose, the other joints as they are held."""
    setup = setup_of("elbow1=loose")
    arm = FailedArm(setup, setup.faults)
    run = run_reach(setup, np.array([3.0, 0.0, 0.0]), engine)
    start = run.planner.present
    assert run.reason in ("torque", "out_of_reach") and not run.reached
    held = setup.initial.q.copy()
    held[arm.active] = start[arm.active]
    assert arm.rest(held)[2] == pytest.approx(start[2], abs=0.005)
    assert arm.propping(start).tolist() == arm.propping(arm.rest(held)).tolist()


def two_link(arm, target):
    """Return all planar solutions (k, 3) of an arm with one frozen elbow, by the law of cosines."""
    p = arm.setup.parameters
    a, b, hand = p.shoulder_a, p.elbow1_a, p.wrist_x + p.gripper_length
    (joint,) = arm.frozen.tolist()
    angle = arm.lower[joint]
    fore = a + b * np.exp(1j * angle) if joint == 2 else b + hand * np.exp(1j * angle)
    first, second = (abs(fore), hand) if joint == 2 else (a, abs(fore))
    turn = np.angle(fore)
    r, z = np.hypot(*(target[:2] - [p.base_x, 0.0])), target[2] - p.base_z - p.turret_d
    found = []
    for ahead in (r, -r):
        size = np.hypot(ahead, z)
        cosine = (size**2 - first**2 - second**2) / (2.0 * first * second)
        if abs(cosine) > 1.0:
            continue
        for bend in (np.arccos(cosine), -np.arccos(cosine)):
            lead = np.arctan2(z, ahead) - np.arctan2(
                second * np.sin(bend), first + second * np.cos(bend)
            )
            if joint == 2:
                planar = (lead - turn, angle, bend + turn - angle)
            else:
                planar = (lead, bend - turn, angle)
            back = 0.0 if ahead > 0 else np.pi
            turret = np.arctan2(target[1], target[0] - p.base_x) + back
            found.append((turret, *planar))
    q = np.tile(arm.setup.initial.q, (len(found), 1))
    if found:
        q[:, :4] = (np.array(found) - arm.lower[:4]) % (2 * np.pi) + arm.lower[:4]
        q[:, joint] = angle
    inside = ((q <= arm.upper + 2e-3) & (q >= arm.lower - 1e-9)).all(axis=1)
    return np.clip(q[inside], arm.lower, arm.upper)


@pytest.mark.parametrize(
    "fault", ["elbow1=frozen:0.4", "elbow1=frozen:-2.0", "elbow2=frozen:1.0", "elbow2=frozen:-2.2"]
)
def test_refusals_ways_and_roadmap_of_frozen_elbows_against_closed_forms(fault):
    """Each reason by all solutions of two links, also those of the roadmap that judges."""
    setup = setup_of(fault)
    mine = recoverer(setup)
    arm, clearance = mine.arm, mine.arm.clearance
    roadmap = Roadmap(arm, mine.present)
    reachable = paths = 0
    for target in draw_targets(setup, 25, 5):
        found = mine.reach(target)
        exact = two_link(arm, target)
        for q in exact:
            assert arm.kinematics.tip(q) == pytest.approx(target, abs=5e-3)
        clear = [q for q in exact if not clearance.touches(q, MARGIN)]
        judged = roadmap.verdict(target)
        linked = not judged
        if judged in ("out_of_reach", "collision"):
            assert (len(exact) > 0) == (judged == "collision") and not clear
        else:
            assert judged in ("", "no_path") and clear
        reachable += linked
        paths += linked and not found.reason
        if found.reason == "out_of_reach":
            assert not len(exact)
        elif found.reason == "collision":
            assert len(exact) and not clear
        elif found.reason:
            assert found.reason == "no_path" and clear and not linked
        else:
            assert np.linalg.norm(arm.kinematics.tip(found.corners[-1]) - target) < NEAR
            assert not any(clearance.touches(q, MARGIN) for q in found.corners)
            assert (found.corners[:, arm.frozen] == arm.lower[arm.frozen]).all()
    assert reachable >= 5
    assert paths >= 0.95 * reachable


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
    monkeypatch.setattr("packbot.planning.recovery.REACHES", 40)
    setup = setup_of("elbow2=loose")
    arm = FailedArm(setup, setup.faults)
    start = arm.rest(setup.initial.q)
    nodes = FailedPlanner(arm).explore(start, 0).nodes
    assert len(nodes) > 10 and np.ptp(nodes[:, :4], axis=0).min() > 0.1
    assert (nodes[:, 4:] == start[4:]).all()
    assert all(arm.rest(q) == pytest.approx(q, abs=1e-3) for q in nodes)


def test_equilibria_are_drawn_where_their_tips_are(tmp_path, monkeypatch):
    """Of poses in the plane of the arm, with x from the turret's axis: three links in a row."""
    shown, setup = keep_figures(monkeypatch), setup_of("elbow2=loose")
    start = np.where(np.arange(7) < 4, 0.0, setup.initial.q)
    tree, stretched = SearchTree(start), start.copy()
    stretched[:4] = [0.0, 0.5, 0.4, -0.9]
    tree.add(stretched, 0)
    found = Equilibria([start], [stretched], [], 1, tree)
    draw_equilibria(FailedArm(setup, setup.faults), found, tmp_path / "rests.svg")
    figure = shown["rests"]
    (axes,), p = figure.axes, setup.parameters
    places = []
    for q in (start, stretched):
        links = np.array([p.shoulder_a, p.elbow1_a, p.wrist_x + p.gripper_length])
        tip = links @ np.exp(1j * np.cumsum(q[1:4]))
        places.append([tip.real, tip.imag + p.base_z + p.turret_d])
    for dots, place in zip(axes.collections, places, strict=True):
        assert dots.get_offsets().tolist() == [pytest.approx(place, abs=1e-6)]
    (path,) = axes.lines
    assert path.get_xydata() == pytest.approx(np.array(places), abs=1e-6)
    words = [text.get_text() for text in figure.legends[0].get_texts()]
    assert words == ["stable", "unstable"]


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["shoulder", "elbow2"])
def test_statics_and_contacts_of_the_roadmap_are_those_of_the_arm(joint):
    """By coal and pinocchio, at its own nodes: rests, loads, and gaps."""
    setup = setup_of(f"{joint}=loose")
    arm = FailedArm(setup, setup.faults)
    roadmap = Roadmap(arm, arm.rest(setup.initial.q), 60)
    assert len(roadmap.nodes) > 20
    (i,), apart = arm.loose, []
    for q in roadmap.nodes:
        assert arm.rest(q) == pytest.approx(q, abs=1e-3)
        assert (np.abs(arm.holding(q)) <= 0.91 * arm.efforts)[arm.active].all()
        led = (arm.clearance.reaches[:, arm.loose] > 0.0).any(axis=1)
        gaps = arm.clearance.distances(q)
        assert gaps[~led].min() > PACE - 1e-6 and gaps.min() > 0.2e-3
        if len(pairs := arm.propping(q)):
            lines = arm.clearance.witness(q, pairs).jacobian
            apart.append(np.abs(lines - roadmap._line(q, i)).max(axis=1).min())
    assert len(apart) > 20  # some of them on edges, where normals are anybody's
    assert np.median(apart) < 1e-6  # m/rad


def test_a_planner_serves_the_same_failures_at_the_same_angles():
    """To 0.02 rad of turret, shoulder and elbows, wherever camera and wrist are."""
    setup = setup_of("elbow1=frozen:0.4")
    mine, other = recoverer(setup), FailedArm(setup, [Fault("elbow2", "frozen")])
    near, q = 0.019 * np.eye(7), mine.present
    assert all(mine.starts_at(mine.arm, q + sign * part) for part in near[:4] for sign in (-1, 1))
    assert not any(mine.starts_at(mine.arm, q + 1.1 * part) for part in near[:4])
    assert mine.starts_at(mine.arm, q + 20.0 * near[4:].sum(axis=0))
    assert not mine.starts_at(other, q)


def test_a_target_that_planner_and_roadmap_refuse_is_not_tried(monkeypatch):
    """Farther from the shoulder than the stretched arm is long, whatever the path."""
    monkeypatch.setattr("packbot.source.recovery.Roadmap", functools.partial(Roadmap, nodes=60))
    attempt = Case(setup_of("elbow1=frozen:0.4"), "mujoco", np.array([0.9, 0.0, 0.6])).attempt
    assert attempt(3, np.array([2.1, 0.0, 1.2])) == Attempt(3, "out_of_reach", "out_of_reach")


def test_counts_keep_what_is_reachable_apart():
    found = counts(
        (),
        [
            Attempt(0, "", "", recovered=True, baseline=True),
            Attempt(1, "", "", fault="contact"),
            Attempt(2, "", "no_path"),
            Attempt(3, "torque", "torque"),
            Attempt(4, "no_path", "", recovered=True),
        ],
    )
    assert (found.reachable, found.recovered, found.baseline) == (3, 1, 1)
    assert found.refused == {"torque": 1, "no_path": 1}
    assert found.disputed == 1 and found.beyond == 1


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["elbow1", "elbow2"])
def test_refusals_of_loose_elbows_against_sampling(joint):
    """No rest drawn elsewhere, hanging or fallen, has its finger tips within 5 mm."""
    setup = setup_of(f"{joint}=loose")
    mine = recoverer(setup)
    arm, rng = mine.arm, np.random.default_rng(99)
    drawn = np.tile(mine.present, (30_000, 1))
    drawn[:, :4] = rng.uniform(arm.lower[:4], arm.upper[:4], (len(drawn), 4))
    hung = [arm.hang(q) for q in drawn[:25_000]]
    fell = [arm.rest(q) for q in drawn[25_000:27_000] if not arm.clearance.touches(q)]
    rests = np.array([*hung, *(q for q in fell if q is not None)])
    tips = np.array([arm.kinematics.tip(q) for q in rests])
    axis = np.array([setup.parameters.base_x, 0.0])
    flat = np.column_stack([np.hypot(*(tips[:, :2] - axis).T), tips[:, 2]])
    refused = 0
    for target in draw_targets(setup, 14, 5):
        found = mine.reach(target)
        assert found.reason in ("", "torque", "collision", "no_path")  # none is out of reach
        if found.reason == "torque":
            refused += 1
            place = [np.hypot(*(target[:2] - axis)), target[2]]
            near = np.linalg.norm(flat - place, axis=1) < NEAR
            steady = [q for q in rests[near] if mine.stands(q) and arm.bears(q)]
            assert not steady
        assert (
            np.linalg.norm(found.nearest - target)
            <= np.linalg.norm(arm.kinematics.tip(mine.present) - target) + 1e-9
        )
    assert refused > 10


@pytest.mark.slow
def test_weak_joints_refuse_for_torque():
    """Holding still takes more of elbow 2 than it has wherever the target is reached."""
    setup = setup_of("elbow1=frozen:0.4", changes=["parameters.effort_limit_elbow2=3"])
    mine = recoverer(setup)
    reasons = set()
    for target in draw_targets(setup, 25, 5):
        found = mine.reach(target)
        reasons.add(found.reason)
        exact = two_link(mine.arm, target)
        held = [abs(mine.arm.gravity(q)[3]) <= 2.7 for q in exact]
        if found.reason == "torque":
            assert len(exact) and not any(held)
        if not found.reason:
            assert all(abs(mine.arm.gravity(q)[3]) <= 2.7 for q in found.corners)
    assert "torque" in reasons


def test_a_target_out_of_reach_is_refused_and_the_nearest_point_held():
    """The tips end where the stretched arm has them; after 3 s of rest the run is over."""
    setup, target, watch = setup_of(), np.array([2.1, 0.0, 1.2]), Findings()
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
        *(("elbow1=frozen:0.4", (0.9, 0.0, 0.6), engine) for engine in ENGINES),
        ("shoulder=frozen:0.588", (-0.488, -0.454, 1.081), "dart"),
        ("elbow2=loose", (0.75, 0.2, 0.35), "mujoco"),
        ("shoulder=loose", (0.267, 0.017, 1.044), "mujoco"),
        ("wrist=loose", (1.2, 0.3, 0.15), "dart"),
    ],
)
def test_targets_are_reached_in_every_engine(fault, target, engine):
    """A frozen joint in each, for the plan knows no engine; the others in one."""
    run = run_reach(setup_of(fault), np.array(target), engine)
    assert run.reached, run.reason
    assert run.error < 0.01 and not run.touched and run.load < 1.0
    assert not run.detected or run.detected.joint == fault.split("=")[0]


def simulated(setup, engine="reference", name="recover", known=None):
    """Return a run of a setup, and its controller, which may be given another one."""
    controller = setup.robot.controllers[name]
    spec = {key: value for key, value in setup.scenario.controller.items() if key != "name"}
    made = controller(known or setup, **spec)
    motion = KeptMotion(setup.joints)
    reset_controller(made, 0)
    drive(
        simulator=make_simulator(setup, engine),
        controller=made,
        initial=setup.initial,
        duration=setup.scenario.duration,
        control_period=setup.scenario.control_period,
        observers=(motion,),
        timeout=60.0,
    )
    return motion.trajectory, made


@functools.cache
def shipped(name, engine="reference"):
    """Return a shipped scenario's setup, its run, and its controller."""
    setup = load_setup("packbot", name)
    return setup, *simulated(setup, engine)


@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("frozen_elbow", "reference"),
        *(
            pytest.param(name, engine, marks=pytest.mark.slow)
            for name, engines in {
                "frozen_elbow": ("dart", "mujoco"),
                "loose_elbow2": ENGINES,
                "frozen_and_loose": ("reference", "mujoco"),
                "watch_target": ("reference", "dart"),
            }.items()
            for engine in engines
        ),
    ],
)
def test_scenarios_find_their_failures_and_end_at_the_target(name, engine):
    setup, run, controller = shipped(name, engine)
    assert {(f.joint, f.kind) for f in setup.faults} == {
        (found.joint, found.kind) for found in controller.detected.values()
    }
    for fault in setup.faults:
        # An arm that fails from the start has to become known first, and a second failure waits.
        late = 0.3 if fault.time and len(setup.faults) == 1 else 2.0  # s
        assert 0.0 < controller.detected[fault.joint].time - fault.time < late
    assert not controller.reason
    assert not any(t.name.startswith("ThreadPool") for t in threading.enumerate())  # no planner's
    assert not any(event.kind in ("contact", "impact") for event in run.events)
    spec = setup.scenario.controller
    if name == "watch_target":
        view = Sight.of(setup).look(run.q[-1], np.array(spec["target"]))
        assert view.visible and view.off_axis < 0.0125  # 10 mm in 0.8 m
    else:
        tip = Kinematics(setup).tip(run.q[-1])
        assert tip == pytest.approx(spec["target"], abs=0.005)


@pytest.mark.slow
def test_the_controller_is_told_of_no_fault():
    """One that is made for a healthy arm commands the same, to the last bit."""
    setup, run, _ = shipped("frozen_elbow")
    healthy = load_setup("packbot", "frozen_elbow", ["faults=[]"])
    same, _ = simulated(setup, known=healthy)
    assert (run.q == same.q).all()


@pytest.mark.slow
def test_a_healthy_arm_reaches_as_it_did():
    """Nothing is found, and the path is that of the controller that knows nothing of failures."""
    setup = load_setup("packbot", "frozen_elbow", ["faults=[]", "duration=4.0"])
    run, controller = simulated(setup)
    plain, reach = simulated(setup, name="reach")
    on_way = run.time < reach.motion.duration
    assert not controller.detected
    assert (run.q[on_way] == plain.q[on_way]).all()


@pytest.mark.slow
def test_who_ignores_a_failure_misses():
    """The loose link hangs where it was to be level."""
    setup = load_setup("packbot", "loose_elbow2", ["duration=6"])
    run, _ = simulated(setup, name="reach")
    tip = Kinematics(setup).tip(run.q[-1])
    assert np.linalg.norm(tip - setup.scenario.controller["target"]) > 0.1


@pytest.mark.slow
@pytest.mark.parametrize("engine", REFERENCE_FIRST)
def test_a_loose_turret_returns_to_where_it_was(engine):
    """About the vertical only viscous friction b acts: momentum + b (q - q0) stays 0.

    So nothing that the other joints do turns it for good, and targets beside its plane are out of
    reach.
    """
    setup = setup_of("turret=loose")
    run = run_reach(setup, np.array([1.1, 0.0, 0.4]), engine)
    assert run.reached
    arm, path = Arm.of(setup), run.trajectory
    turned = path.q[:, 0] - path.q[0, 0]
    momentum = np.array([arm.mass_matrix(q)[0] @ qd for q, qd in zip(path.q, path.qd)])
    assert np.abs(turned).max() > 1e-3  # it is swung during the motion
    balance = momentum + setup.parameters.viscous_turret * turned
    assert np.abs(balance).max() < 0.02 * np.abs(momentum).max()
    assert run.detected is None  # its effort would be less than dry friction may be
    planner = Recoverer(FailedArm(setup, setup.faults), path.q[-1], 0)
    assert planner.reach(np.array([1.0, 0.3, 0.4])).reason == "out_of_reach"


def test_poses_drawn_of_a_workspace_have_their_loose_joints_at_rest():
    """Hanging through any obstacle, or fallen: at no torque, a contact or a stop."""
    setup, rng = load_setup("packbot", "collapse"), np.random.default_rng(0)
    (frozen,) = _drawn(FailedArm(setup, [Fault("elbow2", "frozen", angle=0.5)]), 40, rng)
    assert frozen.shape == (40, 7) and (frozen[:, 3] == 0.5).all()
    arm = FailedArm(setup, [Fault("elbow2", "loose")])
    hanging, fallen = _drawn(arm, 40, rng)
    assert len(hanging) == 40 and 0 < len(fallen) <= 10
    for q in hanging:
        assert abs(arm.gravity(q)[3]) < 1e-9 or q[3] in (arm.lower[3], arm.upper[3])
    for q in fallen:
        assert not arm.clearance.touches(q) and arm.rest(q) == pytest.approx(q, abs=1e-3)


@pytest.mark.slow
def test_workspace_kept_is_that_of_the_planar_chain():
    """Within twice the sampling error of a median over 25 angles, by resampling them."""
    setup, rng = load_setup("packbot", "collapse"), np.random.default_rng(0)
    for joint, share in (("shoulder", 0.49), ("elbow1", 0.46), ("elbow2", 0.42)):
        cases = [[fault] for fault in angles_of(setup, Fault(joint, "frozen"))]
        values = np.array([each.retained for each in kept(setup, cases)][1:])
        error = np.median(rng.choice(values, (2000, len(values))), axis=1).std()
        assert abs(np.median(values) - share) < min(2.0 * error, 0.03)


def test_dense_workspace_agrees_with_closed_forms():
    """Cells whose centre is reached, by two links; others are on their border, or in slits."""
    setup = load_setup("packbot", "collapse")
    fault = parse_fault("elbow1=frozen:0.9")
    _, found = kept(setup, [[fault]], poses=60_000)
    arm = FailedArm(setup, [fault])
    p, inside = setup.parameters, set()
    for i in range(-40, 40):
        for j in range(45):
            target = np.array([p.base_x + 0.05 * (i + 0.5), 0.0, 0.05 * (j + 0.5)])
            exact = [q for q in two_link(arm, target) if abs(q[0]) < 1.6]
            exact = [np.array([0.0, *q[1:]]) for q in exact]
            if any(not arm.clearance.touches(q) for q in exact):
                inside.add((i, j))
    assert len(inside) > 500
    missed = inside - found.cells
    assert len(missed) < 0.01 * len(inside)
    border = {(i + a, j + b) for i, j in inside for a in (-1, 0, 1) for b in (-1, 0, 1)}
    assert len(found.cells - border) < 0.01 * len(inside)


def test_the_turret_stands_straight_for_a_workspace_wherever_it_starts():
    """A board beside the robot blocks an arm that is turned to it."""
    board = "terrain.boxes={board: {size: [1.0, 0.01, 1.0], position: [0.5, 0.5, 0.5]}}"
    straight, turned = (
        workspace(FailedArm(load_setup("packbot", "collapse", [board, start]), ()), 200)
        for start in ("initial.q.turret=0", "initial.q.turret=1.2")
    )
    assert len(straight) > 50 and turned == straight


def test_visible_fraction_is_the_share_of_rays_that_pass():
    """By 300 points of the disc, where a board hides part of it."""
    boxes = "terrain.boxes={board: {size: [0.01, 1.0, 1.0], position: [1.0, 0.5, 0.5]}}"
    setup = load_setup("packbot", "collapse", [boxes])
    sight = Sight(Clearance.of(setup))
    q = np.array([0.0, 2.6, -2.3, 0.4, 0.0, 0.0, 0.0])
    values = []
    for y in (-0.3, 0.0, 0.3):
        target = np.array([1.4, y, 0.5])
        lens = sight.clearance.places(q)[sight.clearance.links.index("pan_link")].act(
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


def test_study_names_every_joint_and_five_pairs():
    setup = load_setup("packbot", "reach")
    cases = all_cases(setup)
    assert len(cases) == 7 * 4 + 5
    for case in cases:
        setup.failing([parse_fault(text) for text in case])


@pytest.mark.slow
def test_commands_print_their_figures(figures):
    found = figures("reach --target 0.9 0 0.6 --fault elbow1=frozen:0.4".split())
    assert found["reached"] and found["error"] < 0.01 and found["reason"] is None
    assert found["detected"]["joint"] == "elbow1" and found["detected"]["kind"] == "frozen"
    assert 0.0 < found["detected"]["delay"] < 2.0  # it fails before the arm is known
    light, heavy = (
        figures(f"workspace --fault shoulder=loose --poses 500 --payload {kg} --sight".split())
        for kg in (0, 20)
    )
    assert light["retained"] > heavy["retained"]
    assert 1.0 >= light["sees"] >= light["seen"] > 0.0


@pytest.mark.slow
def test_a_study_of_recovery_goes_on_where_it_ended(figures):
    words = "recover --fault elbow1=frozen:0.4 --engine dart --out study --targets".split()
    fewer, found = figures([*words, "2"]), figures([*words, "4"])
    assert found["targets"] == 4 == found["reachable"] + sum(found["refused"].values())
    assert found["disputed"] == found["beyond"] == 0
    assert found["recovered"] >= found["baseline"]
    assert fewer["targets"] == 2 and fewer["recovered"] <= found["recovered"]
    assert figures([*words, "4"]) == found  # nothing is left


def test_a_study_of_workspaces_goes_on_where_it_ended(figures, complaint, tmp_path):
    """Its file, cut within a line, is completed to what it was."""
    words = "workspace --study --poses 100 --angles 1 --out study".split()
    found, file = figures(words), tmp_path / "study/study.jsonl"
    lines = file.read_text().splitlines()
    assert len(lines) == 1 + 1 + 7 * 3
    file.write_text("\n".join([*lines[:9], lines[9][:30]]))
    assert figures(words) == found
    assert len(file.read_text().splitlines()) == len(lines)
    assert all(shares["0"] >= shares["5"] >= shares["10"] for shares in found["medians"].values())
    assert "is of another study" in complaint([*words, "--seed", "1"])


def test_recover_says_that_it_needs_mujoco(complaint, monkeypatch):
    for module in ("source.recovery", "planning.roadmap"):
        monkeypatch.delitem(sys.modules, f"packbot.{module}", raising=False)
    monkeypatch.setitem(sys.modules, "mujoco", None)
    message = complaint("recover --fault elbow1=frozen:0.4 --targets 1".split())
    assert message == "accord: accord packbot recover needs mujoco; run: pip install mujoco"


def test_wrong_words_of_failures(complaint):
    assert "--keep takes one --fault" in complaint("workspace --poses 100 --keep 0.5".split())
    words = "reach --target 1 0 0.5 --controller ingore".split()
    assert "unknown controller ingore; did you mean ignore?" in complaint(words)
    with pytest.raises(AccordError):
        FailedArm(load_setup("packbot", "reach"), [Fault("elbow3", "loose")])
