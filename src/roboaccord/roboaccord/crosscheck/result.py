"""Result of a cross-check as data: for summary.json, for `--json` and for the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from roboaccord.contract.outcome import Finding, by_level, remarks, verdict_of
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.chaotic import WHY, StatisticsCheck, statistics_data
from roboaccord.crosscheck.convergence import Floor
from roboaccord.crosscheck.energy import energy_of
from roboaccord.crosscheck.levels import check_runs
from roboaccord.crosscheck.noise import Noise, sensitive
from roboaccord.crosscheck.runs import REFERENCE, Engines, Runs, judged_duration
from roboaccord.crosscheck.verdict import EngineChecks
from roboaccord.description.tree import Tree
from roboaccord.run.metrics import metrics_of
from roboaccord.run.versions import versions
from roboaccord.scenario.perturbation import Perturbations, of_engine
from roboaccord.scenario.setup import Setup

LEVELS = ("acceleration", "one_step", "trajectory", "statistics")


@dataclass(frozen=True)
class CrosscheckResult:
    """Hold the result of a cross-check; report and summary.json are made of `data`."""

    data: dict[str, Any]
    report: Path
    trajectories: Mapping[str, Trajectory] = field(repr=False)

    @property
    def passed(self) -> bool:
        """True if every level is within or excused."""
        return bool(self.data["verdict"] == "pass")

    @property
    def acceptable(self) -> bool:
        """True if it passed, or if there was no engine to judge."""
        return self.passed or self.data["verdict"] is None

    def to_json(self) -> dict[str, Any]:
        """Return the figures that `--json` prints."""
        d = self.data
        return {
            "robot": d["robot"],
            "scenario": d["scenario"],
            "verdict": d["verdict"],
            "reasons": d["reasons"],
            "remarks": d["remarks"],
            "perturbations": d["perturbations"],
            "levels": d["levels"],
            "judged": d["judged"],
            "duration": d["duration"],
            "acceleration": {e: c["max"] for e, c in d["acceleration"].items()},
            "one_step": {e: {k: c[k] for k in ("rms", "max")} for e, c in d["one_step"].items()},
            "trajectory": {
                e: {k: c[k] for k in ("dt", "error", "order")} for e, c in d["trajectory"].items()
            },
            "noise": d["noise"],
            **({"statistics": d["statistics"]} if d["statistics"] else {}),
            "versions": d["versions"],
            "report": str(self.report),
        }


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
    noise: Mapping[str, Noise],
) -> dict[str, Any]:
    """Return the result as plain data."""
    scenario = setup.scenario
    shown = {engine: runs.shown(engine) for engine in engines.names}
    trajectory = {c.engine: c.trajectory for c in checks if c.trajectory}
    if floor is not None:
        trajectory = {REFERENCE: check_runs(engines, runs, tree, floor, REFERENCE), **trajectory}
    levels = by_level(findings)
    return {
        "robot": setup.robot.name,
        "scenario": scenario.name,
        "verdict": verdict_of(findings),
        "reasons": [
            f"{f.engine}: {f.reason}"
            for f in findings
            if f.outcome in ("outside", "not_judged") and not f.stands_in
        ],
        "remarks": [*remarks(findings, scenario.crosscheck.excuse), *sensitive(noise)],
        "excused": sum(f.outcome == "excused" and not f.stands_in for f in findings),
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
        "noise": {engine: asdict(found) for engine, found in noise.items()},
        "statistics": statistics_data(statistics),
        "not_compared": WHY if statistics else None,
        "tolerances": scenario.data()["crosscheck"]["tolerances"],
        "metrics": {e: metrics_of(setup, run) for e, run in shown.items()},
        "events": {e: [asdict(event) for event in run.events] for e, run in shown.items()},
    }
