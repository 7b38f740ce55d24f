"""No verdict without evidence: few ticks, a motion that diverges, a servo that chatters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import roboaccord as ra
from hypothesis import given
from hypothesis import strategies as st
from roboaccord.contract.checks import divergence
from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Code, Finding, Outcome, because, unless_few
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.hypotheses import Hypothesis
from roboaccord.crosscheck.causes.resolution import resolution_of
from roboaccord.crosscheck.levels.events import EventsCheck, EventsLevel
from roboaccord.crosscheck.levels.scheme import SchemeLevel
from roboaccord.crosscheck.measures.scheme import SchemeCheck
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.servo import chatter
from roboaccord.scenario.setup import Setup
from roboaccord.scenario.setups import load_setup
from test_outcomes import CHECKS, STEP, outcomes

LINK = """<link name="{0}"><inertial><origin xyz="0.1 0 0.02"/><mass value="{1}"/>
    <inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{0}" type="{4}"><parent link="{1}"/><child link="{2}"/>
    <origin xyz="0.2 0 0"/><axis xyz="{3}"/><limit effort="{5}" velocity="9"/></joint>"""


def robot(folder: Path, kind: str = "continuous", axis: str = "0 1 0", effort: float = 5e3) -> Path:
    """Write a robot of two joints in a row, and return its file."""
    links = [LINK.format(name, mass) for name, mass in (("base", 3), ("upper", 2), ("fore", 1))]
    joints = [JOINT.format("one", "base", "upper", axis, kind, effort)]
    joints += [JOINT.format("two", "upper", "fore", axis, kind, effort)]
    path = folder / "pair.urdf"
    path.write_text(f"<robot name='pair'>{''.join([*links, *joints])}</robot>")
    return path


def setup_of(path: Path, *changes: str, frequency: float = 2.0, damping: float = 1.0) -> Setup:
    servo = ("controller.name=pd", f"controller.frequency={frequency}")
    return load_setup(str(path), "", [*servo, f"controller.damping={damping}", *changes])


@given(st.integers(0, 1000), st.integers(1, 1000))
def test_fewer_than_a_third_of_the_ticks_are_not_judged(judged: int, more: int) -> None:
    """But what is outside in them is outside, and the share is in the reason."""
    total = judged + more
    found = unless_few(Finding(Outcome.WITHIN), judged, total)
    assert (found.outcome == "within") is (3 * judged >= total)
    few = because(Code.FEW_JUDGED, judged=judged, total=total, what="ticks")
    assert found.outcome == "within" or found.reasons == (few,)
    assert f"only {judged} of {total} ticks" in str(few)
    outside = Finding.outside(because(Code.TEXT, text="far off"))
    assert unless_few(outside, judged, total) == outside


def test_each_level_that_judges_ticks_says_how_few_it_judged() -> None:
    twin = SchemeCheck(1e-15, 1e-14, "rate", "a", 0.0, judged=30, left_out=70)
    few = [
        SchemeLevel().judge(twin, Tolerances()),
        EventsLevel().judge(EventsCheck(logged=10, compared=3), Tolerances()),
        outcomes({**CHECKS, "one_step": replace(STEP, judged=30, ticks=100)})["one_step"],
    ]
    assert [each.outcome for each in few] == ["not_judged"] * 3
    assert {each.codes for each in few} == {(Code.FEW_JUDGED,)}
    assert all("(30 %) could be judged" in each.reason for each in few)
    touching = replace(twin, touching=20)  # no twin touches
    assert SchemeLevel().judge(touching, Tolerances()).outcome == "within"
    many = EventsCheck(logged=400, compared=40)
    assert EventsLevel().judge(many, Tolerances()).outcome == "within"


@pytest.mark.parametrize(("kept", "outcome"), [(3, "within"), (4, "not_judged")])
def test_of_a_run_with_gaps_few_steps_decide_nothing(
    kept: int, outcome: str, tmp_path: Path
) -> None:
    """Of the samples in a run of the reference every so many pairs are there."""
    setup = setup_of(robot(tmp_path), "duration=0.06")
    run = run_setup(setup, make_simulator(setup))
    check = StepCheck(setup, "reference", run.joints[0])
    for i in range(0, len(run) - 1, kept):
        check.compare(run.state(i), run.state(i + 1))
        if i + kept < len(run):
            check.compare(run.state(i + 1), run.state(i + kept))
    found = check.verdict().finding
    assert found.outcome == outcome
    assert outcome == "within" or found.codes == (Code.FEW_JUDGED,)
    assert outcome == "within" or "of 60 ticks (25 %)" in found.reason


def test_a_tilt_is_not_taken_for_the_strength_of_gravity() -> None:
    effects = {Hypothesis("gravity", "", axis): 1e12 for axis in (0, 1)}
    assert resolution_of(effects, "scheme") == []
    effects[Hypothesis("gravity", "", 2)] = 1e11
    assert [each.parameter for each in resolution_of(effects, "scheme")] == ["gravity"]


def rates_of(gain: float, ticks: int = 60) -> tuple[Array, Array]:
    """Return a motion that a factor of its rate each tick makes of 1e-3 rad/s, beside a sine."""
    time = 0.002 * np.arange(ticks)
    return time, np.column_stack([np.sin(9.0 * time), 1e-3 * gain ** np.arange(ticks)])


@given(st.floats(1.5, 5.0))
def test_a_motion_diverges_from_when_its_joint_is_faster_than_any(factor: float) -> None:
    time, rates = rates_of(-factor)
    first = int(np.ceil(np.log(1e5) / np.log(factor)))
    found = divergence(("arm", "hand"), time, rates)
    assert found.startswith(f"the motion diverges from t = {time[first]:g} s: hand comes to ")


@given(st.floats(0.1, 1e5), st.floats(0.1, 50.0), st.integers(0, 3))
def test_what_is_fast_steadily_wraps_round_or_bounces_does_not_diverge(
    size: float, rate: float, bounces: int
) -> None:
    """In degrees, a wheel, a wrapped angle at 10 kHz, an impact now and then."""
    time = 1e-3 * np.arange(600)
    smooth = size * np.cos(rate * time)
    wheel = np.full_like(time, size)
    wrapped = 3.0 + 0.0 * time
    wrapped[::50] -= 2.0 * np.pi * 1e4
    bouncing = size * (-1.0) ** (np.arange(600) * (bounces + 1) // 600)
    rates = np.column_stack([smooth, wheel, wrapped, bouncing])
    assert divergence(("smooth", "wheel", "wrapped", "bouncing"), time, rates) == ""


def held(setup: Setup, period: float) -> float:
    """Return the largest eigenvalue of joints under efforts held for a period, by integration."""
    from roboaccord.description.dynamics import TreeDynamics
    from scipy.linalg import expm

    tree = TreeDynamics(setup.tree, setup.joints, "fixed", 0.0)
    mass = tree.mass_matrix(setup.initial.q, np.eye(3))
    omega = 2.0 * np.pi * setup.scenario.controller["frequency"]
    gains = np.diag(mass)[:, None] * np.eye(2) * omega * np.array([[[omega]], [[2.0]]])
    gains[1] *= setup.scenario.controller["damping"]
    flow = np.zeros((6, 6))  # of positions, rates and efforts, which stay
    flow[:2, 2:4], flow[2:4, 4:] = np.eye(2), np.linalg.inv(mass)
    flow = expm(flow * period)
    whole = flow[:4, :4] - flow[:4, 4:] @ np.hstack([*gains])
    return float(np.abs(np.linalg.eigvals(whole)).max())


@pytest.mark.parametrize("damping", [0.05, 0.4, 1.0, 3.0])
def test_a_servo_chatters_beyond_the_period_that_is_named(damping: float, tmp_path: Path) -> None:
    """An eigenvalue of the joints under held efforts leaves the unit circle there."""
    path = robot(tmp_path)
    setup = setup_of(path, "control_period=0.1", "physics_step=0.1", frequency=30, damping=damping)
    said = chatter(setup)
    most = float(said.split("at most ")[1].split(" s")[0])
    assert said.startswith("the servo of ") and said.endswith("s, it is 0.1 s")
    assert held(setup, 0.99 * most) < 1.0 < held(setup, 1.02 * most)
    for period, silent in ((0.98 * most, True), (1.02 * most, False)):
        times = f"control_period={period!r}", f"physics_step={period!r}", f"duration={period!r}"
        assert (chatter(setup_of(path, *times, frequency=30, damping=damping)) == "") is silent


def test_only_a_servo_chatters(tmp_path: Path) -> None:
    path = robot(tmp_path)
    assert chatter(load_setup(str(path), "", ["controller.name=random"])) == ""
    assert chatter(load_setup("snake", "serpenoid")) == ""
    (tmp_path / "rock.urdf").write_text(f"<robot name='rock'>{LINK.format('rock', 1)}</robot>")
    rock = load_setup(str(tmp_path / "rock.urdf"), "", ["controller.name=pd"], base="free")
    assert chatter(rock) == ""
    assert chatter(setup_of(path, frequency=0)) == ""
    said = chatter(setup_of(path, damping=0))
    assert said.endswith(" is not damped: it oscillates at any control_period; give it damping")


def test_a_run_says_that_a_servo_chatters_and_from_when_the_motion_diverges(tmp_path: Path) -> None:
    lines = list[str]()
    setup = setup_of(robot(tmp_path), "duration=1", "initial.q.two=0.1", frequency=400)
    run = ra.run(setup, tell=lines.append, out=tmp_path / "out")
    assert [line[:13] for line in lines] == ["the servo of ", "the motion di"]
    found = ra.crosscheck(run)
    assert found.finding.outcome == "not_judged" and found.finding.reason == lines[1]
    quiet = list[str]()
    setup = setup_of(robot(tmp_path), "duration=0.1", "initial.q.two=0.1")
    assert ra.run(setup, tell=quiet.append, out=tmp_path / "sound").motion.divergence == ""
    assert not quiet


@pytest.mark.slow
def test_a_check_says_the_same_and_does_not_judge_what_diverges(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    changes = "initial.q.two=0.1", "crosscheck.duration=0.1"
    setup = setup_of(robot(tmp_path), *changes, frequency=400)
    report = ra.crosscheck(setup, engines=["mujoco"], out=tmp_path / "out")
    assert report.verdict == "undecided"
    assert report.levels.acceleration["mujoco"].outcome == "within"
    assert "the motion diverges from t = " in report.levels.one_step["mujoco"].reason
    assert any(line.startswith("the servo of ") for line in report.remarks)
    setup = setup_of(robot(tmp_path, effort=1e7), *changes, frequency=400)
    with pytest.raises(AccordError, match=r"diverged at t = 0.\d+ s, first at .*; the servo of "):
        ra.crosscheck(setup, engines=["mujoco"], out=tmp_path / "more")


@pytest.mark.slow
def test_slides_that_are_level_stand_and_the_cure_moves_them(tmp_path: Path) -> None:
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    path = robot(tmp_path, "prismatic", "1 0 0")
    verdicts = []
    for more in ([], ["initial.qd.one=0.5"]):
        setup = load_setup(str(path), "", ["crosscheck.duration=0.02", *more])
        report = ra.crosscheck(setup, engines=["mujoco"], out=tmp_path / f"out{len(more)}")
        verdicts.append(report.verdict)
        assert not any(
            error.parameter == "gravity" for error in report.resolution.get("mujoco", ())
        )
        assert (Code.EXCITED in [note.code for note in report.notes]) is not bool(more)
    assert verdicts == ["pass", "pass"]  # one moves as the check excites it, one as it is told
    setup = load_setup(str(path), "", ["crosscheck.duration=0.02"])
    still = run_crosscheck(setup, ["mujoco"], refine=3, out=tmp_path / "still")
    assert still.verdict == "undecided"
    assert not any(error.parameter == "gravity" for error in still.resolution.get("mujoco", ()))
