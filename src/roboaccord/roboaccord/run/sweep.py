"""Run one scenario from many seeds, in several engines and at several physics steps.

The figure, engines, steps and seeds are arguments, and what each seed changes is in the scenario
(`initial.spread_q`): nothing of that is set here. Fields of `Cell` are keys of the JSON of `accord
sweep`; they stay, and others may be added with a default. Seeds count from 0, so that a longer
sweep includes a shorter one. The statistics are in numerics/statistics.py, the verdict on engines
in crosscheck.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from roboaccord.contract.errors import AccordError, DivergedError, check_known
from roboaccord.contract.interfaces import Engine
from roboaccord.contract.results import INLINE, LEFT_OUT, Json, Seconds
from roboaccord.engines import name_of
from roboaccord.numerics.statistics import Statistics, statistics_of
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.run.metrics import metrics_of
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario.files import make_scenario
from roboaccord.scenario.setup import Setup


@dataclass(frozen=True)
class Cell:
    """The runs of one engine at one physics step.

    Args:
        engine: name.
        physics_step: of its runs.
        statistics: over the seeds that have a value.
        values: figure by seed.
        failures: by seed, why there is no value.
        diverged: whether one of the motions diverged.
    """

    engine: str
    physics_step: Seconds
    statistics: Statistics = field(init=False, metadata=INLINE)
    values: Mapping[int, float]
    failures: Mapping[int, str]
    diverged: bool = field(default=False, metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        object.__setattr__(self, "statistics", statistics_of([*self.values.values()]))


Job = tuple[str, float, int]
"""Engine, physics step and seed of a run."""


def sweep(
    setup: Setup,
    *,
    figure: str,
    engines: Sequence[Engine] = ("reference",),
    physics_steps: Sequence[float] = (),
    seeds: int = 20,
    workers: int = 0,
    done: Callable[[str, float, int], None] = lambda engine, step, seed: None,
) -> list[Cell]:
    """Return the figure of runs from seeds 0, 1, ..., by engine and physics step.

    Args:
        setup: robot and scenario; what is random in it should depend on the seed,
            such as `initial.spread_q`.
        figure: name of a figure of `metrics_of`.
        engines: by name or specification.
        physics_steps: [s]; the scenario's where empty.
        seeds: number of runs in each cell.
        workers: processes; one for each core where 0.
        done: called with each run as it ends.

    Raises:
        AccordError: for no or an unknown engine, an unknown figure, or a step that does not divide
            the period.
    """
    if not engines:
        raise AccordError("name at least one engine to sweep")
    steps = list(dict.fromkeys(physics_steps)) or [setup.scenario.physics_step]
    for step in steps:
        make_scenario({**setup.scenario.data(), "physics_step": step})
    for engine in engines:  # one that is missing is refused here, not in a process
        make_simulator(setup, engine)
    data = setup.scenario.data()
    by_name = {name_of(engine): engine for engine in engines}
    jobs = product(by_name, steps, range(seeds))
    calls = ((data, job, figure, by_name[job[0]]) for job in jobs)
    runs = run_pieces(_run, calls, workers=workers, done=lambda run: done(*run[0]))
    return [_cell(runs[i : i + seeds]) for i in range(0, len(runs), seeds)]


def _run(data: Mapping[str, Json], job: Job, figure: str, engine: Engine) -> tuple[Job, float, str]:
    """Return a figure, and why there is none; infinite where the motion diverged."""
    _, step, seed = job
    setup = Setup.of(make_scenario({**data, "physics_step": step, "seed": seed}))
    try:
        trajectory = run_setup(setup, make_simulator(setup, engine))
    except DivergedError as error:
        return job, math.inf, str(error)
    figures = metrics_of(setup, trajectory)
    check_known("unknown figure ", figure, figures)
    value = float(figures[figure])
    if math.isfinite(value):
        return job, value, ""
    return job, math.nan, f"{figure} is {value}"


def _cell(runs: Sequence[tuple[Job, float, str]]) -> Cell:
    """Return the cell of the runs of an engine at a physics step."""
    values = {seed: value for (*_, seed), value, reason in runs if not reason}
    failures = {seed: reason for (*_, seed), _, reason in runs if reason}
    diverged = any(value == math.inf for _, value, reason in runs)
    return Cell(*runs[0][0][:2], values, failures, diverged)
