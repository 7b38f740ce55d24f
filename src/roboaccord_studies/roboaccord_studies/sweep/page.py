"""The page of a sweep, and its figure: a dot for each run, and the mean with its interval.

The template sweep.html extends plots.html of `roboaccord.report` by the table of statistics. The
look may be changed; `plot.Study` draws the same figure without a browser.
"""

from __future__ import annotations

from roboaccord.contract import Json, to_json
from roboaccord.report import Plot, axis, colour_of, render_page

from roboaccord_studies.sweep.study import Study

TRANSPARENT = "rgba(0,0,0,0)"  # colour of the boxes, which are not drawn


def render_sweep(study: Study) -> str:
    """Return the page of a sweep as HTML."""
    figure = study.figure.replace("_", " ")
    caption = "A dot for each seed; the bar is the mean with its interval."
    runs = Plot("Runs", caption, dots_figure(study), height=460)
    return render_page(
        "sweep.html",
        __package__,
        title=f"{study.robot}, {study.scenario}: {figure} over {study.seeds} seeds",
        lead="",
        plots=[runs],
        figures=[runs.figure],
        command=study.command,
        facts=study.versions,
        result=study,
    )


def dots_figure(study: Study) -> dict[str, Json]:
    """Return a figure of Plotly: each run as a dot, and the mean with its bar.

    Each engine and physics step has a column.
    """
    engines = list(dict.fromkeys(cell.engine for cell in study.cells))
    data: list[Json] = []
    for cell in study.cells:
        label = f"{cell.engine}, {1e3 * cell.physics_step:g} ms"
        colour, statistics = colour_of(cell.engine, engines), cell.statistics
        # A box plot without its box: only the dots of the runs.
        dots: dict[str, Json] = {"type": "box", "name": label, "y": [*cell.values.values()]}
        dots |= {"boxpoints": "all", "jitter": 0.6, "pointpos": 0}
        dots |= {"fillcolor": TRANSPARENT, "line": {"color": TRANSPARENT}}
        dots |= {"marker": {"color": colour, "size": 7, "opacity": 0.6}}
        dots |= {"text": [f"seed {seed}" for seed in cell.values]}
        half_width = [to_json(statistics.half_width)]
        mean: dict[str, Json] = {"type": "scatter", "x": [label], "y": [to_json(statistics.mean)]}
        mean |= {"mode": "markers"}
        mean |= {"error_y": {"type": "data", "array": half_width, "color": colour}}
        mean |= {"marker": {"symbol": "line-ew-open", "size": 26, "color": colour}}
        mean |= {"hovertemplate": "mean %{y:.4g}<extra></extra>"}
        data += [dots, mean]
    unit = f" [{study.unit}]" if study.unit else ""
    title = study.figure.replace("_", " ") + unit
    layout: Json = {"yaxis": axis(title), "xaxis": {"type": "category"}, "showlegend": False}
    return {"data": data, "layout": layout}
