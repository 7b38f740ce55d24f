"""`accord monkeybot design`: stability over the shape of the links, and the most stable robot."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, file_line, make_table, progress
from roboaccord.cli.folder import results
from roboaccord.cli.options import Force, Out
from roboaccord.cli.pieces import in_pieces
from roboaccord.contract.results import INLINE, Metres, Quantity, Ratio
from roboaccord.contract.state import Array
from roboaccord.run.versions import made_with

from monkeybot.cli.options import Changes, Span, robot_parameters
from monkeybot.gaits.landscape import span
from monkeybot.stability.design import (
    MARGINS,
    Robot,
    Shape,
    better_robot,
    design_map,
    shipped_robot,
)
from monkeybot.stability.stability_map import save_map
from monkeybot.stability.stability_picture import write_design


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
    with results(folder, "monkeybot_design", force=force) as place, progress() as bar:
        task = bar.add_task(COMPILING, total=len(centres) * len(inertias))
        field = design_map(
            parameters, centres, inertias, largest=largest,
            done=lambda n: bar.update(task, advance=n, description="following"),
        )  # fmt: skip
        bar.update(task, description="searching")
        robots = {"this robot": shipped_robot(parameters, largest)}
        robots |= {f"best {margin}": better_robot(field, margin) for margin in MARGINS}
        files = [place / "design.npz"]
        save_map(field.arrays, files[0], parameters, made_with("roboaccord-monkeybot", "numba"))
        for margin in MARGINS:
            files.append(place / f"{margin}.svg")
            write_design(field, margin, robots["this robot"], robots[f"best {margin}"], files[-1])
    rows = {name: Designed.of(robot) for name, robot in robots.items()}
    followed = field.robots.values()
    found = Design(
        robots_followed=len(followed),
        robots_stable=sum(robot.level.best.radius < 1.0 for robot in followed),
        robots=rows,
        files=files,
    )
    return Result(found, shown_of(found, len(centres) * len(inertias)))


@dataclass(frozen=True, kw_only=True)
class Designed:
    """Hold the shape of a robot, and its most stable gait."""

    shape: Shape = dataclasses.field(metadata=INLINE)
    period: Annotated[float, Quantity("s", form=".4f")]
    torque: Annotated[float, Quantity("N m", form=".4f")]
    post_impact: Annotated[Array, Quantity("rad, rad/s")]
    spectral_radius: Annotated[
        float, Quantity("1", "smallest spectral radius, at that period and torque", "radius", ".4f")
    ]
    stride: Metres
    stable_periods: Annotated[tuple[float, float], Quantity("s", name="stable", form=".4f")]
    width: Annotated[float, Quantity("1", "of the stable periods", form=".2f", shown="%")]

    @classmethod
    def of(cls, robot: Robot) -> Designed:
        """Return what is to be said of a robot."""
        best = robot.level.best
        return cls(
            shape=robot.shape,
            period=best.period,
            torque=best.torque,
            post_impact=best.start,
            spectral_radius=best.radius,
            stride=best.stride,
            stable_periods=robot.level.stable,
            width=robot.level.width,
        )


@dataclass(frozen=True, kw_only=True)
class Design:
    """Hold how many robots were followed and are stable, and the best by name."""

    robots_followed: int
    robots_stable: int
    robots: Mapping[str, Designed]
    files: list[Path]


def shown_of(found: Design, count: int) -> list[RenderableType]:
    """Return the result for people."""
    say = (
        f"{found.robots_followed} of {count} robots followed, "
        f"{found.robots_stable} stable at some period"
    )
    table = make_table(
        "robot", "centre\n[L]", "inertia\n[m L^2]", "radius", "period\n[s]", "torque\n[N m]",
        "stable\nperiods [s]", "width\n[%]",
    )  # fmt: skip
    for name, robot in found.robots.items():
        low, high = robot.stable_periods
        table.add_row(
            name, f"{robot.shape.centre:.4f}", f"{robot.shape.inertia:.5f}",
            f"{robot.spectral_radius:.4f}", f"{robot.period:.4f}", f"{robot.torque:.4f}",
            f"{low:.4f}-{high:.4f}", f"{100 * robot.width:.2f}",
        )  # fmt: skip
    explained = (
        "L, m: length and mass of a link; centre: of gravity, from the hand; inertia: about it; "
        "radius: smallest spectral radius, at that period and torque; width: of the stable periods"
    )
    return [Text(say), table, Text(explained), file_line(found.files)]
