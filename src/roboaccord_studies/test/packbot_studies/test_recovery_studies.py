"""What failed arms reach: by `detected`, by a second planner, and where loose joints rest."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from benchmarks.campaigns.attempts import Attempt, Case
from benchmarks.campaigns.recovery import all_cases, counts, draw_targets
from benchmarks.campaigns.roadmap import Roadmap
from benchmarks.campaigns.statics import PACE
from drawn_figures import keep_figures
from failed_arms import recoverer, setup_of, simulated, two_link
from packbot.controllers.trial import run_reach
from packbot.model.arm import Arm, Kinematics
from packbot.planning.failed_arm import FailedArm
from packbot.planning.goals import NEAR
from packbot.planning.reaching import MARGIN
from packbot.planning.recovery import Recoverer
from packbot.planning.rrt import SearchTree
from packbot.planning.sight import Sight
from roboaccord.cli.options import load_setup
from roboaccord.contract.fault import parse_fault
from roboaccord_studies.packbot.recovery.equilibria import find_equilibria
from roboaccord_studies.packbot.recovery.pictures import draw_equilibria
from slow_cases import late

pytestmark = pytest.mark.thorough
ROOT = Path(__file__).resolve().parents[4]


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


@pytest.mark.parametrize("fault", ["elbow1=frozen:-2.0", *late("elbow2=frozen:1.0")])
def test_refusals_ways_and_roadmap_of_frozen_elbows_against_closed_forms(fault):
    """Each reason by all solutions of two links, also those of the roadmap that judges."""
    setup = setup_of(fault)
    mine = recoverer(setup)
    arm, clearance = mine.arm, mine.arm.clearance
    roadmap = Roadmap(arm, mine.present)
    reachable = paths = 0
    for target in draw_targets(setup, 15, 5):
        recovery = mine.reach(target)
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
        paths += linked and not recovery.reason
        if recovery.reason == "out_of_reach":
            assert not len(exact)
        elif recovery.reason == "collision":
            assert len(exact) and not clear
        elif recovery.reason:
            assert recovery.reason == "no_path" and clear and not linked
        else:
            assert np.linalg.norm(arm.kinematics.tip(recovery.corners[-1]) - target) < NEAR
            assert not any(clearance.touches(q, MARGIN) for q in recovery.corners)
            assert (recovery.corners[:, arm.frozen] == arm.lower[arm.frozen]).all()
    assert reachable >= 3
    assert paths >= 0.95 * reachable


def test_equilibria_are_drawn_where_their_tips_are(tmp_path, monkeypatch):
    """Of poses in the plane of the arm, with x from the turret's axis: three links in a row."""
    shown, setup = keep_figures(monkeypatch), setup_of("elbow2=loose")
    start = np.where(np.arange(7) < 4, 0.0, setup.initial.q)
    tree, stretched = SearchTree(start), start.copy()
    stretched[:4] = [0.0, 0.5, 0.4, -0.9]
    tree.add(stretched, 0)
    poses = {"stable": [start], "unstable": [stretched], "propped": []}
    draw_equilibria(FailedArm(setup, setup.faults), poses, tree, tmp_path / "rests.svg")
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
    roadmap = Roadmap(arm, arm.resting_pose(setup.initial.q), 60)
    assert len(roadmap.nodes) > 20
    (i,), apart = arm.loose, []
    for q in roadmap.nodes:
        assert arm.resting_pose(q) == pytest.approx(q, abs=1e-3)
        assert (np.abs(arm.holding_efforts(q)) <= 0.91 * arm.efforts)[arm.active].all()
        led = (arm.clearance.reaches[:, arm.loose] > 0.0).any(axis=1)
        gaps = arm.clearance.distances(q)
        assert gaps[~led].min() > PACE - 1e-6 and gaps.min() > 0.2e-3
        if len(pairs := arm.propping_pairs(q)):
            lines = arm.clearance.witness(q, pairs).jacobian
            apart.append(np.abs(lines - roadmap._line(q, i)).max(axis=1).min())
    assert len(apart) > 20  # some of them on edges, where normals are anybody's
    assert np.median(apart) < 1e-6  # m/rad


def test_a_target_that_planner_and_roadmap_refuse_is_not_tried(monkeypatch):
    """Farther from the shoulder than the stretched arm is long, whatever the path."""
    few = functools.partial(Roadmap, nodes=60)
    monkeypatch.setattr("benchmarks.campaigns.attempts.Roadmap", few)
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


@functools.cache
def shipped(name, engine="reference"):
    """Return a shipped scenario's setup, its run, and its controller."""
    setup = load_setup("packbot", name)
    assert setup.scenario.controller["diagnosis"] == "detected"
    return setup, *simulated(setup, engine)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "engine"),
    [
        ("frozen_elbow", "reference"),
        ("loose_elbow2", "dart"),
        ("frozen_and_loose", "mujoco"),
        ("watch_target", "dart"),
    ],
)
def test_scenarios_find_their_failures_and_end_at_the_target(name, engine):
    others = {*threading.enumerate()}  # those of tests before this one
    setup, run, controller = shipped(name, engine)
    assert {(f.joint, f.kind) for f in setup.faults} == {
        (found.joint, found.kind) for found in controller.detected.values()
    }
    for fault in setup.faults:
        # An arm that fails from the start has to become known first, and a second failure waits.
        late = 0.3 if fault.time and len(setup.faults) == 1 else 2.0  # s
        assert 0.0 < controller.detected[fault.joint].time - fault.time < late
    assert not controller.reason
    started = {*threading.enumerate()} - others
    assert not any(thread.name.startswith("ThreadPool") for thread in started)  # no planner's
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
@pytest.mark.parametrize("engine", ["reference", "dart"])
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


def test_study_names_every_joint_and_five_pairs():
    setup = load_setup("packbot", "reach")
    cases = all_cases(setup)
    assert len(cases) == 7 * 4 + 5
    for case in cases:
        setup.failing([parse_fault(text) for text in case])


@pytest.mark.slow
def test_commands_print_their_figures(figures):
    found = figures("reach-target --target 0.9 0 0.6 --fault elbow1=frozen:0.4".split())
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
def test_a_study_of_recovery_goes_on_where_it_ended(tmp_path):
    rows = tmp_path / "rows.jsonl"

    def found(targets):
        words = f"--fault elbow1=frozen:0.4 --engine dart --out {rows} --targets {targets}".split()
        command = [sys.executable, "-m", "benchmarks.campaigns.recovery", *words]
        return json.loads(subprocess.check_output(command, cwd=ROOT).splitlines()[0])

    fewer, more = found(2), found(4)
    assert fewer["targets"] == 2
    assert more["targets"] == 4 == more["reachable"] + sum(more["refused"].values())
    assert more["disputed"] == more["beyond"] == 0
    assert more["recovered"] >= max(more["baseline"], fewer["recovered"])
    assert found(4) == more  # nothing is left
    assert len(rows.read_text().splitlines()) == 4


def test_keep_takes_a_frozen_joint(complaint):
    assert "--keep takes one --fault" in complaint("workspace --poses 100 --keep 0.5".split())
