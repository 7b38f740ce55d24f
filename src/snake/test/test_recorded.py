"""One run against the reference step by step: what an Euler step explains, and what not."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.bag.writer import write_trajectory
from roboaccord.cli.main import run as accord
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.outcome import Code
from roboaccord.contract.state import RobotState
from roboaccord.crosscheck import period_reference
from roboaccord.crosscheck.levels.recorded_step import MAX_EXPLAINED_SHARE
from roboaccord.crosscheck.recorded import check_bag
from roboaccord.crosscheck.step_check import StepCheck
from roboaccord.falsify import parse_perturbation, wrap
from roboaccord.run.loop import make_simulator
from roboaccord.simulators.base import Simulator
from running import run_in, setup_of
from slow_cases import late


def motion(setup, engine, *perturbed):
    found = [parse_perturbation(text) for text in perturbed]
    simulator = make_simulator(setup, wrap(engine, perturbations=found) if found else engine)
    return simulator, run_in(setup, simulator)


def verdict_of(setup, engine, version, trajectory):
    check = StepCheck(setup, engine, version)
    for i in range(len(trajectory) - 1):
        check.compare(trajectory.state(i), trajectory.state(i + 1))
    check.choose_delay()
    return check.verdict()


def scenario(*changes):
    return setup_of("snake", "serpenoid", "duration=0.5", *changes)


@pytest.mark.parametrize(("change", "outcome"), [(1.0 + 1e-6, "outside"), *late((1.0, "within"))])
def test_a_bag_is_compared_with_the_twin_of_its_engine(tmp_path, change, outcome):
    """A state whose rates are 1e-6 off is within a thousandth of the change, but no round-off."""
    setup = scenario("duration=0.1")
    simulator, run = motion(setup, "dart")
    qd = np.array(run.qd)
    qd[50] *= change
    write_trajectory(tmp_path / "bag", setup, "dart", simulator.version, replace(run, qd=qd))
    found = check_bag(read_run(tmp_path / "bag"))
    assert found.finding.outcome == "within"
    assert found.levels.scheme["dart"].outcome == outcome
    assert found.ok is (outcome == "within")
    assert f"scheme {outcome}" in found.line()
    assert found.line().startswith("one step within") and "100 of 100 ticks" in found.line()


def test_a_run_of_which_little_is_compared_by_now_is_undecided():
    setup = scenario("duration=0.01")
    simulator, run = motion(setup, "mujoco")
    check = StepCheck(setup, "mujoco", simulator.version)
    for before, after in pairwise(map(run.state, range(len(run)))):
        check.compare(before, after)
    assert check.verdict(30).line().startswith("one step within")
    line = check.verdict(31).line()
    assert line.startswith("undecided: one step not judged") and "10 of 31 ticks compared" in line


class Decay(Simulator):
    """A reference without joints that matter: every rate falls as exp(-k t), in closed form."""

    name, version, order = "decay", "1", 1

    def __init__(self, setup, rate=20.0):
        super().__init__(setup.joints, setup.effort_limits, setup.scenario.physics_step)
        self.rate = rate

    def masses(self):
        return {}

    def _place(self, state):
        self.now = state

    def _read(self):
        return replace(self.now, time=self._time)

    def _advance(self, command, duration):
        self.now = replace(self.now, qd=np.exp(-self.rate * duration) * self.now.qd)

    def _accelerate(self, state, effort):
        return Acceleration(np.zeros(6), -self.rate * state.qd)


@pytest.mark.parametrize(("factor", "outcome"), [(1.0, "within"), (2.3, "outside")])
def test_an_euler_step_is_explained_and_a_larger_error_is_not(monkeypatch, factor, outcome):
    """Of y' = -k y a step h misses y by (k h)^2 / 2; twice that is allowed, and 1e-3."""
    setup = scenario()

    def made(setup, physics_step=None):
        return Decay(setup.at_step(physics_step) if physics_step else setup)

    monkeypatch.setattr(period_reference, "make_simulator", made)
    check, h, k = StepCheck(setup, "somebody", ""), setup.scenario.physics_step, 20.0
    n = len(setup.joints)
    qd = np.linspace(1.0, 2.0, n)
    for tick in range(50):
        before = RobotState(tick * h, np.zeros(n), qd, np.zeros(n))
        exact = np.exp(-k * h) * qd
        qd = exact + factor * ((1.0 - k * h) * qd - exact)
        check.compare(before, RobotState((tick + 1) * h, np.zeros(n), qd, np.zeros(n)))
    verdict = check.verdict()
    assert verdict.finding.outcome == outcome
    # relative to the change k h y; the next order is a share k h of it
    assert verdict.step.relative == pytest.approx(factor * k * h / 2, rel=2 * k * h)
    assert verdict.step.allowed == pytest.approx(1e-3 + 2.0 * k * h / 2, rel=2 * k * h)
    # of the fastest joint in the first step, 2 rad/s, all in closed form
    assert verdict.step.max == pytest.approx(
        2.0 * factor * (np.exp(-k * h) - (1.0 - k * h)), rel=1e-9
    )


def test_dart_errs_by_its_euler_step():
    """The error halves with the physics step, and is the leading term, half of what is allowed."""
    found = []
    for step in (1e-3, 5e-4, 2.5e-4):
        setup = scenario(f"physics_step={step}")
        simulator, trajectory = motion(setup, "dart")
        found.append(verdict_of(setup, "somebody", simulator.version, trajectory))
    assert {v.finding.outcome for v in found} == {"within"}
    for coarse, fine in pairwise(found):
        assert coarse.step.rms / fine.step.rms == pytest.approx(2.0, abs=0.2)
    for v in found:
        assert v.step.relative == pytest.approx((v.step.allowed - 1e-3) / 2.0, rel=0.15)


def test_where_the_step_explains_too_much_a_run_without_a_twin_is_not_judged():
    """A pass would hide an error of that size."""
    coarse = ("physics_step=0.005", "control_period=0.005")
    setup = scenario(*coarse)
    simulator, trajectory = motion(setup, "dart")
    found = verdict_of(setup, "somebody", simulator.version, trajectory)
    assert found.finding.outcome == "not_judged" and found.step.allowed > MAX_EXPLAINED_SHARE
    assert found.finding.codes == (Code.STEPPING_HIDES,)
    assert verdict_of(setup, "dart", simulator.version, trajectory).finding.outcome == "within"


@pytest.mark.parametrize("delay", [0, 1, 2])
def test_the_delay_of_commands_in_gazebo_is_found(delay):
    """Efforts that act late are Gazebo's to have; with another engine they are an error.

    A pyramid of friction explains .4 of it in Gazebo, so that nothing is judged beside the delay.
    """
    setup = scenario()
    perturbed = [f"dart:delay={delay}"] if delay else []
    simulator, trajectory = motion(setup, "dart", *perturbed)
    verdict = verdict_of(setup, "gz", simulator.version, trajectory)
    assert (verdict.step.delay, verdict.finding.outcome) == (delay, "not_judged")
    assert verdict.step.skipped == 3  # the efforts before them are not known


def test_a_run_without_a_step_to_compare_is_not_judged():
    check = StepCheck(scenario(), "gz", "")
    assert check.choose_delay() == []
    found = check.verdict().finding
    assert (found.outcome, found.codes) == ("not_judged", (Code.NO_STEP,))


@pytest.mark.slow
def test_a_bag_is_checked_by_the_command(tmp_path, capsys):
    setup = scenario()
    for name, perturbed, status in (
        ("right", (), 0),
        ("wrong", ("mujoco:mass:base_link=1.01",), 1),
    ):
        simulator, trajectory = motion(setup, "mujoco", *perturbed)
        bag = tmp_path / name
        write_trajectory(bag, setup, "mujoco", simulator.version, trajectory)
        assert accord(["crosscheck", str(bag), "--json"]) == status
        message = json.loads(capsys.readouterr().out)
        verdict = check_bag(read_run(bag))
        assert {k: message[k] for k in verdict.to_json()} == verdict.to_json()
        assert verdict.ok is (status == 0)


def test_a_bag_without_a_scenario_needs_its_name(tmp_path, capsys):
    setup = scenario()
    simulator, trajectory = motion(setup, "reference")
    write_trajectory(tmp_path / "bag", setup, "reference", simulator.version, trajectory)
    run = replace(read_run(tmp_path / "bag"), scenario={})
    with pytest.raises(AccordError, match="accord crosscheck BAG SCENARIO"):
        check_bag(run)
    assert accord(["crosscheck", str(tmp_path / "bag"), "serpenoid"]) == 0
    assert "one step within" in capsys.readouterr().out
    assert accord(["crosscheck", "snake"]) == 2
    assert "name a scenario of snake" in capsys.readouterr().err


def test_round_off_of_a_robot_at_rest_is_no_difference():
    setup = scenario("controller={name: none}", "duration=0.1")
    random = np.random.default_rng(0)
    noise = 1e-12 * random.standard_normal((101, len(setup.joints)))  # rad/s, of a solver
    states = [replace(setup.initial, time=1e-3 * i, qd=qd) for i, qd in enumerate(noise)]
    check = StepCheck(setup, "dart", "")
    for before, after in pairwise(states):
        check.compare(before, after)
    check.choose_delay()
    verdict = check.verdict()
    assert verdict.step.relative > 0.1  # most of what changes, and yet
    assert (verdict.finding.outcome, verdict.finding.codes) == ("within", (Code.BELOW_ROUND_OFF,))


@pytest.mark.parametrize(("limit", "outcome"), [(0.5, "within"), (0.05, "outside")])
def test_an_allowance_takes_the_place_of_what_time_stepping_explains(limit, outcome):
    """DART's Euler step is a tenth and more of the change here; so a fresh run is judged."""
    allowance = f"crosscheck.tolerances.one_step={{limit: {limit}, reason: known}}"
    setup = scenario(allowance)
    simulator, trajectory = motion(setup, "dart")
    verdict = verdict_of(setup, "somebody", simulator.version, trajectory)
    assert (verdict.finding.outcome, verdict.step.allowed) == (outcome, limit)
    assert verdict.finding.codes == ((Code.ALLOWED if limit > 0.1 else Code.STEP_TOO_LARGE),)
    assert f"allowed {limit:g}: known" in verdict.finding.reason or outcome == "outside"
