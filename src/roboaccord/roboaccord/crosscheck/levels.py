"""Measurement and judgement of every engine at every level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from roboaccord.contract.outcome import Finding, excuse
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.acceleration import check_acceleration
from roboaccord.crosscheck.chaotic import StatisticsCheck
from roboaccord.crosscheck.convergence import (
    ConvergenceCheck,
    Floor,
    Job,
    check_convergence,
    tightened,
)
from roboaccord.crosscheck.models import check_model
from roboaccord.crosscheck.naming import Name, describe_since, name_acceleration, name_one_step
from roboaccord.crosscheck.one_step import OneStepCheck, check_one_steps
from roboaccord.crosscheck.runs import REFERENCE, Engines, Runs
from roboaccord.crosscheck.verdict import EngineChecks, judge
from roboaccord.description.tree import Tree
from roboaccord.run.factory import make_simulator
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.setup import Setup


def check_engines(
    setup: Setup,
    engines: Engines,
    runs: Runs,
    tree: Tree,
    floor: Floor | None,
    statistics: Mapping[str, StatisticsCheck],
) -> list[EngineChecks]:
    """Measure every engine at every level."""
    spec, seed = setup.scenario.crosscheck, setup.scenario.seed
    steps: dict[str, OneStepCheck] = {}
    if floor is not None:
        calls = [(setup, engines.order(e), runs.of(e)) for e in engines.others]
        found = run_pieces(check_steps, calls)
        steps = dict(zip(engines.others, found, strict=True))
    return [
        EngineChecks(
            engine,
            check_model(setup, engines.reference, simulator, spec.tolerances.mass),
            check_acceleration(setup, engines.reference, simulator, spec.states, seed),
            steps.get(engine),
            None if floor is None else check_runs(engines, runs, tree, floor, engine),
            statistics.get(engine),
        )
        for engine, simulator in engines.others.items()
    ]


def check_steps(setup: Setup, order: int, runs: Mapping[float, Trajectory]) -> OneStepCheck:
    """Check one engine's runs step by step, against references at their smallest step."""
    fine = min(runs)
    first = make_simulator(tightened(setup), physics_step=fine)
    second = make_simulator(setup, physics_step=_twice(setup, fine))
    return check_one_steps((first, second), runs, order)


def _twice(setup: Setup, step: float) -> float:
    """Return twice a step, or the step's half where that does not divide the control period."""
    ratio = setup.scenario.control_period / (2 * step)
    return 2 * step if abs(ratio - round(ratio)) < 1e-9 else step / 2


def check_runs(
    engines: Engines, runs: Runs, tree: Tree, floor: Floor, engine: str
) -> ConvergenceCheck:
    """Compare the runs of one simulator to the converged reference."""
    truth = runs.found[Job(REFERENCE, runs.truth_step, fine=True)]
    return check_convergence(tree, truth, runs.of(engine), engines.order(engine), floor)


def judge_all(
    setup: Setup, engines: Engines, runs: Runs, checks: Sequence[EngineChecks]
) -> list[Finding]:
    """Return the findings on all engines, with what the scenario excuses."""
    spec = setup.scenario.crosscheck
    findings: list[Finding] = []
    for check in checks:
        simulator, own = engines.others[check.engine], runs.of(check.engine)
        findings += judge(
            spec.tolerances,
            check,
            partial(name_acceleration, setup, engines.reference, simulator),
            partial(_name_steps, setup, own, simulator.order),
            partial(_name_since, runs.shown(check.engine), check.trajectory),
        )
    return excuse(findings, spec.excuse)


def _name_steps(setup: Setup, runs: Mapping[float, Trajectory], order: int) -> Name:
    fine = make_simulator(setup, physics_step=min(runs))
    return name_one_step(setup, fine, runs, order)


def _name_since(run: Trajectory, check: ConvergenceCheck | None) -> Name:
    since = check.since if check else None
    if since is None:
        return Name()
    near = ", ".join(describe_since(run, since))
    return Name(text=f"{near}; what is off cannot be told from whole trajectories")
