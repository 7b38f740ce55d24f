"""What a snake's motion is worth: speed, effort and cost of transport."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from roboaccord.assembly import Setup
from roboaccord.metrics import work_of
from roboaccord.state import Array
from roboaccord.trajectory import Trajectory

from snake.coordinates import PlanarSnake
from snake.post import cycle_of
from snake.steering_metrics import steering_figures


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the figures of a run.

    `speed` is the displacement of the centre of mass along the mean heading of the body, over the
    whole periods after the first one, divided by their time [m/s]; `displacement_x` and `_y` are
    the centre's over the whole run [m]; `cost_of_transport` = work / (m g distance);
    `travel_per_cycle` as in `travel_of_cycles`, its mean and standard deviation over the cycles.
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
    travel = travel_of_cycles(setup, time, centre, heading)
    return {
        "speed": forward / elapsed if elapsed else 0.0,
        "heading": mean,
        "displacement_x": float(total[0]),
        "displacement_y": float(total[1]),
        "cost_of_transport": work / (p.mass * p.gravity * distance) if distance else float("inf"),
        "travel_per_cycle": float(travel.mean()) if len(travel) else float("nan"),
        "travel_per_cycle_spread": float(travel.std()) if len(travel) else float("nan"),
        **steering_figures(setup, trajectory, centre),
    }


def travel_of_cycles(setup: Setup, time: Array, centre: Array, heading: Array) -> Array:
    """Return how far the robot came headwards in each whole cycle after the start (k,) [m].

    That is the displacement of the centre of mass in the cycle along the mean heading in the
    cycle, so a robot that turns is measured along its curve.
    """
    start, cycle = start_and_cycle(setup)
    count = max(int((time[-1] - start + 1e-9) / cycle), 0)
    ends = np.searchsorted(time, start + cycle * np.arange(count + 1) - 1e-9)
    travel = np.empty(count)
    for i, (first, last) in enumerate(pairwise(ends)):
        mean = heading[first : last + 1].mean()
        travel[i] = (centre[last] - centre[first]) @ (np.cos(mean), np.sin(mean))
    return travel


def period_of(setup: Setup) -> float:
    """Return the period of the gait [s]: of the serpenoid, or four configurations of the post's."""
    return start_and_cycle(setup)[1]


def start_and_cycle(setup: Setup) -> tuple[float, float]:
    """Return how long the gait takes to start, and a period of it [s].

    The post's gait starts with four configurations of its own, others with their first period.
    """
    spec = dict(setup.scenario.controller)
    name = spec.pop("name", "")
    if name in ("as_coded", "as_described"):
        return cycle_of(name, spec)
    period = 1.0 / abs(float(spec.get("frequency", 1.0)))
    return period, period


def body_motion(setup: Setup, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return the centre of mass (k, 2) [m] and the mean heading of the links (k,) [rad]."""
    chain = PlanarSnake(setup.parameters)
    n = setup.parameters.links
    rows = np.array([chain.pack(trajectory.state(i)) for i in range(len(trajectory))])
    return rows[:, :2], np.unwrap(rows[:, 2 : n + 2].mean(axis=1))
