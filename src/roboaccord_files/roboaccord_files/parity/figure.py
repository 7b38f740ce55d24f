"""Draw the result of a parity check: the largest error of each robot in each engine.

`errors` takes a `Parity` (result.py) and returns a Plotly figure as a dictionary, with a curve of
markers for each engine. `plot(result)` calls it by the entry point `plot.Parity` in setup.cfg.
"""

from __future__ import annotations

from typing import Any

from roboaccord.report.curves import axis, engine_curve

from roboaccord_files.parity.result import Parity


def errors(result: Parity) -> dict[str, Any]:
    """Return a figure of the largest relative error of each robot, in each engine.

    Robots whose error is infinite have no marker; an engine that read no robot has no entry.
    """
    data = []
    for engine in result.versions:
        # The largest difference of each robot; None where there is none.
        worst = {robot.name: robot.checks["reading"][engine].worst for robot in result.robots}
        largest = {robot: difference.finite for robot, difference in worst.items() if difference}
        marks = {"mode": "markers", "x": [*largest], "y": [*largest.values()]}
        if largest:
            data.append({**engine_curve(engine, [*result.versions], [], []), **marks})
    return {"data": data, "layout": {"yaxis": {**axis("largest error, relative"), "type": "log"}}}
