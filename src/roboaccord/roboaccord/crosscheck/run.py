"""A whole cross-check: run the engines, measure at all levels, judge, explain and report.

`run_crosscheck`, which `accord crosscheck` calls, takes a robot in a scenario and some engines, and
returns a report. It runs every engine at the physics steps dt, dt/2, dt/4, ... and lets each level
measure each engine (its case), in other processes. Where findings ask for a smaller step, runs and
measurements are repeated with one more. Findings then get their causes, and the report is written
with a bag (the recorded run) of each engine.

Levels are those of `LEVELS` and those that the caller adds; this module treats all alike, except
that no tolerance may be below the floor of level `trajectory`. MOST_HALVINGS may be tuned. Names of
the folders ENGINE_bag and of summary.json stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from roboaccord.bag.writer import write_trajectory
from roboaccord.contract import AccordError, DivergedError, Engine
from roboaccord.contract.outcome import Code, Finding, Reason, because, excuse
from roboaccord.crosscheck.causes.findings import explain_findings, resolve, sampled
from roboaccord.crosscheck.causes.resolution import Resolved, ask_resolution
from roboaccord.crosscheck.certificate import certificate_of, judge_reference
from roboaccord.crosscheck.check_case import CheckCase
from roboaccord.crosscheck.engines import Engines, check_names, make_engines, on_ground_of
from roboaccord.crosscheck.level import AnyLevel
from roboaccord.crosscheck.levels import LEVELS
from roboaccord.crosscheck.measures.convergence import floor_of
from roboaccord.crosscheck.noise import measure_all, refuse_tolerances, sensitive
from roboaccord.crosscheck.report import Report, judge, report_of
from roboaccord.crosscheck.runs import NO_RUNS, QUIET, Progress, Runs, run_jobs
from roboaccord.crosscheck.samples import run_samples
from roboaccord.engines import REFERENCE
from roboaccord.run import metrics_of, run_pieces, versions_of
from roboaccord.run.energy_book import EnergyBook, NoBook
from roboaccord.run.output import fresh, make_folder, write_text
from roboaccord.scenario.servo import chatter
from roboaccord.scenario.setup import Setup

NOT_WORDS = re.compile(r"\W+")  # characters of engines' names that are replaced in names of folders
# Largest number of halvings of the step that are added where findings ask for it: each one doubles
# the time, so that two make a check up to seven times as long (1 + 2 + 4), a third one 15 times.
MOST_HALVINGS = 2


@dataclass(frozen=True)
class Request:
    """What a cross-check compares, and how; the fields are arguments of `run_crosscheck`.

    Args:
        setup: robot and scenario.
        engines: simulators of the reference and of the engines.
        levels: in the order in which they are measured.
        progress, changed, every: as of `run_crosscheck`.
    """

    setup: Setup
    engines: Engines
    levels: Sequence[AnyLevel]
    progress: Progress
    changed: bool
    every: bool


def run_crosscheck(
    setup: Setup,
    engines: Sequence[Engine],
    *,
    refine: int,
    out: Path,
    command: str = "",
    refused: Callable[[str, AccordError], None] | None = None,
    progress: Progress = QUIET,
    changed: bool = False,
    levels: Sequence[AnyLevel] = (),
    every: bool = False,
    notes: Sequence[Reason] = (),
) -> Report:
    """Check engines against the reference at all levels; write summary.json and bags.

    Args:
        setup: robot and scenario.
        engines: by name or specification; the reference is always run.
        refine: number of physics steps dt, dt/2, dt/4, ...; up to MOST_HALVINGS are added where
            these are too large to decide.
        out: folder for summary.json and a bag of each engine.
        command: shell command that repeats the check, for the report.
        refused: called with each engine that refuses the scenario, and why; that engine is then
            left out. If None, such an engine is an error.
        progress: called as jobs start and end.
        changed: whether the scenario differs from its file: a tolerance of trajectories below the
            noise floor is then not an error; it only judges nothing.
        levels: in addition to `LEVELS`.
        every: whether levels compare every control period, in place of a sample of them.
        notes: on the setup, for the report.

    Raises:
        AccordError: for a folder that cannot be written, an engine that is not available, or a
            tolerance below the noise floor.
    """
    engines = [engines] if isinstance(engines, str) else engines
    # Levels, engines and the folder: errors of the request are found before anything runs.
    chosen = (*LEVELS, *levels)
    check_names(setup.scenario.crosscheck, [level.name for level in chosen])
    setup = on_ground_of(setup, engines)
    simulators = make_engines(setup, engines, refused)
    make_folder(out)
    request = Request(setup, simulators, chosen, progress, changed, every)
    runs, cases = run_until_decided(request, refine)
    # Findings with causes and the resolution, of each engine but the reference (the first case).
    conclusions = run_pieces(conclude, [(case, chosen) for case in cases[1:]])
    by_case = zip(cases[1:], conclusions, strict=True)
    resolution = {case.name: errors for case, (_, errors) in by_case if errors}
    # Certificates of copies: a case may have got a simulator, which no other process can be sent.
    certificates = run_pieces(certificate_of, [(replace(case),) for case in cases])
    findings = [finding for found, _ in conclusions for finding in found]
    findings += judge_reference(cases[0], certificates[0])
    # Bags, report and summary.json.
    write_bags(setup, simulators, runs, out)
    report = report_of(
        setup,
        chosen,
        {case.name: case.checks for case in cases},
        findings,
        titles={level.name: level.title for level in chosen},
        resolution=resolution,
        command=command,
        energy={case.name: case.book for case in cases},
        certificate={case.name: of for case, of in zip(cases, certificates, strict=True)},
        **conditions(setup, simulators, runs, notes),
    )
    write_text(out / "summary.json", json.dumps(report.summary(), indent=1))
    return report


def run_until_decided(request: Request, refine: int) -> tuple[Runs, list[CheckCase]]:
    """Run and measure at `refine` physics steps, and at more of them while findings ask for it.

    At most MOST_HALVINGS are added. A chaotic motion is never refined.

    Returns:
        the runs, and the case of each simulator with its measurements.

    Raises:
        DivergedError: with a hint where the controller chatters.
    """
    setup, runs = request.setup, NO_RUNS
    for steps in range(refine, refine + MOST_HALVINGS + 1):
        try:
            runs = run_jobs(setup, request.engines, steps, request.progress, runs)
        except DivergedError as error:
            raise DivergedError("; ".join(filter(None, [str(error), chatter(setup)]))) from error
        cases = measure(request, runs)
        findings = [finding for case in cases[1:] for finding in judge_case(case, request.levels)]
        if cases[0].chaotic or not any(finding.smaller for finding in findings):
            break
    return runs, cases


def write_bags(setup: Setup, engines: Engines, runs: Runs, out: Path) -> None:
    """Write the run of each simulator at the scenario's physics step as a bag."""
    for engine in engines.names:
        bag = fresh(out / f"{NOT_WORDS.sub('_', engine).strip('_')}_bag")
        write_trajectory(bag, setup, engine, engines.version(engine), runs.shown(engine))


def conditions(
    setup: Setup, engines: Engines, runs: Runs, notes: Sequence[Reason]
) -> dict[str, Any]:
    """Return fields of the report that describe the scenario, the engines and their runs."""
    scenario, noise = setup.scenario, measure_all(setup.tree, runs, engines.names)
    shown = {engine: runs.shown(engine) for engine in engines.names}
    diverged = [(engine, run.divergence) for engine, run in shown.items() if run.divergence]
    notes = [*notes, *sensitive(noise)]
    notes += [because(Code.TEXT, engine=engine, text=why) for engine, why in diverged]
    if warning := chatter(setup):  # of servos that are unstable at the control period
        notes.append(because(Code.TEXT, text=warning))
    return {
        "notes": [*notes, *engines.remarks],
        "judged": scenario.duration if scenario.crosscheck.statistics else scenario.judged,
        "duration": scenario.duration,
        "seed": scenario.seed,
        "friction": scenario.friction,
        "excuses": scenario.crosscheck.excuse,
        "tolerances": scenario.crosscheck.tolerances,
        "versions": {**versions_of(setup, [engines.reference]), **engines.described},
        "noise": noise,
        "metrics": {engine: metrics_of(setup, run) for engine, run in shown.items()},
        "events": {engine: run.events for engine, run in shown.items()},
        "perturbations": engines.changes,
        "trajectories": shown,
    }


def measure(request: Request, runs: Runs) -> list[CheckCase]:
    """Return the case of each simulator, the reference's first, with the checks of all levels.

    Raises:
        AccordError: for a tolerance below the noise floor.
    """
    setup, engines = request.setup, request.engines
    sources = {name: engines.source(name) for name in engines.names}
    # A chaotic motion is run over seeds; of others, tolerances are compared with the noise.
    spec, samples = setup.scenario.crosscheck, None
    if spec.statistics:
        run = runs.shown(REFERENCE)
        samples = run_samples(setup, spec.statistics, [*sources.values()], run, request.progress)
    elif not request.changed:
        noise = measure_all(setup.tree, runs, engines.names)
        refuse_tolerances(spec.tolerances, noise, floor_of(setup.tree, runs).distance.max())
    cases = [
        CheckCase(setup, source, name, runs.only(name), samples, request.every)
        for name, source in sources.items()
    ]
    # Measure each case in a process of its own.
    measured = run_pieces(measure_one, [(case, request.levels) for case in cases])
    return [
        replace(case, checks=checks, known_book=book)
        for case, (checks, book) in zip(cases, measured, strict=True)
    ]


def measure_one(
    case: CheckCase, levels: Sequence[AnyLevel]
) -> tuple[dict[str, Any], EnergyBook | NoBook]:
    """Measure one simulator at all levels, and its energy book; called in another process."""
    for level in levels:
        if case.name == REFERENCE and not level.of_reference:
            continue
        if (check := level.measure(case)) is not None:
            case.checks[level.name] = check
    return case.checks, case.book


def judge_case(case: CheckCase, levels: Sequence[AnyLevel]) -> list[Finding]:
    """Return the findings on one engine, before causes are sought and excuses applied."""
    return judge(case.setup, case.name, levels, case.checks, case.runs.shown(REFERENCE).divergence)


def conclude(
    case: CheckCase, levels: Sequence[AnyLevel]
) -> tuple[list[Finding], Sequence[Resolved]]:
    """Return findings on one engine with causes and excuses, and the resolution of the check.

    The resolution is the smallest errors that would have been outside. Called in another process.
    """
    spec = case.setup.scenario.crosscheck
    resolution = [*sampled(case), *resolve(case)]
    findings = explain_findings(case, excuse(judge_case(case, levels), spec.excuse))
    if spec.resolution:
        findings = ask_resolution(findings, resolution, spec.resolution, case.setup, case.order)
        findings = excuse(findings, spec.excuse)
    return findings, resolution
