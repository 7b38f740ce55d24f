"""Static figures by Matplotlib, in one style, with the same bytes each time.

`picture` is the context in which other packages draw a file, `styled` that of a figure alone. The
helpers below draw legends, colour maps, words beside dots, arrows, and figures that were made for
Plotly (`draw_page`), the library of the pages in HTML. In STYLE, `svg.hashsalt` makes the bytes
repeatable (test_drawing), and `svg.fonttype` keeps text as text; the rest may be changed, after
which docs/images are drawn again. No word may hide another or leave the frame, as tests of figures
check. Colours (EMPTY, INK, PAGE, RULE, SOFT) are those of the pages, from curves.py.

Matplotlib is imported only where a figure is drawn, so that other commands do not wait for it.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.contract import AccordError, Array, writing
from roboaccord.report.curves import EMPTY, INK, PAGE, RULE, SOFT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Width and height of figures over time [inches]: 720 x 422 pixels on a page, by eye.
SIZE = (7.5, 4.4)
# The same of other figures: higher, for axes that are nearly square, by eye.
SQUARE = (7.5, 5.6)
# Settings of Matplotlib, by eye: sizes are points, and 144 dots per inch are twice those of a page.
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 9.5,
    "text.color": INK, "axes.labelcolor": INK, "axes.titlesize": "medium",
    "axes.edgecolor": SOFT, "xtick.color": SOFT, "ytick.color": SOFT,
    "axes.grid": True, "axes.axisbelow": True, "grid.color": RULE, "figure.facecolor": PAGE,
    "legend.frameon": False, "lines.linewidth": 1.5, "lines.markersize": 4.0,
    "svg.fonttype": "none",  # text stays text: files are small, and can be searched
    "svg.hashsalt": "roboaccord", "savefig.dpi": 144,
}  # fmt: skip
# The dashes of curves.py, which are Plotly's, in Matplotlib's form: lengths of dashes and gaps, as
# multiples of the line's width, by eye.
DASHES = {
    "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 2, 3)),
}  # fmt: skip
WORD_MARGIN = 3.0  # smallest distance of a word from a line [px]: the width of a line (1.5 points)
# Directions (x, y) from a dot to its word, and distances [points], in order of preference: at the
# dot and one and two lines of text away. The first free place is used.
DIRECTIONS = ((1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1))
OFFSETS = [(distance * x, distance * y) for distance in (6, 14, 24) for x, y in DIRECTIONS]
# Direction of view of all scenes [degrees], as in Matplotlib's `view_init`: by eye, near its
# defaults of -60 and 30.
AZIMUTH, ELEVATION = -62.0, 20.0


@contextmanager
def picture(
    path: Path, size: tuple[float, float] = SIZE, mosaic: str = "", **subplots: Any
) -> Iterator[Any]:
    """Yield axes to draw in; at the end of the block the figure is written.

    Args:
        path: of the file, .svg or .png.
        size: width and height [inches].
        mosaic: layout of several axes by letter, for `Figure.subplot_mosaic`; "" for none.
        subplots: without a mosaic, arguments of `Figure.subplots`.

    Raises:
        AccordError: if the file cannot be written.
    """
    with styled(size) as figure:
        yield figure.subplot_mosaic(mosaic) if mosaic else figure.subplots(**subplots)
        save(figure, path)


@contextmanager
def styled(size: tuple[float, float] = SIZE) -> Iterator[Figure]:
    """Yield a figure of a size [inches]; within the block Matplotlib uses STYLE."""
    from matplotlib import style
    from matplotlib.figure import Figure

    class Shown(Figure):
        """A figure that a notebook shows, whether or not Matplotlib has been set up in it."""

        def _repr_png_(self) -> bytes:
            """Return the picture, for the cell's output."""
            picture = io.BytesIO()
            self.savefig(picture, format="png")
            return picture.getvalue()

    with style.context(["default", STYLE]):  # not a user's matplotlibrc
        yield Shown(figsize=size, layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure without a date, so that the same figure has the same bytes.

    Raises:
        AccordError: if the file cannot be written, or has an unknown suffix.
    """
    if path.suffix not in (".svg", ".png"):
        raise AccordError(f"{path.name} must end in .svg or .png")
    metadata = {"Date": None, "Creator": None} if path.suffix == ".svg" else {}
    with writing(path) as draft:
        figure.savefig(draft, metadata=metadata)


def legend(axes: Axes, columns: int = 4) -> None:
    """Add a legend above the axes, with each name once."""
    handles, labels = axes.get_legend_handles_labels()
    by_label = dict(zip(labels, handles, strict=True))
    _figure(axes).legend(by_label.values(), by_label, loc="outside upper left", ncols=columns)


def heat_map(
    axes: Axes, x: Array, y: Array, values: Array, unit: str, *, cut: float | None = None
) -> None:
    """Draw values over a grid as colours, with the scale; dark is low, pale grey is NaN.

    Args:
        axes: to draw in.
        x, y: centres of the cells (n,), (m,); the axes end at the first and the last of them.
        values: of the cells (n, m).
        unit: label of the colour scale.
        cut: if given, the scale is from 0 to this value, and larger values have its last colour.
    """
    from matplotlib import colormaps

    half_x, half_y = 0.5 * (x[1] - x[0]), 0.5 * (y[1] - y[0])
    # Outer edges of the cells.
    extent = (x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y)
    axes.grid(visible=False)
    # Without interpolation each value is a cell with sharp edges.
    cells: dict[str, Any] = {"origin": "lower", "aspect": "auto", "interpolation": "none"}
    colours = colormaps["viridis"].with_extremes(bad=EMPTY)
    scale: dict[str, Any] = {"vmin": None if cut is None else 0.0, "vmax": cut, "cmap": colours}
    image = axes.imshow(np.asarray(values).T, extent=extent, **cells, **scale)
    # Cuts off the outer halves of the outermost cells.
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    extension = "max" if cut is not None and np.nanmax(values) > cut else "neither"
    bar = _figure(axes).colorbar(image, ax=axes, label=unit, extend=extension)
    bar.outline.set_visible(False)


def label_dots(axes: Axes, dots: Sequence[tuple[float, float]], words: Sequence[str]) -> None:
    """Write words beside dots, where they hide no other word and stay within the axes.

    Places that cross no line, except pale ones, are preferred. A word that fits nowhere is left
    out.
    """
    from matplotlib.patheffects import withStroke

    _figure(axes).draw_without_rendering()
    # Words that are there, and lines that should not be crossed, in pixels.
    occupied = [text.get_window_extent() for text in axes.texts]
    dark = [line for line in axes.lines if line.get_color() != RULE]
    lines = [line.get_transform().transform_path(line.get_path()) for line in dark]
    lines += [patch.get_transform().transform_path(patch.get_path()) for patch in axes.patches]
    halo = [withStroke(linewidth=2.5, foreground=PAGE)]
    # All offsets without crossing a line, then all offsets regardless of lines.
    attempts = [(offset, lines) for offset in OFFSETS] + [(offset, []) for offset in OFFSETS]
    for dot, word in zip(dots, words, strict=True):
        for offset, obstacles in attempts:
            x, y = offset
            # The word grows away from the dot.
            style: dict[str, Any] = {"ha": {1: "left", -1: "right", 0: "center"}[np.sign(x)]}
            style |= {"va": "bottom" if y > 0 else "top", "path_effects": halo}
            note = axes.annotate(word, dot, offset, textcoords="offset points", **style)
            box = note.get_window_extent()
            inside = all(axes.bbox.contains(*corner) for corner in box.corners())
            padded = box.padded(WORD_MARGIN)
            is_free = not any(box.overlaps(other) for other in occupied)
            crosses = any(line.intersects_bbox(padded, filled=False) for line in obstacles)
            if inside and is_free and not crosses:
                occupied.append(box)
                break
            note.remove()


def _figure(axes: Axes) -> Figure:
    """Return the figure of axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    return figure


def bare(axes: Axes) -> None:
    """Make axes to scale, without frame and numbers, for a scene."""
    axes.set_aspect("equal")
    axes.set_axis_off()


def pointer(axes: Axes, start: Array, end: Array, colour: str, name: str = "") -> None:
    """Draw an arrow from a point (2,) to another, in the units of the axes."""
    axes.plot(*np.column_stack([start, end]), color=colour, lw=1.8, label=name or None)
    arrow = {"arrowstyle": "-|>", "color": colour, "lw": 1.8, "mutation_scale": 13}
    arrow |= {"shrinkA": 0, "shrinkB": 0}  # from point to point
    axes.annotate("", tuple(end), tuple(start), arrowprops=arrow)


def draw_page(axes: Axes, page_figure: Mapping[str, Any]) -> None:
    """Draw a two-dimensional Plotly figure that consists of curves, dots and vertical lines.

    Args:
        axes: to draw in.
        page_figure: in Plotly's form, `data` (curves) and `layout` (axes and shapes).
    """
    for curve in page_figure["data"]:
        y = np.array(curve["y"]) if isinstance(curve["y"][0], str) else _floats(curve["y"])
        x = curve["x"] if "x" in curve else [curve["name"]] * len(y)
        stroke, marker = curve.get("line", {}), curve.get("marker", {})
        has_lines = "lines" in curve.get("mode", "")
        axes.errorbar(
            x,
            y,
            yerr=_floats(curve["error_y"]["array"]) if "error_y" in curve else None,
            linestyle=DASHES.get(stroke.get("dash", ""), "-") if has_lines else "none",
            marker="" if has_lines else "o",
            color=marker.get("color", stroke.get("color")),
            linewidth=stroke.get("width", 1.5),
            alpha=curve.get("opacity", 1.0),
            label=curve.get("name") if curve.get("showlegend", True) else None,
        )
    for shape in page_figure["layout"].get("shapes", ()):
        axes.axvline(shape["x0"], color=shape["line"]["color"], ls=":", label=shape["name"])
    for name in "xy":
        axis = page_figure["layout"].get(f"{name}axis", {})
        axes.set(**{f"{name}label": axis.get("title", {}).get("text", "")})
        if axis.get("type") == "log":
            axes.set(**{f"{name}scale": "log"})
        if "scaleanchor" in axis:
            axes.set_aspect("equal", adjustable="datalim")


def _floats(values: Sequence[float | None]) -> Any:
    """Return values as an array, NaN for None."""
    return np.array(values, dtype=float)
