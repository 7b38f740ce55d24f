"""Command `accord voxel-sphere accuracy`: errors of the rolling schemes, and of bounces.

Those of reflections are found in arenas that are turned against the grid; ground and walls are
voxelised as `make` does it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli import Result, counted, make_table, tables_of
from roboaccord.contract import INLINE, AccordError, Array, Quantity
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.motion import Roller, check_scheme
from voxel_sphere.terrain.surfaces import fill_below, fill_inside, make_surface
from voxel_sphere.terrain.workspace import LARGEST

from roboaccord_studies.voxel_sphere.cases import cases, measure

TURNS = (0.0, 10.0, 20.0, 30.0, 45.0)  # deg of the arena in plan
HEADINGS = 12
TRAVEL = 20.0  # r after the first hit
HALF_WIDTH = 3.3  # r, so that the arena fits into the grid at 45 deg
SPEED = 1.0  # rad/s


@dataclass(frozen=True, kw_only=True)
class Bounces:
    """Worst errors of an arena over its headings.

    Args:
        n: size of the grid [voxels].
        turn: of the arena.
        heading_error: after the first hit, against the law of reflection.
        mean_error: its mean.
        contact_error: of the place of the first hit and of the ground's contact throughout.
        hits: at walls, all headings.
        stuck: runs that ended, or did not travel.
    """

    n: Annotated[int, Quantity("")]
    turn: Annotated[float, Quantity("deg", name="walls at", form="g")]
    heading_error: Annotated[
        float, Quantity("deg", "largest error after the first hit", "heading", ".2f")
    ]
    mean_error: Annotated[float, Quantity("deg", "its mean", "mean", ".2f")]
    contact_error: Annotated[
        float, Quantity("r", "of its place, and of the ground's throughout", "contact", ".4f")
    ]
    hits: Annotated[int, Quantity("", "at walls, all headings")]
    stuck: Annotated[int, Quantity("", "runs that ended")]


def bounces(n: int, turn: float, *, binary: bool = False) -> Bounces:
    """Let a sphere of n/10 voxels go in `HEADINGS` headings from the middle of an arena.

    Args:
        n: size of the grid [voxels].
        turn: of the arena in plan [deg].
        binary: whether the slices are black and white.
    """
    r = n / 10
    arena = make_surface("arena", n, r, turn_deg=turn, half_width=HALF_WIDTH)
    assert arena.walls is not None
    ground = Field.build(fill_below(arena.height, n, binary=binary), r)
    walls = Field.build(fill_inside(arena.walls, n, binary=binary), r)
    # Off the multiples of 15 deg, which the arenas' own directions are.
    headings = np.deg2rad(np.arange(HEADINGS) * 360.0 / HEADINGS + 7.0)
    runs = [_one(ground, walls, r, turn, heading) for heading in headings]
    errors = np.array([run[0] for run in runs])
    return Bounces(
        n=n,
        turn=turn,
        heading_error=float(errors.max()),
        mean_error=float(errors.mean()),
        contact_error=max(run[1] for run in runs),
        hits=sum(run[2] for run in runs),
        stuck=sum(run[3] for run in runs),
    )


def _one(
    ground: Field, walls: Field, r: float, turn: float, heading: float
) -> tuple[float, float, int, bool]:
    """Return heading error [deg], contact error [r], hits, and whether the sphere got stuck."""
    n = ground.size
    start = np.array([n / 2 + 0.3 * r, n / 2 - 0.2 * r])
    roller = Roller(ground, centre=ground.place(*start), walls=walls)
    direction = np.array([np.cos(heading), np.sin(heading)])
    omega = SPEED * np.array([-direction[1], direction[0], 0.0])
    place, expected = _first_hit(start, direction, n, r, turn)
    tick = 0.01 / SPEED
    while roller.status == "done" and not roller.events and roller.time < 20.0:
        roller.advance(omega, tick)
    if not roller.events:
        return 180.0, np.inf, 0, True
    after = np.array([roller.omega[1], -roller.omega[0]]) / np.linalg.norm(roller.omega[:2])
    error = np.degrees(np.arccos(np.clip(after @ expected, -1.0, 1.0)))
    gap = float(np.linalg.norm(np.array(roller.events[0].centre[:2]) - place))
    begin = roller.travel
    worst = 0.0
    while roller.status == "done" and roller.travel - begin < TRAVEL * r and roller.time < 60.0:
        roller.advance(omega, tick)
        worst = max(worst, abs(roller.centre[2] - 3.0 * r))  # the level ground is at 2 r
    hits = sum(event.kind in ("wall", "corner") for event in roller.events)
    moved = roller.travel - begin
    return error, max(gap, worst) / r, hits, roller.status != "done" or moved < TRAVEL * r


def _first_hit(
    start: Array, direction: Array, n: float, r: float, turn: float
) -> tuple[Array, Array]:  # fmt: skip
    """Return where the centre is at the first hit (2,), and its direction after it (2,)."""
    c, s = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    frame = np.array([[c, s], [-s, c]])
    at, along = frame @ (start - n / 2), frame @ direction
    limit = (HALF_WIDTH - 1.0) * r
    times = (np.sign(along) * limit - at) / along
    axis = int(np.argmin(times))
    after = along.copy()
    after[axis] = -after[axis]
    return start + times[axis] * direction, frame.T @ after


COMPARED = ("exact", "local_plane", "as_described")


@dataclass(frozen=True)
class PathRow:
    """Hold the largest error of each scheme in a case on a grid of n voxels [r]."""

    n: int
    case: str
    errors: dict[str, float] = field(metadata=INLINE)


@dataclass(frozen=True)
class Accuracy:
    """Hold all errors, and their unit."""

    unit: str
    binary: bool
    paths: list[PathRow]
    walls: list[Bounces]


def accuracy_command(
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            "--n", metavar="N", help="Size of the grid; may be repeated. Default: 50 and 100."
        ),
    ] = None,
    schemes: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme",
            metavar="NAME",
            help=f"One of {', '.join(COMPARED)}; may be repeated. Default: all.",
        ),
    ] = None,
    walls: Annotated[
        bool, typer.Option("--walls/--no-walls", help="Measure bounces as well.")
    ] = True,
    binary: Annotated[
        bool, typer.Option("--binary", help="Use black and white slices, without grey.")
    ] = False,
) -> Result:
    """Roll on voxelised plane, bowl, cylinder and sinusoid, and bounce in arenas; print the errors.

    Errors of the contact against closed forms or quadrature, the largest of the run, in radii of
    the sphere (r = n / 10 voxels). The loops are 47 r long, in a bowl on which the centre is 4 r
    from the middle. A run that a scheme did not finish has none. The arenas' walls are turned
    against the grid; 12 headings each, 20 r of travel after the first hit.

    Examples:

      accord voxel-sphere accuracy

      accord voxel-sphere accuracy --n 200 --scheme exact --json
    """
    grids = sizes or [50, 100]
    for n in grids:
        if not 30 <= n <= LARGEST:
            raise AccordError(f"n is {n}, and must be from 30 to {LARGEST}")
    chosen = [check_scheme(scheme, COMPARED) for scheme in schemes or COMPARED]
    rows, hits, runs = list[PathRow](), list[Bounces](), cases()
    total = len(grids) * (len(runs) * len(chosen) + walls * len(TURNS))
    with counted(total, "rolling and bouncing") as done:
        for n in grids:
            for case in runs:
                errors = dict[str, float]()
                for scheme in chosen:
                    errors[scheme] = measure(case, n, scheme, binary=binary)
                    done(1)
                rows.append(PathRow(n, case.name, errors))
            for turn in TURNS if walls else ():
                hits.append(bounces(n, turn, binary=binary))
                done(1)
    found = Accuracy("r", binary, rows, hits)
    return Result(found, shown_of(found, chosen), used={"n": grids, "scheme": chosen})


def shown_of(found: Accuracy, schemes: list[str]) -> list[RenderableType]:
    """Return it for people."""
    table = make_table("n", "case", *schemes, title="largest errors [r]", words=["case"])
    for row in found.paths:
        table.add_row(str(row.n), row.case, *(f"{row.errors[name]:.4f}" for name in schemes))
    explained = Text("errors of the contact on the path; nan: the scheme did not finish the run")
    if not found.walls:
        return [table, explained]
    return [table, explained, "", *tables_of(found.walls, title="bounces off walls")]
