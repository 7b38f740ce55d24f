"""`accord packbot reduced`: the arm with a frozen joint, as an arm of one link less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import RenderableType
from roboaccord.cli.command import Result
from roboaccord.cli.console import file_line, make_table
from roboaccord.cli.folder import results
from roboaccord.cli.options import Changes, Force, Out, load_setup
from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.results import Metres, Radians, Ratio
from roboaccord.contract.state import Array
from roboaccord.report.colours import BLUE, INK
from roboaccord.report.drawing import legend, picture
from roboaccord.run.output import write_columns

from packbot.model.parameters import JOINTS
from packbot.model.reduced import (
    Inertia,
    MergedLinks,
    ReducedTable,
    camera_table,
    hand_table,
    reduce_table,
)

KNOTS = 12
SAMPLES = 601  # angles at which the error is measured


def reduced_command(
    joint: Annotated[str, typer.Option(metavar="NAME", help="That is frozen.")],
    angle: Annotated[Radians, typer.Option(metavar="RAD", help="At which it is.")] = 0.0,
    knots: Annotated[int, typer.Option(min=2, help="Angles of the interpolation.")] = KNOTS,
    changes: Changes = None,
    folder: Out = None,
    force: Force = False,
) -> Result:
    """Print DH tables and merged inertia of the arm with a frozen joint, and draw their error.

    The two links at the joint are one. Beside its exact mass, centre and inertia, in the frame of
    the first of them, is the report's interpolation over the angle of the joint, and what it is
    off. Writes that over all angles as SVG and CSV.

    Examples:

      accord packbot reduced --joint elbow1 --angle 0.7

      accord packbot reduced --joint elbow2 --angle -1.2 --knots 24 --json
    """
    if joint not in JOINTS:
        raise AccordError(f"unknown joint {joint}{did_you_mean(joint, JOINTS)}")
    setup = load_setup("packbot", "collapse", changes)
    p, merged = setup.parameters, MergedLinks(setup.tree, joint)
    low, high = merged.limits
    if not low <= angle <= high:
        raise AccordError(f"--angle {angle:g}: {joint} goes from {low:g} to {high:g} rad")
    tables = {
        name: reduce_table(table, {joint: angle})
        for name, table in (("camera", camera_table(p)), ("hand", hand_table(p)))
    }
    exact, near = merged.exact(angle), merged.interpolated(angle, knots)
    (off,), (tensor_off,) = merged.errors(np.array([angle]), knots)
    angles = np.linspace(*merged.limits, SAMPLES)
    centres, tensors = merged.errors(angles, knots)
    with results(folder, f"packbot_reduced_{joint}", force=force) as place:
        files = draw(place, joint, angles, centres, tensors)
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
        files=files,
    )
    return Result(found, [*shown_of(found), file_line(files)])


@dataclass(frozen=True)
class Off:
    """Hold what the interpolation is off: the centre, and the share of the inertia."""

    centre: Metres
    inertia: Ratio

    def __str__(self) -> str:
        return f"{1e3 * self.centre:.2f} mm and {100 * self.inertia:.2f} %"


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """Hold DH tables and inertia of the arm of one link less."""

    joint: str
    angle: Radians
    links: Sequence[str]
    knots: int
    tables: Mapping[str, ReducedTable]
    exact: Inertia
    interpolated: Inertia
    error: Off
    largest: Off
    files: list[Path]


def draw(folder: Path, joint: str, angles: Array, centres: Array, tensors: Array) -> list[Path]:
    """Write the error over the angle as SVG and CSV."""
    path = folder / f"reduced_{joint}.svg"
    with picture(path) as axes:
        axes.plot(angles, 1e3 * centres, color=BLUE, label="centre of mass [mm]")
        axes.plot(angles, 100.0 * tensors, color=INK, ls="--", label="inertia [%]")
        axes.set(xlabel=f"angle of {joint} [rad]", ylabel="error of the interpolation")
        legend(axes)
    table = path.with_suffix(".csv")
    write_columns(table, {"angle_rad": angles, "centre_m": centres, "inertia": tensors})
    return [path, table]


def shown_of(found: Reduced) -> list[RenderableType]:
    """Return the tables for people."""
    exact, near = found.exact, found.interpolated
    shown: list[RenderableType] = []
    for name, reduced in found.tables.items():
        table = make_table("joint", "theta [deg]", "d [m]", "a [m]", "alpha [deg]", title=name)
        for row in reduced.rows:
            turns = (np.degrees(row.theta), row.d, row.a, np.degrees(row.alpha))
            table.add_row(row.joint, *(f"{round(value, 4) + 0.0:.4f}" for value in turns))
        shown += [table, ""]
    title = f"{' and '.join(found.links)} as one link, {exact.mass:.4g} kg"
    table = make_table("", "exact", f"of {found.knots} knots", title=title)
    for k, axis in enumerate("xyz"):
        table.add_row(f"centre {axis} [m]", f"{exact.centre[k]:.6f}", f"{near.centre[k]:.6f}")
    for i, k in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        values = exact.inertia[i, k], near.inertia[i, k]
        table.add_row(f"I{'xyz'[i]}{'xyz'[k]} [kg m^2]", *(f"{value:.6f}" for value in values))
    off = f"the interpolation is off by {found.error} here"
    return [*shown, table, off, f"and by {found.largest} at most"]
