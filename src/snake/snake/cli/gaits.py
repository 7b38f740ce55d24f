"""Commands `accord snake gait`, `adapt` and `optimise`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from typing import Annotated

import numpy as np
import typer
from rich.progress import Progress
from roboaccord.cli import (
    Changes,
    Engine,
    ProgressObserver,
    Result,
    Seed,
    choose_engines,
    load_setup,
    progress,
    rendered,
    used_by,
)
from roboaccord.contract import (
    BESIDE,
    INLINE,
    AccordError,
    Controller,
    Hertz,
    MetresPerSecond,
    NewtonMetres,
    Quantity,
    Radians,
    Ratio,
    Seconds,
    Trajectory,
    by_option,
    quantities,
)
from roboaccord.run import make_simulator, metrics_of, run_setup, versions_of
from roboaccord.scenario import Setup, make_controller

from snake.model.coordinates import PlanarSnake, friction_of
from snake.search.adaptive import AdaptationEvent, AdaptiveController
from snake.search.ideal import Figures, Gait, IdealModel
from snake.search.optimise import (
    DEFAULT_GAIT,
    Optimum,
    Task,
    optimise,
    serpenoid_of,
    setup_of,
    steady_figures,
    window,
)
from snake.simulators.metrics import STEADY, is_steady, last_cycles, speed_and_cost_of_last

GAIT = ("amplitude", "frequency", "waves")
LAST = 4.0  # s: of a run over a change of ground, over which the speed on the second is taken


class GaitName(StrEnum):
    """The gaits by name: the serpenoid, and the post's as its author coded and described it."""

    serpenoid = "serpenoid"
    as_coded = "as_coded"
    as_described = "as_described"


@by_option(
    "gait serpenoid", "amplitude frequency waves", "", "joints mu-along mu-across engine duration"
)
def gait_command(
    gait: Annotated[GaitName, typer.Option(help="Name of the gait.")] = GaitName.serpenoid,
    joints: Annotated[int, typer.Option(help="Number of joints.")] = 21,
    amplitude: Annotated[Radians, typer.Option(help="Amplitude of every joint.")] = 0.4,
    frequency: Annotated[Hertz, typer.Option(help="Frequency of the wave.")] = 1.0,
    waves: Annotated[Ratio, typer.Option(help="Number of waves on the body.")] = 1.5,
    mu_along: Annotated[Ratio, typer.Option(help="Friction coefficient along the body.")] = 0.1,
    mu_across: Annotated[Ratio, typer.Option(help="Friction coefficient across the body.")] = 1.0,
    engine: Engine = "reference",
    duration: Annotated[Seconds, typer.Option(help="Duration of the run.")] = 10.0,
) -> Result:
    """Measure a gait: speed, effort and cost of transport.

    Amplitude, frequency and waves are the serpenoid's. Speed and cost of transport are of the last
    half of all cycles, at least two, without the start; the other figures are of the whole run. A
    gait is steady when these cycles all have the same speed within 1 %; until then speed and cost
    depend on the duration. The motion of as_coded and as_described is sensitive: compare figures
    over seeds, with accord sweep, and not single runs.

    Examples:

      accord snake gait

      accord snake gait --gait as_coded

      accord snake gait --joints 20 --mu-along 0.5 --engine dart --json
    """
    serpenoid = gait is GaitName.serpenoid
    changes = [
        f"parameters.joints={joints}",
        serpenoid_of(amplitude, frequency, waves)
        if serpenoid
        else f"controller={{name: {gait.value}}}",
        f"friction.mu_along={mu_along!r}",
        f"friction.mu_across={mu_across!r}",
        f"duration={duration!r}",
    ]
    setup = load_setup("snake", "serpenoid", changes)
    found, remarks = gait_figures(setup, engine)
    used = used_by(setup, "control_period", "physics_step", "seed")
    return Result(found, [*rendered(found), *remarks], used=used)


@dataclass(frozen=True, kw_only=True)
class MeasuredGait:
    """Hold the figures of a gait, with the unit of each and the versions of the software."""

    speed: MetresPerSecond
    displacement: Annotated[list[float], Quantity("m")]
    peak_effort: NewtonMetres
    work: Annotated[float, Quantity("J")]
    cost_of_transport: Ratio
    steady: bool
    engine: str
    units: Mapping[str, str]
    versions: Mapping[str, str]


def gait_figures(setup: Setup, engine: str) -> tuple[MeasuredGait, list[str]]:
    """Run a setup; return its figures, and a remark on whether the gait is steady."""
    with progress() as bar:
        trajectory = run_shown(setup, engine, bar)
    figures = metrics_of(setup, trajectory)
    speed, cost, travel = speed_and_cost_of_last(setup, trajectory)
    found = MeasuredGait(
        speed=speed,
        displacement=[figures["displacement_x"], figures["displacement_y"]],
        peak_effort=figures["peak_effort"],
        work=figures["work"],
        cost_of_transport=cost,
        steady=is_steady(travel),
        engine=engine,
        units={name: each.unit for name, each in quantities(MeasuredGait).items()},
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    if len(travel) < 2:
        return found, ["not yet steady: the run has less than two whole cycles after its start"]
    cycles = f"the last {len(last_cycles(travel))} cycles, of which speed and cost of transport are"
    steady, most = ("steady", "at most") if found.steady else ("not yet steady", "more than")
    return found, [f"{steady}: {cycles}, differ by {most} {100 * STEADY:g} %"]


def adapt_command(
    mu_along: Annotated[
        Ratio, typer.Option(help="Friction coefficient of the second ground, along the body.")
    ] = 0.5,
    mu_across: Annotated[
        Ratio, typer.Option(help="Friction coefficient of the second ground, across the body.")
    ] = 1.0,
    engine: Engine = "reference",
    duration: Annotated[Seconds, typer.Option(min=8.0, help="Duration of the run.")] = 15.0,
    changes: Changes = None,
) -> Result:
    """Cross a change of ground with the adaptive controller, and with the same gait kept.

    The scenario is change_of_ground. Speed and cost of transport are of the last 4 s.

    Examples:

      accord snake adapt

      accord snake adapt --mu-along 0.3 --mu-across 0.5 --engine mujoco --json
    """
    ground = f"friction.beyond={{x: 3.0, mu_along: {mu_along!r}, mu_across: {mu_across!r}}}"
    given = [ground, f"duration={duration!r}", *(changes or [])]
    setup = load_setup("snake", "change_of_ground", given)
    if setup.scenario.controller.get("name") != "adaptive":
        raise AccordError("adapt is about the controller adaptive; use accord run for another one")
    if not setup.scenario.friction.get("beyond"):
        raise AccordError("adapt needs a second ground: friction.beyond is empty")
    kept = serpenoid_of(*(setup.scenario.controller[key] for key in GAIT))
    fixed = load_setup("snake", "change_of_ground", [*given, kept])
    controller = make_controller(setup)
    assert isinstance(controller, AdaptiveController)
    with progress() as bar:
        trajectory = run_shown(setup, engine, bar, "adaptive", controller)
        stayed = run_shown(fixed, engine, bar, "kept")
    reached, left = crossing(setup, trajectory)
    start = setup.scenario.duration - LAST
    found = Adaptation(
        engine=engine,
        mu_along=mu_along,
        mu_across=mu_across,
        head_crosses=reached,
        tail_crosses=left,
        findings=controller.findings,
        adaptive=steady_figures(setup, trajectory, start, LAST),
        kept=steady_figures(fixed, stayed, start, LAST),
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    return Result(found, used=used_by(setup, "duration", "physics_step", "seed"))


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """Hold what the controller noticed of a change of ground, and what that is worth."""

    engine: str
    mu_along: float
    mu_across: float
    head_crosses: Annotated[float | None, Quantity("s", "comes to the second ground")]
    tail_crosses: Annotated[float | None, Quantity("s")]
    findings: Sequence[AdaptationEvent]
    adaptive: Annotated[Figures, Quantity("", name=f"adaptive, last {LAST:g} s")]
    kept: Annotated[Figures, Quantity("", name=f"gait kept, last {LAST:g} s")]
    versions: Mapping[str, str]


def run_shown(
    setup: Setup, engine: str, bar: Progress, label: str = "", controller: Controller | None = None
) -> Trajectory:
    """Run a setup in an engine, and show on a bar how much of it is done."""
    watch = ProgressObserver(bar, label or engine, setup.scenario.duration)
    return run_setup(setup, make_simulator(setup, engine), (watch,), controller)


def crossing(setup: Setup, trajectory: Trajectory) -> tuple[float | None, float | None]:
    """Return when the head and when the tail first come to the second ground [s]."""
    line = float(setup.scenario.friction["beyond"]["x"])
    x = PlanarSnake(setup.parameters).middles(trajectory)[:, :, 0]
    there = (np.flatnonzero(end > line) for end in (x[:, -1], x[:, 0]))
    head, tail = (float(trajectory.time[found[0]]) if len(found) else None for found in there)
    return head, tail


class Objective(StrEnum):
    """Objectives of the optimisation."""

    speed = "speed"
    cost = "cost"


@dataclass(frozen=True)
class Measured:
    """Hold a gait and its figures in the model."""

    gait: Gait = field(metadata=INLINE)
    figures: Figures = field(metadata=INLINE)


@dataclass(frozen=True)
class Settled(Figures):
    """Hold the settled figures of a run, and the peak effort of its start."""

    peak_effort_start: NewtonMetres


@dataclass(frozen=True)
class Pair:
    """Hold the default gait beside the best, and how much better that is."""

    default: Figures = field(metadata=BESIDE)
    optimum: Figures = field(metadata=BESIDE)
    gain: Annotated[float, Quantity("%", "faster, or cheaper", form="+.0f")]

    @classmethod
    def of(cls, default: Figures, optimum: Figures, objective: str) -> Pair:
        """Compare by an objective."""
        if objective == "cost":
            share = 1.0 - optimum.cost_of_transport / default.cost_of_transport
        else:
            share = (optimum.speed - default.speed) / abs(default.speed)
        return cls(default, optimum, 100.0 * share)


@dataclass(frozen=True, kw_only=True)
class Optimisation:
    """Hold the best gait for a ground, and its figures in the engines."""

    objective: str
    mu_along: float
    mu_across: float
    joints: int
    max_effort: NewtonMetres
    max_frequency: float
    min_speed: Annotated[float | None, Quantity("m/s", "the least that was allowed")]
    seed: int
    evaluations: Annotated[int, Quantity("", name="gaits evaluated")]
    optimum: Annotated[Measured, Quantity("", name="optimum, ideally tracked")]
    default: Annotated[Measured, Quantity("", name="default, ideally tracked")]
    at_bounds: Annotated[Mapping[str, float], Quantity("", name="at its bound")]
    gain: Annotated[float, Quantity("%", "over the default gait", form="+.0f")]
    confirmed: Annotated[Mapping[str, Pair], Quantity("", "confirmed in full simulation")]
    versions: Mapping[str, str]


MinSpeed = Annotated[
    MetresPerSecond | None,
    typer.Option(
        help="Lowest speed allowed when cost is minimised. Default: half the default gait's. "
        "Without a limit the cheapest gait would be the slowest."
    ),
]
ConfirmIn = Annotated[
    str,
    typer.Option(
        metavar="LIST",
        help="Where to confirm the result, separated by commas: reference, dart, mujoco. "
        "Default: reference, and dart where it is installed.",
    ),
]


@by_option(
    "objective cost", "min-speed", "",
    "mu-along mu-across max-effort joints max-frequency engines seed",
)  # fmt: skip
def optimise_command(
    mu_along: Annotated[Ratio, typer.Option(help="Friction coefficient along the body.")] = 0.1,
    mu_across: Annotated[Ratio, typer.Option(help="Friction coefficient across the body.")] = 1.0,
    objective: Annotated[
        Objective, typer.Option(help="Objective: highest speed, or least cost of transport.")
    ] = Objective.speed,
    max_effort: Annotated[
        NewtonMetres | None,
        typer.Option(help="Largest effort of any joint. Default: the robot's limit."),
    ] = None,
    joints: Annotated[int, typer.Option(help="Number of joints.")] = 21,
    max_frequency: Annotated[Hertz, typer.Option(help="Highest frequency of the wave.")] = 3.0,
    min_speed: MinSpeed = None,
    engines: ConfirmIn = "",
    seed: Seed = 0,
) -> Result:
    """Find the best serpenoid for a ground: amplitude, frequency and waves.

    Gaits are compared by the ideally tracked gait. The best one and the default one (0.4 rad,
    1 Hz, 1.5 waves) then run in full simulation. Speed is along the heading, so a gait that goes
    backwards has a negative one; a negative frequency runs the wave from the tail to the head.

    Examples:

      accord snake optimise --max-effort 3

      accord snake optimise --mu-along 0.5 --mu-across 1 --objective cost --min-speed 0.3 --json
    """
    setup_for = partial(setup_of, joints=joints, mu_along=mu_along, mu_across=mu_across)
    setup = setup_for(DEFAULT_GAIT)
    model = IdealModel(setup.parameters, *friction_of(setup))
    default = model.evaluate(DEFAULT_GAIT)
    task = Task(
        objective=objective.value,
        max_effort=float(setup.effort_limits.max()) if max_effort is None else max_effort,
        max_frequency=max_frequency,
        min_speed=0.5 * abs(default.speed) if min_speed is None else min_speed,
        seed=seed,
    )
    simulators = {  # without a list all but MuJoCo
        name: make_simulator(setup, name)
        for name in choose_engines(engines)
        if engines or name != "mujoco"
    }
    with progress() as bar:
        found = search(model, task, bar)
        confirmed = {name: confirm(setup_for, found.gait, name, task, bar) for name in simulators}
    best = Optimisation(
        objective=task.objective,
        mu_along=mu_along,
        mu_across=mu_across,
        joints=joints,
        max_effort=task.max_effort,
        max_frequency=max_frequency,
        min_speed=task.min_speed if task.objective == "cost" else None,
        seed=seed,
        evaluations=found.evaluations,
        optimum=Measured(found.gait, found.figures),
        default=Measured(DEFAULT_GAIT, default),
        at_bounds=found.bounds,
        gain=Pair.of(default, found.figures, task.objective).gain,
        confirmed=confirmed,
        versions=versions_of(setup, simulators.values()),
    )
    used = {"max_effort": best.max_effort, "min_speed": best.min_speed}
    return Result(best, used={**used, "engines": list(simulators)})


def search(model: IdealModel, task: Task, bar: Progress) -> Optimum:
    """Search the best gait, and show on a bar how much of it is done."""
    number = bar.add_task("searching", total=None)
    return optimise(
        model, task, lambda done, total: bar.update(number, completed=done, total=total)
    )


def confirm(
    setup_for: Callable[[Gait], Setup], best: Gait, engine: str, task: Task, bar: Progress
) -> Pair:
    """Run both gaits in an engine: their figures are settled, with the peak effort of the start."""
    found = list[Settled]()
    for gait in (DEFAULT_GAIT, best):
        setup = setup_for(gait)
        trajectory = run_shown(setup, engine, bar)
        figures = steady_figures(setup, trajectory, *window(gait))
        peak = float(abs(trajectory.effort).max())
        found.append(Settled(**asdict(figures), peak_effort_start=peak))
    return Pair.of(found[0], found[1], task.objective)
