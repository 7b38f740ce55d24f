"""The figures of a report, as plain Plotly data; colours of text and grid are the page's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from roboaccord.contract.trajectory import Trajectory
from roboaccord.report.curves import REFERENCE, axis, floats, line, log, stride, thin_peaks
from roboaccord.report.energy import book_figure, energy_figure

DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")

Figure = dict[str, Any]


def figures_of(
    result: Mapping[str, Any], trajectories: Mapping[str, Trajectory]
) -> dict[str, Figure]:
    """Return the figures by the id of their place in the page."""
    engines = result["engines"]
    figures = {
        "path": path_figure(trajectories, engines),
    }
    if any("time" in book for book in result["energy"].values()):
        figures["energy"] = energy_figure(result["energy"], engines)
        figures["book"] = book_figure(result["energy"])
    if not result.get("not_compared"):
        figures["one_step"] = one_step_figure(result["one_step"], engines)
        figures["convergence"] = convergence_figure(result["trajectory"], engines)
        figures["distance"] = distance_figure(result["trajectory"], engines)
    if any(result["events"].values()):
        figures["events"] = events_figure(result["events"], engines)
    return figures


def path_figure(trajectories: Mapping[str, Trajectory], engines: Sequence[str]) -> Figure:
    """Draw the path of the base, in the plane in which it moves."""
    runs = {engine: trajectories[engine] for engine in engines if engine in trajectories}
    spans = np.max([np.ptp(run.position, axis=0) for run in runs.values()], axis=0)
    i, j = sorted(np.argsort(-spans, kind="stable")[:2].tolist())
    data = []
    for engine, run in runs.items():
        place = run.position[:: stride(len(run))]
        data.append(line(engine, engines, place[:, i], place[:, j]))
    layout = {
        "xaxis": axis(f"{'xyz'[i]} of base_link [m]"),
        "yaxis": {**axis(f"{'xyz'[j]} [m]"), "scaleanchor": "x"},
    }
    return {"data": data, "layout": layout}


def one_step_figure(checks: Mapping[str, Any], engines: Sequence[str]) -> Figure:
    """Draw the largest error of each one-step prediction over time."""
    data = []
    for engine, check in checks.items():
        time, error = thin_peaks(check["time"], check["error"])
        data.append(line(engine, engines, time, error))
    unit = next((check["unit"] for check in checks.values()), "rad/s")
    layout = {"xaxis": axis("time [s]"), "yaxis": log(f"largest error [{unit}]", data)}
    return {"data": data, "layout": layout}


def convergence_figure(checks: Mapping[str, Any], engines: Sequence[str]) -> Figure:
    """Draw error over physics step, both logarithmic, with the line of the observed order."""
    data = []
    for engine, check in checks.items():
        dt, error = floats(check["dt"]), floats(check["error"])
        order = check["order"]
        title = engine if order is None else f"{engine}, order {order:.2f}"
        dots = line(engine, engines, dt, error)
        size = 17 if engine == REFERENCE else 10  # so that both show where they coincide
        dots.update(mode="markers", name=title, marker={"size": size})
        dots["marker"]["color"] = dots["line"]["color"]
        data.append(dots)
        if order is not None:
            middle = np.exp(np.nanmean(np.log(dt))), np.exp(np.nanmean(np.log(error)))
            ends = np.array([dt.max() * 1.25, dt.min() / 1.25])
            fit = line(engine, engines, ends, middle[1] * (ends / middle[0]) ** order)
            fit["line"].update(dash="dash", width=1.5)
            data.append({**fit, "showlegend": False, "hoverinfo": "skip"})
    ticks = sorted({dt for check in checks.values() for dt in check["dt"]})
    layout = {
        "xaxis": {
            **axis("physics step [ms]"),
            "type": "log",
            "tickvals": ticks,
            "ticktext": [f"{1e3 * t:g}" for t in ticks],
        },
        "yaxis": log("largest distance [m]", data),
    }
    return {"data": data, "layout": layout}


def distance_figure(checks: Mapping[str, Any], engines: Sequence[str]) -> Figure:
    """Draw the distance from the reference over time, a curve for each engine and step."""
    data = []
    for engine, check in checks.items():
        for dash, (dt, values) in zip(DASHES, check["distance"].items(), strict=False):
            time, distance = thin_peaks(check["time"], values)
            curve = line(engine, engines, time, distance)
            curve["line"].update(dash=dash, width=1.6)
            data.append({**curve, "opacity": 1, "name": f"{engine}, {1e3 * float(dt):g} ms"})
    layout = {"xaxis": axis("time [s]"), "yaxis": log("largest distance of a link [m]", data)}
    return {"data": data, "layout": layout}


def events_figure(
    events: Mapping[str, Sequence[Mapping[str, Any]]], engines: Sequence[str]
) -> Figure:
    """Draw events along time, a row for each engine."""
    data = []
    for engine, rows in events.items():
        times = np.array([row["time"] for row in rows])
        dots = line(engine, engines, times, times)
        dots.update(
            y=[engine] * len(rows),
            mode="markers",
            opacity=1,
            text=[f"{row['kind']} {row['subject']}" for row in rows],
            marker={"size": 9, "symbol": "line-ns-open", "color": dots["line"]["color"]},
            showlegend=False,
        )
        data.append(dots)
    layout = {"xaxis": axis("time [s]"), "yaxis": {"type": "category"}}
    return {"data": data, "layout": layout, "height": 110 + 40 * len(events)}
