"""Command `accord voxel-sphere accuracy`: errors of the rolling schemes, and of bounces."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli import Result, counted, make_table, tables_of
from roboaccord.contract import INLINE, AccordError
from voxel_sphere.rolling.motion import check_scheme
from voxel_sphere.terrain.workspace import LARGEST

from roboaccord_studies.voxel_sphere.bounces import TURNS, Bounces, bounces
from roboaccord_studies.voxel_sphere.cases import cases, measure

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
    grids, chosen = check_sizes(sizes or [50, 100], schemes or list(COMPARED))
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


def check_sizes(sizes: list[int], schemes: list[str]) -> tuple[list[int], list[str]]:
    """Return sizes and schemes.

    Raises:
        AccordError: for what there is not.
    """
    for n in sizes:
        if not 30 <= n <= LARGEST:
            raise AccordError(f"n is {n}, and must be from 30 to {LARGEST}")
    return sizes, [check_scheme(scheme, COMPARED) for scheme in schemes]


def shown_of(found: Accuracy, schemes: list[str]) -> list[RenderableType]:
    """Return it for people."""
    table = make_table("n", "case", *schemes, title="largest errors [r]", words=["case"])
    for row in found.paths:
        table.add_row(str(row.n), row.case, *(f"{row.errors[name]:.4f}" for name in schemes))
    explained = Text("errors of the contact on the path; nan: the scheme did not finish the run")
    if not found.walls:
        return [table, explained]
    return [table, explained, "", *tables_of(found.walls, title="bounces off walls")]
