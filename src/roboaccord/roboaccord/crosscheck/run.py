"""Run a whole cross-check: the runs, what they measure, how that is judged, the report.

A level may be added: call it in `measure_engine` and pass its check to `EngineChecks`; one that
follows from the motion must be listed in OF_MOTION, for it is not judged where the reference (the
analytical model) diverges. MORE may be tuned: so many halvings of the step are tried, each at twice
the time. The folders ENGINE_bag and summary.json are documented: their names stay.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

from roboaccord.bag.writer import write_trajectory
from roboaccord.contract.errors import AccordError, DivergedError
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.outcome import Finding, excuse
from roboaccord.contract.trajectory import Event, Trajectory
from roboaccord.crosscheck.causes.explain import Explanation
from roboaccord.crosscheck.causes.name import (
    ask_resolution,
    explain_engine,
    explain_trajectory,
    resolve,
)
from roboaccord.crosscheck.causes.resolution import Resolved
from roboaccord.crosscheck.chaotic import check_statistics, measure_all, refuse_tolerances
from roboaccord.crosscheck.convergence import check_convergence, floor_of
from roboaccord.crosscheck.drive import check_drive
from roboaccord.crosscheck.energy import EnergyBook, NoBook, energy_of
from roboaccord.crosscheck.energy_check import check_energy
from roboaccord.crosscheck.events import check_events
from roboaccord.crosscheck.invariance import check_invariance
from roboaccord.crosscheck.models import check_acceleration, check_model
from roboaccord.crosscheck.one_step import check_free_steps, check_steps, settling
from roboaccord.crosscheck.report import Measured, Report, report_of
from roboaccord.crosscheck.runs import (
    QUIET,
    REFERENCE,
    Engines,
    Progress,
    Runs,
    check_repeat,
    make_engines,
    on_ground_of,
    run_jobs,
)
from roboaccord.crosscheck.scheme import check_scheme
from roboaccord.crosscheck.verdict import EngineChecks, judge
from roboaccord.engines.spec import EngineSpec
from roboaccord.run.loop import make_simulator
from roboaccord.run.output import fresh, make_folder, write_text
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.servo import chatter
from roboaccord.scenario.setup import Setup

NOT_WORDS = re.compile(r"\W+")
MORE = 2  # physics steps that are added
OF_MOTION = ("scheme", "invariance", "one_step", "trajectory", "statistics", "events", "energy")


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
) -> Report:
    """Check engines against the reference at all levels; write summary.json and the bags.

    Args:
        setup: robot and scenario.
        engines: by name or specification; the reference is always run.
        refine: number of physics steps dt, dt/2, dt/4, ...; up to `MORE` are added where they
            are too large to decide.
        out: folder for summary.json and a bag of each engine.
        command: that repeats the check, for the report.
        refused: called with each engine that does not take the scenario, which is then left out;
            an error where None.
        progress: called as jobs start and end.
        changed: whether the scenario is not as its author wrote it: a tolerance of trajectories
            that is below the noise floor then judges nothing, and is not an error.

    Raises:
        AccordError: for a folder that cannot be written, an engine that cannot be had, or a
            tolerance below the noise floor.
    """
    setup = on_ground_of(setup, engines)
    simulators = make_engines(setup, engines, refused)
    make_folder(out)
    runs = Runs({}, [])
    for steps in range(refine, refine + MORE + 1):
        try:
            runs = run_jobs(setup, simulators, steps, progress, runs.found)
        except DivergedError as error:
            raise DivergedError("; ".join(filter(None, [str(error), chatter(setup)]))) from error
        measured = measure(setup, simulators, runs, progress, changed=changed)
        findings = judge_all(setup, simulators, runs, measured.checks)
        if setup.scenario.crosscheck.statistics or not any(each.smaller for each in findings):
            break
    schemes = {check.engine: check.scheme for check in measured.checks}
    cases = [(setup, found, runs.of(e), simulators.order(e)) for e, found in schemes.items()]
    resolution = dict(zip(schemes, run_pieces(resolve, cases), strict=True))
    findings = judge_all(setup, simulators, runs, measured.checks, resolution)
    for engine in simulators.names:
        bag = fresh(out / f"{NOT_WORDS.sub('_', engine).strip('_')}_bag")
        version = simulators.version(engine)
        write_trajectory(bag, setup, engine, version, runs.shown(engine))
    report = report_of(setup, simulators, runs, measured, findings, resolution, command)
    write_text(out / "summary.json", json.dumps(report.summary(), indent=1))
    return report


def measure(
    setup: Setup, engines: Engines, runs: Runs, progress: Progress, *, changed: bool = False
) -> Measured:
    """Measure every engine at every level; a chaotic motion by statistics in place of level 3.

    Raises:
        AccordError: for a tolerance below the noise floor.
    """
    spec, tree = setup.scenario.crosscheck, setup.tree
    noise = measure_all(tree, runs, engines.names)
    trajectory, statistics = {}, {}
    if spec.statistics:
        statistics = check_statistics(
            setup,
            spec.statistics,
            [engines.source(e) for e in engines.names],
            runs.shown(REFERENCE),
            lambda engine, step, seed: progress.done(engine, step),
        )
    else:
        floors = {e: floor_of(tree, runs, e) for e in engines.names}
        least = float(floors[REFERENCE].distance.max())
        if not changed:
            refuse_tolerances(spec.tolerances, noise, least)
        for e, specification in engines.specs.items():
            floors[e] = floors[e].with_height(settling(setup, specification)[-4], len(tree.links))
        trajectory = {
            e: check_convergence(tree, runs, e, engines.simulator(e), floors[e])
            for e in engines.names
        }
    energy = {e: energy_of(setup, engines.source(e), runs.shown(e)) for e in engines.names}
    events = runs.shown(REFERENCE).events
    cases = [
        (setup, engines.specs[e], runs.of(e), runs.shown(e, again=True), events, energy[e])
        for e in engines.others
    ]
    checks = [
        replace(
            found,
            trajectory=trajectory.get(found.engine),
            statistics=statistics.get(found.engine),
        )
        for found in run_pieces(measure_engine, cases)
    ]
    return Measured(checks, trajectory, statistics, noise, energy)


def measure_engine(
    setup: Setup,
    engine: EngineSpec,
    runs: Mapping[float, Trajectory],
    again: Trajectory,
    reference: Sequence[Event],
    book: EnergyBook | NoBook,
) -> EngineChecks:
    """Measure an engine at all levels, but for level 3: it may be done in another process.

    Args:
        setup: robot and scenario.
        engine: to compare.
        runs: of it, by physics step.
        again: the first of them, repeated.
        reference: events of the reference's own run.
        book: energy balance of the first run.
    """
    run, spec = runs[max(runs)], setup.scenario.crosscheck
    pair = make_simulator(setup), make_simulator(setup, engine)
    scheme = check_scheme(setup, engine, run)
    check = check_free_steps if spec.statistics else check_steps
    return EngineChecks(
        engine.name,
        check_model(setup, *pair, spec.tolerances.mass),
        check_acceleration(setup, *pair, spec.states, setup.scenario.seed),
        drive=check_drive(setup, run),
        scheme=scheme,
        one_step=check(setup, engine, pair[1].order, runs),
        repeat=check_repeat(run, again),
        invariance=check_invariance(setup, engine, run),
        events=check_events(setup, engine, run, reference),
        energy=check_energy(setup, engine, run, book, scheme),
    )


def judge_all(
    setup: Setup,
    engines: Engines,
    runs: Runs,
    checks: Sequence[EngineChecks],
    resolution: Mapping[str, Sequence[Resolved]] | None = None,
) -> list[Finding]:
    """Return the findings on all engines, with what the scenario excuses.

    Args:
        setup, engines, runs, checks: what is judged.
        resolution: smallest errors that would have been found, by engine; without it neither these
            are judged, nor is what is off named.
    """
    spec = setup.scenario.crosscheck
    findings: list[Finding] = []
    for check in checks:
        found = judge_one(setup, engines, runs, check, named=resolution is not None)
        if resolution is not None and spec.resolution:
            order, resolved = engines.order(check.engine), resolution[check.engine]
            found = ask_resolution(found, resolved, spec.resolution, setup, order)
        findings += found
    if why := runs.shown(REFERENCE).divergence:  # round-off and physics steps decide all
        findings = [
            replace(each, outcome="not_judged", reason=why) if each.level in OF_MOTION else each
            for each in findings
        ]
    return excuse(findings, spec.excuse)


def judge_one(
    setup: Setup, engines: Engines, runs: Runs, check: EngineChecks, *, named: bool
) -> list[Finding]:
    """Return the findings on one engine, with names where asked to and the scenario excuses none.

    A name may take longer than all else.
    """
    spec, engine = setup.scenario.crosscheck, check.engine
    tolerances = spec.tolerances.at(setup.scenario.control_period)
    found = judge(tolerances, check, Explanation, Explanation)
    if not named:
        return found
    off = {f.level for f in excuse(found, spec.excuse) if f.outcome == "outside"}
    source, order = engines.specs[engine], engines.order(engine)
    name = cache(partial(explain_engine, setup, source, check.scheme, runs.of(engine), order))
    parting = partial(explain_trajectory, runs.shown(engine), check.trajectory, name)
    return judge(
        tolerances,
        check,
        name if off & {"acceleration", "one_step"} else Explanation,
        parting if "trajectory" in off else Explanation,
    )
