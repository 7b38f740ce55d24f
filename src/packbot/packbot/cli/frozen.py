"""`accord packbot look --joint`: the arm with a frozen joint, whose two links become one.

The Denavit-Hartenberg tables are reduced by model/tables.py, and the inertias of the two links are
merged by model/merged.py. The error of the report's interpolation of this inertia is computed over
the range of the joint, and drawn.

ERROR_SAMPLES may be tuned. Fields are keys of `--json` and must stay (test_packbot_faults).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from roboaccord import cli, report
from roboaccord.contract import AccordError, Quantity
from roboaccord.contract import results as si
from roboaccord.run import write_columns
from roboaccord.scenario import Setup

from packbot.model.merged import Inertia, MergedLinks
from packbot.model.tables import Table, camera_table, hand_table, reduce_table

# Number of angles at which the error of the merged inertia is computed: 0.6 degrees apart, some 50
# between two knots if there are 12, of a curve that is smooth there.
ERROR_SAMPLES = 601
AXES = "xyz"


@dataclass(frozen=True)
class InterpolationError:
    """Error of the interpolation of the merged link.

    Args:
        centre: distance of the interpolated centre of mass from the exact one [m].
        inertia: largest error of an entry of the inertia over its largest entry.
    """

    centre: Annotated[float, Quantity("m", form=".2f", shown="mm")]
    inertia: Annotated[float, Quantity("1", form=".2f", shown="%")]


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """DH tables of the arm with one link less, and the inertia of the merged link.

    Args:
        joint: name of the frozen joint.
        angle: angle at which it is frozen [rad].
        links: names of the two links that become one.
        knots: number of angles between which the inertia is interpolated.
        tables: DH tables of the chains `camera` and `hand`, without the frozen joint.
        exact: inertia of the merged link, as a sum of bodies.
        interpolated: the same as in the report, by interpolation.
        error: error of the interpolation at the angle.
        largest: largest error of the interpolation over the range of the joint.
        files: picture and table of the error over the range of the joint.
    """

    joint: str
    angle: si.Radians
    links: Sequence[str]
    knots: int
    tables: Mapping[str, Table]
    exact: Inertia
    interpolated: Inertia
    error: InterpolationError
    largest: InterpolationError
    files: list[Path]


def frozen_at(
    setup: Setup, joint: str, angle: float, knots: int, folder: Path | None, force: bool
) -> cli.Result:
    """Return the arm with a frozen joint as a result, and draw the interpolation's error.

    Args:
        setup: robot and scenario.
        joint, angle: the frozen joint, and the angle at which it is frozen [rad].
        knots: number of angles of the interpolation.
        folder: folder for the files; None for a new one.
        force: whether files in it are overwritten.

    Raises:
        AccordError: for an unknown joint, or an angle outside its range.
    """
    p, merged = setup.parameters, MergedLinks(setup.tree, joint)
    low, high = merged.limits
    if not low <= angle <= high:
        raise AccordError(f"--angle {angle:g}: the range of {joint} is {low:g} to {high:g} rad")
    centre_errors, inertia_errors = merged.errors(np.array([angle]), knots)
    with cli.results(folder, f"packbot_reduced_{joint}", force=force) as out_folder:
        files, largest = _write_errors(merged, joint, knots, out_folder)
    chains = {"camera": camera_table(p), "hand": hand_table(p)}
    tables = {key: reduce_table(chain, {joint: angle}) for key, chain in chains.items()}
    reduced = Reduced(
        joint=joint,
        angle=angle,
        links=merged.names,
        knots=knots,
        tables=tables,
        exact=merged.exact(angle),
        interpolated=merged.interpolated(angle, knots),
        error=InterpolationError(centre_errors[0], inertia_errors[0]),
        largest=largest,
        files=files,
    )
    return _with_tables(reduced)


def _with_tables(reduced: Reduced) -> cli.Result:
    """Return the result with its tables: both chains, the merged inertia, and its error."""
    lines = [*cli.tables_of(reduced.tables["camera"].rows, title="camera")]
    lines += cli.tables_of(reduced.tables["hand"].rows, title="hand")
    # Inertia: a row for each entry, with the exact and the interpolated value.
    exact, interpolated = reduced.exact, reduced.interpolated
    rows = dict[str, tuple[float, float]]()
    for i, axis in enumerate(AXES):
        rows[f"centre {axis} [m]"] = exact.centre[i], interpolated.centre[i]
    for i, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):  # a symmetric matrix
        rows[f"I{AXES[i]}{AXES[k]} [kg m^2]"] = exact.inertia[i, k], interpolated.inertia[i, k]
    columns = "", "exact", f"of {reduced.knots} knots"
    title = f"{' and '.join(reduced.links)} as one link, {exact.mass:.4g} kg"
    lines.append(cli.grid_of(columns, rows, Quantity("", form=".6f"), title))
    # Error of the interpolation.
    errors = {f"at {reduced.angle:g} rad": reduced.error, "at most": reduced.largest}
    lines += cli.tables_of([*errors.values()], title="the interpolation is off by", labels=errors)
    return cli.Result(reduced, [*lines, cli.file_line(reduced.files)])


def _write_errors(
    merged: MergedLinks, joint: str, knots: int, folder: Path
) -> tuple[list[Path], InterpolationError]:
    """Draw the interpolation's error over the range of a joint, and write it as CSV.

    Returns:
        the files, and the largest error.
    """
    angles = np.linspace(*merged.limits, ERROR_SAMPLES)
    centres, inertias = merged.errors(angles, knots)
    path = folder / f"reduced_{joint}.svg"
    with report.picture(path) as axes:
        axes.plot(angles, 1e3 * centres, color=report.BLUE, label="centre of mass [mm]")
        axes.plot(angles, 100.0 * inertias, color=report.INK, ls="--", label="inertia [%]")
        axes.set(xlabel=f"angle of frozen {joint} [rad]", ylabel="error of interpolated inertia")
        report.legend(axes)
    csv = path.with_suffix(".csv")
    write_columns(csv, {"angle_rad": angles, "centre_m": centres, "inertia": inertias})
    return [path, csv], InterpolationError(centres.max(), inertias.max())
