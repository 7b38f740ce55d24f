"""The paper's figures 3a to 3d with their data."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.report.charts import Chart, Curve, Mark, Path, Scene

from roller_sphere.source.paper import COLOURS, Case, cases

HEADINGS = np.arange(361.0)  # degrees
PHI = "heading phi [degrees]"
FLAT = 0.25  # of the height of figure 3a, which would be eleven times its depth
TITLES = "wx [rad/s]", "wy [rad/s]", "wz [rad/s]"
LEADS = {
    "3b": "The axis lies in the x-y plane at 90 and 270 degrees, whatever alpha is.",
    "3c": "Solid: roller 1, dashed: roller 2. About 90 and 270 degrees a larger alpha does not "
    "always need faster rollers.",
    "3d": "Solid: roller 1, dashed: roller 2, its opposite. None at alpha 0.",
}


def figures() -> list[tuple[Chart | Scene, Mapping[str, Array]]]:
    """Return each figure with its table: columns by name, a row a heading."""
    found = cases(HEADINGS)
    return [
        (trajectories(found), _table(found, "omega", ("wx", "wy", "wz"), "rad_s")),
        (
            _chart("3b", "Angle of the axis", "rho [degrees]", _rho_curves(found)),
            {"phi_deg": HEADINGS}
            | {f"rho_alpha_{c.alpha:g}_deg": np.degrees(c.motion.rho) for c in found},
        ),
        (
            _chart("3c", "Speeds of the rollers", "nu [m/s]", _pairs(found, "nu", "nu")),
            _table(found, "nu", ("nu1", "nu2"), "m_s"),
        ),
        (
            _chart("3d", "Slip", "S [m/s]", _pairs(found, "slip", "S")),
            _table(found, "slip", ("S1", "S2"), "m_s"),
        ),
    ]


def trajectories(found: list[Case]) -> Scene:
    """Return figure 3a: the end points of w over all headings."""
    paths = [
        Path(case.motion.omega, colour, f"alpha {case.alpha:g}")
        for case, colour in zip(found, COLOURS, strict=True)
    ]
    marks = [Mark(np.array([x, 0.0, 0.0]), "#1d2430", w) for x, w in ((-1, "90"), (1, "270"))]
    return Scene(
        "figure_3a",
        "Figure 3a: end points of w",
        "Ellipses over one circle, the steeper the larger alpha is. All meet on the x-axis, at the "
        f"headings 90 and 270 degrees. Heights are drawn {FLAT:g} times as large.",
        paths,
        marks,
        axes=TITLES,
        stretch=np.array([1.0, 1.0, FLAT]),
    )


def _chart(number: str, title: str, unit: str, curves: list[Curve]) -> Chart:
    return Chart(
        f"figure_{number}", f"Figure {number}: {title.lower()}", LEADS[number], (PHI, unit), curves
    )


def _rho_curves(found: list[Case]) -> list[Curve]:
    return [
        Curve(f"alpha {case.alpha:g}", HEADINGS, np.degrees(case.motion.rho), colour)
        for case, colour in zip(found, COLOURS, strict=True)
    ]


def _pairs(found: list[Case], of: str, symbol: str) -> list[Curve]:
    return [
        Curve(
            f"{symbol}{roller + 1}, alpha {case.alpha:g}", HEADINGS,
            getattr(case.motion, of)[:, roller], colour, dashed=roller == 1,
        )
        for roller in (0, 1)
        for case, colour in zip(found, COLOURS, strict=True)
    ]  # fmt: skip


def _table(found: list[Case], of: str, names: tuple[str, ...], unit: str) -> dict[str, Array]:
    columns = {"phi_deg": HEADINGS}
    for case in found:
        for name, values in zip(names, getattr(case.motion, of).T, strict=True):
            columns[f"{name}_alpha_{case.alpha:g}_{unit}"] = values
    return columns
