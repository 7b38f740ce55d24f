"""`accord packbot reduced`, `hulls` and `shapes`: links merged at a joint, or made of hulls."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from rich.text import Text
from roboaccord.cli import (
    Changes,
    Force,
    Out,
    Result,
    counted,
    file_line,
    grid_of,
    load_setup,
    make_table,
    quantity,
    results,
    tables_of,
    warn,
)
from roboaccord.contract import AccordError, Quantity, Radians
from roboaccord.description import share
from roboaccord.report import BLUE, INK, legend, picture
from roboaccord.run import write_columns

from packbot.contact.hulls import Body, complaints, make_bodies, read_shapes, write_bodies
from packbot.contact.solids import write_shapes
from packbot.model.reduced import (
    Inertia,
    MergedLinks,
    Table,
    camera_table,
    hand_table,
    reduce_table,
)

KNOTS = 12
SAMPLES = 601  # angles at which the error is measured


def reduced_command(
    joint: Annotated[str, typer.Option(metavar="NAME", help="Joint that is frozen.")],
    angle: Annotated[
        Radians, typer.Option(metavar="RAD", help="Angle at which it is frozen.")
    ] = 0.0,
    knots: Annotated[
        int, typer.Option(min=2, help="Number of angles of the interpolation.")
    ] = KNOTS,
    changes: Changes = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Print DH tables and merged inertia of the arm with a frozen joint, and draw their error.

    The two links at the joint are one. Beside its exact mass, centre and inertia, in the frame of
    the first of them, is the report's interpolation over the angle of the joint, and its error.
    Writes the error over all angles as SVG and CSV.

    Examples:

      accord packbot reduced --joint elbow1 --angle 0.7

      accord packbot reduced --joint elbow2 --angle -1.2 --knots 24 --json
    """
    setup = load_setup("packbot", "collapse", changes)
    p, merged = setup.parameters, MergedLinks(setup.tree, joint)
    low, high = merged.limits
    if not low <= angle <= high:
        raise AccordError(f"--angle {angle:g}: the range of {joint} is {low:g} to {high:g} rad")
    tables = {
        name: reduce_table(table, {joint: angle})
        for name, table in (("camera", camera_table(p)), ("hand", hand_table(p)))
    }
    exact, near = merged.exact(angle), merged.interpolated(angle, knots)
    (off,), (tensor_off,) = merged.errors(np.array([angle]), knots)
    angles = np.linspace(*merged.limits, SAMPLES)
    centres, tensors = merged.errors(angles, knots)
    with results(folder, f"packbot_reduced_{joint}", force=force) as place:
        path = place / f"reduced_{joint}.svg"
        with picture(path) as axes:
            axes.plot(angles, 1e3 * centres, color=BLUE, label="centre of mass [mm]")
            axes.plot(angles, 100.0 * tensors, color=INK, ls="--", label="inertia [%]")
            axes.set(
                xlabel=f"angle of frozen {joint} [rad]", ylabel="error of interpolated inertia"
            )
            legend(axes)
        table = {"angle_rad": angles, "centre_m": centres, "inertia": tensors}
        write_columns(path.with_suffix(".csv"), table)
    found = Reduced(
        joint=joint,
        angle=angle,
        links=merged.names,
        knots=knots,
        tables=tables,
        exact=exact,
        interpolated=near,
        error=Off(off, tensor_off),
        largest=Off(centres.max(), tensors.max()),
        files=[path, path.with_suffix(".csv")],
    )
    return Result(found, shown_of(found))


@dataclass(frozen=True)
class Off:
    """Hold what the interpolation is off: the centre, and the share of the inertia."""

    centre: Annotated[float, Quantity("m", form=".2f", shown="mm")]
    inertia: Annotated[float, Quantity("1", form=".2f", shown="%")]


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """Hold DH tables and inertia of the arm of one link less."""

    joint: str
    angle: Radians
    links: Sequence[str]
    knots: int
    tables: Mapping[str, Table]
    exact: Inertia
    interpolated: Inertia
    error: Off
    largest: Off
    files: list[Path]


def shown_of(found: Reduced) -> list[RenderableType]:
    """Return the tables for people."""
    exact, near = found.exact, found.interpolated
    shown = [*chain(*([*tables_of(t.rows, title=name), ""] for name, t in found.tables.items()))]
    rows = {f"centre {x} [m]": pair for x, pair in zip("xyz", zip(exact.centre, near.centre))}
    for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        rows[f"I{'xyz'[i]}{'xyz'[k]} [kg m^2]"] = exact.inertia[i, k], near.inertia[i, k]
    headings = "", "exact", f"of {found.knots} knots"
    title = f"{' and '.join(found.links)} as one link, {exact.mass:.4g} kg"
    off = {f"at {found.angle:g} rad": found.error, "at most": found.largest}
    return [
        *shown,
        grid_of(headings, rows, Quantity("", form=".6f"), title),
        *tables_of([*off.values()], title="the interpolation is off by", labels=off),
        file_line(found.files),
    ]


def hulls_command(
    source: Annotated[Path, typer.Argument(help="URDF, or folder of meshes, each a link.")],
    folder: Out = None,
    force: Force = False,
    density: Annotated[
        float, Quantity("kg/m^3"), typer.Option(help="Density of all links.")
    ] = 1000.0,
    masses: Annotated[
        list[str] | None,
        typer.Option(
            "--mass",
            metavar="LINK=KG",
            help="Mass of a link, in place of the density; may be repeated.",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Make one hull of each mesh, not one of each connected part."),
    ] = False,
) -> Result:
    """Make the convex hulls of every link, with its box, volume, centre and inertia.

    Writes hulls.yaml and an OBJ of each hull.

    One hull is made of each collision shape of a URDF: of a box; of a cylinder or a ball, whose
    hull is a polyhedron inside it; of each connected part of a mesh. Files are in the frame of the
    link. A warning names each mesh that is far from convex. STL, DAE and others need trimesh.

    Examples:

      accord packbot hulls robot.urdf --out hulls

      accord packbot hulls meshes/ --density 2700 --json

      accord packbot hulls robot.urdf --mass link1_link=2.0 --mass link2_link=1.9
    """
    if not (math.isfinite(density) and density > 0.0):
        raise AccordError(f"--density is {density:g}, and must be positive")
    given = dict(map(_mass, masses or ()))
    shapes = read_shapes(source)
    with (
        results(folder, "packbot_hulls", force=force) as place,
        counted(len(shapes), "hulls") as advance,
    ):
        bodies = make_bodies(
            shapes, density=density, masses=given, whole=whole, done=lambda: advance(1)
        )
        links = write_bodies(bodies, place)
    for line in complaints(bodies):
        warn(line)
    return Result(
        {"out": str(place), "links": links},
        [*table_of(bodies), f"in {place}: hulls.yaml, and an OBJ of each hull"],
    )


def table_of(bodies: Iterable[Body]) -> list[RenderableType]:
    """Return the figures of links for people."""
    table = make_table(
        "link", "hulls", "mass\n[kg]", "box\n[mm]", "ixx iyy izz\n[kg m^2]", "fit\n[1]"
    )
    for body in bodies:
        lower, upper = body.box
        table.add_row(
            body.name, str(len(body.hulls)), f"{body.mass:.4g}",
            " ".join(f"{v:.0f}" for v in 1e3 * (upper - lower)),
            " ".join(f"{v:.3g}" for v in body.inertia.diagonal()),
            f"{np.min([shape.fit for shape in body.shapes]):.2f}",
        )  # fmt: skip
    explained = "inertia: about the centre; fit: how much of its hull a shape fills, the least"
    return [table, Text(explained)]


def _mass(words: str) -> tuple[str, float]:
    link, _, number = words.partition("=")
    mass = quantity(number)
    if not mass > 0.0:
        raise AccordError(f"--mass takes LINK=KG, KG positive, not {words!r}")
    return link, mass


def shapes_command(
    folder: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Folder to write to instead of the package's own."
        ),
    ] = None,
    force: Force = False,
) -> Result:
    """Make meshes/*.obj and config/hulls.yaml of config/shapes.yaml.

    Run it after a change of config/shapes.yaml; the description takes its hulls and their moments
    from these files.

    Examples:

      accord packbot shapes

      accord packbot shapes --out tried --json
    """
    if folder is None:
        files = write_shapes(share("packbot"))
    else:
        with results(folder, "packbot_shapes", force=force) as place:
            files = write_shapes(place)
    names = [str(path) for path in files]
    return Result({"files": names}, names)
