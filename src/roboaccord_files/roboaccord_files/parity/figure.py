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
    found = {
        engine: {
            robot.name: check.worst
            for robot in result.robots
            if (check := robot.checks["reading"].get(engine))
        }
        for engine in result.versions
    }
    data = [
        {
            **line(engine, [*result.versions], [], []),
            "mode": "markers",
            "x": [name for name, worst in errors.items() if worst],
            "y": [worst.finite for worst in errors.values() if worst],
        }
        for engine, errors in found.items()
        if any(errors.values())
    ]
    return {"data": data, "layout": {"yaxis": {**axis("largest error, relative"), "type": "log"}}}
