"""Command `accord monkeybot continue`: a family of gaits, its bifurcations, and where it is stable.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. A family is the set of gaits that repeat (orbits) while
one quantity varies, such as the period; continuation.py follows it from orbit to orbit, and what it
has followed is a branch. An orbit is stable while all Floquet multipliers, the eigenvalues of its
return map, are inside the unit circle. Between two neighbours with different numbers of multipliers
outside, the crossings are located. Multipliers leave the circle at 1 (fold), at -1 (flip: after it,
every second step is alike) or as a complex pair (Neimark-Sacker: the gait starts to sway).

The tolerances REAL_TOLERANCE and CROSSING_TOLERANCE and the printed columns MARKED may be changed.
The kinds `fold`, `flip` and `Neimark-Sacker` are values of the JSON output, and stay.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy
import typer
from monkeybot.cli.options import Changes, robot_parameters
from roboaccord.cli import COMPILING, Result, progress, tables_of
from roboaccord.contract import INLINE, LEFT_OUT, Quantity, Ratio, by_option, check_target
from roboaccord.run import write_rows

from roboaccord_studies.monkeybot.continuation import Branch, Family, Point, follow
from roboaccord_studies.monkeybot.options import Controls, Rise, controls_of, kind_of
from roboaccord_studies.monkeybot.orbits import find_orbit, shipped_data, shipped_gait

# Imaginary part below which a multiplier is real; smaller ones are errors of the differences
# (orbits.FINE_TOLERANCE / orbits.DIFFERENCE_STEP = 1e-7).
REAL_TOLERANCE = 1e-6
# Tolerance of a crossing, as a part of the distance between two orbits, as exact as the orbits
# (continuation.MAX_RESIDUAL).
CROSSING_TOLERANCE = 1e-10
# Decimals of the place of a crossing between two orbits; multipliers that cross at the same place,
# such as a complex pair, are one crossing.
SHARE_DECIMALS = 6
OUTSIDE = Quantity("", "multipliers outside it, before and after")  # how the field is printed


@dataclass(frozen=True)
class Crossing:
    """An orbit with Floquet multipliers on the unit circle, and its bifurcation.

    Args:
        kind: fold, flip or Neimark-Sacker.
        outside: numbers of multipliers outside the circle before and after it along the branch.
        point: the orbit.
        after: index of the orbit of the branch before it; -1 if it is no crossing.
    """

    kind: Annotated[str, Quantity("", "what crosses the unit circle", "crosses", "s")]
    outside: Annotated[tuple[int, int] | None, OUTSIDE]
    point: Point = field(metadata=INLINE)
    after: int = field(default=-1, metadata=LEFT_OUT)


def crossings(family: Family, branch: Branch) -> list[Crossing]:
    """Return the crossings of the unit circle along a branch, in order."""
    located = []
    for i, (a, b) in enumerate(itertools.pairwise(branch.points)):
        counts = unstable_count(a), unstable_count(b)
        ranks = range(min(counts), max(counts))
        shares = [round(_crossing_share(family, a, b, k), SHARE_DECIMALS) for k in ranks]
        step = int(np.sign(counts[1] - counts[0]))
        outside_before = counts[0]
        for share, number in sorted(Counter(shares).items()):
            outside = (outside_before, outside_before + step * number)
            point = orbit_between(family, a, b, share)
            located.append(Crossing(_bifurcation_kind(point), outside, point, i))
            outside_before = outside[1]
    return located


def orbit_between(family: Family, a: Point, b: Point, share: float) -> Point:
    """Return the orbit at a part `share`, 0 to 1, of the distance between neighbours a and b."""
    if share in (0.0, 1.0):
        return a if share == 0.0 else b
    across = (b.y - a.y) / family.scale
    y, _ = family.correct(a.y + share * (b.y - a.y), across / np.linalg.norm(across))
    return family.point_at(y)


def unstable_count(point: Point) -> int:
    """Return how many multipliers are outside the unit circle; 0 for a stable orbit."""
    return int((np.abs(point.orbit.multipliers) >= 1.0).sum())


def stable_stretches(branch: Branch, crossed: list[Crossing]) -> list[list[Point]]:
    """Return the orbits of each stable part of a branch, from crossing to crossing."""
    # A crossing ends one part and begins the next; parts of crossings alone are left out.
    ends = {id(crossing.point) for crossing in crossed}
    stretches: list[list[Point]] = [[]]
    for point in _with_crossings(branch, crossed):
        if id(point) in ends:
            stretches[-1].append(point)
            stretches.append([point])
        elif unstable_count(point) == 0:
            stretches[-1].append(point)
    return [s for s in stretches if any(id(point) not in ends for point in s)]


def value_ranges(points: Sequence[Point], along: str) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value of the varied quantity and of all controls, by name."""
    rows = [{along: point.value, **point.orbit.controls} for point in points]
    return {name: (min(r[name] for r in rows), max(r[name] for r in rows)) for name in rows[0]}


def most_stable(family: Family, branch: Branch) -> Point:
    """Return the orbit with the smallest spectral radius, minimised also between the orbits."""
    points = branch.points
    i = int(np.argmin([point.orbit.spectral_radius for point in points]))
    candidates = [points[i]]
    for a, b in itertools.pairwise(points[max(i - 1, 0) : i + 2]):

        def radius(share: float, a: Point = a, b: Point = b) -> float:
            """Return the spectral radius at a share of the way from a to b, bound here."""
            return orbit_between(family, a, b, share).orbit.spectral_radius

        least = scipy.optimize.minimize_scalar(
            radius, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-7}
        )
        candidates.append(orbit_between(family, a, b, float(least.x)))
    return min(candidates, key=lambda point: point.orbit.spectral_radius)


def _with_crossings(branch: Branch, crossed: list[Crossing]) -> list[Point]:
    """Return the branch's points with the crossings inserted where they lie."""
    points = list[Point]()
    for i, point in enumerate(branch.points):
        points += [point, *(crossing.point for crossing in crossed if crossing.after == i)]
    return points


def _crossing_share(family: Family, a: Point, b: Point, k: int) -> float:
    """Return the part of the distance at which the multiplier of rank k has absolute value 1.

    Rank 0 is the largest multiplier.
    """

    def excess(share: float) -> float:
        """Return by how much the multiplier exceeds 1 at a share of the way from a to b."""
        sizes = np.abs(orbit_between(family, a, b, share).orbit.multipliers)
        return float(np.sort(sizes)[::-1][k]) - 1.0

    return float(scipy.optimize.brentq(excess, 0.0, 1.0, xtol=CROSSING_TOLERANCE))


def _bifurcation_kind(point: Point) -> str:
    """Name the bifurcation by the multiplier nearest to the unit circle."""
    values = point.orbit.multipliers
    nearest = values[np.argmin(np.abs(np.abs(values) - 1.0))]
    if abs(nearest.imag) > REAL_TOLERANCE:
        return "Neimark-Sacker"
    return "fold" if nearest.real > 0.0 else "flip"


Start = tuple[float, float, float, float]  # th1, th2 [rad], w1, w2 [rad/s]
# Columns of the printed table, which has the crossings and the most stable orbit.
MARKED = ("point.value", "point.orbit.settings", "point.orbit.spectral_radius", "kind", "outside")
Value = Annotated[float, Quantity("", "of what is varied, in its own unit")]
# Options of the command.
ALONG = typer.Option(
    help="Parameter to vary: a control of the gait, or mass, inertia, length, centre, mass_a..."
)
START = typer.Option(metavar="TH1 TH2 W1 W2", help="Guess of the gait's start, with --kind.")
STEP = typer.Option("--step", min=1e-6, max=1.0, help="Largest step, as a fraction of the range.")
MOST = typer.Option(min=1, help="Largest number of orbits in each direction.")
OUT = typer.Option("--out", metavar="FILE.csv", help="File for the table of orbits.")


@dataclass(frozen=True)
class Continuation:
    """A branch of orbits, the reasons of its two ends, and where it is stable."""

    along: str
    orbits: list[Point]
    ends: tuple[str, str]
    crossings: list[Crossing]
    stable: list[dict[str, tuple[float, float]]]
    best: Point


@by_option("kind", "at start rise", "gait", "along from to step most out set")
def continue_command(
    along: Annotated[str, ALONG],
    low: Annotated[Value, typer.Option("--from", help="Smallest value, in SI units.")],
    high: Annotated[Value, typer.Option("--to", help="Largest value.")],
    gait: Annotated[str, typer.Option(help="Shipped gait to begin at.")] = "clocked",
    kind: Annotated[str | None, typer.Option(help="Kind of a gait that is not shipped.")] = None,
    controls: Controls = None,
    start: Annotated[Start, Quantity("rad, rad/s"), START] = (-0.95, -1.25, 0.4, 0.45),
    rise: Rise = 0.0,
    largest: Annotated[Ratio, STEP] = 0.02,
    most: Annotated[int, MOST] = 500,
    file: Annotated[Path | None, OUT] = None,
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
    if kind is None:
        orbit = shipped_gait(gait, parameters)
        rise = float(shipped_data()[gait].get("rise", 0.0))
    else:
        gait_kind = kind_of(kind)
        values = controls_of(gait_kind, controls)
        orbit = find_orbit(gait_kind, parameters, values, np.array(start), rise=rise)
    family = Family(orbit.kind, parameters, orbit.controls, along, low, high, rise)
    with progress() as bar:
        task = bar.add_task(COMPILING, total=None)

        def show(text: str) -> None:
            """Show a text beside the progress bar."""
            bar.update(task, description=text)

        branch = follow(family, orbit, largest=largest, most=most, done=show)
        bar.update(task, description="locating crossings")
        crossed = crossings(family, branch)
        bar.update(task, description="minimising the spectral radius")
        least = most_stable(family, branch)
    if file is not None:
        write_csv(branch, along, file)
    stretches = [value_ranges(points, along) for points in stable_stretches(branch, crossed)]
    continuation = Continuation(along, branch.points, branch.ends, crossed, stretches, least)
    of_points = [point.value for point in branch.points]
    marked = [*crossed, Crossing("smallest radius", None, least)]
    shown = [
        f"{len(of_points)} orbits, {along} from {min(of_points):.6g} to {max(of_points):.6g}",
        "ends: {}; {}".format(*branch.ends),
        *(f"stable: {_ranges_text(ranges)}" for ranges in stretches or [{}]),
        *tables_of(marked, *MARKED),
    ]
    return Result(continuation, shown)


def _ranges_text(ranges: Mapping[str, tuple[float, float]]) -> str:
    """Return ranges of values by name as text."""
    return ", ".join(f"{name} {a:.6g} to {b:.6g}" for name, (a, b) in ranges.items()) or "nowhere"


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
