"""The figure of a parity check: the largest error of each robot in each engine.

`plot(result)` draws it, by the entry point `plot.Parity` in setup.cfg. All of it may be changed,
but the entry point's name stays: it is a figure of Plotly as a dictionary, and nothing else reads
it.
"""

from __future__ import annotations

from typing import Any

from roboaccord.report.curves import axis, line

from roboaccord_files.parity.result import Parity


def errors(result: Parity) -> dict[str, Any]:
    """Return a figure of the largest error of each robot, by engine."""
    data = []
    for engine in result.versions:
        worst = {robot.name: robot.checks["reading"][engine].worst for robot in result.robots}
        found = {name: each.finite for name, each in worst.items() if each}
        marks = {"mode": "markers", "x": [*found], "y": [*found.values()]}
        data += [{**line(engine, [*result.versions], [], []), **marks}] * bool(found)
    return {"data": data, "layout": {"yaxis": {**axis("largest error, relative"), "type": "log"}}}
