"""The picture of a report: the robot when an engine is farthest from the reference.

The farther a link is, the redder it is. Another package draws the picture, by the entry
point `draw.robot` of `roboaccord.functions`; without it a report has none.
"""

from __future__ import annotations

import base64

import numpy as np

from roboaccord.contract import plugins
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.links import link_centres
from roboaccord.crosscheck.report import Report
from roboaccord.report.curves import REFERENCE

DRAW = "draw.robot"  # entry point
SIZE = 640, 360  # pixels
CAPTION = "The redder a link, the farther its centre of mass is from where the reference has it:"
SAME = 1e-9  # m; links nearer than this are hardly red


def picture_of(report: Report) -> tuple[str, str]:
    """Return the picture as a data URL, and its caption; both are empty if it cannot be drawn."""
    runs, setup = dict(report.trajectories), report.setup
    first = runs.pop(REFERENCE, None)
    if not (setup and first and runs and DRAW in plugins.entries("functions")):
        return "", ""
    tree, count = setup.tree, min(map(len, report.trajectories.values()))

    def centres(run: Trajectory) -> Array:
        """Return the centres of mass of all links (t, k, 3) [m], without free bodies."""
        return link_centres(tree, run)[:count, : len(tree.links)]

    # Distances of all links (t, k) [m] by engine, and those of the worst moment by link.
    apart = {e: np.linalg.norm(centres(run) - centres(first), axis=2) for e, run in runs.items()}
    engine = max(apart, key=lambda name: float(apart[name].max()))
    i = int(apart[engine].max(axis=1).argmax())
    distances = {link.name: float(d) for link, d in zip(tree.links, apart[engine][i])}
    link, largest = max(distances.items(), key=lambda item: item[1])
    shares = {name: distance / max(largest, SAME) for name, distance in distances.items()}
    try:
        draw = plugins.load("functions", DRAW)
        drawn = draw(setup, runs[engine].at(np.array([i])), shares, SIZE)
    except AccordError:
        return "", ""
    size = f"{1e3 * largest:.2g} mm at {first.time[i]:g} s in {engine}"
    picture = f"data:image/png;base64,{base64.b64encode(drawn).decode()}"
    return picture, f"{CAPTION} {link} by {size}, the most."
