"""The page of a cross-check, which needs no network and no other file."""

from __future__ import annotations

from roboaccord.contract.results import quantities
from roboaccord.contract.trajectory import Event
from roboaccord.crosscheck.report import Report
from roboaccord.report.curves import colour_of
from roboaccord.report.energy import ITEMS, book_rows
from roboaccord.report.figures import figures_of, signals_of
from roboaccord.report.plots import render_page
from roboaccord.report.tables import metric_rows, tables_of, tolerance_rows

EVENTS_SHOWN = 200


def render_report(report: Report) -> str:
    """Return the page of a cross-check as HTML."""
    events = [(engine, event) for engine, found in report.events.items() for event in found]
    events.sort(key=lambda entry: entry[1].time)
    return render_page(
        "template.html",
        result=report,
        verdict=report.describe(),
        findings=report.levels.checked(),
        colours={engine: colour_of(engine, report.engines) for engine in report.engines},
        levels=tables_of(report),
        tolerances=tolerance_rows(report.tolerances),
        metrics=metric_rows(report.metrics),
        items=[name for name, _ in ITEMS.values()],
        books=book_rows(report.energy),
        events=events[:EVENTS_SHOWN],
        event_count=len(events),
        units=quantities(Event),
        figures=figures_of(report),
        signals=signals_of(report.trajectories, report.engines),
    )
