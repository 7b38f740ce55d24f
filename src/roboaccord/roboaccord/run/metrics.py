"""Figures that any robot's motion has."""

from __future__ import annotations

import numpy as np

from roboaccord.contract.trajectory import Trajectory
from roboaccord.scenario.setup import Setup

UNITS = {
    "work": "J",
    "net_work": "J",
    "peak_effort": "N m",
    "speed": "m/s",
    "heading": "rad",
    "displacement_x": "m",
    "displacement_y": "m",
    "path_length": "m",
    "closure": "m",
    "largest_slip": "m/s",
    "held": "s",
    "largest_offset": "m",
    "settling_time": "s",
    "heading_overshoot": "rad",
    "heading_error_max": "rad",
    "waypoints_time": "s",
    "travel_per_cycle": "m",
    "travel_per_cycle_spread": "m",
    "travel": "m",
    "rise": "m",
    "grips": "1",
    "largest_impulse": "N s",
    "least_distance": "m",
    "tip_error": "m",
}


def work_of(trajectory: Trajectory) -> float:
    """Return the integral of sum |effort * qd| [J], efforts being held between samples."""
    if len(trajectory) < 2:
        return 0.0
    moved = np.diff(trajectory.q, axis=0)
    return float(np.abs(trajectory.effort[1:] * moved).sum())


def net_work_of(trajectory: Trajectory) -> float:
    """Return the integral of sum effort * qd [J]; exact, since efforts are held."""
    if len(trajectory) < 2:
        return 0.0
    return float((trajectory.effort[1:] * np.diff(trajectory.q, axis=0)).sum())


def metrics_of(setup: Setup, trajectory: Trajectory) -> dict[str, float]:
    """Return the general figures of a run, and the robot's own."""
    figures = {
        "work": work_of(trajectory),
        "net_work": net_work_of(trajectory),
        "peak_effort": float(np.abs(trajectory.effort).max(initial=0.0)),
    }
    return figures | dict(setup.robot.metrics(setup, trajectory))
