"""The page of a sweep: a table, and every run as a dot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from roboaccord.report.curves import axis, colour_of
from roboaccord.report.plots import Plot, render_plots

Figure = dict[str, Any]


def render_sweep(result: Mapping[str, Any]) -> str:
    """Return the page of a sweep as HTML; `result` is what summary.json holds."""
    figure = result["figure"].replace("_", " ")
    runs = Plot(
        "Runs",
        "A dot for each seed; the bar is the mean with its interval.",
        dots_figure(result),
        height=460,
    )
    return render_plots(
        f"{result['robot']}, {result['scenario']}: {figure} over {result['seeds']} seeds",
        "",
        [runs],
        command=result["command"],
        facts=result["versions"],
        template="sweep.html",
        result=result,
    )


def dots_figure(result: Mapping[str, Any]) -> Figure:
    """Draw the value of every run, a column for each engine and step, and the mean with its bar."""
    engines = list(dict.fromkeys(cell["engine"] for cell in result["cells"]))
    data = []
    for cell in result["cells"]:
        label = f"{cell['engine']}, {1e3 * cell['physics_step']:g} ms"
        colour = colour_of(cell["engine"], engines)
        seeds, values = list(cell["values"]), list(cell["values"].values())
        data.append(
            {
                "type": "box", "name": label, "y": values, "boxpoints": "all", "jitter": 0.6,
                "pointpos": 0, "fillcolor": "rgba(0,0,0,0)", "line": {"color": "rgba(0,0,0,0)"},
                "marker": {"color": colour, "size": 7, "opacity": 0.6},
                "text": [f"seed {seed}" for seed in seeds],
            }
        )  # fmt: skip
        data.append(
            {
                "type": "scatter", "x": [label], "y": [cell["mean"]], "mode": "markers",
                "error_y": {"type": "data", "array": [cell["half_width"]], "color": colour},
                "marker": {"symbol": "line-ew-open", "size": 26, "color": colour},
                "hovertemplate": "mean %{y:.4g}<extra></extra>",
            }
        )  # fmt: skip
    unit = f" [{result['unit']}]" if result["unit"] else ""
    title = result["figure"].replace("_", " ") + unit
    layout = {"yaxis": axis(title), "xaxis": {"type": "category"}, "showlegend": False}
    return {"data": data, "layout": layout}
