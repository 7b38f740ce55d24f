"""Figures of steering: settling of the heading, waypoints reached."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array, Trajectory
from roboaccord.scenario import Setup

from snake.model.coordinates import PlanarSnake
from snake.steering.guidance import ACCEPTANCE
from snake.steering.heading import TURN, PeriodMean, wrapped

BAND = math.radians(5.0)  # a heading within it of the set-point counts as reached
ROUND_OFF = 1e-9  # s
GRACE = 15.0  # s after the set-point's step that a snake has to reach it


def steering_tally(setup: Setup) -> WaypointFigures | HeadingFigures | None:
    """Make what measures a steered run; None for other controllers."""
    spec = setup.scenario.controller
    if spec.get("name") != "steering":
        return None
    if spec.get("waypoints"):
        return WaypointFigures(setup)
    return HeadingFigures(setup) if spec.get("heading") is not None else None


class WaypointFigures:
    """Count the waypoints that the centre of mass reached in order, and note when the last [s].

    Waypoint k counts from the first tick after waypoint k - 1 at which the centre is within the
    acceptance radius. `waypoints_time` is given where all were reached.
    """

    def __init__(self, setup: Setup) -> None:
        spec = setup.scenario.controller
        self._acceptance = float(spec.get("acceptance", ACCEPTANCE))
        self._points, self._reached, self._time = spec["waypoints"], 0, 0.0

    def add(self, part: Trajectory, centre: Array) -> None:
        """Take a part of the motion, and the centre of mass at each of its samples (k, 2) [m]."""
        tick = 0
        while self._reached < len(self._points):
            away = centre[tick:] - self._points[self._reached]
            near = np.hypot(*away.T) <= self._acceptance
            if not near.any():
                return
            tick += int(np.argmax(near))
            self._reached, self._time = self._reached + 1, float(part.time[tick])

    def figures(self) -> Mapping[str, float]:
        """Return the figures."""
        found = {"waypoints_reached": float(self._reached)}
        return found | (
            {"waypoints_time": self._time} if self._reached == len(self._points) else {}
        )


class HeadingFigures:
    """Measure how well the heading set-point was reached.

    `settling_time` [s] is from the set-point's step until the mean heading over a period stays
    within 5 degrees of it, infinite if it does not; `heading_overshoot` [rad] how far it went
    beyond; `heading_error_max` [rad] the largest deviation from 15 s after the step to the end,
    where the run is that long.
    """

    def __init__(self, setup: Setup) -> None:
        spec = setup.scenario.controller
        self._step, self._goal = float(spec.get("turn_time", 0.0)), float(spec["heading"])
        self._mean, self._settling = MeanHeading(setup), Settling()
        self._offset, self._start = 0.0, 0.0  # of the error from the heading, and at the step
        self._begun = False
        self._overshoot, self._late = 0.0, -math.inf

    def add(self, part: Trajectory, centre: Array) -> None:
        """Take a part of the motion, and the centre of mass at each of its samples (k, 2) [m]."""
        headings = self._mean.of(part)
        time = part.time[len(part) - len(headings) :] - self._step
        after = time >= -ROUND_OFF
        if not after.any():
            return
        headings, time = headings[after], time[after]
        if not self._begun:
            self._begun = True
            self._start = wrapped(float(headings[0]) - self._goal)
            self._offset = self._start - float(headings[0])
        error = headings + self._offset
        self._settling.add(time, error)
        beyond = -math.copysign(1.0, self._start) * error
        self._overshoot = max(self._overshoot, float(beyond.max()))
        late = np.abs(error[time >= GRACE - ROUND_OFF])
        self._late = max(self._late, float(late.max(initial=-math.inf)))

    def figures(self) -> Mapping[str, float]:
        """Return the figures."""
        if not self._begun:
            return {}
        found = {"settling_time": self._settling.time, "heading_overshoot": self._overshoot}
        return found | ({"heading_error_max": self._late} if self._late >= 0.0 else {})


class Settling:
    """Find the time [s] from which an error [rad] stays within 5 degrees; infinite if never."""

    def __init__(self) -> None:
        self.time = 0.0

    def add(self, time: Array, error: Array) -> None:
        """Take the next times [s] with their errors [rad]."""
        within = np.flatnonzero(np.abs(error) <= BAND)
        outside = np.flatnonzero(np.abs(error) > BAND)
        if len(outside):
            self.time = math.inf
            within = within[within > outside[-1]]
        if len(within) and math.isinf(self.time):
            self.time = float(time[within[0]])


def gait_phase(q: Array, waves: float) -> Array:
    """Return the phase of a serpenoid from joint angles (k, n) alone (k,) [rad].

    Each row is a least-squares fit of A sin(phase - beta i) + offset over the joints.
    """
    lag = TURN * waves / q.shape[1] * np.arange(1, q.shape[1] + 1)
    basis = np.column_stack([np.cos(lag), -np.sin(lag), np.ones(len(lag))])
    sine, cosine, _ = np.linalg.lstsq(basis, q.T, rcond=None)[0]
    return np.unwrap(np.arctan2(sine, cosine))


class MeanHeading:
    """Average the heading over the period of the gait that ends at each tick."""

    def __init__(self, setup: Setup) -> None:
        self._waves = float(setup.scenario.controller.get("waves", 1.5))
        self._chain, self._mean = PlanarSnake(setup.parameters), PeriodMean()
        self._phase: float | None = None

    def of(self, part: Trajectory) -> Array:
        """Return it at each sample of a part but the one shared with the part before [rad]."""
        phase = gait_phase(part.q, self._waves)
        first = 0
        if self._phase is not None:
            phase += self._phase - phase[0]  # whole turns
            first = 1
        self._phase = float(phase[-1])
        headings = np.empty(len(part) - first)
        for i in range(first, len(part)):
            x, y, heading = self._chain.bearing(part.state(i))
            self._mean.add(float(part.time[i]), float(phase[i]), heading, x, y)
            headings[i - first] = self._mean.heading
        return headings
