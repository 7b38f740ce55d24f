"""`accord packbot look --joint`: the arm with a frozen joint, whose two links become one.

The Denavit-Hartenberg tables are reduced by model/tables.py, and the inertias of the two links are
merged by model/merged.py. The error of the report's interpolation of this inertia is computed over
the range of the joint, and drawn.

SAMPLES may be tuned. Fields are keys of `--json` and must stay (test_packbot_faults).
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
SAMPLES = 601


@dataclass(frozen=True)
class InterpolationError:
    """Error of the interpolation: distance of the centres, and relative error of the inertia."""

    centre: Annotated[float, Quantity("m", form=".2f", shown="mm")]
    inertia: Annotated[float, Quantity("1", form=".2f", shown="%")]


@dataclass(frozen=True, kw_only=True)
class Reduced:
    """DH tables of the arm with one link less, and the inertia of the merged link."""

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
    """Return the arm with a joint frozen at an angle [rad], and draw the interpolation's error."""
    p, merged = setup.parameters, MergedLinks(setup.tree, joint)
    low, high = merged.limits
    if not low <= angle <= high:
        raise AccordError(f"--angle {angle:g}: the range of {joint} is {low:g} to {high:g} rad")
    (centre,), (inertia,) = merged.errors(np.array([angle]), knots)
    angles = np.linspace(*merged.limits, SAMPLES)
    centres, tensors = merged.errors(angles, knots)
    with cli.results(folder, f"packbot_reduced_{joint}", force=force) as out_folder:
        path = out_folder / f"reduced_{joint}.svg"
        with report.picture(path) as axes:
            axes.plot(angles, 1e3 * centres, color=report.BLUE, label="centre of mass [mm]")
            axes.plot(angles, 100.0 * tensors, color=report.INK, ls="--", label="inertia [%]")
            axes.set(
                xlabel=f"angle of frozen {joint} [rad]", ylabel="error of interpolated inertia"
            )
            report.legend(axes)
        table = {"angle_rad": angles, "centre_m": centres, "inertia": tensors}
        write_columns(path.with_suffix(".csv"), table)
    chains = {"camera": camera_table(p), "hand": hand_table(p)}
    tables = {key: reduce_table(chain, {joint: angle}) for key, chain in chains.items()}
    reduced = Reduced(
        joint=joint, angle=angle, links=merged.names, knots=knots, tables=tables,
        exact=merged.exact(angle), interpolated=merged.interpolated(angle, knots),
        error=InterpolationError(centre, inertia),
        largest=InterpolationError(centres.max(), tensors.max()),
        files=[path, path.with_suffix(".csv")],
    )  # fmt: skip
    exact, near = reduced.exact, reduced.interpolated
    rows = {f"centre {x} [m]": pair for x, pair in zip("xyz", zip(exact.centre, near.centre))}
    for i, k in zip(*np.triu_indices(3)):
        rows[f"I{'xyz'[i]}{'xyz'[k]} [kg m^2]"] = exact.inertia[i, k], near.inertia[i, k]
    title = f"{' and '.join(reduced.links)} as one link, {exact.mass:.4g} kg"
    off_by = {f"at {angle:g} rad": reduced.error, "at most": reduced.largest}
    return cli.Result(reduced, [
        *(each for key, t in tables.items() for each in cli.tables_of(t.rows, title=key)),
        cli.grid_of(("", "exact", f"of {knots} knots"), rows, Quantity("", form=".6f"), title),
        *cli.tables_of([*off_by.values()], title="the interpolation is off by", labels=off_by),
        cli.file_line(reduced.files),
    ])  # fmt: skip
