"""Run one scenario from many seeds, in several engines and at several physics steps.

A sweep shows how a figure of a run, such as the distance travelled, depends on chance, on the
engine and on the physics step. `sweep` runs every combination in parallel (run/pieces.py) and
returns a `Cell` for each engine and physics step, with the figure of each seed and its statistics
(numerics/statistics.py). Which initial values a seed changes is stated in the scenario, by keys
such as `initial.spread_q`. Seeds count from 0, so that a longer sweep includes a shorter one.
Fields of `Cell` are keys of the JSON of `accord sweep`: they stay, and others may be added with a
default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

from roboaccord.contract import INLINE, LEFT_OUT, Engine, Json, Seconds
from roboaccord.contract.errors import AccordError, DivergedError, check_known
from roboaccord.engines import name_of
from roboaccord.numerics.statistics import Statistics, statistics_of
from roboaccord.run.loop import make_simulator, run_setup
from roboaccord.run.metrics import GeneralFigures, metrics_of
from roboaccord.run.pieces import run_pieces
from roboaccord.scenario import Setup, make_scenario


@dataclass(frozen=True)
class Cell:
    """The runs of one engine at one physics step, from all seeds.

    Args:
        engine: name.
        physics_step: of the runs [s].
        statistics: of the values.
        values: value of the figure by seed, where there is one.
        failures: why there is no value, by seed.
        diverged: whether any of the motions diverged.
        figure: name of the figure; "" where all motions diverged and none was named.
    """

    engine: str
    physics_step: Seconds
    statistics: Statistics = field(init=False, metadata=INLINE)
    values: Mapping[int, float]
    failures: Mapping[int, str]
    diverged: bool = field(default=False, metadata=LEFT_OUT)
    figure: str = field(default="", metadata=LEFT_OUT)

    def __post_init__(self) -> None:
        object.__setattr__(self, "statistics", statistics_of([*self.values.values()]))


class SweepJob(NamedTuple):
    """A run to make: engine, physics step [s] and seed."""

    engine: str
    physics_step: float
    seed: int


class SweepRun(NamedTuple):
    """The figure of a run.

    Args:
        job: the run.
        value: of the figure; infinite where the motion diverged, NaN where it is not finite.
        failure: why there is no value, or "".
        figure: its name.
    """

    job: SweepJob
    value: float
    failure: str
    figure: str


def sweep(
    setup: Setup,
    *,
    figure: str = "",
    engines: Sequence[Engine] = ("reference",),
    physics_steps: Sequence[float] = (),
    seeds: int = 20,
    workers: int = 0,
    done: Callable[[str, float, int], None] = lambda engine, step, seed: None,
) -> list[Cell]:
    """Return the cells of a sweep: one figure of runs from seeds 0, 1, ..., seeds - 1.

    Args:
        setup: robot and scenario, with something that depends on the seed.
        figure: name of a figure of `metrics_of`; "" for the robot's first.
        engines: by name or specification.
        physics_steps: [s]; by default that of the scenario.
        seeds: number of runs in each cell.
        workers: number of processes; 0 for one on each core.
        done: called with engine, physics step and seed when a run has ended.

    Raises:
        AccordError: if there is no engine, for an unknown engine or figure, or if the control
            period is not a whole number of steps.
    """
    engines = [engines] if isinstance(engines, str) else engines
    if not engines:
        raise AccordError("name at least one engine to sweep")
    if not isinstance(seeds, int):
        raise AccordError(f"seeds is their number, such as seeds=3, not {seeds!r}")
    # An error of a step or an engine is raised here, before any process starts.
    steps = list(dict.fromkeys(physics_steps)) or [setup.scenario.physics_step]
    for step in steps:
        make_scenario({**setup.scenario.data(), "physics_step": step})
    for engine in engines:
        make_simulator(setup, engine)
    data = setup.scenario.data()
    # One control period tells which figures there are.
    short = Setup.of(make_scenario({**data, "duration": setup.scenario.control_period}))
    with suppress(DivergedError):
        motion = run_setup(short, make_simulator(short, engines[0]))
        check_known("unknown figure ", figure or (), metrics_of(short, motion))
    by_name = {name_of(engine): engine for engine in engines}
    jobs = (SweepJob(*combination) for combination in product(by_name, steps, range(seeds)))
    calls = ((data, job, figure, by_name[job.engine]) for job in jobs)
    runs = run_pieces(_run, calls, workers=workers, done=lambda run: done(*run.job))
    # The seed is the last factor of the product: the runs of a cell follow each other.
    return [_cell_of(runs[i : i + seeds]) for i in range(0, len(runs), seeds)]


def _run(data: Mapping[str, Json], job: SweepJob, figure: str, engine: Engine) -> SweepRun:
    """Run one job in an engine; `data` are those of the scenario, `figure` is the figure's name."""
    changes = {"physics_step": job.physics_step, "seed": job.seed}
    setup = Setup.of(make_scenario({**data, **changes}))
    try:
        trajectory = run_setup(setup, make_simulator(setup, engine))
    except DivergedError as error:
        return SweepRun(job, math.inf, str(error), figure)
    figures = metrics_of(setup, trajectory)
    own = [name for name in figures if name not in GeneralFigures().figures(())]
    figure = figure or (own or [*figures])[0]
    check_known("unknown figure ", figure, figures)
    value = float(figures[figure])
    if math.isfinite(value):
        return SweepRun(job, value, "", figure)
    return SweepRun(job, math.nan, f"{figure} is {value}", figure)


def _cell_of(runs: Sequence[SweepRun]) -> Cell:
    """Return the cell of all runs of one engine at one physics step."""
    values = {run.job.seed: run.value for run in runs if not run.failure}
    failures = {run.job.seed: run.failure for run in runs if run.failure}
    diverged = any(run.value == math.inf for run in runs)
    figure = max(run.figure for run in runs)  # one name, or ""
    return Cell(runs[0].job.engine, runs[0].job.physics_step, values, failures, diverged, figure)
