"""Figures of a snake's motion: speed, effort and cost of transport."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.run.metrics import work_of
from roboaccord.scenario.setup import Setup

from snake.model.coordinates import PlanarSnake
from snake.source.post import cycle_of
from snake.steering.metrics import steering_figures

STEADY = 0.01  # of the speed: by how much two cycles of a steady gait may differ


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the figures of a run.

    `speed` is the displacement of the centre of mass along the mean heading of the body, over the
    whole periods after the first one, divided by their time [m/s]; `displacement_x` and `_y` are
    the centre's over the whole run [m]; `cost_of_transport` = work / (m g distance);
    `travel_per_cycle` as in `travel_of_cycles`, its mean and standard deviation over the cycles.
    """
    centre, heading = body_motion(setup, trajectory)
    time = trajectory.time
    period = period_of(setup)
    whole = max(int((time[-1] + 1e-9) / period) - 1, 0)
    start = int(np.searchsorted(time, period - 1e-9)) if whole else 0
    stop = int(np.searchsorted(time, (whole + 1) * period - 1e-9)) if whole else len(time) - 1
    part = slice(start, stop + 1)
    window = trajectory.window(float(time[start]), float(time[stop]))
    speed, cost = speed_and_cost(setup, window, centre[part], heading[part])
    total = centre[-1] - centre[0]
    travel = travel_of_cycles(setup, time, centre, heading)
    return {
        "speed": speed,
        "heading": float(heading[part].mean()),
        "displacement_x": float(total[0]),
        "displacement_y": float(total[1]),
        "cost_of_transport": cost,
        "travel_per_cycle": float(travel.mean()) if len(travel) else float("nan"),
        "travel_per_cycle_spread": float(travel.std()) if len(travel) else float("nan"),
        **steering_figures(setup, trajectory, centre),
    }


def speed_and_cost(
    setup: Setup, trajectory: Trajectory, centre: Array, heading: Array
) -> tuple[float, float]:
    """Return the speed along the mean heading [m/s], and the cost of transport.

    Args:
        setup: robot and scenario.
        trajectory: the motion to measure.
        centre, heading: of it, as `body_motion` gives them.
    """
    mean = float(heading.mean())
    forward = float((centre[-1] - centre[0]) @ (np.cos(mean), np.sin(mean)))
    elapsed = float(trajectory.time[-1] - trajectory.time[0])
    weight = setup.parameters.mass * setup.parameters.gravity
    cost = work_of(trajectory) / (weight * abs(forward)) if forward else float("inf")
    return forward / elapsed if elapsed else 0.0, cost


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


def is_steady(travel: Array) -> bool:
    """Return whether a gait has settled: the last two cycles have the same speed within 1 %.

    A settled gait is a limit cycle up to the motion of the plane, so every cycle has the same
    travel. A run of less than two whole cycles after its start
    shows no limit cycle.

    Args:
        travel: of each cycle (k,) [m], as `travel_of_cycles` gives it.
    """
    if len(travel) < 2:
        return False
    before, last = np.abs(travel[-2]), np.abs(travel[-1])
    return bool(abs(travel[-1] - travel[-2]) <= STEADY * max(before, last))


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
