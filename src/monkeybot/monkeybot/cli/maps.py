"""Commands on maps and walks: `accord monkeybot landscape`, `stability`, `basin` and others."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from roboaccord.cli import (
    Force,
    Out,
    Result,
    Seed,
    command_line,
    counted,
    file_line,
    in_pieces,
    lines_of,
    results,
    tables_of,
)
from roboaccord.contract import (
    INLINE,
    LEFT_OUT,
    AccordError,
    Array,
    Quantity,
    Radians,
    RadiansPerSecond,
    Ratio,
    Seconds,
)
from roboaccord.run import made_with, write_text

from monkeybot.cli.options import (
    Changes,
    GaitName,
    Samples,
    Span,
    Steps,
    Tolerance,
    Torque,
    robot_parameters,
)
from monkeybot.gaits.clocked import shipped_level
from monkeybot.gaits.gait import Gait, evaluate, horizontal
from monkeybot.gaits.landscape import LIMIT, Landscape, Lowest, landscape, save_map, span
from monkeybot.gaits.orbits import shipped_gait
from monkeybot.model.hybrid import TOLERANCE
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.basin import Basin, Disturbance, Draws, Robustness, basin, robustness
from monkeybot.stability.lqr import SAMPLE, held_by_feedback, held_gait
from monkeybot.stability.maps import (
    MARGINS,
    Best,
    Robot,
    better_robot,
    design_map,
    shipped_robot,
    stability_map,
)
from monkeybot.stability.pictures import (
    render_landscape,
    write_design,
    write_map,
    write_stability,
    write_surface,
)

MADE_WITH = ("roboaccord-monkeybot", "numba")
COLUMNS = (
    "shape.centre", "shape.inertia", "level.best.radius", "level.best.period",
    "level.best.torque", "level.stable", "level.width",
)  # fmt: skip


@in_pieces()
def landscape_command(
    w1: Annotated[
        Span,
        Quantity("rad/s"),
        typer.Option(
            "--w1", metavar="A B N", help="Grid of the rate of th1: N values from A to B."
        ),
    ] = (0.0, 3.0, 301),
    w2: Annotated[
        Span,
        Quantity("rad/s"),
        typer.Option(
            "--w2", metavar="A B N", help="Grid of the rate of th2: N values from A to B."
        ),
    ] = (8.0, 14.0, 301),
    torque: Torque = 2.0,
    folder: Out = None,
    force: Force = False,
    limit: Annotated[
        Seconds, typer.Option(help="Time after which a phase has missed its event.")
    ] = LIMIT,
    changes: Changes = None,
    tolerance: Tolerance = TOLERANCE,
) -> Result:
    """Evaluate the report's gait from a grid of rates, both links hanging straight.

    Writes landscape.npz, an interactive landscape.html, and as pictures surface.svg and map.svg:
    the root of the error, cut off at 5, with its minima. A start that never reaches the line has
    none (NaN).

    Examples:

      accord monkeybot landscape --w1 0 3 301 --w2 8 14 301 --torque 2 --out landscape

      accord monkeybot landscape --w1 2 8 151 --w2 0 8 151 --torque 2 --out low --json
    """
    rates = span(*w1, "--w1"), span(*w2, "--w2")
    if not 0.0 < limit < np.inf:
        raise AccordError(f"--limit is {limit:g}, and must be positive")
    parameters, gait = robot_parameters(changes), horizontal(torque, limit=limit)
    with results(folder, "monkeybot_landscape", force=force) as place:
        found, speed = measured(gait, parameters, *rates, tolerance)
        files = write_all(found, place, torque, parameters)
    return Result(
        Mapped(
            gaits=found.error.size,
            missed=found.missed,
            gaits_per_second=speed,
            minimum=found.minimum,
            minima=len(found.minima),
            files=files,
        )
    )


@dataclass(frozen=True, kw_only=True)
class Mapped:
    """Hold how many gaits a landscape has, and the least error."""

    gaits: Annotated[int, Quantity("")]
    missed: Annotated[int, Quantity("", "gaits that miss an event")] = field(metadata=LEFT_OUT)
    gaits_per_second: Annotated[float | None, Quantity("gaits/s", name="speed", form=".0f")]
    minimum: Lowest
    minima: Annotated[int, Quantity("", "of the grid")] = field(metadata=LEFT_OUT)
    files: list[Path]


def measured(
    gait: Gait, parameters: MonkeyBotParameters, w1: Array, w2: Array, tolerance: float
) -> tuple[Landscape, float]:
    """Return a landscape and the speed at which it was evaluated [gaits/s], compiling not counted.

    Raises:
        AccordError: if no start gets to the end.
    """
    with counted(len(w1) * len(w2), "evaluating") as done:
        evaluate(gait, parameters, np.array([w1[0], w2[0]]), tolerance=tolerance)
        start = time.perf_counter()
        field = landscape(gait, parameters, w1, w2, tolerance=tolerance, done=done)
        elapsed = time.perf_counter() - start
    return field, field.error.size / elapsed


def write_all(
    field: Landscape, place: Path, torque: float, parameters: MonkeyBotParameters
) -> list[Path]:
    """Write data, page and pictures of a landscape, and return their files."""
    data, page, surface, flat = files = [
        place / name for name in ("landscape.npz", "landscape.html", "surface.svg", "map.svg")
    ]
    lowest, versions = field.lowest, made_with(*MADE_WITH)
    save_map(field.arrays | {"torque": np.array(torque)}, data, parameters, versions)
    html = render_landscape(
        field,
        f"Error of the horizontal gait at {torque:g} N m",
        command=command_line(),
        facts={
            "lowest error": f"{lowest[2]:.4g} at w1 = {lowest[0]:g}, w2 = {lowest[1]:g} rad/s",
            "starts that miss an event": str(field.missed),
            **versions,
        },
    )
    write_text(page, html)
    write_surface(field, surface)
    write_map(field, flat)
    return files


@in_pieces()
def stability_command(
    period: Annotated[
        Span,
        Quantity("s"),
        typer.Option(metavar="A B N", help="Grid of the period of a step: N values from A to B."),
    ] = (0.88, 1.0, 49),
    torque: Annotated[
        Span,
        Quantity("N m"),
        typer.Option(
            metavar="A B N", help="Grid of the torque on the elbow: N values from A to B."
        ),
    ] = (0.0, 1.0, 41),
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Follow the gait of constant torque, hands changed by the clock, over a grid.

    Writes stability.npz and stability.svg: the spectral radius (stable below 1), drop and stride of
    each gait. On one line of the map the gaits keep their height, elsewhere they drop or rise. Grey
    in the picture and NaN in the data: the branch of these gaits does not extend that far.

    Examples:

      accord monkeybot stability --out stability

      accord monkeybot stability --period 0.92 0.95 31 --torque 0.4 0.8 41 --out near --json
    """
    periods, torques = span(*period, "--period", above=0.0), span(*torque, "--torque")
    parameters = robot_parameters(changes)
    with (
        results(folder, "monkeybot_stability", force=force) as place,
        counted(len(periods) * len(torques), "following") as done,
    ):
        found = stability_map(parameters, periods, torques, done=done)
        level = shipped_level(parameters)
        files = [place / "stability.npz", place / "stability.svg"]
        save_map(vars(found), files[0], parameters, made_with(*MADE_WITH))
        write_stability(found, level, files[1])
    best = level.best
    return Result(
        Stability(
            gaits=int(np.isfinite(found.radius).sum()),
            stable=found.stable,
            best=found.best,
            best_horizontal=Best(best.period, best.torque, best.radius),
            stable_periods=level.stable,
            files=files,
        )
    )


@dataclass(frozen=True, kw_only=True)
class Stability:
    """Hold how many gaits there are and are stable, and the best."""

    gaits: Annotated[int, Quantity("", "to which the shipped one was followed")]
    stable: Annotated[int, Quantity("")]
    best: Best
    best_horizontal: Best
    stable_periods: Annotated[tuple[float, float], Quantity("s", "of horizontal gaits", form=".5g")]
    files: list[Path]


@in_pieces()
def design_command(
    centre: Annotated[
        Span,
        Quantity("L"),
        typer.Option(
            metavar="A B N",
            help="Grid of the distance from hand to centre of gravity; L: length of a link.",
        ),
    ] = (0.72, 0.96, 25),
    inertia: Annotated[
        Span,
        Quantity("m L^2"),
        typer.Option(metavar="A B N", help="Grid of the inertia about the centre of gravity."),
    ] = (0.004, 0.076, 25),
    largest: Annotated[
        Ratio,
        typer.Option(
            "--largest-radius",
            min=0.0,
            max=1.0,
            help="Largest spectral radius of a gait that counts as stable, for the ranges of "
            "periods.",
        ),
    ] = 0.98,
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Map how stable the horizontal clocked gait is over the shape of the links, both alike.

    The multipliers do not depend on mass, length or gravity, only on the position of the centre of
    gravity and on the inertia. Then finds, within the grid, the robots with the smallest spectral
    radius and with the widest range of stable periods. Writes design.npz, radius.svg and
    width.svg. Grey: no body inside the link has these values, or the gait could not be followed
    that far.

    Examples:

      accord monkeybot design --out design

      accord monkeybot design --centre 0.85 0.95 11 --inertia 0.02 0.06 9 --out near --json
    """
    centres, inertias = span(*centre, "--centre"), span(*inertia, "--inertia")
    parameters = robot_parameters(changes)
    with (
        results(folder, "monkeybot_design", force=force) as place,
        counted(len(centres) * len(inertias), "following") as done,
    ):
        found = design_map(parameters, centres, inertias, largest=largest, done=done)
        robots = {"this robot": shipped_robot(parameters, largest)}
        robots |= {f"best {margin}": better_robot(found, margin) for margin in MARGINS}
        files = [place / "design.npz"]
        save_map(found.arrays, files[0], parameters, made_with(*MADE_WITH))
        for margin in MARGINS:
            files.append(place / f"{margin}.svg")
            write_design(found, margin, robots["this robot"], robots[f"best {margin}"], files[-1])
    followed = found.robots.values()
    stable = sum(robot.level.best.radius < 1.0 for robot in followed)
    design = Design(len(followed), stable, robots, files)
    table = tables_of([*robots.values()], *COLUMNS, labels=robots)
    explained = Text("L, m: length and mass of a link")
    return Result(design, [*lines_of(design), *table, explained, file_line(files)])


@dataclass(frozen=True)
class Design:
    """Hold how many robots were followed and are stable, and the best by name."""

    robots_followed: Annotated[int, Quantity("")]
    robots_stable: Annotated[int, Quantity("", "at some period")]
    robots: Mapping[str, Robot]
    files: list[Path]


SIZES = {  # of each disturbance, where none is asked for
    "jitter": (0.5e-3, 1e-3, 2e-3, 5e-3, 10e-3),  # s
    "torque_error": (0.005, 0.01, 0.02, 0.05),
    "parameter_error": (0.001, 0.002, 0.005, 0.01),
}


class Spread(StrEnum):
    """Distribution of the jitter."""

    uniform = "uniform"
    normal = "normal"


@dataclass(frozen=True)
class Walked:
    """Hold what was asked, and the share of walks that survived."""

    gait: str
    sd_angle: Radians
    sd_rate: RadiansPerSecond
    draws: Draws = field(metadata=INLINE)
    found: Basin = field(metadata=INLINE)


@dataclass(frozen=True)
class Robust:
    """Hold the settings, and the result of each disturbance."""

    gait: str
    draws: Draws = field(metadata=INLINE)
    results: Annotated[list[Robustness], Quantity("", "walks that survive")]


@in_pieces()
def basin_command(
    name: GaitName,
    sd_angle: Annotated[
        Radians, typer.Option("--sd-angle", help="Standard deviation of the initial angles.")
    ],
    sd_rate: Annotated[
        RadiansPerSecond, typer.Option("--sd-rate", help="Standard deviation of the initial rates.")
    ],
    samples: Samples = 1000,
    steps: Steps = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk from starts beside a gait's orbit, normally distributed, and report how many survive.

    A walk leaves its gait in the first cycle in which it misses an event, its elbow makes a full
    turn, or it does not move forwards. One that never leaves it survives if it ends within 0.2 rad
    and 1 rad/s of the orbit. The report's gait is stabilised by its feedback on the time at which
    the hands change.

    Examples:

      accord monkeybot basin --gait clocked --sd-angle 0.02 --sd-rate 0.1 --samples 1000

      accord monkeybot basin --gait report_lqr --sd-angle 0.01 --sd-rate 0.05 --json
    """
    parameters, draws = robot_parameters(changes), Draws(samples, steps, seed)
    orbit, feedback = held_gait(name, parameters)
    with counted(samples, "walking") as done:
        found = basin(
            orbit, parameters, sd_angle=sd_angle, sd_rate=sd_rate, feedback=feedback, draws=draws,
            done=done,
        )  # fmt: skip
    return Result(Walked(name, sd_angle, sd_rate, draws, found))


@in_pieces()
def robust_command(
    name: GaitName,
    jitter: Annotated[
        Seconds | None,
        typer.Option(
            help="Jitter of the time of every timed phase: its bound, or its standard deviation."
        ),
    ] = None,
    torque_error: Annotated[
        Ratio | None,
        typer.Option(help="Largest relative error of the torque, constant over the run."),
    ] = None,
    parameter_error: Annotated[
        Ratio | None,
        typer.Option(
            help="Largest relative error of mass, inertia, length and centre of either link."
        ),
    ] = None,
    spread: Annotated[Spread, typer.Option(help="Distribution of the jitter.")] = Spread.uniform,
    steps: Steps = 500,
    samples: Samples = 100,
    seed: Seed = 0,
    changes: Changes = None,
) -> Result:
    """Walk on a gait's orbit with disturbances, and report how many walks survive.

    Without any, it applies a list of disturbances, one at a time; those that are given act
    together. Times and torque stay those of the robot without errors. A walk survives as in
    `accord monkeybot basin`, if it is still near its orbit at the end; the height of the survivors
    is reported separately. A gait that changes hands by its state has no times to jitter.

    Examples:

      accord monkeybot robust --gait clocked --jitter 0.0005 --steps 500

      accord monkeybot robust --gait report_lqr --torque-error 0.02 --parameter-error 0.001 --json

      accord monkeybot robust --gait flying
    """
    parameters, draws = robot_parameters(changes), Draws(samples, steps, seed)
    sizes = {"jitter": jitter, "torque_error": torque_error, "parameter_error": parameter_error}
    asked = disturbances(sizes, spread.value)
    orbit, feedback = held_gait(name, parameters)
    with counted(samples * len(asked), "walking") as done:
        rows = [
            robustness(orbit, parameters, each, draws=draws, feedback=feedback, done=done)
            for each in asked
        ]
    return Result(Robust(name, draws, rows))


def disturbances(asked: Mapping[str, float | None], spread: str) -> list[Disturbance]:
    """Return the disturbance that is asked for, or all there are to show."""
    given = {name: size for name, size in asked.items() if size is not None}
    if given:
        return [Disturbance(**given, spread=spread)]
    return [
        Disturbance(**{name: size}, spread=spread if name == "jitter" else Spread.uniform.value)
        for name, sizes in SIZES.items()
        for size in sizes
    ]


def lqr_command(
    name: Annotated[
        str, typer.Option("--gait", metavar="NAME", help="A gait of the report's kind.")
    ] = "report_lqr",
    sample: Annotated[
        Seconds,
        typer.Option(
            min=0.0, max=1.0, help="Period of the controller, to which times are rounded."
        ),
    ] = SAMPLE,
    changes: Changes = None,
) -> Result:
    """Find the feedback on the time of the change of hands that holds the report's gait.

    The change comes gain . (x - target) earlier, with x = (th2, w1, w2) where the held link hangs
    straight down. The numbers are those of the scenario `report_lqr`.

    Examples:

      accord monkeybot lqr

      accord monkeybot lqr --json
    """
    parameters = robot_parameters(changes)
    return Result(held_by_feedback(shipped_gait(name, parameters), parameters, sample))
