"""Figures of how well the snake was steered: waypoints reached, or a heading settled.

A run arrives piece by piece, since long runs are never in memory as a whole. `steering_tally`
chooses the class that measures a run: WaypointFigures if its scenario has waypoints, HeadingFigures
if it has a heading. `MeanHeading` removes the undulation of the gait from the heading.

Figures may be added, as keys in the methods `figures` or in a class that `steering_tally` chooses.
Keys that exist stay, for `accord run` prints them as JSON. BAND and GRACE define figures that
docs/snake_steering.md states. Tests: test_steering.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from roboaccord.contract import Array, Trajectory
from roboaccord.scenario import Setup

from snake.controllers.guidance import ACCEPTANCE, TIME_TOLERANCE
from snake.controllers.period_mean import FULL_TURN, PeriodMean, wrapped
from snake.model.coordinates import PlanarSnake

BAND = math.radians(5.0)  # rad: a heading this close counts as reached, as test_steering requires
# s: time after a step of the wanted heading before the largest error is measured: that in which
# test_steering requires the turn to be made, three times the 4.65 s at which it has settled.
GRACE = 15.0


def steering_tally(setup: Setup) -> WaypointFigures | HeadingFigures | None:
    """Return the figures of a steered run, empty as yet; None for other controllers."""
    spec = setup.scenario.controller
    if spec.get("name") != "steering":
        return None
    if spec.get("waypoints"):
        return WaypointFigures(setup)
    return HeadingFigures(setup) if spec.get("heading") is not None else None


class WaypointFigures:
    """Count the waypoints that the centre of mass reached in order, and when it reached the last.

    Waypoint k is reached at the first tick, not before waypoint k - 1 is, at which the centre is
    within the acceptance radius. `waypoints_time` [s] is there if all were reached.
    """

    def __init__(self, setup: Setup) -> None:
        spec = setup.scenario.controller
        self._acceptance = float(spec.get("acceptance", ACCEPTANCE))
        self._points = spec["waypoints"]  # x, y of each [m]
        self._reached, self._time = 0, 0.0  # how many were reached, and when the last was [s]

    def add(self, piece: Trajectory, centre: Array) -> None:
        """Add a piece of the motion, and the centre of mass at each of its samples (k, 2) [m]."""
        tick = 0
        while self._reached < len(self._points):
            to_waypoint = centre[tick:] - self._points[self._reached]
            is_reached = np.hypot(to_waypoint[:, 0], to_waypoint[:, 1]) <= self._acceptance
            if not is_reached.any():
                return
            tick += int(np.argmax(is_reached))
            self._reached += 1
            self._time = float(piece.time[tick])

    def figures(self) -> Mapping[str, float]:
        """Return the figures by name."""
        figures = {"waypoints_reached": float(self._reached)}
        if self._reached == len(self._points):
            figures["waypoints_time"] = self._time
        return figures


class HeadingFigures:
    """Measure how well the wanted heading was reached after its step, by the mean over a period.

    settling_time       from the step until the heading stays within 5 degrees of the wanted one;
                        infinite if it does not [s]
    heading_overshoot   how far the heading went beyond the wanted one [rad]
    heading_error_max   largest error from 15 s after the step to the end, if the run is that long
                        [rad]
    """

    def __init__(self, setup: Setup) -> None:
        spec = setup.scenario.controller
        self._step_time = float(spec.get("turn_time", 0.0))  # when the set-point steps [s]
        self._goal = float(spec["heading"])  # the set-point after it [rad]
        self._mean, self._settling = MeanHeading(setup), Settling()
        self._has_stepped = False
        self._error_offset = 0.0  # error minus heading: minus the goal, plus whole turns [rad]
        self._first_error = 0.0  # at the step [rad]
        self._overshoot = 0.0  # largest so far [rad]
        self._late_error = -math.inf  # largest error after GRACE [rad]

    def add(self, piece: Trajectory, centre: Array) -> None:
        """Add a piece of the motion, and the centre of mass at each of its samples (k, 2) [m]."""
        headings = self._mean.at_samples(piece)
        time = piece.time[len(piece) - len(headings) :] - self._step_time
        after = time >= -TIME_TOLERANCE
        if not after.any():
            return
        headings, time = headings[after], time[after]
        if not self._has_stepped:
            self._has_stepped = True
            self._first_error = wrapped(float(headings[0]) - self._goal)
            self._error_offset = self._first_error - float(headings[0])
        error = headings + self._error_offset
        self._settling.add(time, error)
        beyond = -math.copysign(1.0, self._first_error) * error
        self._overshoot = max(self._overshoot, float(beyond.max()))
        late = np.abs(error[time >= GRACE - TIME_TOLERANCE])
        self._late_error = max(self._late_error, float(late.max(initial=-math.inf)))

    def figures(self) -> Mapping[str, float]:
        """Return the figures by name; none before the step."""
        if not self._has_stepped:
            return {}
        figures = {"settling_time": self._settling.time, "heading_overshoot": self._overshoot}
        if self._late_error >= 0.0:
            figures["heading_error_max"] = self._late_error
        return figures


class Settling:
    """Find the `time` from which an error stays within 5 degrees [s]; infinite if never."""

    def __init__(self) -> None:
        self.time = 0.0

    def add(self, time: Array, error: Array) -> None:
        """Add the next times [s] with their errors [rad]."""
        within = np.flatnonzero(np.abs(error) <= BAND)
        outside = np.flatnonzero(np.abs(error) > BAND)
        if len(outside):
            self.time = math.inf
            within = within[within > outside[-1]]
        if len(within) and math.isinf(self.time):
            self.time = float(time[within[0]])


def gait_phase(q: Array, waves: float) -> Array:
    """Return the phase of a serpenoid for each of k samples, from the joint angles (k,) [rad].

    In each sample A sin(phase - beta i) + offset is fitted to the n joints by least squares.

    Args:
        q: joint angles (k, n) [rad].
        waves: number of waves on the body.
    """
    lag = FULL_TURN * waves / q.shape[1] * np.arange(1, q.shape[1] + 1)  # beta i (n,)
    basis = np.column_stack([np.cos(lag), -np.sin(lag), np.ones(len(lag))])
    sine, cosine, _ = np.linalg.lstsq(basis, q.T, rcond=None)[0]
    return np.unwrap(np.arctan2(sine, cosine))


class MeanHeading:
    """Average the heading over the period of the gait that ends at each tick."""

    def __init__(self, setup: Setup) -> None:
        self._waves = float(setup.scenario.controller.get("waves", 1.5))  # on the body
        self._chain, self._mean = PlanarSnake(setup.parameters), PeriodMean()
        self._last_phase: float | None = None  # of the gait at the last sample [rad]

    def at_samples(self, piece: Trajectory) -> Array:
        """Return the mean heading at each new sample of a piece of the motion [rad].

        The first sample of a piece is the last one of the piece before, and is left out.
        """
        phase = gait_phase(piece.q, self._waves)
        first = 0
        if self._last_phase is not None:
            phase += self._last_phase - phase[0]  # whole turns
            first = 1
        self._last_phase = float(phase[-1])
        headings = np.empty(len(piece) - first)
        for i in range(first, len(piece)):
            x, y, heading = self._chain.bearing(piece.state(i))
            self._mean.add(float(piece.time[i]), float(phase[i]), heading, x, y)
            headings[i - first] = self._mean.heading
        return headings
