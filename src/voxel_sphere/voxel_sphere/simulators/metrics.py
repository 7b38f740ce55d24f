"""Figures of a run of the ball."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.trajectory import Trajectory
from roboaccord.scenario.setup import Setup


def metrics(setup: Setup, trajectory: Trajectory) -> dict[str, float]:  # noqa: ARG001
    """Return path length and end point of the centre [m], and its rise from the start [m]."""
    moved = np.diff(trajectory.position, axis=0)
    x, y, z = trajectory.position[-1] - trajectory.position[0]
    return {
        "path_length": float(np.linalg.norm(moved, axis=1).sum()),
        "displacement_x": float(x),
        "displacement_y": float(y),
        "rise": float(z),
    }
