"""Command `accord monkeybot continue`: a family of gaits, along a control or a parameter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from monkeybot.cli.options import Changes, robot_parameters
from monkeybot.gaits.orbits import Orbit, find_orbit, shipped_data, shipped_gait
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.cli import COMPILING, Result, progress, tables_of
from roboaccord.contract import Quantity, Ratio, by_option, check_target
from roboaccord.run import write_rows

from roboaccord_studies.monkeybot.bifurcations import Crossing, best, crossings, stable
from roboaccord_studies.monkeybot.continuation import Branch, follow
from roboaccord_studies.monkeybot.family import Family, Point
from roboaccord_studies.monkeybot.options import Controls, Rise, controls_of, kind_of

Start = tuple[float, float, float, float]
MARKED = ("point.value", "point.orbit.settings", "point.orbit.spectral_radius", "kind", "outside")
Of = Annotated[float, Quantity("", "of what is varied, in its own unit")]


@dataclass(frozen=True)
class Continuation:
    """Hold a branch of orbits, why it ends, and where it is stable."""

    along: str
    orbits: list[Point]
    ends: tuple[str, str]
    crossings: list[Crossing]
    stable: list[dict[str, tuple[float, float]]]
    best: Point


@by_option("kind", "at start rise", "gait", "along from to step most out set")
def continue_command(
    along: Annotated[
        str,
        typer.Option(
            help="Parameter to vary: a control of the gait, or mass, inertia, length, centre, "
            "mass_a..."
        ),
    ],
    low: Annotated[Of, typer.Option("--from", help="Smallest value, in SI units.")],
    high: Annotated[Of, typer.Option("--to", help="Largest value.")],
    gait: Annotated[str, typer.Option(help="Shipped gait to begin at.")] = "clocked",
    kind: Annotated[str | None, typer.Option(help="Kind of a gait that is not shipped.")] = None,
    controls: Controls = None,
    start: Annotated[
        Start,
        Quantity("rad, rad/s"),
        typer.Option(metavar="TH1 TH2 W1 W2", help="Guess of the gait's start, with --kind."),
    ] = (-0.95, -1.25, 0.4, 0.45),
    rise: Rise = 0.0,
    largest: Annotated[
        Ratio,
        typer.Option("--step", min=1e-6, max=1.0, help="Largest step, as a fraction of the range."),
    ] = 0.02,
    most: Annotated[
        int, typer.Option(min=1, help="Largest number of orbits in each direction.")
    ] = 500,
    file: Annotated[
        Path | None, typer.Option("--out", metavar="FILE.csv", help="File for the table of orbits.")
    ] = None,
    changes: Changes = None,
) -> Result:
    """Follow a family of gaits, round its turning points, and report where it is stable.

    It goes in both directions from a gait, until the family leaves the range or ends. Multipliers
    cross the unit circle at 1 (fold), at -1 (flip) or as a pair (Neimark-Sacker); crossings are
    located. "mass", "inertia", "length" and "centre" (from the elbow to the centre of gravity) are
    of both links alike.

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
        crossed = crossings(family, branch)
        bar.update(task, description="minimising the spectral radius")
        least = best(family, branch)
    if file is not None:
        write_csv(branch, along, file)
    stretches = [each.spans(along) for each in stable(branch, crossed)]
    found = Continuation(along, branch.points, branch.ends, crossed, stretches, least)
    values = [point.value for point in branch.points]
    marked = [*crossed, Crossing("smallest radius", None, least)]
    shown = [
        f"{len(values)} orbits, {along} from {min(values):.6g} to {max(values):.6g}",
        "ends: {}; {}".format(*branch.ends),
        *(f"stable: {_ranges(spans)}" for spans in stretches or [{}]),
        *tables_of(marked, *MARKED),
    ]
    return Result(found, shown)


def _ranges(spans: Mapping[str, tuple[float, float]]) -> str:
    return ", ".join(f"{name} {a:.6g} to {b:.6g}" for name, (a, b) in spans.items()) or "nowhere"


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
    orbit = shipped_gait(gait, parameters)
    return orbit, float(shipped_data()[gait].get("rise", 0.0))


def write_csv(branch: Branch, along: str, file: Path) -> None:
    """Write the orbits of a branch as a table, one a line.

    Raises:
        AccordError: if the file cannot be written.
    """
    rows = list[dict[str, float]]()
    for point in branch.points:
        orbit = point.orbit
        row = {along: point.value, **orbit.controls}
        row |= dict(zip(("th1", "th2", "w1", "w2"), orbit.start.tolist(), strict=True))
        for i, value in enumerate(orbit.multipliers, 1):
            row |= {f"real_{i}": float(value.real), f"imag_{i}": float(value.imag)}
        row |= {"spectral_radius": orbit.spectral_radius, "stride": orbit.stride}
        rows.append({**row, "work": orbit.work, "drop": orbit.drop})
    write_rows(file, list(rows[0]), [list(row.values()) for row in rows])
