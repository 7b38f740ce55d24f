"""Command `accord snake optimise`: the best serpenoid gait for a ground.

In a serpenoid gait a wave of joint angles runs along the snake, with an amplitude, a frequency and
a number of waves on the body. The command searches these three (../optimise.py) by the model of
ideal.py, in which the joints follow the gait exactly. Then it runs the best gait and the default
one in full simulation (../gait.py), to confirm the gain in speed or in cost of transport, the work
over weight and distance.

The fields of `Optimisation`, `Pair` and `Settled` are keys of the JSON output, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import partial
from typing import Annotated

import typer
from rich.progress import Progress
from roboaccord.cli import Result, Seed, choose_engines, progress
from roboaccord.contract import by_option
from roboaccord.contract import results as si
from roboaccord.run import make_simulator, versions_of
from roboaccord.scenario import Setup
from snake.model.ground import friction_of

from roboaccord_studies.snake import gait as gaits
from roboaccord_studies.snake.compass import Task
from roboaccord_studies.snake.ideal import Figures, Gait, IdealModel
from roboaccord_studies.snake.optimise import optimise


class Objective(StrEnum):
    """What is optimised: the speed, or the cost of transport."""

    speed = "speed"
    cost = "cost"


@dataclass(frozen=True)
class Measured:
    """A gait and its figures in the model."""

    gait: Gait = field(metadata=si.INLINE)
    figures: Figures = field(metadata=si.INLINE)


@dataclass(frozen=True)
class Settled(Figures):
    """The figures of a run after its start, and the peak effort including the start."""

    peak_effort_start: si.NewtonMetres


@dataclass(frozen=True)
class Pair:
    """The figures of the default gait and of the best one, and the gain [%]."""

    default: Figures = field(metadata=si.BESIDE)
    optimum: Figures = field(metadata=si.BESIDE)
    gain: Annotated[float, si.Quantity("%", "faster, or cheaper", form="+.0f")]

    @classmethod
    def of(cls, default: Figures, optimum: Figures, objective: str) -> Pair:
        """Return the pair with its gain by an objective, `speed` or `cost`."""
        if objective == "cost":
            relative_gain = 1.0 - optimum.cost_of_transport / default.cost_of_transport
        else:
            relative_gain = (optimum.speed - default.speed) / abs(default.speed)
        return cls(default, optimum, 100.0 * relative_gain)


@dataclass(frozen=True, kw_only=True)
class Optimisation:
    """The best gait for a ground, and its figures in the engines.

    Args:
        objective, mu_along, mu_across, joints, max_effort, max_frequency, min_speed, seed: options
            of the command, as they were in force.
        evaluations: number of gaits that the search evaluated.
        optimum, default: the best gait and the default one, in the model of ideal.py.
        at_bounds: parameters of the best gait that are at a bound, with the bound, by name.
        gain: of the best gait over the default one, by the objective, in the model.
        confirmed: both gaits in full simulation, by engine.
        versions: of the software.
    """

    objective: str
    mu_along: float
    mu_across: float
    joints: int
    max_effort: si.NewtonMetres
    max_frequency: float
    min_speed: Annotated[float | None, si.Quantity("m/s", "the least that was allowed")]
    seed: int
    evaluations: Annotated[int, si.Quantity("", name="gaits evaluated")]
    optimum: Annotated[Measured, si.Quantity("", name="optimum, ideally tracked")]
    default: Annotated[Measured, si.Quantity("", name="default, ideally tracked")]
    at_bounds: Annotated[Mapping[str, float], si.Quantity("", name="at its bound")]
    gain: Annotated[float, si.Quantity("%", "over the default gait", form="+.0f")]
    confirmed: Annotated[Mapping[str, Pair], si.Quantity("", "confirmed in full simulation")]
    versions: Mapping[str, str]


# Options of the command. `by_option` refuses --min-speed without --objective cost, and accepts
# those of COMMON_OPTIONS with both objectives.
OBJECTIVE = typer.Option(help="Objective: highest speed, or least cost of transport.")
MAX_EFFORT = typer.Option(help="Largest effort of any joint. Default: the robot's limit.")
MIN_SPEED = typer.Option(
    help="Lowest speed allowed when cost is minimised. Default: half the default gait's. Without a "
    "limit the cheapest gait would be the slowest."
)
ENGINES = typer.Option(
    metavar="LIST",
    help="Where to confirm the result, separated by commas: reference, dart, mujoco. Default: "
    "reference, and dart where it is installed.",
)
COMMON_OPTIONS = "mu-along mu-across max-effort joints max-frequency engines seed"


@by_option("objective cost", "min-speed", "", COMMON_OPTIONS)
def optimise_command(
    mu_along: Annotated[si.Ratio, gaits.MU_ALONG] = 0.1,
    mu_across: Annotated[si.Ratio, gaits.MU_ACROSS] = 1.0,
    objective: Annotated[Objective, OBJECTIVE] = Objective.speed,
    max_effort: Annotated[si.NewtonMetres | None, MAX_EFFORT] = None,
    joints: Annotated[int, gaits.JOINTS] = 21,
    max_frequency: Annotated[si.Hertz, typer.Option(help="Highest frequency of the wave.")] = 3.0,
    min_speed: Annotated[si.MetresPerSecond | None, MIN_SPEED] = None,
    engines: Annotated[str, ENGINES] = "",
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
    setup_for = partial(gaits.setup_of, joints=joints, mu_along=mu_along, mu_across=mu_across)
    setup = setup_for(gaits.DEFAULT_GAIT)
    model = IdealModel(setup.parameters, *friction_of(setup))
    default = model.evaluate(gaits.DEFAULT_GAIT)
    task = Task(
        objective=objective.value,
        max_effort=float(setup.effort_limits.max()) if max_effort is None else max_effort,
        max_frequency=max_frequency,
        min_speed=0.5 * abs(default.speed) if min_speed is None else min_speed,
        seed=seed,
    )
    # MuJoCo only if it is named.
    chosen = [name for name in choose_engines(engines) if engines or name != "mujoco"]
    simulators = {name: make_simulator(setup, name) for name in chosen}
    with progress() as bar:
        search = bar.add_task("searching", total=None)

        def show(count: int, total: int) -> None:
            """Show how many gaits have been evaluated."""
            bar.update(search, completed=count, total=total)

        optimum = optimise(model, task, show)
        confirmed = {name: confirm(setup_for, optimum.gait, name, task, bar) for name in simulators}
    least_speed = task.min_speed if task.objective == "cost" else None
    best = Optimisation(
        objective=task.objective,
        mu_along=mu_along,
        mu_across=mu_across,
        joints=joints,
        max_effort=task.max_effort,
        max_frequency=max_frequency,
        min_speed=least_speed,
        seed=seed,
        evaluations=optimum.evaluations,
        optimum=Measured(optimum.gait, optimum.figures),
        default=Measured(gaits.DEFAULT_GAIT, default),
        at_bounds=optimum.bounds,
        gain=Pair.of(default, optimum.figures, task.objective).gain,
        confirmed=confirmed,
        versions=versions_of(setup, simulators.values()),
    )
    # Values of options that are not given.
    defaults = {"max_effort": task.max_effort, "min_speed": least_speed}
    return Result(best, used={**defaults, "engines": list(simulators)})


def confirm(
    setup_for: Callable[[Gait], Setup], best: Gait, engine: str, task: Task, bar: Progress
) -> Pair:
    """Run the default and the best gait in an engine, and return their figures after the start.

    Args:
        setup_for: returns the setup of a gait on the ground.
        best: the best gait.
        engine: name of the engine.
        task: objective of the search.
        bar: shows how much of the runs is done.
    """
    settled_figures = list[Settled]()
    for gait in (gaits.DEFAULT_GAIT, best):
        setup = setup_for(gait)
        trajectory = gaits.run_shown(setup, engine, bar)
        figures = gaits.steady_figures(setup, trajectory, *gaits.window(gait))
        peak = float(abs(trajectory.effort).max())
        settled_figures.append(Settled(**asdict(figures), peak_effort_start=peak))
    return Pair.of(settled_figures[0], settled_figures[1], task.objective)
