"""Command `accord snake adapt`: does the adaptive controller help where the ground changes?

The scenario change_of_ground runs twice: with the controller `adaptive`, which measures the
friction and searches a gait for it (adaptive.py), and with the first gait kept throughout. Speed
and cost of transport in the last seconds of both runs are compared. The ground is defined in the
scenario and by the options.

MEASURING_TIME stays, for the help of the command and docs/snake_optimise.md state it, and so does
LINE_X, which is that of the scenario. The fields of `Adaptation` are keys of the JSON
output, and stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import Changes, Engine, Result, load_setup, progress, used_by
from roboaccord.contract import AccordError, Array, Quantity, Ratio, Seconds, Trajectory
from roboaccord.run import make_simulator, versions_of
from roboaccord.scenario import Setup, make_controller
from snake.model.coordinates import PlanarSnake

from roboaccord_studies.snake.adaptive import AdaptationEvent, AdaptiveController
from roboaccord_studies.snake.gait import run_shown, serpenoid_of, steady_figures
from roboaccord_studies.snake.ideal import Figures

GAIT = ("amplitude", "frequency", "waves")  # keys of the controller, the parameters of its gait
# s: time at the end of a run over which figures on the second ground are taken: as long as a
# measurement (gait.MEASURING_TIME).
MEASURING_TIME = 4.0
LINE_X = 3.0  # m: x of the line at which the second ground begins
# Options of the command.
MU_ALONG = typer.Option(help="Friction coefficient of the second ground, along the body.")
MU_ACROSS = typer.Option(help="Friction coefficient of the second ground, across the body.")


@dataclass(frozen=True, kw_only=True)
class Adaptation:
    """What the controller noticed of a change of ground, and the figures of both runs.

    Args:
        engine: that ran both.
        mu_along, mu_across: friction coefficients of the second ground.
        head_crosses, tail_crosses: when head and tail first reach it; None if never.
        findings: events of the adaptation, in order.
        adaptive, kept: figures at the end of the run with the adaptive controller, and of that with
            the first gait kept.
        versions: of the software.
    """

    engine: str
    mu_along: float
    mu_across: float
    head_crosses: Annotated[float | None, Quantity("s", "comes to the second ground")]
    tail_crosses: Annotated[float | None, Quantity("s")]
    findings: Sequence[AdaptationEvent]
    adaptive: Annotated[Figures, Quantity("", name=f"adaptive, last {MEASURING_TIME:g} s")]
    kept: Annotated[Figures, Quantity("", name=f"gait kept, last {MEASURING_TIME:g} s")]
    versions: Mapping[str, str]


def adapt_command(
    mu_along: Annotated[Ratio, MU_ALONG] = 0.5,
    mu_across: Annotated[Ratio, MU_ACROSS] = 1.0,
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
    ground = f"friction.beyond={{x: {LINE_X!r}, mu_along: {mu_along!r}, mu_across: {mu_across!r}}}"
    settings = [ground, f"duration={duration!r}", *(changes or [])]
    setup = load_setup("snake", "change_of_ground", settings)
    if setup.scenario.controller.get("name") != "adaptive":
        raise AccordError("adapt is about the controller adaptive; use accord run for another one")
    if not setup.scenario.friction.get("beyond"):
        raise AccordError("adapt needs a second ground: friction.beyond is empty")
    kept_gait = serpenoid_of(*(setup.scenario.controller[key] for key in GAIT))
    fixed_setup = load_setup("snake", "change_of_ground", [*settings, kept_gait])
    controller = make_controller(setup)
    assert isinstance(controller, AdaptiveController)
    with progress() as bar:
        adaptive = run_shown(setup, engine, bar, "adaptive", controller)
        fixed = run_shown(fixed_setup, engine, bar, "kept")
    head_crosses, tail_crosses = crossing(setup, adaptive)
    start = setup.scenario.duration - MEASURING_TIME
    adaptation = Adaptation(
        engine=engine,
        mu_along=mu_along,
        mu_across=mu_across,
        head_crosses=head_crosses,
        tail_crosses=tail_crosses,
        findings=controller.findings,
        adaptive=steady_figures(setup, adaptive, start, MEASURING_TIME),
        kept=steady_figures(fixed_setup, fixed, start, MEASURING_TIME),
        versions=versions_of(setup, [make_simulator(setup, engine)]),
    )
    return Result(adaptation, used=used_by(setup, "duration", "physics_step", "seed"))


def crossing(setup: Setup, trajectory: Trajectory) -> tuple[float | None, float | None]:
    """Return the times at which head and tail first reach the second ground [s]; None if never."""
    change_x = float(setup.scenario.friction["beyond"]["x"])
    # Of the links' centres (k, N) [m], from the tail to the head.
    x = PlanarSnake(setup.parameters).link_centres(trajectory)[:, :, 0]

    def first_time(end_x: Array) -> float | None:
        """Return the first time at which an end of the body, with x (k,) [m], is beyond it [s]."""
        ticks = np.flatnonzero(end_x > change_x)
        return float(trajectory.time[ticks[0]]) if len(ticks) else None

    return first_time(x[:, -1]), first_time(x[:, 0])
