"""Run a whole cross-check: the runs, the levels, the verdict, the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from roboaccord.bag.recording import write_trajectory
from roboaccord.contract.errors import AccordError
from roboaccord.crosscheck.chaotic import check_statistics
from roboaccord.crosscheck.levels import check_engines, judge_all
from roboaccord.crosscheck.noise import measure_all, refuse_tolerances
from roboaccord.crosscheck.result import CrosscheckResult, energies, result_of
from roboaccord.crosscheck.runs import floor_of, make_engines, run_jobs
from roboaccord.report import write_report
from roboaccord.run.output import fresh, make_folder, plain, write_text
from roboaccord.scenario.perturbation import Perturbations, of_engine
from roboaccord.scenario.setup import Setup


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
        AccordError: for a folder that cannot be written, an engine that cannot be had, or a
            tolerance below the noise floor.
    """
    simulators = make_engines(setup, engines, perturbations, refused)
    make_folder(out)
    chaotic = setup.scenario.crosscheck.statistics
    runs = run_jobs(setup, simulators.names, refine, perturbations, started, done)
    tree = setup.tree
    statistics = (
        check_statistics(
            setup, chaotic, simulators.names, perturbations, lambda e, step, seed: done(e, step)
        )
        if chaotic
        else {}
    )
    floor = None if chaotic else floor_of(tree, runs)
    noise = measure_all(tree, runs, simulators.names)
    if floor is not None:
        tolerances = setup.scenario.crosscheck.tolerances
        refuse_tolerances(tolerances, noise, float(floor.distance.max()))
    checks = check_engines(setup, simulators, runs, tree, floor, statistics)
    findings = judge_all(setup, simulators, runs, checks)
    for engine in simulators.names:
        simulator = simulators.others.get(engine, simulators.reference)
        bag = fresh(out / f"{engine}_bag")
        version = " ".join([simulator.version, *map(str, of_engine(perturbations, engine))])
        write_trajectory(bag, setup, engine, version, runs.shown(engine))
    found = result_of(setup, simulators, runs, checks, findings, tree, floor, statistics, noise)
    data = plain(found)
    data["command"] = command
    data["perturbations"] = [str(item) for item in perturbations]
    data["energy"] = plain(energies(setup, simulators, runs, perturbations))
    trajectories = {engine: runs.shown(engine) for engine in simulators.names}
    report = out / "report.html"
    write_report(data, trajectories, report)
    write_text(out / "summary.json", json.dumps(data, indent=1))
    return CrosscheckResult(data, report, trajectories)
