"""The cross-check on the snake: engines agree, and a false mass is found and named."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from roboaccord.contract.outcome import Code
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.engines import make_engines
from roboaccord.crosscheck.level_context import LevelContext
from roboaccord.crosscheck.levels.one_step import judge_step
from roboaccord.crosscheck.levels.trajectory import TrajectoryLevel, judge_runs
from roboaccord.crosscheck.measures.convergence import check_convergence, floor_of
from roboaccord.crosscheck.measures.event_ticks import EventTicks
from roboaccord.crosscheck.measures.one_step import check_one_step, check_steps
from roboaccord.crosscheck.measures.predictions import predict
from roboaccord.crosscheck.measures.scheme import check_scheme
from roboaccord.crosscheck.run import run_crosscheck
from roboaccord.crosscheck.runs import QUIET, run_jobs
from roboaccord.crosscheck.samples import linearise_loop
from roboaccord.engines import spec
from roboaccord.falsify import Perturbation, wrap
from roboaccord.report import render_report
from roboaccord.run.loop import make_simulator, run_setup
from running import run_in, setup_of

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def setup():
    """Return the serpenoid, with short runs; 40 states are as good as 100 for a pass."""
    changes = ["crosscheck.duration=0.6", "crosscheck.states=40"]
    return setup_of("snake", "serpenoid", *changes)


@pytest.fixture(scope="module")
def sound(setup, tmp_path_factory):
    """Return the result of a cross-check with nothing wrong."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    pytest.importorskip("dartpy", reason="DART is not installed, or libGL is missing")
    out = tmp_path_factory.mktemp("sound")
    return run_crosscheck(setup, ["reference", "dart", "mujoco"], refine=3, out=out)


def test_engines_agree_by_convergence(sound):
    """DART with order 1, MuJoCo's and the reference's Runge-Kutta with order 4."""
    assert sound.verdict == "pass", sound.reasons
    runs = sound.checks["trajectory"]
    assert runs["dart"].order == pytest.approx(1, abs=0.1)
    assert runs["mujoco"].order == pytest.approx(4, abs=0.6)
    assert runs["mujoco"].error[0] < 5e-3
    assert all(c.max < 1e-8 for c in sound.checks["acceleration"].values())


def test_json_has_the_keys_that_scripts_use_and_no_nan(sound):
    """The interface of the command line."""
    data = sound.to_json()
    for key in ("verdict", "acceleration", "one_step", "trajectory", "versions"):
        assert key in data
    assert set(data["one_step"]["dart"]) == {"rms", "max"}
    assert set(data["trajectory"]["dart"]) == {"dt", "error", "order"}
    json.dumps(data, allow_nan=False)
    json.dumps(sound.summary(), allow_nan=False)
    assert "plotly" in render_report(sound).lower()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["dart", "mujoco"])
@pytest.mark.parametrize(("link", "named"), [("*", "every link"), ("base_link", "base_link")])
def test_one_per_cent_of_mass_is_found_and_named(setup, sound, tmp_path, engine, link, named):
    """The verdict fails, and states which engine, which link, and by how much."""
    wrong = wrap(engine, perturbations=[Perturbation(engine, "mass", 1.01, link)])
    result = run_crosscheck(setup, [wrong], refine=1, out=tmp_path)
    assert not result.ok
    level = result.levels.acceleration[engine]
    assert (level.outcome, level.quantity, level.where) == ("outside", "mass", named)
    share = level.reasons[0].figures["how"].figures["share"]
    assert share == pytest.approx(0.01, rel=1e-9)
    assert level.codes == (Code.MODEL, Code.ACCELERATION) and "+1 % off" in level.reason
    assert math.isfinite(result.checks["acceleration"][engine].max)


def test_a_coarse_engine_is_not_waved_through(tmp_path):
    """At 10 ms DART errs by a third in one step; one physics step cannot tell why."""
    changes = ["physics_step=0.01", "control_period=0.01", "crosscheck.duration=1"]
    coarse = setup_of("snake", "serpenoid", *changes)
    result = run_crosscheck(coarse, ["dart"], refine=1, out=tmp_path)
    assert result.verdict == "undecided" and not result.ok
    assert json.loads((tmp_path / "summary.json").read_text()) == json.loads(
        json.dumps(result.summary())
    )
    for level in (result.levels.one_step, result.levels.trajectory):
        assert level["dart"].outcome == "not_judged"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "outcome", "changes"),
    [
        ("dart", "not_judged", ["controller.waves=2.5", "seed=5", "initial.spread_q=0.05"]),
        ("mujoco", "within", ["physics_step=0.0005", "control_period=0.01"]),
    ],
)
def test_a_sound_engine_outside_the_asymptotic_range_is_not_condemned(engine, outcome, changes):
    """A transient of milliseconds that 1 ms does not resolve; 6 picometres at the smallest step."""
    pytest.importorskip("dartpy" if engine == "dart" else engine)
    changes = [*changes, "crosscheck.duration=0.3"]
    setup = setup_of("snake", "serpenoid", *changes)
    engines = make_engines(setup, [engine])
    runs = run_jobs(setup, engines, 3, QUIET)
    floor = floor_of(setup.tree, runs, engine)
    check = check_convergence(setup.tree, runs, engine, engines.others[engine], floor)
    check, tolerances = replace(check, engine=engine), setup.scenario.crosscheck.tolerances
    found = judge_runs(check, tolerances)
    assert found.outcome == outcome
    assert (outcome == "within") == (Code.COARSE not in found.codes)

    scheme = check_scheme(setup, engines.specs[engine], runs.shown(engine))

    def by_twin(check=check, **changes):
        checks = {"scheme": replace(scheme, **changes)}
        case = CheckCase(setup, engine, engine, runs, checks=checks)
        judged = replace(check, context=LevelContext.of(case))
        return TrajectoryLevel().judge(judged, tolerances).outcome

    assert by_twin() == "within"  # each tick has the errors of its step
    fallen = EventTicks(9, 0.1, "rate", "joint_01", 0.0)
    assert by_twin(left_out=1, others=fallen) == "within"
    assert (
        by_twin(left_out=1) == by_twin(touching=1) == by_twin(error=2.0 * scheme.floor) == outcome
    )
    elsewhere = {dt: d + 1e-3 for dt, d in check.distance.items()}  # a twin begins with the engine
    assert by_twin(replace(check, distance=elsewhere)) == outcome


@pytest.mark.parametrize(("period", "stable"), [(0.001, True), (0.005, False)])
def test_the_loop_of_the_ordered_gait_is_stable_at_its_own_control_period(period, stable):

    changes = [f"control_period={period}", "duration=0.3"]
    setup = setup_of("snake", "lateral_undulation", *changes)
    found = linearise_loop(setup, run_setup(setup, make_simulator(setup)))
    assert found is not None
    assert (found > -1.0) == stable


@pytest.mark.parametrize(
    ("kind", "value", "quantity", "where"),
    [
        pytest.param("friction_across", 1.01, "friction across", "", marks=pytest.mark.slow),
        pytest.param("friction_along", 1.05, "friction along", "", marks=pytest.mark.slow),
        pytest.param("slip_speed", 1.05, "slip speed", "", marks=pytest.mark.slow),
        pytest.param("delay", 1.0, "delay", "", marks=pytest.mark.slow),
    ],
)
def test_what_accelerations_do_not_show_one_step_names(
    setup, sound, tmp_path, kind, value, quantity, where
):
    """Ground friction and delays, which level 1 leaves out, in the engine that errs the most."""
    wrong = wrap("dart", perturbations=[Perturbation("dart", kind, value)])
    result = run_crosscheck(setup, [wrong], refine=3, out=tmp_path)
    assert result.levels.acceleration["dart"].outcome == "within"
    found = result.levels.one_step["dart"]
    assert (found.outcome, found.quantity, found.where) == ("outside", quantity, where)


def test_an_engine_that_stands_still_is_told_of(setup, sound, tmp_path, monkeypatch):
    """Its own change is 0, so its error counts against what the reference does."""
    from roboaccord.engines.mujoco.simulator import MujocoSimulator

    monkeypatch.setattr(MujocoSimulator, "_substeps", lambda self, effort, count: None)
    run = short_run(setup, "mujoco")
    reference = make_simulator(setup)
    check = check_one_step(run, predict(reference, run))
    assert check.relative == pytest.approx(1.0)


def test_the_reference_predicts_its_own_run(setup):
    found = predict(make_simulator(setup), short_run(setup, "reference"))
    assert np.abs(found.errors).max() < 1e-9
    assert found.base < 1e-12


def test_an_engine_is_asked_for_its_own_order_in_one_step(setup, monkeypatch):
    """Efforts a substep late: order 1, which DART may have, and a Runge-Kutta method may not."""
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from roboaccord.engines.mujoco.simulator import MujocoSimulator

    steps = (1e-3, 5e-4, 2.5e-4)

    def judged():
        runs = {dt: short_run(setup, "mujoco", dt) for dt in steps}
        check = check_steps(setup, spec("mujoco"), make_simulator(setup, "mujoco").order, runs)
        return judge_step(check, setup.scenario.crosscheck.tolerances)

    assert judged().outcome == "within"
    plain = MujocoSimulator._substeps

    def late(self, effort, count):
        last = getattr(self, "before", 0.0 * effort)
        self.before = effort.copy()
        plain(self, last, 1)
        if count > 1:
            plain(self, effort, count - 1)

    monkeypatch.setattr(MujocoSimulator, "_substeps", late)
    found = judged()
    assert (found.outcome, found.codes) == ("outside", (Code.STEP_UNEXPLAINED,))
    why = found.reasons[0].figures["why"]
    assert why.code == Code.STEP_ORDER and 1.0 <= why.figures["order"] < 2.0
    assert why.figures["least"] == pytest.approx(3.7)


def test_a_base_that_drifts_is_found_in_one_step(setup):
    """By 1e-7 m in 1 ms in the pose alone: .1 mm/s, beside rates that are right."""
    steps = (1e-3, 5e-4, 2.5e-4)
    runs = {dt: short_run(setup, "reference", dt) for dt in steps}
    along = np.array([1.0, 0.0, 0.0])
    moved = {
        dt: replace(run, position=run.position + 1e-7 * np.outer(np.arange(len(run)), along))
        for dt, run in runs.items()
    }
    check = check_steps(setup, spec("mujoco"), 4, moved)
    assert (check.remainder, check.where) == (False, "position of base_link along x")
    assert check.left == pytest.approx(1e-7, rel=1e-3)


def short_run(setup, engine, step=None):
    """Return a run under the scenario's controller."""
    return run_in(setup, engine, duration=0.05, step=step)


def test_without_engines_there_is_no_verdict(setup, tmp_path):
    """The reference alone: nothing is judged, which is reported, and no error."""
    result = run_crosscheck(setup, ["reference"], refine=1, out=tmp_path)
    assert result.verdict is None and result.ok
    assert result.levels == {} and "no engine" in render_report(result)
