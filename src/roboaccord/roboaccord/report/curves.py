"""Parts of figures for the pages: curves with few points, axes, and colours.

A figure is a mapping in the form that Plotly takes. Curves are thinned to MAX_POINTS samples, which
keeps pages small; `thin_peaks` keeps the largest value of each stretch, so that no peak is lost. An
engine has the same colour in every figure and table
(test_an_engine_keeps_its_colour_and_axes_have_units); a new default engine needs one in DEFAULTS.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from roboaccord.contract import Array, Json
from roboaccord.engines import default_names

# Largest number of samples of a curve: about the pixels of the page's width.
MAX_POINTS = 1000
# Largest number of joints whose signals are drawn, as many as one can distinguish; of more joints,
# evenly spaced ones are drawn.
MAX_JOINTS = 8
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")  # names of Plotly
# Share of the smallest values that a logarithmic axis may leave out: 10 of MAX_POINTS. By eye:
# where a curve passes through 0, single points would stretch the axis.
OUTLIER_SHARE = 0.01
REFERENCE = "reference"
# A figure, a curve or an axis of Plotly.
Figure = dict[str, Json]
COLOURS = {"reference": "#5b8def", "gazebo": "#c264b8"}  # of engines
DEFAULTS = ("#ee7733", "#12a594")  # colours of the default engines, in their order
SPARE_COLOURS = ("#c9a227", "#8e7cc3", "#d1495b", "#6b9e3f")  # colours of other engines
REFERENCE_LOOK, ENGINE_LOOK = (5, 0.55), (1.8, 1)  # width [px] and opacity of curves, by eye
# Colours of text, of less important text and lines, of the grid, and of the background.
INK, SOFT, RULE, PAGE = "#1d2430", "#5d6878", "#d5dae1", "#ffffff"
BLUE, RED, GREEN, AMBER = "#3366cc", "#d1495b", "#12a594", "#ffb000"
EMPTY = "#e3e7ec"  # colour of a map where there is no value


def colour_of(engine: str, engines: Sequence[str]) -> str:
    """Return the colour of an engine, the same in every figure and table."""
    fixed = COLOURS | dict(zip(default_names(), DEFAULTS))
    others = [name for name in engines if name not in fixed]
    return fixed.get(engine) or SPARE_COLOURS[others.index(engine) % len(SPARE_COLOURS)]


def thin_peaks(time: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    """Return at most MAX_POINTS samples: the largest value, and its time, of each stretch."""
    times, samples = np.asarray(time, dtype=float), np.asarray(values, dtype=float)
    stretches = np.array_split(np.arange(len(samples)), min(len(samples), MAX_POINTS) or 1)
    finite = np.where(np.isfinite(samples), samples, -np.inf)
    peaks = [int(indices[np.argmax(finite[indices])]) for indices in stretches if len(indices)]
    return times[peaks], samples[peaks]


def engine_curve(
    engine: str,
    engines: Sequence[str],
    x: ArrayLike,
    y: ArrayLike,
    dash: str = "",
    width: float | None = None,
) -> Figure:
    """Return a curve of an engine; the reference's is broad and pale, so that others show on it.

    Args:
        engine: name, which decides the colour.
        engines: names of all engines of the figure.
        x, y: coordinates of the points (k,).
        dash: one of DASHES; "" for a solid line.
        width: of the line [px]; by default as REFERENCE_LOOK and ENGINE_LOOK have it.
    """
    default_width, opacity = REFERENCE_LOOK if engine == REFERENCE else ENGINE_LOOK
    style: Figure = {"color": colour_of(engine, engines), "width": width or default_width}
    if dash:
        style["dash"] = dash
    curve: Figure = {"type": "scatter", "mode": "lines", "name": engine}
    return {**curve, "x": plain(x), "y": plain(y), "opacity": opacity, "line": style}


def axis(title: str) -> Figure:
    """Return an axis with a title."""
    return {"title": {"text": title}}


def log_axis(title: str, curves: Sequence[ArrayLike]) -> Figure:
    """Return a logarithmic axis over the decades of curves, without the few lowest values."""
    values = np.array([v for curve in curves for v in plain(curve)], dtype=float)
    values = values[values > 0.0]
    without_range: Figure = {**axis(title), "type": "log", "exponentformat": "power"}
    if not len(values):
        return without_range
    low = math.floor(math.log10(np.quantile(values, OUTLIER_SHARE)))
    high = math.ceil(math.log10(values.max()) + 1e-9)
    return {**without_range, "range": [low, high], "dtick": max(1, round((high - low) / 6))}


def drawn_joints(count: int) -> list[int]:
    """Return the indices of up to MAX_JOINTS evenly spaced joints of `count`."""
    return [round(i) for i in np.linspace(0, count - 1, min(count, MAX_JOINTS))]


def stride(count: int) -> int:
    """Return the stride that leaves at most MAX_POINTS of `count` samples."""
    return max(1, -(-count // MAX_POINTS))


def plain(values: ArrayLike, digits: int = 6) -> list[float | None]:
    """Return numbers for JSON, to `digits` significant digits; None for NaN and infinity."""
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in np.asarray(values)]
