"""Run a whole cross-check: jobs, the levels, the verdict, the report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from roboaccord.assembly import Setup, make_simulator
from roboaccord.bag.recording import write_trajectory
from roboaccord.crosscheck.acceleration import check_acceleration
from roboaccord.crosscheck.chaotic import (
    WHY,
    StatisticsCheck,
    check_statistics,
    statistics_data,
    steps_of,
)
from roboaccord.crosscheck.convergence import (
    ConvergenceCheck,
    Floor,
    Job,
    check_convergence,
    measure_floor,
    run_all,
    tightened,
)
from roboaccord.crosscheck.energy import energy_of
from roboaccord.crosscheck.models import check_model
from roboaccord.crosscheck.naming import (
    Name,
    describe_since,
    name_acceleration,
    name_one_step,
)
from roboaccord.crosscheck.one_step import OneStepCheck, check_one_steps
from roboaccord.crosscheck.outcome import Finding, by_level, excuse, verdict_of
from roboaccord.crosscheck.verdict import EngineChecks, judge
from roboaccord.description import Tree, expand
from roboaccord.errors import AccordError
from roboaccord.interfaces import Simulator
from roboaccord.metrics import metrics_of
from roboaccord.output import fresh, make_folder, plain
from roboaccord.perturbation import Perturbations, of_engine
from roboaccord.report import write_report
from roboaccord.trajectory import Trajectory
from roboaccord.versions import versions

REFERENCE = "reference"
LEVELS = ("acceleration", "one_step", "trajectory", "statistics")


@dataclass(frozen=True)
class CrosscheckResult:
    """Hold everything a cross-check found; `data` is what the report and summary.json are from."""

    data: dict[str, Any]
    report: Path
    trajectories: Mapping[str, Trajectory] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether every level was judged or excused, and nothing was outside."""
        return bool(self.data["verdict"] == "pass")

    @property
    def acceptable(self) -> bool:
        """Whether nothing speaks against it: it passed, or there was no engine to judge."""
        return self.passed or self.data["verdict"] is None

    def to_json(self) -> dict[str, Any]:
        """Return the figures that `--json` prints."""
        d = self.data
        return {
            "robot": d["robot"],
            "scenario": d["scenario"],
            "verdict": d["verdict"],
            "reasons": d["reasons"],
            "levels": d["levels"],
            "judged": d["judged"],
            "duration": d["duration"],
            "acceleration": {e: c["max"] for e, c in d["acceleration"].items()},
            "one_step": {e: {k: c[k] for k in ("rms", "max")} for e, c in d["one_step"].items()},
            "trajectory": {
                e: {k: c[k] for k in ("dt", "error", "order")} for e, c in d["trajectory"].items()
            },
            **({"statistics": d["statistics"]} if d["statistics"] else {}),
            "versions": d["versions"],
            "report": str(self.report),
        }


@dataclass(frozen=True)
class Engines:
    """Hold the simulators of a check: the reference, and the engines by name."""

    reference: Simulator
    others: Mapping[str, Simulator]

    @property
    def names(self) -> list[str]:
        """Their names, the reference's first."""
        return [REFERENCE, *self.others]

    def order(self, name: str) -> int:
        """Return the order of an integrator."""
        return self.reference.order if name == REFERENCE else self.others[name].order


@dataclass(frozen=True)
class Runs:
    """Hold the runs of a check by job, and the physics steps from the largest to the smallest.

    Args:
        found: by job.
        steps: at which every simulator ran [s].
    """

    found: Mapping[Job, Trajectory]
    steps: Sequence[float]

    def of(self, engine: str) -> dict[float, Trajectory]:
        """Return the runs of one engine by physics step."""
        return {dt: self.found[Job(engine, dt)] for dt in self.steps}

    def shown(self, engine: str) -> Trajectory:
        """Return the run at the scenario's step."""
        return self.found[Job(engine, self.steps[0])]

    @property
    def truth_step(self) -> float:
        """The step of the converged reference [s]."""
        return self.steps[-1] / 2


def run_crosscheck(
    setup: Setup,
    engines: Sequence[str],
    *,
    refine: int,
    out: Path,
    perturbations: Perturbations = (),
    command: str = "",
    refused: Callable[[str, AccordError], None] | None = None,
    started: Callable[[int], None] = lambda jobs: None,
    done: Callable[[str, float], None] = lambda engine, dt: None,
) -> CrosscheckResult:
    """Check engines against the reference at all levels, and write the report.

    Args:
        setup: robot and scenario.
        engines: names; the reference is always run.
        refine: number of physics steps dt, dt/2, dt/4, ...
        out: folder for report.html, summary.json and a bag of each engine.
        perturbations: deliberate errors of engines.
        command: that repeats the check, for the report.
        refused: told of each engine that does not take the scenario, which is then left out; an
            error where None.
        started, done: told of the number of jobs, and of each job that ends.

    Raises:
        AccordError: for a folder that cannot be written, or an engine that cannot be had.
    """
    simulators = make_engines(setup, engines, perturbations, refused)
    make_folder(out)
    chaotic = setup.scenario.crosscheck.statistics
    runs = run_jobs(setup, simulators.names, refine, perturbations, started, done)
    tree = Tree.parse(expand(setup))
    statistics = (
        check_statistics(
            setup, chaotic, simulators.names, perturbations, lambda e, step, seed: done(e, step)
        )
        if chaotic
        else {}
    )
    floor = None if chaotic else floor_of(tree, runs)
    checks = check_engines(setup, simulators, runs, tree, floor, statistics)
    findings = judge_all(setup, simulators, runs, checks)
    for engine in simulators.names:
        simulator = simulators.others.get(engine, simulators.reference)
        bag = fresh(out / f"{engine}_bag")
        write_trajectory(bag, setup, engine, simulator.version, runs.shown(engine))
    data = plain(result_of(setup, simulators, runs, checks, findings, tree, floor, statistics))
    data["command"] = command
    data["energy"] = plain(energies(setup, simulators, runs, perturbations))
    trajectories = {engine: runs.shown(engine) for engine in simulators.names}
    report = out / "report.html"
    write_report(data, trajectories, report)
    (out / "summary.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    return CrosscheckResult(data, report, trajectories)


def make_engines(
    setup: Setup,
    names: Sequence[str],
    perturbations: Perturbations = (),
    refused: Callable[[str, AccordError], None] | None = None,
) -> Engines:
    """Make the reference and the engines named; arguments are those of `run_crosscheck`."""
    reference = make_simulator(setup, REFERENCE)
    others: dict[str, Simulator] = {}
    for name in dict.fromkeys(names):
        if name == REFERENCE:
            continue
        try:
            others[name] = make_simulator(setup, name, perturbations=perturbations)
        except AccordError as error:
            if refused is None:
                raise
            refused(name, error)
    return Engines(reference, others)


def run_jobs(
    setup: Setup,
    names: Sequence[str],
    refine: int,
    perturbations: Perturbations,
    started: Callable[[int], None],
    done: Callable[[str, float], None],
) -> Runs:
    """Run every simulator at every physics step, and the reference as the measure of all."""
    scenario, spec = setup.scenario, setup.scenario.crosscheck
    steps = [scenario.physics_step / 2**i for i in range(1 if spec.statistics else refine)]
    # Longest first, so that the processes end together.
    jobs = [Job(e, dt) for dt in sorted(steps) for e in [*names[1:], REFERENCE]]
    samples = 0
    if spec.statistics:
        samples = spec.statistics.seeds * len(names) * len(steps_of(setup))
    else:
        truth = steps[-1] / 2
        jobs[:0] = [Job(REFERENCE, truth, fine=True, bit=bit) for bit in (False, True)]
    started(len(jobs) + samples)
    workers = min(os.cpu_count() or 1, len(jobs))
    found = run_all(
        setup,
        jobs,
        judged_duration(setup),
        perturbations,
        lambda job: done(job.engine, job.dt),
        workers,
    )
    return Runs(found, steps)


def judged_duration(setup: Setup) -> float:
    """Return how much of a run is judged [s]: a whole number of control periods."""
    scenario = setup.scenario
    length = min(scenario.crosscheck.duration, scenario.duration)
    return max(1, round(length / scenario.control_period)) * scenario.control_period


def floor_of(tree: Tree, runs: Runs) -> Floor:
    """Return what the reference's own error and round-off make of its motion."""
    step = runs.truth_step
    truth, bit = (runs.found[Job(REFERENCE, step, True, bit)] for bit in (False, True))
    return measure_floor(tree, truth, runs.found[Job(REFERENCE, runs.steps[-1])], bit)


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
        calls = [delayed(_check_steps)(setup, engines.order(e), runs.of(e)) for e in engines.others]
        workers = min(os.cpu_count() or 1, max(len(calls), 1))
        steps = dict(zip(engines.others, Parallel(n_jobs=workers)(calls), strict=True))
    return [
        EngineChecks(
            engine,
            check_model(setup, engines.reference, simulator, spec.tolerances.mass),
            check_acceleration(setup, engines.reference, simulator, spec.states, seed),
            steps.get(engine),
            None if floor is None else _check_runs(engines, runs, tree, floor, engine),
            statistics.get(engine),
        )
        for engine, simulator in engines.others.items()
    ]


def _check_steps(setup: Setup, order: int, runs: Mapping[float, Trajectory]) -> OneStepCheck:
    fine = min(runs)
    first = make_simulator(tightened(setup), physics_step=fine)
    second = make_simulator(setup, physics_step=_twice(setup, fine))
    return check_one_steps((first, second), runs, order)


def _twice(setup: Setup, step: float) -> float:
    """Return twice a step, or the step's half where that does not divide the control period."""
    ratio = setup.scenario.control_period / (2 * step)
    return 2 * step if abs(ratio - round(ratio)) < 1e-9 else step / 2


def _check_runs(
    engines: Engines, runs: Runs, tree: Tree, floor: Floor, engine: str
) -> ConvergenceCheck:
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
    return Name(text="" if since is None else ", ".join(describe_since(run, since)))


def energies(
    setup: Setup, engines: Engines, runs: Runs, perturbations: Perturbations
) -> dict[str, Any]:
    """Return the energy book of each simulator."""
    own = {e: of_engine(perturbations, e) for e in engines.names}
    return {e: energy_of(setup, e, runs.shown(e), own[e]) for e in engines.names}


def result_of(
    setup: Setup,
    engines: Engines,
    runs: Runs,
    checks: Sequence[EngineChecks],
    findings: Sequence[Finding],
    tree: Tree,
    floor: Floor | None,
    statistics: Mapping[str, StatisticsCheck],
) -> dict[str, Any]:
    """Return everything that was found, as data."""
    scenario = setup.scenario
    shown = {engine: runs.shown(engine) for engine in engines.names}
    trajectory = {c.engine: c.trajectory for c in checks if c.trajectory}
    if floor is not None:
        trajectory = {REFERENCE: _check_runs(engines, runs, tree, floor, REFERENCE), **trajectory}
    levels = by_level(findings)
    return {
        "robot": setup.robot.name,
        "scenario": scenario.name,
        "verdict": verdict_of(findings),
        "reasons": [
            f"{f.engine}: {f.reason}" for f in findings if f.outcome in ("outside", "not_judged")
        ],
        "levels": {level: levels[level] for level in LEVELS if level in levels},
        "judged": judged_duration(setup) if floor is not None else scenario.duration,
        "duration": scenario.duration,
        "engines": engines.names,
        "seed": scenario.seed,
        "friction": scenario.friction,
        "versions": versions(setup, [engines.reference, *engines.others.values()]),
        "acceleration": {c.engine: asdict(c.acceleration) for c in checks},
        "masses": {c.engine: asdict(c.model) for c in checks},
        "one_step": {
            c.engine: {**asdict(c.one_step), "unit": "rad/s"} for c in checks if c.one_step
        },
        "trajectory": {engine: asdict(check) for engine, check in trajectory.items()},
        "statistics": statistics_data(statistics),
        "not_compared": WHY if statistics else None,
        "tolerances": scenario.data()["crosscheck"]["tolerances"],
        "metrics": {e: metrics_of(setup, run) for e, run in shown.items()},
        "events": {e: [asdict(event) for event in run.events] for e, run in shown.items()},
    }
