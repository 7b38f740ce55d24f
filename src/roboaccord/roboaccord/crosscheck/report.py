"""Report of a cross-check: its measurements, findings and conditions, and the verdict they give.

There is one class for every source of motion: engines, a bag, a live run, a log. `judge` lets the
levels judge their measurements of one engine; `report_of` collects the findings of all engines.
Figures of a level are its `rows`; to add a figure of the whole check, add a field to `Report` and
fill it in `run_crosscheck`. Keys of `to_json` are those of `--json`, and fields those of
summary.json: scripts read both, so they stay. Words are made in report/words.py on demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from roboaccord.contract import Certificate, Event, Trajectory, outcome
from roboaccord.contract.outcome import Code, Finding, Levels, Outcome, Reason, Verdict, because
from roboaccord.contract.profiles import entry_of
from roboaccord.contract.results import LEFT_OUT, Drawn, Json, Quantity, by_fields, to_json
from roboaccord.contract.shown import display
from roboaccord.crosscheck.causes.resolution import Resolved, shown_of
from roboaccord.crosscheck.level import AnyLevel, Rows
from roboaccord.crosscheck.levels.drive import DriveLevel
from roboaccord.crosscheck.levels.recorded_step import RecordedStep, RecordedStepLevel
from roboaccord.crosscheck.levels.scheme import SchemeLevel
from roboaccord.crosscheck.measures.scheme import SchemeCheck
from roboaccord.crosscheck.noise import Noise
from roboaccord.engines import REFERENCE
from roboaccord.run.energy_book import EnergyBook, NoBook
from roboaccord.scenario.scenario import Tolerances
from roboaccord.scenario.setup import Setup

# Levels of a single run, from a bag or live.
RUN_LEVELS: tuple[AnyLevel, ...] = (RecordedStepLevel(), DriveLevel(), SchemeLevel())


@dataclass(frozen=True)
class Report(Drawn):
    """Result of a cross-check.

    Args:
        robot, scenario: names of the robot and of the scenario.
        verdict: pass, fail or undecided; None where there is no engine to judge.
        levels: finding of each level and engine: `levels.one_step["dart"]`.
        checks: measurement of each level and engine: `checks["one_step"]["dart"]`.
        rows: figures of each level's table, by level, engine and heading.
        engines: names, the reference's first.
        titles: of these tables, by level.
        notes: remarks on the runs and the setup.
        resolution: smallest errors of parameters that would have been outside, by engine.
        judged, duration: duration of the run that is judged, and of all of it [s].
        seed, friction: of the scenario.
        versions: of the simulators, by name.
        noise: growth of round-off, by engine.
        tolerances: of the scenario.
        excuses: of the scenario, by level and engine.
        metrics: figures of the runs at the scenario's physics step, by engine.
        events: of these runs, by engine.
        command: shell command that repeats the check.
        perturbations: deliberate errors of the engines.
        energy: energy books of these runs, by engine.
        certificate: certificates of contact of these runs, or why there is none, by engine.
        trajectories: these runs, by engine.
        setup: robot and scenario.
    """

    robot: str
    scenario: str
    verdict: Verdict | None
    levels: Levels
    checks: Mapping[str, Mapping[str, Any]]
    rows: Mapping[str, Mapping[str, Rows]]
    engines: Sequence[str]
    titles: Mapping[str, str] = field(default_factory=dict, metadata=LEFT_OUT)
    notes: Sequence[Reason] = ()
    resolution: Mapping[str, Sequence[Resolved]] = field(default_factory=dict)
    judged: Annotated[float, Quantity("s", "judged duration")] = 0.0
    duration: Annotated[float, Quantity("s", "duration")] = 0.0
    seed: int = 0
    friction: Mapping[str, Json] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    noise: Mapping[str, Noise] = field(default_factory=dict)
    tolerances: Tolerances = field(default_factory=Tolerances)
    excuses: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    events: Mapping[str, Sequence[Event]] = field(default_factory=dict)
    command: str = ""
    perturbations: Sequence[str] = ()
    energy: Mapping[str, EnergyBook | NoBook] = field(default_factory=dict)
    certificate: Mapping[str, Certificate | str] = field(default_factory=dict)
    trajectories: Mapping[str, Trajectory] = field(
        default_factory=dict, repr=False, metadata=LEFT_OUT
    )
    setup: Setup | None = field(default=None, repr=False, metadata=LEFT_OUT)

    @property
    def ok(self) -> bool:
        """True if every level is within or excused, or if there was no engine to judge.

        For a single run, which not all levels judge, it is enough that none is outside.
        """
        return self.verdict in ("pass", None) or (self.of_run and self.verdict != "fail")

    @property
    def of_run(self) -> bool:
        """Whether the report is of a single run, from a bag or live."""
        return isinstance(self.step, RecordedStep)

    @property
    def finding(self) -> Finding:
        """Finding of level 2 on the first engine."""
        return next(iter(self.levels.one_step.values()))

    @property
    def step(self) -> Any:
        """Measurement of level 2 on the first engine; None without one."""
        return next(iter(self.checks.get("one_step", {}).values()), None)

    def line(self) -> str:
        """Return the verdict in one line."""
        return display.words(self)

    @property
    def chaotic(self) -> bool:
        """Whether statistics over seeds take the place of trajectories."""
        return "statistics" in self.checks

    @property
    def of_engines(self) -> Mapping[str, Mapping[str, Finding]]:
        """Findings by level and engine, without those on the reference itself."""
        return {level: of for level, of in self.levels.items() if REFERENCE not in of}

    @property
    def excused(self) -> int:
        """Number of findings that the scenario excuses."""
        return sum(f.outcome == Outcome.EXCUSED and not f.stands_in for f in self.levels.findings)

    @property
    def reasons(self) -> list[str]:
        """Reasons why levels are outside or not judged, in words."""
        failed = (Outcome.OUTSIDE, Outcome.NOT_JUDGED)
        findings = [f for f in self.levels.findings if f.outcome in failed and not f.stands_in]
        findings.sort(key=lambda f: self.engines.index(f.engine))
        return list(dict.fromkeys(f"{f.engine}: {f.reason}" for f in findings))

    @property
    def remarks(self) -> list[str]:
        """What is excused or allowed, and the notes, in words."""
        reasons = remarks(self.levels.findings, self.excuses)
        return [str(reason) for reason in (*reasons, *self.notes)]

    def describe(self) -> str:
        """Return the verdict, the number of excuses, and which part of the run was judged."""
        if self.verdict is None:
            return "none: there is no engine beside the reference"
        parts: list[str] = [self.verdict]
        if self.excused:
            parts.append(f"{self.excused} excused")
        if self.judged < self.duration:
            parts.append(f"judged 0 to {self.judged:g} s of {self.duration:g} s")
        return ", ".join(parts)

    def resolved(self, *, every: bool = False) -> list[Mapping[str, Json]]:
        """Return the smallest errors that would have been outside, some of each engine or all."""
        return [
            {"engine": engine, **by_fields(error)}
            for engine, errors in self.resolution.items()
            for error in (errors if every else shown_of(errors))
        ]

    def to_json(self) -> dict[str, Json]:
        """Return the figures that `--json` prints."""
        if document := getattr(self.step, "document", None):
            whole: dict[str, Json] = document(self)
            return whole
        names = "robot scenario verdict reasons remarks perturbations levels judged duration"
        step, run = ("rms", "max"), ("dt", "error", "order")
        data = {
            **{name: getattr(self, name) for name in names.split()},
            "resolution": self.resolved(),
            "acceleration": {e: c.max for e, c in self.checks.get("acceleration", {}).items()},
            "one_step": self._figures("one_step", step),
            "trajectory": self._figures("trajectory", run),
            "noise": self.noise,
            **({"statistics": self.checks["statistics"]} if self.chaotic else {}),
            "versions": self.versions,
            "certificate": self.certificate,
            "rows": self.rows,
        }
        return {key: to_json(value) for key, value in data.items()}

    def _figures(self, level: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Return some fields of a level's checks by engine, where it measured them."""
        checks = self.checks.get(level, {})
        return {
            engine: {name: getattr(check, name) for name in names}
            for engine, check in checks.items()
            if hasattr(check, names[0])
        }

    def summary(self) -> dict[str, Json]:
        """Return all fields but the trajectories, and words, for summary.json."""
        words = {"reasons": self.reasons, "remarks": self.remarks}
        return {**by_fields(self), **words, "resolution": to_json(self.resolved(every=True))}


def remarks(
    findings: Iterable[Finding], excuses: Mapping[str, Mapping[str, str]]
) -> Iterator[Reason]:
    """Yield what is excused, allowed or below round-off, and excuses that are not needed."""
    for f in findings:
        figures = {"engine": f.engine, "level": f.level, "of": f}
        if f.outcome == Outcome.EXCUSED and not f.stands_in:
            yield because(Code.LEVEL_EXCUSED, **figures)
        elif f.outcome == Outcome.WITHIN and f.reasons and not f.stands_in:
            yield because(Code.LEVEL_WITHIN, **figures)
        if f.outcome == Outcome.WITHIN and entry_of(excuses.get(f.level, {}), f.engine) is not None:
            yield because(Code.NO_EXCUSE_NEEDED, **figures)


def judge(
    setup: Setup, name: str, levels: Sequence[AnyLevel], checks: Mapping[str, Any], divergence: str
) -> list[Finding]:
    """Return the findings on one engine, before excuses are applied.

    Args:
        setup: robot and scenario.
        name: of the engine.
        levels: in their order.
        checks: measurements by level.
        divergence: why the reference diverges; "" where it does not.
    """
    findings, substitutes = dict[str, Finding](), dict[str, str]()
    tolerances = setup.scenario.crosscheck.tolerances.at(setup.scenario.control_period)
    for level in levels:
        if level.name not in checks:
            continue
        finding = level.judge(checks[level.name], tolerances)
        if level.of_motion and divergence:  # round-off and physics steps decide the motion
            finding = Finding.not_judged(because(Code.TEXT, text=divergence))
        elif finding.stands_in:
            substitutes[level.name] = level.substitute
        findings[level.name] = replace(finding, level=level.name, engine=name)
    # A level that another one stands in for gets the outcome of that level.
    for level_name, other in substitutes.items():
        reasons = findings[level_name].reasons
        findings[level_name] = outcome.stand_in(findings[other], level_name, *reasons)
    return list(findings.values())


def report_of_run(
    setup: Setup, engine: str, checks: Mapping[str, Any], divergence: str = ""
) -> Report:
    """Return the report of a single run, from a bag or live; arguments are those of `judge`."""
    findings = judge(setup, engine, RUN_LEVELS, checks, divergence)
    findings = outcome.excuse(findings, setup.scenario.crosscheck.excuse)
    scheme = checks.get("scheme")
    resolved = shown_of(scheme.resolution if isinstance(scheme, SchemeCheck) else [])
    return report_of(setup, RUN_LEVELS, {engine: checks}, findings, resolution={engine: resolved})


def report_of(
    setup: Setup,
    levels: Sequence[AnyLevel],
    measured: Mapping[str, Mapping[str, Any]],
    findings: Sequence[Finding],
    **figures: Any,
) -> Report:
    """Return the report of a check.

    Args:
        setup: robot and scenario.
        levels: in their order.
        measured: checks by engine and level.
        findings: of all engines.
        figures: other fields of the report.
    """
    # Checks and figures by level and engine, of the levels that measured anything.
    checks, rows = dict[str, dict[str, Any]](), dict[str, dict[str, Rows]]()
    for level in levels:
        name = level.name
        by_engine = {engine: of[name] for engine, of in measured.items() if name in of}
        if by_engine:
            checks[name] = by_engine
            rows[name] = {engine: level.rows(check) for engine, check in by_engine.items()}
    robot, scenario, engines = setup.robot.name, setup.scenario.name, list(measured)
    verdict, by_level = outcome.verdict_of(findings), Levels.of(findings)
    figures["setup"] = setup
    return Report(robot, scenario, verdict, by_level, checks, rows, engines, **figures)
