"""Figures of a gait in full simulation, in the steady state."""

from __future__ import annotations

import math

import numpy as np
from roboaccord.contract import Trajectory
from roboaccord.run import work_of
from roboaccord.scenario import Setup, load_scenario

from snake.search.ideal import Figures, Gait
from snake.simulators.metrics import body_motion

SETTLE = 3.0  # s: of start, in which the amplitude rises and the speed settles
MEASURE = 4.0  # s: at least, in whole periods


def setup_of(gait: Gait, *, joints: int, mu_along: float, mu_across: float) -> Setup:
    """Return the serpenoid's setup with a gait and a ground, as long as a measurement takes."""
    changes = [
        f"parameters.joints={joints}",
        serpenoid_of(gait.amplitude, gait.frequency, gait.waves),
        f"friction={{law: ellipse, mu_along: {mu_along!r}, mu_across: {mu_across!r}}}",
        f"duration={math.ceil(1e3 * sum(window(gait))) / 1e3!r}",
    ]
    return Setup.of(load_scenario("snake", "snake", "serpenoid", changes))


def serpenoid_of(amplitude: float, frequency: float, waves: float) -> str:
    """Return the change of a scenario to the serpenoid with a gait."""
    gait = f"amplitude: {amplitude!r}, frequency: {frequency!r}, waves: {waves!r}"
    return f"controller={{name: serpenoid, {gait}}}"


def window(gait: Gait) -> tuple[float, float]:
    """Return how long to wait and how long to measure [s], whole periods both."""
    period = 1.0 / abs(gait.frequency)
    return math.ceil(SETTLE / period) * period, math.ceil(MEASURE / period) * period


def steady_figures(setup: Setup, trajectory: Trajectory, start: float, length: float) -> Figures:
    """Return speed, peak effort and cost of transport over `length` [s] from `start` [s] on."""
    part = trajectory.window(start, start + length)
    centre, heading = body_motion(setup, part)
    mean = float(heading.mean())
    forward = float((centre[-1] - centre[0]) @ (np.cos(mean), np.sin(mean)))
    elapsed = float(part.time[-1] - part.time[0])
    weight = setup.parameters.mass * setup.parameters.gravity
    return Figures(
        speed=forward / elapsed if elapsed else 0.0,
        peak_effort=float(np.abs(part.effort[1:]).max()),
        cost_of_transport=work_of(part) / (weight * abs(forward)) if forward else math.inf,
    )
