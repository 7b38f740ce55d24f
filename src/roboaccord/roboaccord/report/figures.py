"""The page of a cross-check, which needs no other file, and its figures for Plotly.

`render_report` fills template.html with tables, figures and signals. Each function NAME_figure
returns `data` and `layout` of Plotly from a report's checks or runs; `figures_of` collects them by
the id of their element in the page, and `signals_of` makes the curves among which a reader of the
page can choose. A new figure is a function and an entry in `figures_of`. Keys of `figures_of` stay,
as users name them in `Report.plot`; so do those of `signals_of`, which the page's script reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.bag.compare import TURNS
from roboaccord.contract import Array, Event, Trajectory
from roboaccord.contract.results import Json, quantities, unit_of
from roboaccord.crosscheck.measures.convergence import ConvergenceCheck
from roboaccord.crosscheck.measures.one_step import OneStepCheck
from roboaccord.crosscheck.report import Report
from roboaccord.numerics.rotations import orientation_difference, quaternion_rpy
from roboaccord.report import curves, portrait
from roboaccord.report.cause_words import summary_of
from roboaccord.report.curves import REFERENCE, Figure, engine_curve
from roboaccord.report.energy import ITEMS, TIME, book_figure, book_rows, energy_figure
from roboaccord.report.plots import render_page
from roboaccord.report.tables import metric_rows, tables_of, tolerance_rows
from roboaccord.run.energy_book import EnergyBook

# Largest number of rows in the table of events: some pages of paper, by choice; the bag has all.
EVENTS_SHOWN = 200


def figures_of(report: Report) -> dict[str, Figure]:
    """Return the figures of a report, by the id of their element in the page."""
    engines = report.engines
    figures = {"path": path_figure(report.trajectories, engines)}
    books = {e: book for e, book in report.energy.items() if isinstance(book, EnergyBook)}
    if books:
        figures["energy"] = energy_figure(books, engines)
        figures["book"] = book_figure(books)
    if not report.chaotic:
        figures["one_step"] = one_step_figure(report.checks.get("one_step", {}), engines)
        figures["convergence"] = convergence_figure(report.checks["trajectory"], engines)
        figures["distance"] = distance_figure(report.checks["trajectory"], engines)
    if any(report.events.values()):
        figures["events"] = events_figure(report.events, engines)
    return figures


def path_figure(trajectories: Mapping[str, Trajectory], engines: Sequence[str]) -> Figure:
    """Return the figure of the base's path, in the plane of its two largest extents."""
    runs = {engine: trajectories[engine] for engine in engines if engine in trajectories}
    spans = np.max([np.ptp(run.position, axis=0) for run in runs.values()], axis=0)
    i, j = sorted(np.argsort(-spans, kind="stable")[:2].tolist())  # axes, 0 to 2
    data = []
    for engine, run in runs.items():
        positions = run.position[:: curves.stride(len(run))]
        data.append(engine_curve(engine, engines, positions[:, i], positions[:, j]))
    metre = unit_of(Trajectory, "position")
    layout = {
        "xaxis": curves.axis(f"{'xyz'[i]} of base_link [{metre}]"),
        "yaxis": {**curves.axis(f"{'xyz'[j]} [{metre}]"), "scaleanchor": "x"},
    }
    return {"data": data, "layout": layout}


def one_step_figure(checks: Mapping[str, OneStepCheck], engines: Sequence[str]) -> Figure:
    """Return the figure of the largest error in each control period, over time."""
    peaks = {engine: curves.thin_peaks(check.time, check.error) for engine, check in checks.items()}
    title = f"largest error [{unit_of(OneStepCheck, 'error')}]"
    yaxis = curves.log_axis(title, [error for _, error in peaks.values()])
    data = [engine_curve(engine, engines, *peak) for engine, peak in peaks.items()]
    return {"data": data, "layout": {"xaxis": TIME, "yaxis": yaxis}}


def convergence_figure(checks: Mapping[str, ConvergenceCheck], engines: Sequence[str]) -> Figure:
    """Return the figure of error over physics step, with a line of the observed order.

    Both axes are logarithmic, so that error = c dt^order is a straight line.
    """
    data: list[Figure] = []
    drawn: list[Array] = []
    for engine, check in checks.items():
        dt, error = np.array(check.dt), np.array(check.error)
        drawn.append(error)
        size = 17 if engine == REFERENCE else 10  # larger, so that it is visible behind others
        dots: Figure = {"mode": "markers", "name": engine}
        dots["marker"] = {"size": size, "color": curves.colour_of(engine, engines)}
        data.append(engine_curve(engine, engines, 1e3 * dt, error) | dots)
        if check.order is not None:
            data[-1]["name"] = f"{engine}, order {check.order:.2f}"
            # A line of that slope through the mean of the points, a little longer than these.
            mean_dt, mean_error = np.exp(np.nanmean(np.log([dt, error]), axis=1))
            ends = np.array([dt.max() * 1.25, dt.min() / 1.25])
            fit = mean_error * (ends / mean_dt) ** check.order
            drawn.append(fit)
            curve = engine_curve(engine, engines, 1e3 * ends, fit, "dash", 1.5)
            data.append({**curve, "showlegend": False, "hoverinfo": "skip"})
    ticks = sorted({1e3 * dt for check in checks.values() for dt in check.dt})  # [ms]
    title = f"physics step [m{unit_of(ConvergenceCheck, 'dt')}]"
    labels = [f"{tick:g}" for tick in ticks]
    xaxis = {**curves.axis(title), "type": "log", "tickvals": ticks, "ticktext": labels}
    yaxis = curves.log_axis(f"largest distance [{unit_of(ConvergenceCheck, 'error')}]", drawn)
    return {"data": data, "layout": {"xaxis": xaxis, "yaxis": yaxis}}


def distance_figure(checks: Mapping[str, ConvergenceCheck], engines: Sequence[str]) -> Figure:
    """Return the figure of the distance from the reference, for each engine and physics step."""
    data: list[Figure] = []
    drawn: list[Array] = []
    milli = f"m{unit_of(ConvergenceCheck, 'dt')}"
    for engine, check in checks.items():
        for dash, (dt, values) in zip(curves.DASHES, check.distance.items(), strict=False):
            time, distance = curves.thin_peaks(check.time, values)
            drawn.append(distance)
            curve = engine_curve(engine, engines, time, distance, dash, 1.6)
            data.append({**curve, "opacity": 1, "name": f"{engine}, {1e3 * float(dt):g} {milli}"})
    title = f"largest distance of a link [{unit_of(ConvergenceCheck, 'distance')}]"
    return {"data": data, "layout": {"xaxis": TIME, "yaxis": curves.log_axis(title, drawn)}}


def events_figure(events: Mapping[str, Sequence[Event]], engines: Sequence[str]) -> Figure:
    """Return the figure of events along time, with a row for each engine."""
    data: list[Figure] = []
    for engine, engine_events in events.items():
        times = np.array([event.time for event in engine_events])
        colour = curves.colour_of(engine, engines)
        marker: Figure = {"size": 9, "symbol": "line-ns-open", "color": colour}
        texts = [f"{event.kind} {event.subject}" for event in engine_events]
        dots: Figure = {"y": [engine] * len(engine_events), "mode": "markers", "opacity": 1}
        dots |= {"text": texts, "marker": marker, "showlegend": False}
        data.append(engine_curve(engine, engines, times, times) | dots)
    layout: Figure = {"xaxis": TIME, "yaxis": {"type": "category"}}
    return {"data": data, "layout": layout, "height": 110 + 40 * len(events)}


def signals_of(trajectories: Mapping[str, Trajectory], engines: Sequence[str]) -> Figure:
    """Return the signals that the page offers, at the reference's time stamps.

    Returns:
        `time` [s], `engines`, and `groups`: for each quantity its unit and its signals. A signal
        has `value`, its values by engine, and `apart`, their differences from the first engine's;
        those of angles of the base are parts of a rotation (bag/compare.py).
    """
    # The reference first, then the others.
    ordered = sorted(engines, key=lambda engine: engine != REFERENCE)
    runs = {engine: trajectories[engine] for engine in ordered if engine in trajectories}
    first_engine, first = next(iter(runs.items()))
    time = first.time[:: curves.stride(len(first))]
    joints = {first.joints[i]: i for i in curves.drawn_joints(len(first.joints))}
    groups: Figure = {}
    for name in ("q", "qd", "effort", "position"):
        columns = {axis: i for i, axis in enumerate("xyz")} if name == "position" else joints
        arrays = {engine: getattr(run, name) for engine, run in runs.items()}
        signals = {title: _signal(time, runs, arrays, i) for title, i in columns.items()}
        if signals:
            quantity = quantities(Trajectory)[name]
            groups[quantity.meaning] = {"unit": quantity.unit, "signals": signals}
    # Angles of the base, without jumps by whole turns: those that change, and the yaw.
    rpy = {e: [quaternion_rpy(q) for q in run.orientation] for e, run in runs.items()}
    arrays = {engine: np.unwrap(values, axis=0) for engine, values in rpy.items()}
    turning = np.ptp(arrays[first_engine], axis=0)
    shown = [i for i, turn in enumerate(TURNS) if turn == "yaw" or turning[i]]
    angles = {TURNS[i]: _signal(time, runs, arrays, i) for i in shown}
    start = first.orientation[:: curves.stride(len(first))]
    for engine, run in [*runs.items()][1:]:
        orientation = np.column_stack([np.interp(time, run.time, x) for x in run.orientation.T])
        turned = orientation_difference(start, orientation)
        for i in shown:
            angles[TURNS[i]]["apart"][engine] = curves.plain(turned[:, i], 3)
    groups["base orientation"] = {"unit": "rad", "signals": angles}
    return {"time": curves.plain(time), "engines": list(runs), "groups": groups}


def _signal(
    time: Array, runs: Mapping[str, Trajectory], arrays: Mapping[str, Array], column: int
) -> dict[str, dict[str, Json]]:
    """Return a signal: its values and their differences by engine, see `signals_of`.

    Args:
        time: time stamps (m,) [s].
        runs: by engine, the first one first.
        arrays: by engine, of which a column is the signal (k, n).
        column: its index.
    """
    values = {e: np.interp(time, run.time, arrays[e][:, column]) for e, run in runs.items()}
    first, *others = values
    return {
        "value": {engine: curves.plain(values[engine], 5) for engine in values},
        "apart": {engine: curves.plain(values[engine] - values[first], 3) for engine in others},
    }


def render_report(report: Report) -> str:
    """Return the page of a cross-check as HTML."""
    events = [(engine, event) for engine, of_engine in report.events.items() for event in of_engine]
    events.sort(key=lambda entry: entry[1].time)
    picture, caption = portrait.picture_of(report)
    return render_page(
        "template.html", picture=picture, caption=caption, width=portrait.SIZE[0],
        resolved=summary_of, result=report, verdict=report.describe(), findings=report.of_engines,
        colours={engine: curves.colour_of(engine, report.engines) for engine in report.engines},
        levels=tables_of(report), tolerances=tolerance_rows(report.tolerances),
        metrics=metric_rows(report.metrics), items=[name for name, _ in ITEMS.values()],
        books=book_rows(report.energy), events=events[:EVENTS_SHOWN], event_count=len(events),
        units=quantities(Event), figures=figures_of(report),
        signals=signals_of(report.trajectories, report.engines),
    )  # fmt: skip
