"""Work-precision diagrams: error against processor time, of the MonkeyBot's gait and of a tree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from benchmarks.speed import gait, trees
from benchmarks.speed.rows import rate
from roboaccord.cli.console import log
from roboaccord.report import AMBER, BLUE, GREEN, INK, RED, legend, picture

GAITS = 4.0 ** -np.arange(7, 21, 2)  # tolerances from 6e-5 to 4e-12
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)  # s, halved each time, so that the order is seen
MISSED = 1e-2  # rad, rad/s: an error from which on an event was missed, as by scipy's longest steps
# s; an eighth of the finest of STEPS, and a motion with all its events.
FINEST, DURATION = 3.125e-5, 0.5
COLOURS = (BLUE, GREEN, RED, AMBER, INK)

Work = Callable[[], object]
Point = tuple[float, float]


def draw(folder: Path, repeats: int) -> None:
    """Measure and write `speed_gait.svg` and `speed_tree.svg`."""
    folder.mkdir(parents=True, exist_ok=True)
    log.print("measuring work-precision diagrams", highlight=False)
    write(
        folder / "speed_gait.svg", gait_curves(repeats),
        "largest error of a final state [rad, rad/s]", "processor time [us a gait]",
    )  # fmt: skip
    if curves := tree_curves(repeats):
        write(
            folder / "speed_tree.svg", curves,
            "largest error of a joint after 0.5 s [rad]", "processor time [ms]",
        )  # fmt: skip


def gait_curves(repeats: int) -> dict[str, list[Point]]:
    """Return error and time of a gait [us] by tolerance, for every method."""
    methods: dict[str, tuple[gait.Run, int]] = {
        "this project, ensemble": (gait.ensemble, 4000),
        "this project, one by one": (gait.one_by_one, 1000),
    }
    if gait.gait_heyoka:
        methods["heyoka, batch"] = gait.gait_heyoka.batch, 800
        methods["heyoka"] = gait.gait_heyoka.one_by_one, 160
    methods["scipy DOP853"] = partial(gait.by_scipy, "DOP853"), 20
    curves = dict[str, list[Point]]()
    for name, (run, count) in methods.items():
        curves[name] = []
        for tolerance in GAITS:
            work = partial(run, gait.STARTS[:count], tolerance)
            error = gait.error(run, tolerance, min(count, gait.TRIED))
            if error < MISSED:
                curves[name].append((error, 1e6 / timed(work, count, repeats)))
    return curves


def tree_curves(repeats: int) -> dict[str, list[Point]]:
    """Return error and time [ms] by step of RK4, of the Panda that falls."""
    folder = trees.collection()
    if folder is None:
        print("no diagram of a tree: the collection of robots is not installed", file=sys.stderr)
        return {}
    path = folder / "robots" / trees.FILES[0][0]
    exact = trees.runs(path, FINEST, free=False)[0](round(DURATION / FINEST))
    curves: dict[str, list[Point]] = {"this project, RK4": [], "MuJoCo, RK4": []}
    for step in STEPS:
        count = round(DURATION / step)
        both = trees.runs(path, step, free=False)
        for (_, points), run in zip(curves.items(), both, strict=True):
            error = float(np.abs(run(count) - exact).max())
            points.append((error, 1e3 / timed(partial(run, count), 1, repeats)))
    return curves


def timed(work: Work, count: int, repeats: int) -> float:
    """Return the median rate of some work, after a run that does not count [1/s]."""
    work()
    return median(rate(work, count) for _ in range(repeats))


def write(path: Path, curves: Mapping[str, Sequence[Point]], error: str, time: str) -> None:
    """Draw curves of error and time, both logarithmic, more exact to the right."""
    with picture(path) as axes:
        for (name, points), colour in zip(curves.items(), COLOURS):
            axes.loglog(*zip(*points, strict=True), "o-", color=colour, label=name)
        axes.invert_xaxis()
        axes.set(xlabel=error, ylabel=time)
        legend(axes, columns=3)
