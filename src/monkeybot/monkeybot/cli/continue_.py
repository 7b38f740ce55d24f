"""`accord monkeybot continue`: a family of gaits along a control or a parameter of the robot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli.command import Result
from roboaccord.cli.console import COMPILING, make_table, progress
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import check_target
from roboaccord.contract.results import INLINE, Quantity, Ratio
from roboaccord.run.output import write_rows

from monkeybot.cli.options import (
    Changes,
    Controls,
    OrbitRow,
    Rise,
    controls_of,
    kind_of,
    robot_parameters,
)
from monkeybot.gaits.continuation import Branch, Family, Point, follow
from monkeybot.gaits.crossings import Crossing, Stretch, best, crossings, stable
from monkeybot.gaits.kinds import shipped_data, shipped_gait
from monkeybot.gaits.orbits import Orbit, find_orbit
from monkeybot.model.parameters import MonkeyBotParameters

Start = tuple[float, float, float, float]
Of = Annotated[float, Quantity("", "of what is varied, in its own unit")]


def continue_command(
    along: Annotated[
        str, typer.Option(help="A control of the gait, or mass, inertia, length, centre, mass_a...")
    ],
    low: Annotated[Of, typer.Option("--from", help="Least value, in SI units.")],
    high: Annotated[Of, typer.Option("--to", help="Largest value.")],
    gait: Annotated[str, typer.Option(help="Shipped gait to begin at.")] = "clocked",
    kind: Annotated[str | None, typer.Option(help="Of a gait that is not shipped.")] = None,
    controls: Controls = None,
    start: Annotated[
        Start,
        Quantity("rad, rad/s"),
        typer.Option(metavar="TH1 TH2 W1 W2", help="Guess of its start, with --kind."),
    ] = (-0.95, -1.25, 0.4, 0.45),
    rise: Rise = 0.0,
    largest: Annotated[
        Ratio,
        typer.Option("--step", min=1e-6, max=1.0, help="Largest one, as a part of the range."),
    ] = 0.02,
    most: Annotated[int, typer.Option(min=1, help="Orbits each way, at most.")] = 500,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.csv", help="For the table of orbits.")
    ] = None,
    changes: Changes = None,
) -> Result:
    """Follow a family of gaits, round its turning points, and tell where it is stable.

    It goes both ways from a gait, until the family leaves the range or ends. Multipliers cross the
    unit circle at 1 (fold), at -1 (flip) or as a pair (Neimark-Sacker); crossings are located.
    "mass", "inertia", "length" and "centre" (from the elbow to the centre of gravity) are of both
    links alike.

    Examples:

      accord monkeybot continue --gait clocked --along period --from 0.9 --to 0.97

      accord monkeybot continue --gait level --along torque --from 0.5 --to 0.75 --out level.csv

      accord monkeybot continue --kind flying --at flight=0.01 --along flight --from 0.005 --to 0.02
    """
    check_target(file, ".csv")
    parameters = robot_parameters(changes)
    orbit, rise = _begin(parameters, gait, kind, controls, start, rise)
    family = Family(orbit.kind, parameters, orbit.controls, along, low, high, rise)
    with progress() as bar:
        task = bar.add_task(COMPILING, total=None)
        branch = follow(
            family, orbit, largest=largest, most=most,
            done=lambda text: bar.update(task, description=text),
        )  # fmt: skip
        bar.update(task, description="locating crossings")
        found = crossings(family, branch)
        bar.update(task, description="minimising the spectral radius")
        least = best(family, branch)
    if file is not None:
        write_csv(branch, along, file)
    stretches = stable(branch, found)
    result = branch, found, stretches, least, along
    unused = ("start", "rise") if kind is None else ("gait",)
    return Result(_data(*result), _shown(*result), used=dict.fromkeys(unused))


def _begin(
    parameters: MonkeyBotParameters,
    gait: str,
    kind: str | None,
    controls: list[str] | None,
    start: Start,
    rise: float,
) -> tuple[Orbit, float]:
    """Return the orbit to begin at, and the rise of its family [m]."""
    if kind is not None:
        which = kind_of(kind)
        values = controls_of(which, controls)
        return find_orbit(which, parameters, values, np.array(start), rise=rise), rise
    if controls or rise:
        raise AccordError("--at and --rise go with --kind; a shipped gait has its own")
    orbit = shipped_gait(gait, parameters)
    return orbit, float(shipped_data()[gait].get("rise", 0.0))


def write_csv(branch: Branch, along: str, file: Path) -> None:
    """Write the orbits of a branch as a table, one a line.

    Raises:
        AccordError: if the file cannot be written.
    """
    rows = list(_rows(branch, along))
    write_rows(file, list(rows[0]), [list(row.values()) for row in rows])


def _rows(branch: Branch, along: str) -> Iterator[dict[str, float]]:
    for point in branch.points:
        orbit = point.orbit
        row = {along: point.value, **orbit.controls}
        row |= dict(zip(("th1", "th2", "w1", "w2"), orbit.start.tolist(), strict=True))
        for i, value in enumerate(orbit.multipliers, 1):
            row |= {f"real_{i}": float(value.real), f"imag_{i}": float(value.imag)}
        row |= {"spectral_radius": orbit.spectral_radius, "stride": orbit.stride}
        yield {**row, "work": orbit.work, "drop": orbit.drop}


@dataclass(frozen=True)
class Row:
    """Hold an orbit at a value of what is varied."""

    value: float
    orbit: OrbitRow = field(metadata=INLINE)

    @classmethod
    def of(cls, point: Point) -> Row:
        """Return the row of a point."""
        return cls(point.value, OrbitRow.of(point.orbit))


@dataclass(frozen=True)
class CrossingRow:
    """Hold an orbit where multipliers cross the unit circle, and how many are outside by it."""

    kind: str
    outside: tuple[int, int]
    row: Row = field(metadata=INLINE)


@dataclass(frozen=True, kw_only=True)
class Continuation:
    """Hold a branch of orbits, why it ends, and where it is stable."""

    along: str
    orbits: list[Row]
    ends: tuple[str, str]
    crossings: list[CrossingRow]
    stable: list[dict[str, tuple[float, float]]]
    best: Row


def _data(
    branch: Branch, found: list[Crossing], stretches: list[Stretch], least: Point, along: str
) -> Continuation:
    """Return all of a branch, for JSON."""
    return Continuation(
        along=along,
        orbits=[Row.of(point) for point in branch.points],
        ends=branch.ends,
        crossings=[CrossingRow(c.kind, (c.before, c.after), Row.of(c.point)) for c in found],
        stable=[
            {along: s.along, **{name: s.span(name) for name in least.orbit.controls}}
            for s in stretches
        ],
        best=Row.of(least),
    )


def _shown(
    branch: Branch, found: list[Crossing], stretches: list[Stretch], least: Point, along: str
) -> list[RenderableType]:
    """Return a branch for people."""
    values = [point.value for point in branch.points]
    names = list(least.orbit.controls)
    say = [f"{len(values)} orbits, {along} from {min(values):.6g} to {max(values):.6g}"]
    say.append(f"ends: {branch.ends[0]}; {branch.ends[1]}")
    for s in stretches:
        spans = {along: s.along, **{name: s.span(name) for name in names}}
        each = (f"{name} {a:.6g} to {b:.6g}" for name, (a, b) in spans.items())
        say.append(f"stable: {', '.join(each)}")
    if not stretches:
        say.append("stable: nowhere")
    others = [name for name in names if name != along]
    table = make_table(along, *others, "radius", "crosses", "outside", words=["crosses"])
    marked = [(c.point, c.kind, f"{c.before} to {c.after}") for c in found]
    for point, what, count in [*marked, (least, "smallest radius", "")]:
        rest = (f"{point.orbit.controls[name]:.6g}" for name in others)
        radius = f"{point.orbit.spectral_radius:.6g}"
        table.add_row(f"{point.value:.7g}", *rest, radius, what, count)
    explained = (
        "controls in s, N m and SI; radius: spectral radius of the multipliers, stable below 1; "
        "crosses: what crosses the unit circle; outside: multipliers outside it, before and after"
    )
    return [*map(Text, say), table, Text(explained)]
