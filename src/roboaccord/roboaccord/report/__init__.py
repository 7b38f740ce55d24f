"""Reports: a cross-check as one page that needs no network and no other file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from roboaccord.contract.outcome import describe_verdict
from roboaccord.contract.trajectory import Trajectory
from roboaccord.report.curves import colour_of
from roboaccord.report.energy import ITEMS, book_rows
from roboaccord.report.figures import figures_of
from roboaccord.report.page import render_page
from roboaccord.report.signals import signals_of
from roboaccord.report.tables import levels_of, metric_rows
from roboaccord.run.output import write_text

EVENTS_SHOWN = 200

__all__ = ["render_report", "write_report"]


def write_report(
    result: Mapping[str, Any], trajectories: Mapping[str, Trajectory], path: Path
) -> None:
    """Write the page of a cross-check.

    Args:
        result: what the cross-check found, as in summary.json.
        trajectories: the runs at the scenario's physics step, by engine, `reference` among them.
        path: of the file to write.

    Raises:
        AccordError: if it cannot be written.
    """
    write_text(path, render_report(result, trajectories), ".html")


def render_report(result: Mapping[str, Any], trajectories: Mapping[str, Trajectory]) -> str:
    """Return the page of a cross-check as HTML; arguments as in `write_report`."""
    events = [
        {"engine": engine, **event} for engine, rows in result["events"].items() for event in rows
    ]
    events.sort(key=lambda event: float(event["time"]))
    return render_page(
        "template.html",
        result=result,
        verdict=describe_verdict(result),
        colours={engine: colour_of(engine, result["engines"]) for engine in result["engines"]},
        levels=levels_of(result),
        metrics=metric_rows(result["metrics"]),
        items=[name for name, _ in ITEMS.values()],
        books=book_rows(result["energy"]),
        events=events[:EVENTS_SHOWN],
        event_count=len(events),
        figures=figures_of(result, trajectories),
        signals=signals_of(trajectories, result["engines"]),
    )
