"""`accord monkeybot design`: stability over the shape of the links, and the most stable robot."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from roboaccord.cli.console import COMPILING, out, print_json, progress
from roboaccord.run.output import make_folder
from roboaccord.run.versions import made_with

from monkeybot.cli.landscape import Span
from monkeybot.cli.options import Changes, Json, robot_parameters
from monkeybot.gaits.landscape import span
from monkeybot.stability.design import (
    MARGINS,
    DesignMap,
    Robot,
    better_robot,
    design_map,
    shipped_robot,
)
from monkeybot.stability.stability_map import save_map
from monkeybot.stability.stability_picture import write_design


def design_command(
    centre: Annotated[
        Span,
        typer.Option(metavar="A B N", help="From hand to centre of gravity, in lengths of a link."),
    ] = (0.72, 0.96, 25),
    inertia: Annotated[
        Span, typer.Option(metavar="A B N", help="About the centre of gravity, in m L^2.")
    ] = (0.004, 0.076, 25),
    folder: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for data and pictures.")
    ] = Path("runs/monkeybot_design"),
    changes: Changes = None,
    as_json: Json = False,
) -> None:
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
    place = make_folder(folder)
    with progress(as_json) as bar:
        task = bar.add_task(COMPILING, total=len(centres) * len(inertias))
        field = design_map(
            parameters, centres, inertias,
            done=lambda n: bar.update(task, advance=n, description="following"),
        )  # fmt: skip
        bar.update(task, description="searching")
        robots = {"this robot": shipped_robot(parameters)}
        robots |= {f"best {margin}": better_robot(field, margin) for margin in MARGINS}
    data = place / "design.npz"
    save_map(field.arrays, data, parameters, made_with("roboaccord-monkeybot", "numba"))
    files = [data]
    for margin in MARGINS:
        files.append(place / f"{margin}.svg")
        write_design(field, margin, robots["this robot"], robots[f"best {margin}"], files[-1])
    if as_json:
        rows = {name: figures(robot) for name, robot in robots.items()}
        print_json({**counts(field), "robots": rows, "files": [str(file) for file in files]})
    else:
        show(field, robots, files)


def counts(field: DesignMap) -> dict[str, int]:
    """Return how many robots the map has, and how many of them are stable at some period."""
    return {
        "robots_followed": len(field.robots),
        "robots_stable": sum(robot.level.best.radius < 1.0 for robot in field.robots.values()),
    }


def figures(robot: Robot) -> dict[str, Any]:
    """Return what is to be said of a robot."""
    best = robot.level.best
    return {
        **asdict(robot.shape),
        "period": best.period,
        "torque": best.torque,
        "post_impact": best.start,
        "spectral_radius": best.radius,
        "stride": best.stride,
        "stable_periods": robot.level.stable,
        "width": robot.level.width,
    }


def show(field: DesignMap, robots: dict[str, Robot], files: list[Path]) -> None:
    """Print the result for people."""
    number = counts(field)
    out.print(
        f"{number['robots_followed']} of {len(field.centre) * len(field.inertia)} robots followed, "
        f"{number['robots_stable']} stable at some period",
        highlight=False,
    )
    table = Table(
        "robot", "centre, L", "inertia, m L^2", "radius", "at period, s", "torque, N m",
        "stable periods, s", "width", box=None,
    )  # fmt: skip
    for name, robot in robots.items():
        best, (low, high) = robot.level.best, robot.level.stable
        table.add_row(
            name, f"{robot.shape.centre:.4f}", f"{robot.shape.inertia:.5f}", f"{best.radius:.4f}",
            f"{best.period:.4f}", f"{best.torque:.4f}", f"{low:.4f} to {high:.4f}",
            f"{100 * robot.level.width:.2f} %",
        )  # fmt: skip
    out.print(table)
    out.print("files: " + ", ".join(str(file) for file in files), highlight=False, soft_wrap=True)
