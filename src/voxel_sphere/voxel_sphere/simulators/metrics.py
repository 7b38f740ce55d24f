"""Figures of a run of the ball."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from roboaccord.contract.interfaces import Tally
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Event, Trajectory


class BallFigures(Tally):
    """Measure path length and end point of the centre [m], and its rise from the start [m]."""

    def __init__(self) -> None:
        self._length = 0.0
        self._start: Array | None = None

    def add(self, part: Trajectory) -> None:
        """Take a part of the motion."""
        if self._start is None:
            self._start = part.position[0]
        self._length += float(np.linalg.norm(np.diff(part.position, axis=0), axis=1).sum())
        self._moved = part.position[-1] - self._start

    def figures(self, events: Sequence[Event]) -> dict[str, float]:
        """Return the figures."""
        x, y, z = self._moved.tolist()
        return {"path_length": self._length, "displacement_x": x, "displacement_y": y, "rise": z}
