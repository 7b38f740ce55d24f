"""Report of a cross-check: what was measured, what was found, and under which conditions.

To add a figure, add a field to `Report`, fill it in `report_of`, and show it in report/figures.py
or report/tables.py. Names of fields are keys of summary.json, and those in `to_json` are keys of
`--json`: scripts read both, so all of them stay. Texts for people (`describe`) may be reworded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from roboaccord.contract.outcome import Finding, Levels, Verdict, remarks, verdict_of
from roboaccord.contract.results import LEFT_OUT, Drawn, Json, Quantity, by_fields, to_json
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.causes.resolution import Resolved, shown_of
from roboaccord.crosscheck.chaotic import WHY, Noise, StatisticsCheck, sensitive
from roboaccord.crosscheck.convergence import ConvergenceCheck
from roboaccord.crosscheck.energy import EnergyBook, NoBook
from roboaccord.crosscheck.energy_check import EnergyCheck
from roboaccord.crosscheck.events import EventsCheck
from roboaccord.crosscheck.invariance import InvarianceCheck
from roboaccord.crosscheck.models import AccelerationCheck, ModelCheck
from roboaccord.crosscheck.one_step import OneStepCheck
from roboaccord.crosscheck.runs import Engines, RepeatCheck, Runs
from roboaccord.crosscheck.scheme import NoTwin, SchemeCheck
from roboaccord.crosscheck.verdict import EngineChecks
from roboaccord.run.metrics import metrics_of
from roboaccord.run.versions import versions_of
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.servo import chatter
from roboaccord.scenario.setup import Setup


@dataclass(frozen=True)
class Measured:
    """Hold what was measured: of each engine, and by name what the reference has, too."""

    checks: Sequence[EngineChecks]
    trajectory: Mapping[str, ConvergenceCheck]
    statistics: Mapping[str, StatisticsCheck]
    noise: Mapping[str, Noise]
    energy: Mapping[str, EnergyBook | NoBook]


@dataclass(frozen=True)
class Report(Drawn):
    """Hold the result of a cross-check; checks and figures are by engine.

    Args:
        verdict: None where there is no engine to judge.
        reasons, remarks: in words, of what is outside or not judged, and of the rest.
        excused: number of findings that the scenario excuses.
        resolution: smallest errors of parameters that would have been outside.
        levels: the finding of each level and engine: `levels.one_step["dart"]`.
        engines: names, the reference's first.
        not_compared: why a chaotic motion has no level 3; else None.
        log, rest: what is off of events, and of the energy book.
        metrics: figures of the runs at the scenario's physics step.
        trajectories: these runs.
    """

    robot: str
    scenario: str
    verdict: Verdict | None
    reasons: Sequence[str]
    remarks: Sequence[str]
    excused: int
    levels: Levels
    resolution: Mapping[str, Sequence[Resolved]]
    judged: Annotated[float, Quantity("s", "judged duration")]
    duration: Annotated[float, Quantity("s", "duration")]
    engines: Sequence[str]
    seed: int
    friction: Mapping[str, Json]
    versions: Mapping[str, str]
    acceleration: Mapping[str, AccelerationCheck]
    masses: Mapping[str, ModelCheck]
    scheme: Mapping[str, SchemeCheck | NoTwin]
    repeat: Mapping[str, RepeatCheck]
    invariance: Mapping[str, InvarianceCheck]
    one_step: Mapping[str, OneStepCheck]
    trajectory: Mapping[str, ConvergenceCheck]
    noise: Mapping[str, Noise]
    statistics: Mapping[str, StatisticsCheck]
    not_compared: str | None
    tolerances: Tolerances
    metrics: Mapping[str, Mapping[str, float]]
    events: Mapping[str, Sequence[Event]]
    command: str
    perturbations: Sequence[str]
    energy: Mapping[str, EnergyBook | NoBook]
    log: Mapping[str, EventsCheck]
    rest: Mapping[str, EnergyCheck | NoBook]
    trajectories: Mapping[str, Trajectory] = field(repr=False, metadata=LEFT_OUT)

    @property
    def ok(self) -> bool:
        """True if every level is within or excused, or if there was no engine to judge."""
        return self.verdict in ("pass", None)

    def describe(self) -> str:
        """Return the verdict, how much was excused, and which part of the run was judged."""
        if self.verdict is None:
            return "none: there is no engine beside the reference"
        parts: list[str] = [self.verdict]
        if self.excused:
            parts.append(f"{self.excused} excused")
        if self.judged < self.duration:
            parts.append(f"judged 0 to {self.judged:g} s of {self.duration:g} s")
        return ", ".join(parts)

    def resolved(self, *, every: bool = False) -> list[Mapping[str, Json]]:
        """Return the smallest errors that would have been outside, of each engine ten or all."""
        return [
            {"engine": engine, **by_fields(each)}
            for engine, found in self.resolution.items()
            for each in (found if every else shown_of(found))
        ]

    def to_json(self) -> dict[str, Json]:
        """Return the figures that `--json` prints."""
        names = "robot scenario verdict reasons remarks perturbations levels judged duration"
        step, run = ("rms", "max"), ("dt", "error", "order")
        data = {
            **{name: getattr(self, name) for name in names.split()},
            "resolution": self.resolved(),
            "acceleration": {e: c.max for e, c in self.acceleration.items()},
            "one_step": {e: {k: getattr(c, k) for k in step} for e, c in self.one_step.items()},
            "trajectory": {e: {k: getattr(c, k) for k in run} for e, c in self.trajectory.items()},
            "noise": self.noise,
            **({"statistics": self.statistics} if self.statistics else {}),
            "versions": self.versions,
        }
        return {key: to_json(value) for key, value in data.items()}

    def summary(self) -> dict[str, Json]:
        """Return all but the trajectories, for summary.json."""
        return {**by_fields(self), "resolution": to_json(self.resolved(every=True))}


def report_of(
    setup: Setup,
    engines: Engines,
    runs: Runs,
    measured: Measured,
    findings: Sequence[Finding],
    resolution: Mapping[str, Sequence[Resolved]],
    command: str,
) -> Report:
    """Return the report of a check; arguments as of `run_crosscheck`."""
    scenario, checks = setup.scenario, measured.checks
    shown = {engine: runs.shown(engine) for engine in engines.names}
    return Report(
        robot=setup.robot.name,
        scenario=scenario.name,
        verdict=verdict_of(findings),
        reasons=list(
            dict.fromkeys(
                f"{f.engine}: {f.reason}"
                for f in findings
                if f.outcome in ("outside", "not_judged") and not f.stands_in
            )
        ),
        remarks=[
            *remarks(findings, scenario.crosscheck.excuse),
            *sensitive(measured.noise),
            *(f"{engine}: {why}" for engine, run in shown.items() if (why := run.divergence)),
            *filter(None, [chatter(setup)]),
            *engines.remarks,
        ],
        resolution={engine: found for engine, found in resolution.items() if found},
        excused=sum(f.outcome == "excused" and not f.stands_in for f in findings),
        levels=Levels.of(findings),
        judged=scenario.duration if measured.statistics else scenario.judged,
        duration=scenario.duration,
        engines=engines.names,
        seed=scenario.seed,
        friction=scenario.friction,
        versions={
            **versions_of(setup, [engines.reference]),
            **{name: engines.described(name) for name in engines.others},
        },
        acceleration={c.engine: c.acceleration for c in checks},
        masses={c.engine: c.model for c in checks},
        scheme={c.engine: c.scheme for c in checks if c.scheme},
        repeat={c.engine: c.repeat for c in checks if c.repeat},
        invariance={c.engine: c.invariance for c in checks if c.invariance},
        one_step={c.engine: c.one_step for c in checks if c.one_step},
        trajectory=measured.trajectory,
        noise=measured.noise,
        statistics=measured.statistics,
        not_compared=WHY if measured.statistics else None,
        tolerances=scenario.crosscheck.tolerances,
        metrics={e: metrics_of(setup, run) for e, run in shown.items()},
        events={e: run.events for e, run in shown.items()},
        command=command,
        perturbations=engines.changes,
        energy=measured.energy,
        log={c.engine: c.events for c in checks if c.events},
        rest={c.engine: c.energy for c in checks if c.energy},
        trajectories=shown,
    )
