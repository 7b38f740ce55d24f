"""Maps over a grid: the error over rates, and stability over the controls or the robot's shape."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.text import Text
from roboaccord.cli import (
    Force,
    Out,
    Result,
    command_line,
    counted,
    file_line,
    in_pieces,
    lines_of,
    results,
    tables_of,
)
from roboaccord.contract import LEFT_OUT, AccordError, Array, Quantity, Ratio, Seconds
from roboaccord.run import held, made_with, write_text

from monkeybot.cli.options import Changes, Span, Tolerance, Torque, robot_parameters
from monkeybot.gaits.clocked import shipped_level
from monkeybot.gaits.gait import Gait, evaluate, horizontal
from monkeybot.gaits.landscape import LIMIT, Landscape, Lowest, landscape, save_map, span
from monkeybot.model.hybrid import TOLERANCE
from monkeybot.model.parameters import MonkeyBotParameters
from monkeybot.stability.design import MARGINS, Robot, better_robot, design_map, shipped_robot
from monkeybot.stability.pictures import (
    render_landscape,
    write_design,
    write_map,
    write_stability,
    write_surface,
)
from monkeybot.stability.stability_map import Best, stability_map

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
        typer.Option("--w1", metavar="A B N", help="Rates of th1, N from A to B."),
    ] = (0.0, 3.0, 301),
    w2: Annotated[
        Span,
        Quantity("rad/s"),
        typer.Option("--w2", metavar="A B N", help="Rates of th2, likewise."),
    ] = (8.0, 14.0, 301),
    torque: Torque = 2.0,
    folder: Out = None,
    force: Force = False,
    limit: Annotated[
        Seconds, typer.Option(help="A phase that takes longer has missed its event.")
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
) -> tuple[Landscape, float | None]:
    """Return a landscape and the speed at which it was evaluated [gaits/s], compiling not counted.

    There is no speed where a file held part of it.

    Raises:
        AccordError: if no start gets to the end.
    """
    with counted(len(w1) * len(w2), "evaluating") as done:
        evaluate(gait, parameters, np.array([w1[0], w2[0]]), tolerance=tolerance)
        start = time.perf_counter()
        field = landscape(gait, parameters, w1, w2, tolerance=tolerance, done=done)
        elapsed = time.perf_counter() - start
    return field, None if held() else field.error.size / elapsed


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
        Span, Quantity("s"), typer.Option(metavar="A B N", help="Of a step, N from A to B.")
    ] = (0.88, 1.0, 49),
    torque: Annotated[
        Span, Quantity("N m"), typer.Option(metavar="A B N", help="On the elbow, likewise.")
    ] = (0.0, 1.0, 41),
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Follow the gait of constant torque, hands changed by the clock, over a grid.

    Writes stability.npz and stability.svg: the spectral radius (stable below 1), drop and stride of
    each gait. On one line of the map the gaits keep their height, elsewhere they drop or rise. Grey
    in the picture and NaN in the data: the sheet of these gaits does not reach there.

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
        typer.Option(metavar="A B N", help="From hand to centre of gravity; L: length of a link."),
    ] = (0.72, 0.96, 25),
    inertia: Annotated[
        Span, Quantity("m L^2"), typer.Option(metavar="A B N", help="About the centre of gravity.")
    ] = (0.004, 0.076, 25),
    largest: Annotated[
        Ratio,
        typer.Option(
            "--largest-radius",
            min=0.0,
            max=1.0,
            help="Spectral radius up to which a gait counts as stable, in the ranges of periods.",
        ),
    ] = 0.98,
    folder: Out = None,
    force: Force = False,
    changes: Changes = None,
) -> Result:
    """Map how stable the horizontal clocked gait is over the shape of the links, both alike.

    Mass, length and gravity change no multipliers, so the place of the centre of gravity and the
    inertia are all there is. Then searches, within the grid, the robots with the smallest spectral
    radius and with the widest range of stable periods. Writes design.npz, radius.svg and
    width.svg. Grey: no body inside the link is like that, or the gait was not followed to there.

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
