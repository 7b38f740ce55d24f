"""Figures of a run of the ball: path, slip, and how long and how well the rollers held it.

`accord run` adds the motion part by part, and prints the figures at the end. A ball in a bearing
turns on the spot; its path is that of its odometry (odometry.py). On the ground a carrier dribbles
it between two rollers (hold.py).

A figure may be added as a key in `BallFigures.figures`. Keys that exist are those of `accord run
--json` and stay; scenarios/dribble.yaml compares `largest_offset`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from roboaccord.contract import Array, Event, Tally, Trajectory
from roboaccord.scenario import Setup

from roller_sphere.model.hold import held_time_and_offset
from roller_sphere.model.odometry import slips


class BallFigures(Tally):
    """Path length of the ball and its distance from the start [m], and how the rollers hold it.

    In a bearing, the latter is the largest slip of either roller [m/s]; on the ground, it is the
    time until which the ball was held [s], and its largest offset until then [m].
    """

    def __init__(self, setup: Setup) -> None:
        self._base, self._parameters = setup.scenario.base, setup.parameters
        self._start: Array | None = None  # first position (3,) [m]
        self._length = self._distance = 0.0  # of the path, and from the start [m]
        self._slip = 0.0  # largest so far [m/s]
        self._held_time = 0.0  # time until which the ball was held [s]
        self._offset = 0.0  # largest offset until then [m]
        self._lost = False

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion to the figures."""
        if self._start is None:
            self._start = part.position[0]
        steps = np.diff(part.position[:, :2], axis=0)
        self._length += float(np.linalg.norm(steps, axis=1).sum())
        self._distance = float(np.linalg.norm(part.position[-1] - self._start))
        if self._base == "ball":
            sizes = np.linalg.norm(slips(self._parameters, part), axis=2)
            self._slip = max(self._slip, float(sizes.max()))
        if self._base == "free" and not self._lost:
            self._held_time, offset = held_time_and_offset(self._parameters, part)
            self._lost = self._held_time < part.time[-1]
            self._offset = max(self._offset, offset)

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return path length, distance from the start, and those of the base, by name."""
        measured = {"path_length": self._length, "closure": self._distance}
        if self._base == "ball":
            measured["largest_slip"] = self._slip
        if self._base == "free":
            measured |= {"held": self._held_time, "largest_offset": self._offset}
        return measured
