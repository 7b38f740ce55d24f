"""The picture of a report: the robot when an engine is farthest from the reference.

The farther a link is, the redder it is. roboaccord_view draws the picture, by the entry point
`draw.robot` of `roboaccord.functions`; without that package a report has none.
"""

from __future__ import annotations

import base64

import numpy as np

from roboaccord.contract import plugins
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.crosscheck.report import Report
from roboaccord.report.curves import REFERENCE

DRAW = "draw.robot"  # entry point
SIZE = 640, 360  # pixels
SAME = 1e-9  # m; links that are nearer than this are at the same place


def picture_of(report: Report) -> tuple[str, str]:
    """Return the picture as a data URL, and its caption; both are empty if it cannot be drawn."""
    runs, setup = report.trajectories, report.setup
    others = {engine: run for engine, run in runs.items() if engine != REFERENCE}
    if not (setup and others and REFERENCE in runs and DRAW in plugins.entries("functions")):
        return "", ""
    links = [link.name for link in setup.tree.links]
    centres = np.array([link.centre for link in setup.tree.links])

    def places(run: Trajectory) -> Array:
        """Return the centres of mass of all links (t, k, 3) [m]."""
        origins, turns = setup.tree.forward(run.joints, run.q, run.position, run.orientation)
        return np.asarray(origins + np.einsum("tkij,kj->tki", turns, centres))

    reference = places(runs[REFERENCE])
    # Distances of all links (t, k) [m] by engine.
    count = min(map(len, runs.values()))
    apart = {
        engine: np.linalg.norm(places(run)[:count] - reference[:count], axis=2)
        for engine, run in others.items()
    }
    worst = max(apart, key=lambda engine: float(apart[engine].max()))
    i, k = np.unravel_index(apart[worst].argmax(), apart[worst].shape)
    largest = float(apart[worst][i, k])
    shares = apart[worst][i] / max(largest, SAME)
    when = f"at {runs[worst].time[i]:g} s in {worst}"
    caption = f"The redder a link, the farther it is from where the reference has it, {when}:"
    caption = f"{caption} the centre of mass of {links[k]} by {1e3 * largest:.2g} mm, the most."
    if largest < SAME:
        caption = f"All links are where the reference has them, {when}."
    try:
        draw = plugins.load("functions", DRAW)
        drawn = draw(setup, runs[worst].at(np.array([i])), dict(zip(links, shares)), SIZE)
    except AccordError:
        return "", ""
    return f"data:image/png;base64,{base64.b64encode(drawn).decode()}", caption
