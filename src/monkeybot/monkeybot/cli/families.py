"""`accord monkeybot find` and `continue`: gaits of a kind, and the families they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from roboaccord.cli import COMPILING, Result, Seed, counted, in_pieces, progress, tables_of
from roboaccord.contract import INLINE, AccordError, Quantity, Ratio, Seconds, check_target
from roboaccord.run import write_rows

from monkeybot.cli.options import (
    Changes,
    Controls,
    KindName,
    Rise,
    controls_of,
    kind_of,
    robot_parameters,
)
from monkeybot.gaits.continuation import Branch, Family, Point, follow
from monkeybot.gaits.crossings import Crossing, best, crossings, stable
from monkeybot.gaits.find import asymmetry, find_gaits
from monkeybot.gaits.kinds import shipped_data, shipped_gait
from monkeybot.gaits.orbits import Orbit, find_orbit
from monkeybot.model.parameters import MonkeyBotParameters

Start = tuple[float, float, float, float]
FIGURES = ("orbit.spectral_radius", "orbit.settings", "orbit.stride", "orbit.drop")
STATES = ("orbit.start", "orbit.work", "asymmetry", "straight")
MARKED = ("point.value", "point.orbit.settings", "point.orbit.spectral_radius", "kind", "outside")
Of = Annotated[float, Quantity("", "of what is varied, in its own unit")]


@dataclass(frozen=True)
class Found:
    """Hold a gait, how far a swing is from its mirror image, and how near it hangs straight."""

    orbit: Orbit = field(metadata=INLINE)
    asymmetry: Annotated[
        float | None, Quantity("rad", "how far a swing is from its mirror image in time", "", ".2g")
    ] = None
    straight: Annotated[
        float | None, Quantity("rad", "how near it comes to hanging straight", "", ".2g")
    ] = None


@dataclass(frozen=True)
class Search:
    """Hold the gaits that were found, and from what."""

    kind: str
    samples: int
    seed: int
    gaits: list[Found]


@dataclass(frozen=True)
class Continuation:
    """Hold a branch of orbits, why it ends, and where it is stable."""

    along: str
    orbits: list[Point]
    ends: tuple[str, str]
    crossings: list[Crossing]
    stable: list[dict[str, tuple[float, float]]]
    best: Point


@in_pieces()
def find_command(
    kind: KindName = "clocked",
    period: Annotated[Seconds | None, typer.Option(help="Short for --at period=VALUE.")] = None,
    controls: Controls = None,
    rise: Rise = 0.0,
    samples: Annotated[int, typer.Option(min=1, help="Random starts.")] = 1000,
    seed: Seed = 0,
    anywhere: Annotated[
        bool,
        typer.Option(
            "--anywhere",
            help="Starts with the elbow on either side and rates up to 10 rad/s: also gaits that "
            "do not pass through the vertical.",
        ),
    ] = False,
    changes: Changes = None,
) -> Result:
    """Find gaits of a kind that repeat, by Newton's method from random starts.

    The same seed gives the same gaits. The most stable is first; a gait that walks to the left is
    the mirror image of one to the right. What a kind solves for (the torque, as a rule) starts
    from half to one and a half of what is given.

    Examples:

      accord monkeybot find --kind clocked --period 0.935 --samples 1000 --seed 1

      accord monkeybot find --kind flying --at flight=0.012 --samples 500 --json

      accord monkeybot find --kind passive --at period=0.9 --anywhere
    """
    which = kind_of(kind)
    given = [*([f"period={period!r}"] if period is not None else []), *(controls or ())]
    parameters, values = robot_parameters(changes), controls_of(which, given)
    with counted(samples, "random starts") as done:
        found = find_gaits(
            which, parameters, values, samples=samples, seed=seed, rise=rise, anywhere=anywhere,
            done=done,
        )  # fmt: skip
    rows = []
    for orbit in found:
        apart = asymmetry(orbit, parameters)
        rows.append(Found(orbit, apart.mirror, apart.straight) if apart else Found(orbit))
    numbers = [str(number) for number, _ in enumerate(rows, 1)]
    shown = [tables_of(rows, *names, labels=numbers) for names in (FIGURES, STATES) if rows]
    return Result(
        Search(kind, samples, seed, rows),
        [f"{len(found)} gaits from {samples} starts", *chain(*shown)],
        used={"at": [f"{name}={value:g}" for name, value in values.items()], "period": None},
    )


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
        crossed = crossings(family, branch)
        bar.update(task, description="minimising the spectral radius")
        least = best(family, branch)
    if file is not None:
        write_csv(branch, along, file)
    stretches = [each.spans(along) for each in stable(branch, crossed)]
    found = Continuation(along, branch.points, branch.ends, crossed, stretches, least)
    unused = ("start", "rise") if kind is None else ("gait",)
    values = [point.value for point in branch.points]
    marked = [*crossed, Crossing("smallest radius", None, least)]
    shown = [
        f"{len(values)} orbits, {along} from {min(values):.6g} to {max(values):.6g}",
        "ends: {}; {}".format(*branch.ends),
        *(f"stable: {_ranges(spans)}" for spans in stretches or [{}]),
        *tables_of(marked, *MARKED),
    ]
    return Result(found, shown, used=dict.fromkeys(unused))


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
    if controls or rise:
        raise AccordError("--at and --rise go with --kind; a shipped gait has its own")
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
