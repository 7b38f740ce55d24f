"""Static figures: matplotlib in one style, the same bytes each time.

STYLE, SIZE, SQUARE, EDGE and PLACES may be changed; redraw docs/images after that. Two entries of
STYLE are fixed: with `svg.hashsalt` the same figure has the same bytes (test_drawing), with
`svg.fonttype` text stays text. No word may hide another or leave the frame: tests of figures check
that.

Matplotlib is imported where a figure is drawn, so that other commands do not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import writing
from roboaccord.contract.state import Array
from roboaccord.report.curves import EMPTY, INK, PAGE, RULE, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (7.5, 4.4)  # inches: 720 x 422 pixels of a page
SQUARE = (7.5, 5.6)
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.titlesize": "medium",
    "axes.edgecolor": SOFT, "xtick.color": SOFT, "ytick.color": SOFT,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": RULE, "figure.facecolor": PAGE,
    "legend.frameon": False, "lines.linewidth": 1.5, "lines.markersize": 4.0,
    "svg.fonttype": "none",  # words stay words: small files, and they can be searched
    "svg.hashsalt": "roboaccord", "savefig.dpi": 144,
}  # fmt: skip
DASHES = {
    "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 2, 3)),
}  # fmt: skip
"""Plotly's dashes of curves.py, as Matplotlib draws them."""
EDGE = 3.0  # pixels between a word beside a dot and a line
# Offsets of a word from its dot [points], the preferred first; the first free one is taken.
PLACES = [
    (x, y) for r in (6, 14, 24) for x, y in ((r, r), (-r, r), (r, -r), (-r, -r), (0, r), (0, -r))
]
# View of every scene: angles about z from x, and up [degrees], as for matplotlib's `view_init`.
AZIMUTH, ELEVATION = -62.0, 20.0


@contextmanager
def picture(
    path: Path, size: tuple[float, float] = SIZE, mosaic: str = "", **subplots: Any
) -> Iterator[Any]:
    """Provide axes to draw in, and write the figure at the end of the context.

    Args:
        path: of the file, .svg or .png.
        size: width and height [inches].
        mosaic: as `Figure.subplot_mosaic` takes it: several axes, by letter.
        subplots: otherwise, as `Figure.subplots` takes them.

    Raises:
        AccordError: if the file cannot be written.
    """
    with styled(size) as figure:
        yield figure.subplot_mosaic(mosaic) if mosaic else figure.subplots(**subplots)
        save(figure, path)


@contextmanager
def styled(size: tuple[float, float] = SIZE) -> Iterator[Figure]:
    """Provide a figure of a size [inches], in the style in which it is drawn and written."""
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", STYLE]):  # not a user's matplotlibrc
        yield Figure(figsize=size, layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure without a date, so that the same figure has the same bytes.

    Raises:
        AccordError: if the file cannot be written, or has an unknown suffix.
    """
    if path.suffix not in (".svg", ".png"):
        raise AccordError(f"{path.name} must end in .svg or .png")
    dated = {"Date": None, "Creator": None} if path.suffix == ".svg" else {}
    with writing(path) as draft:
        figure.savefig(draft, metadata=dated)


def legend(axes: Axes, columns: int = 4) -> None:
    """Explain curves and marks above their axes, each name once."""
    named = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    _figure(axes).legend(named.values(), named.keys(), loc="outside upper left", ncols=columns)


def heat_map(
    axes: Axes, x: Array, y: Array, values: Array, unit: str, *, cut: float | None = None
) -> None:
    """Show values over a grid as colours with their scale; dark is low, pale grey is NaN.

    Args:
        axes: to draw in.
        x, y: middles of the cells (n,), (m,); the axes end at the first and the last.
        values: (n, m).
        unit: label of the colour scale.
        cut: largest value of the scale, which then starts at 0; larger ones share its colour.
    """
    from matplotlib import colormaps

    half_x, half_y = (0.5 * (middles[1] - middles[0]) for middles in (x, y))
    extent = (x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y)  # that cells fill
    axes.grid(visible=False)
    # Without interpolation each value is a cell with sharp edges.
    image = axes.imshow(
        np.asarray(values).T, cmap=colormaps["viridis"].with_extremes(bad=EMPTY),
        extent=extent, origin="lower", aspect="auto", interpolation="none",
        vmin=None if cut is None else 0.0, vmax=cut,
    )  # fmt: skip
    more = cut is not None and bool(np.nanmax(values) > cut)
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))  # not the outer halves of the edge cells
    bar = _figure(axes).colorbar(image, ax=axes, label=unit, extend="max" if more else "neither")
    bar.outline.set_visible(False)


def label_dots(axes: Axes, dots: Sequence[tuple[float, float]], words: Sequence[str]) -> None:
    """Write words beside dots, where they hide no other word and stay within the axes.

    They avoid lines, except pale ones, where there is room. A word that fits nowhere is left out.
    """
    from matplotlib.patheffects import withStroke

    _figure(axes).draw_without_rendering()
    taken = [text.get_window_extent() for text in axes.texts]
    dark = [line for line in axes.lines if line.get_color() != RULE]
    lines = [line.get_transform().transform_path(line.get_path()) for line in dark]
    lines += [patch.get_transform().transform_path(patch.get_path()) for patch in axes.patches]
    for dot, word in zip(dots, words, strict=True):
        for offset, obstacles in [(offset, lines) for offset in PLACES] + [(p, []) for p in PLACES]:
            x, y = offset
            note = axes.annotate(
                word, dot, offset, textcoords="offset points",
                ha="left" if x > 0 else "right" if x < 0 else "center",
                va="bottom" if y > 0 else "top",
                path_effects=[withStroke(linewidth=2.5, foreground=PAGE)],
            )  # fmt: skip
            box = note.get_window_extent()
            inside = all(axes.bbox.contains(*corner) for corner in box.corners())
            hides = any(box.overlaps(other) for other in taken) or any(
                line.intersects_bbox(box.padded(EDGE), filled=False) for line in obstacles
            )
            if inside and not hides:
                taken.append(box)
                break
            note.remove()


def _figure(axes: Axes) -> Figure:
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def bare(axes: Axes) -> None:
    """Show a scene to scale, without frame or numbers."""
    axes.set_aspect("equal")
    axes.set_axis_off()


def pointer(axes: Axes, start: Array, end: Array, colour: str, name: str = "") -> None:
    """Draw an arrow in the plane of the drawing, from a point (2,) to another."""
    axes.plot(*np.column_stack([start, end]), color=colour, lw=1.8, label=name or None)
    look = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "shrinkA": 0, "shrinkB": 0,
            "mutation_scale": 13}  # fmt: skip
    axes.annotate("", tuple(end), tuple(start), arrowprops=look)


def draw_page(axes: Axes, page: Mapping[str, Any]) -> None:
    """Draw a plane figure of Plotly, of curves, dots and vertical lines."""
    for curve in page["data"]:
        x = curve["x"] if "x" in curve else [curve["name"]] * len(curve["y"])
        stroke, marker = curve.get("line", {}), curve.get("marker", {})
        lines = "lines" in curve.get("mode", "")
        axes.errorbar(
            x, np.array(curve["y"]) if isinstance(curve["y"][0], str) else _floats(curve["y"]),
            yerr=_floats(curve["error_y"]["array"]) if "error_y" in curve else None,
            linestyle=DASHES.get(stroke.get("dash", ""), "-") if lines else "none",
            marker="" if lines else "o", color=marker.get("color", stroke.get("color")),
            linewidth=stroke.get("width", 1.5), alpha=curve.get("opacity", 1.0),
            label=curve.get("name") if curve.get("showlegend", True) else None,
        )  # fmt: skip
    for shape in page["layout"].get("shapes", ()):
        axes.axvline(shape["x0"], color=shape["line"]["color"], ls=":", label=shape["name"])
    for name in "xy":
        form = page["layout"].get(f"{name}axis", {})
        axes.set(**{f"{name}label": form.get("title", {}).get("text", "")})
        if form.get("type") == "log":
            axes.set(**{f"{name}scale": "log"})
        if "scaleanchor" in form:
            axes.set_aspect("equal", adjustable="datalim")


def _floats(values: Sequence[float | None]) -> Any:
    return np.array(values, dtype=float)
