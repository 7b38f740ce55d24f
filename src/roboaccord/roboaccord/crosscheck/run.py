"""Run a whole cross-check: jobs, the three levels, the verdict, the report."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from roboaccord.assembly import Setup, make_simulator
from roboaccord.bag.recording import write_trajectory
from roboaccord.crosscheck.acceleration import check_acceleration, check_masses
from roboaccord.crosscheck.chaotic import (
    WHY,
    StatisticsCheck,
    check_statistics,
    statistics_data,
    steps_of,
)
from roboaccord.crosscheck.convergence import ConvergenceCheck, check_convergence, run_all
from roboaccord.crosscheck.energy import energy_of
from roboaccord.crosscheck.one_step import OneStepCheck, check_one_steps
from roboaccord.crosscheck.verdict import judge
from roboaccord.description import Tree, expand
from roboaccord.metrics import metrics_of
from roboaccord.output import fresh, make_folder, plain
from roboaccord.report import write_report
from roboaccord.trajectory import Trajectory
from roboaccord.versions import versions

REFERENCE = "reference"


@dataclass(frozen=True)
class CrosscheckResult:
    """Hold everything a cross-check found; `data` is what the report and summary.json are from."""

    data: dict[str, Any]
    report: Path
    trajectories: Mapping[str, Trajectory] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether everything was within tolerance."""
        return bool(self.data["verdict"] == "pass")

    def to_json(self) -> dict[str, Any]:
        """Return the figures that `--json` prints."""
        d = self.data
        return {
            "robot": d["robot"],
            "scenario": d["scenario"],
            "verdict": d["verdict"],
            "reasons": d["reasons"],
            "acceleration": {e: c["max"] for e, c in d["acceleration"].items()},
            "one_step": {e: {k: c[k] for k in ("rms", "max")} for e, c in d["one_step"].items()},
            "trajectory": {
                e: {k: c[k] for k in ("dt", "error", "order")} for e, c in d["trajectory"].items()
            },
            **({"statistics": d["statistics"]} if d["statistics"] else {}),
            "versions": d["versions"],
            "report": str(self.report),
        }


def run_crosscheck(
    setup: Setup,
    engines: Sequence[str],
    *,
    refine: int,
    out: Path,
    mass_scale: Mapping[str, Mapping[str, float]] | None = None,
    command: str = "",
    started: Callable[[int], None] = lambda jobs: None,
    done: Callable[[str, float], None] = lambda engine, dt: None,
) -> CrosscheckResult:
    """Check engines against the reference at all three levels, and write the report.

    Args:
        setup: robot and scenario.
        engines: names; the reference is always run.
        refine: number of physics steps dt, dt/2, dt/4, ...
        out: folder for report.html, summary.json and a bag of each engine.
        mass_scale: by engine, factors on link masses: a deliberate error.
        command: that repeats the check, for the report.
        started, done: told of the number of jobs, and of each job that ends.

    Raises:
        AccordError: for a folder that cannot be written, or an engine that cannot be had.
    """
    scenario, spec = setup.scenario, setup.scenario.crosscheck
    scales = mass_scale or {}
    others = [e for e in dict.fromkeys(engines) if e != REFERENCE]
    reference = make_simulator(setup, REFERENCE)
    simulators = {e: make_simulator(setup, e, mass_scale=scales.get(e)) for e in others}
    make_folder(out)
    chaotic = spec.statistics
    steps = [scenario.physics_step / 2**i for i in range(1 if chaotic else refine)]
    truth_step = scenario.physics_step / 2**refine
    # Longest first, so that the processes end together.
    jobs = [(e, dt) for dt in sorted(steps) for e in [*others, REFERENCE]]
    if not chaotic:
        jobs.append((REFERENCE, truth_step))
    names = [REFERENCE, *others]
    samples = chaotic.seeds * len(names) * len(steps_of(setup)) if chaotic else 0
    started(len(jobs) + samples)
    runs = run_all(setup, jobs, spec.duration, scales, done, min(os.cpu_count() or 1, len(jobs)))
    tree = Tree.parse(expand(setup))
    shown = {e: runs[e, scenario.physics_step] for e in names}
    acceleration = {
        e: check_acceleration(setup, reference, s, spec.states, scenario.seed)
        for e, s in simulators.items()
    }
    masses = {e: check_masses(reference, s) for e, s in simulators.items()}
    one_step: dict[str, OneStepCheck] = {}
    trajectory: dict[str, ConvergenceCheck] = {}
    statistics: dict[str, StatisticsCheck] = {}
    if chaotic:
        statistics = check_statistics(
            setup, chaotic, names, scales, lambda engine, step, seed: done(engine, step)
        )
    else:
        one_step = {
            e: check_one_steps(reference, {dt: runs[e, dt] for dt in steps}) for e in others
        }
        order = {REFERENCE: reference.order, **{e: s.order for e, s in simulators.items()}}
        truth = runs[REFERENCE, truth_step]
        trajectory = {
            e: check_convergence(tree, truth, {dt: runs[e, dt] for dt in steps}, order[e])
            for e in shown
        }
    findings = judge(spec.tolerances, masses, acceleration, one_step, trajectory, statistics)
    reasons = [f"{f.engine}: {f.reason}" for f in findings if f.reason]
    within: dict[str, dict[str, bool]] = {}
    for finding in findings:
        within.setdefault(finding.level, {})[finding.engine] = not finding.reason
    for engine, run in shown.items():
        version = (simulators.get(engine) or reference).version
        write_trajectory(fresh(out / f"{engine}_bag"), setup, engine, version, run)
    data: dict[str, Any] = {
        "robot": setup.robot.name,
        "scenario": scenario.name,
        "verdict": "fail" if reasons else "pass",
        "reasons": reasons,
        "within": within,
        "engines": list(shown),
        "seed": scenario.seed,
        "friction": scenario.friction,
        "versions": versions(setup, [reference, *simulators.values()]),
        "command": command,
        "acceleration": {e: asdict(c) for e, c in acceleration.items()},
        "masses": {e: asdict(c) for e, c in masses.items()},
        "one_step": {e: {**asdict(c), "unit": "rad/s"} for e, c in one_step.items()},
        "trajectory": {e: asdict(c) for e, c in trajectory.items()},
        "statistics": statistics_data(statistics),
        "not_compared": WHY if chaotic else None,
        "energy": {e: energy_of(setup, e, run, scales.get(e)) for e, run in shown.items()},
        "tolerances": scenario.data()["crosscheck"]["tolerances"],
        "metrics": {e: metrics_of(setup, run) for e, run in shown.items()},
        "events": {e: [asdict(event) for event in run.events] for e, run in shown.items()},
    }
    data = plain(data)
    report = out / "report.html"
    write_report(data, shown, report)
    (out / "summary.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    return CrosscheckResult(data, report, shown)
