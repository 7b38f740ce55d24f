"""Pictures of a landscape, a gait's error over its starts: the report's figures 3, 4, 9 and 10.

A start is a pair of rates (w1, w2) of the two joints with which the robot hangs straight down; the
error measures by how much the gait does not repeat (gaits/landscape.py computes it on a grid).
`write_surface` draws the landscape as a surface, `write_map` as an intensity map. Heights are the
square root of the error, cut off at CUT as in the report. `accord monkeybot landscape` draws the
same pictures. MARKED, MAX_CELLS, MARK_LIFT and the styles of marks may be changed.
"""

from pathlib import Path

import numpy as np
from roboaccord import report
from roboaccord.contract import Array

from monkeybot.gaits.landscape import Landscape

CUT = 5.0  # largest height that is drawn, as in the report
HEIGHT = "root of the error"  # label of the heights
TITLES = ("w1 at the start [rad/s]", "w2 at the start [rad/s]")
# Largest number of marked minima, the lowest first; a slanting valley has many, for on a grid each
# row has one of its own. By eye: more marks hide the map.
MARKED = 40
# Largest number of cells along a side of a surface: some 4 pixels of the picture each
MAX_CELLS = 150
# Styles of the marks, as matplotlib takes them; sizes in points, by eye.
MARK_STYLE = {"ls": "none", "marker": "o"}
MINIMA_STYLE = MARK_STYLE | {"color": report.PAGE, "mec": report.INK, "mew": 0.5, "ms": 3.5}
MINIMA_STYLE |= {"label": f"local minima, {MARKED} at most"}
LOWEST_STYLE = MARK_STYLE | {"color": report.RED, "mec": report.PAGE, "ms": 7.0}
LOWEST_STYLE |= {"label": "lowest point of the grid"}
PRINTED_STYLE = MARK_STYLE | {"color": report.AMBER, "mec": report.INK, "ms": 7.0}
PRINTED_STYLE |= {"label": "minima by the report"}
# Style of the surface, rasterised so that the SVG stays small.
SURFACE_STYLE = {"cmap": "viridis", "vmin": 0.0, "vmax": CUT, "lw": 0.0, "antialiased": False}
SURFACE_STYLE |= {"rcount": MAX_CELLS, "ccount": MAX_CELLS, "rasterized": True}
MARK_LIFT = 0.05  # height of marks above the surface, so that they stay visible; 1 % of CUT, by eye


def root_of_error(field: Landscape) -> Array:
    """Return the square root of the error, at most `CUT` (n1, n2); NaN where an event is missed."""
    return np.asarray(np.minimum(np.sqrt(field.error), CUT))


def write_map(field: Landscape, path: Path, marks: Array | None = None) -> None:
    """Write the intensity map as SVG; dark colours are low.

    Args:
        field: the landscape.
        path: of the file.
        marks: further points (w1, w2) to mark (m, 2).
    """
    with report.picture(path, report.SQUARE) as axes:
        report.heat_map(axes, field.w1, field.w2, np.sqrt(field.error), HEIGHT, cut=CUT)
        axes.plot(*field.minima[:MARKED, :2].T, **MINIMA_STYLE)  # their w1 and w2
        if marks is not None:
            axes.plot(*marks.T, **PRINTED_STYLE)
        axes.plot(*field.lowest[:2], **LOWEST_STYLE)
        axes.set(xlabel=TITLES[0], ylabel=TITLES[1])
        report.legend(axes)


def write_surface(field: Landscape, path: Path) -> None:
    """Write the surface as SVG, seen from above."""
    projection = {"projection": "3d", "computed_zorder": False}
    with report.picture(path, report.SQUARE, subplot_kw=projection) as axes:
        w1, w2 = np.meshgrid(field.w1, field.w2, indexing="ij")
        axes.plot_surface(w1, w2, root_of_error(field), **SURFACE_STYLE)
        for points, style in ((field.minima[:MARKED], MINIMA_STYLE), (field.lowest, LOWEST_STYLE)):
            w1, w2, error = np.atleast_2d(points).T
            height = np.minimum(np.sqrt(error), CUT) + MARK_LIFT
            axes.plot(w1, w2, height, **style)
        axes.set(xlabel=TITLES[0], ylabel=TITLES[1], zlabel=HEIGHT, zlim=(0.0, CUT))
        axes.view_init(elev=32.0, azim=-62.0)
        report.legend(axes)
