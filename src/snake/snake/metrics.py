"""What a snake's motion is worth: speed, effort and cost of transport."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.metrics import work_of
from roboaccord.rotations import quaternion_yaw
from roboaccord.trajectory import Trajectory

from snake.dynamics import lever_matrix


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the figures of a run.

    `speed` is the displacement of the centre of mass along the mean heading of the body, over the
    whole periods after the first one, divided by their time [m/s]; `displacement_x` and `_y` are
    the centre's over the whole run [m]; `cost_of_transport` = work / (m g distance).
    """
    p = setup.parameters
    centre, heading = body_motion(setup, trajectory)
    time = trajectory.time
    period = 1.0 / float(setup.scenario.controller.get("frequency", 1.0))
    whole = max(int((time[-1] + 1e-9) / period) - 1, 0)
    start = int(np.searchsorted(time, period - 1e-9)) if whole else 0
    stop = int(np.searchsorted(time, (whole + 1) * period - 1e-9)) if whole else len(time) - 1
    move = centre[stop] - centre[start]
    mean = float(heading[start : stop + 1].mean())
    elapsed = float(time[stop] - time[start])
    forward = float(move @ (np.cos(mean), np.sin(mean)))
    window = trajectory.window(float(time[start]), float(time[stop]))
    work = work_of(window)
    distance = abs(forward)
    total = centre[-1] - centre[0]
    return {
        "speed": forward / elapsed if elapsed else 0.0,
        "heading": mean,
        "displacement_x": float(total[0]),
        "displacement_y": float(total[1]),
        "cost_of_transport": work / (p.mass * p.gravity * distance) if distance else float("inf"),
    }


def body_motion(setup: Setup, trajectory: Trajectory) -> tuple[np.ndarray, np.ndarray]:
    """Return the centre of mass (k, 2) [m] and the mean heading of the links (k,) [rad]."""
    p = setup.parameters
    yaw = np.unwrap([quaternion_yaw(q) for q in trajectory.orientation])
    headings = np.column_stack([np.zeros_like(trajectory.q), np.zeros(len(yaw))])
    headings[:, :-1] = np.cumsum(trajectory.q[:, ::-1], axis=1)[:, ::-1]
    headings += yaw[:, None]
    tail = lever_matrix(p)[-1]
    offset = np.column_stack([np.cos(headings) @ tail, np.sin(headings) @ tail])
    return trajectory.position[:, :2] - offset, headings.mean(axis=1)
