"""What a snake's motion is worth: speed, effort and cost of transport."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.metrics import work_of
from roboaccord.state import Array
from roboaccord.trajectory import Trajectory

from snake.coordinates import PlanarSnake
from snake.steering_metrics import steering_figures


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the figures of a run.

    `speed` is the displacement of the centre of mass along the mean heading of the body, over the
    whole periods after the first one, divided by their time [m/s]; `displacement_x` and `_y` are
    the centre's over the whole run [m]; `cost_of_transport` = work / (m g distance).
    """
    p = setup.parameters
    centre, heading = body_motion(setup, trajectory)
    time = trajectory.time
    period = period_of(setup)
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
        **steering_figures(setup, trajectory, centre),
    }


def period_of(setup: Setup) -> float:
    """Return the period of the gait [s]: of the serpenoid, or four configurations of the post's."""
    spec = setup.scenario.controller
    if spec.get("name") in ("as_coded", "as_described"):
        return 4 * float(spec.get("hold", 0.151 if spec["name"] == "as_coded" else 0.15))
    return 1.0 / abs(float(spec.get("frequency", 1.0)))


def body_motion(setup: Setup, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return the centre of mass (k, 2) [m] and the mean heading of the links (k,) [rad]."""
    chain = PlanarSnake(setup.parameters)
    n = setup.parameters.links
    rows = np.array([chain.pack(trajectory.state(i)) for i in range(len(trajectory))])
    return rows[:, :2], np.unwrap(rows[:, 2 : n + 2].mean(axis=1))
