"""The page of a sweep, and its figure: a dot for each run, and the mean with its interval.

The template sweep.html extends plots.html of `roboaccord.report` by the table of statistics. The
look may be changed; `plot.Study` draws the same figure without a browser.
"""

from __future__ import annotations

from roboaccord.contract import Json, to_json
from roboaccord.report import Plot, axis, colour_of, render_page

from roboaccord_studies.sweep.study import Study


def render_sweep(study: Study) -> str:
    """Return the page of a sweep as HTML."""
    figure = study.figure.replace("_", " ")
    caption = "A dot for each seed; the bar is the mean with its interval."
    runs = Plot("Runs", caption, dots_figure(study), height=460)
    title = f"{study.robot}, {study.scenario}: {figure} over {study.seeds} seeds"
    return render_page(
        "sweep.html", __package__, title=title, lead="", plots=[runs], figures=[runs.figure],
        command=study.command, facts=study.versions, result=study,
    )  # fmt: skip


def dots_figure(study: Study) -> dict[str, Json]:
    """Draw the value of every run, a column for each engine and step, and the mean with its bar."""
    engines = list(dict.fromkeys(cell.engine for cell in study.cells))
    data: list[Json] = []
    for cell in study.cells:
        label = f"{cell.engine}, {1e3 * cell.physics_step:g} ms"
        colour, statistics = colour_of(cell.engine, engines), cell.statistics
        data.append(
            {
                "type": "box", "name": label, "y": [*cell.values.values()], "boxpoints": "all",
                "jitter": 0.6, "pointpos": 0, "fillcolor": "rgba(0,0,0,0)",
                "line": {"color": "rgba(0,0,0,0)"},
                "marker": {"color": colour, "size": 7, "opacity": 0.6},
                "text": [f"seed {seed}" for seed in cell.values],
            }
        )  # fmt: skip
        data.append(
            {
                "type": "scatter", "x": [label], "y": [to_json(statistics.mean)], "mode": "markers",
                "error_y": {
                    "type": "data", "array": [to_json(statistics.half_width)], "color": colour,
                },
                "marker": {"symbol": "line-ew-open", "size": 26, "color": colour},
                "hovertemplate": "mean %{y:.4g}<extra></extra>",
            }
        )  # fmt: skip
    unit = f" [{study.unit}]" if study.unit else ""
    title = study.figure.replace("_", " ") + unit
    layout: Json = {"yaxis": axis(title), "xaxis": {"type": "category"}, "showlegend": False}
    return {"data": data, "layout": layout}
