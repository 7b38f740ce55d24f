"""Figures of steering: settling of the heading, waypoints reached."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.scenario.setup import Setup

from snake.steering.guidance import ACCEPTANCE
from snake.steering.heading import TURN, Bearing, PeriodMean, wrapped

BAND = math.radians(5.0)  # a heading within it of the set-point counts as reached
GRACE = 15.0  # s after the set-point's step that a snake has to reach it


def steering_figures(setup: Setup, trajectory: Trajectory, centre: Array) -> Mapping[str, float]:
    """Return the figures of a steered run, and nothing for other controllers.

    `centre` (k, 2) [m] is the centre of mass at each tick.
    """
    spec = setup.scenario.controller
    if spec.get("name") != "steering":
        return {}
    if spec.get("waypoints"):
        return waypoint_figures(setup, trajectory, centre)
    return heading_figures(setup, trajectory) if spec.get("heading") is not None else {}


def waypoint_figures(setup: Setup, trajectory: Trajectory, centre: Array) -> Mapping[str, float]:
    """Return how many waypoints the centre of mass reached in order, and when the last [s].

    Waypoint k counts from the first tick after waypoint k - 1 at which the centre is within the
    acceptance radius. `waypoints_time` is given where all were reached.
    """
    spec = setup.scenario.controller
    acceptance = float(spec.get("acceptance", ACCEPTANCE))
    tick, reached = 0, 0
    for point in spec["waypoints"]:
        near = np.hypot(*(centre[tick:] - point).T) <= acceptance
        if not near.any():
            return {"waypoints_reached": float(reached)}
        tick += int(np.argmax(near))
        reached += 1
    return {"waypoints_reached": float(reached), "waypoints_time": float(trajectory.time[tick])}


def gait_phase(q: Array, waves: float) -> Array:
    """Return the phase of a serpenoid from joint angles (k, n) alone (k,) [rad].

    Each row is a least-squares fit of A sin(phase - beta i) + offset over the joints.
    """
    lag = TURN * waves / q.shape[1] * np.arange(1, q.shape[1] + 1)
    basis = np.column_stack([np.cos(lag), -np.sin(lag), np.ones(len(lag))])
    sine, cosine, _ = np.linalg.lstsq(basis, q.T, rcond=None)[0]
    return np.unwrap(np.arctan2(sine, cosine))


def mean_headings(setup: Setup, trajectory: Trajectory) -> Array:
    """Return the heading at each tick, averaged over the period that ends there (k,) [rad]."""
    bearing, mean = Bearing(setup), PeriodMean()
    phase = gait_phase(trajectory.q, float(setup.scenario.controller.get("waves", 1.5)))
    headings = np.empty(len(trajectory))
    for i in range(len(trajectory)):
        x, y, heading = bearing.of(trajectory.state(i))
        mean.add(float(trajectory.time[i]), float(phase[i]), heading, x, y)
        headings[i] = mean.heading
    return headings


def heading_figures(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return how well the heading set-point was reached.

    `settling_time` [s] is from the set-point's step until the mean heading over a period stays
    within 5 degrees of it, infinite if it does not; `heading_overshoot` [rad] how far it went
    beyond; `heading_error_max` [rad] the largest deviation from 15 s after the step to the end,
    where the run is that long.
    """
    spec = setup.scenario.controller
    step = float(spec.get("turn_time", 0.0))
    after = trajectory.time >= step - 1e-9
    if not after.any():
        return {}
    headings = mean_headings(setup, trajectory)[after]
    time = trajectory.time[after] - step
    start = wrapped(float(headings[0]) - float(spec["heading"]))
    error = headings - headings[0] + start
    late = error[time >= GRACE - 1e-9]
    figures = {
        "settling_time": settling_time(time, error),
        "heading_overshoot": max(0.0, float((-math.copysign(1.0, start) * error).max())),
    }
    return {**figures, "heading_error_max": float(np.abs(late).max())} if len(late) else figures


def settling_time(time: Array, error: Array) -> float:
    """Return the time [s] from which the error [rad] stays within 5 degrees, or infinity."""
    outside = np.flatnonzero(np.abs(error) > BAND)
    if not len(outside):
        return 0.0
    return float(time[outside[-1] + 1]) if outside[-1] + 1 < len(time) else math.inf
