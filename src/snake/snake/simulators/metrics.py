"""Figures of a snake's run: speed, cost of transport, and how well it was steered.

A run arrives part by part, since long runs are never in memory as a whole. `GaitFigures` adds up
each part, and stores only a `Mark`, a sample with sums up to it, at the ends of the gait's periods.
If the snake is steered, WaypointFigures or HeadingFigures measure the steering as well.

Figures may be added, as keys in `GaitFigures.figures` or in a class that `steering_tally` chooses.
Keys that exist stay, for `accord run` prints them as JSON. BAND and GRACE define figures that
docs/snake_steering.md states.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array, Event, Tally, Trajectory
from roboaccord.scenario import Setup

from snake.controllers.guidance import ACCEPTANCE, DUE, TURN, PeriodMean, wrapped
from snake.model.coordinates import PlanarSnake
from snake.source.post import cycle_of

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

    def add(self, part: Trajectory, centre: Array) -> None:
        """Take a part of the motion, and the centre of mass at each of its samples (k, 2) [m]."""
        tick = 0
        while self._reached < len(self._points):
            distances = centre[tick:] - self._points[self._reached]
            reached_now = np.hypot(*distances.T) <= self._acceptance
            if not reached_now.any():
                return
            tick += int(np.argmax(reached_now))
            self._reached, self._time = self._reached + 1, float(part.time[tick])

    def figures(self) -> Mapping[str, float]:
        """Return the figures."""
        reached = {"waypoints_reached": float(self._reached)}
        complete = self._reached == len(self._points)
        return reached | ({"waypoints_time": self._time} if complete else {})


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
        self._step = float(spec.get("turn_time", 0.0))  # when the set-point steps [s]
        self._goal = float(spec["heading"])  # the set-point after it [rad]
        self._mean, self._settling = MeanHeading(setup), Settling()
        self._begun = False  # whether the step has come
        self._offset = 0.0  # error minus heading: minus the goal, plus whole turns [rad]
        self._start = 0.0  # error at the step [rad]
        self._overshoot = 0.0  # largest so far [rad]
        self._late = -math.inf  # largest error after GRACE [rad]

    def add(self, part: Trajectory, centre: Array) -> None:
        """Take a part of the motion, and the centre of mass at each of its samples (k, 2) [m]."""
        headings = self._mean.of(part)
        time = part.time[len(part) - len(headings) :] - self._step
        after = time >= -DUE
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
        late = np.abs(error[time >= GRACE - DUE])
        self._late = max(self._late, float(late.max(initial=-math.inf)))

    def figures(self) -> Mapping[str, float]:
        """Return the figures."""
        if not self._begun:
            return {}
        figures = {"settling_time": self._settling.time, "heading_overshoot": self._overshoot}
        return figures | ({"heading_error_max": self._late} if self._late >= 0.0 else {})


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
    lag = TURN * waves / q.shape[1] * np.arange(1, q.shape[1] + 1)
    basis = np.column_stack([np.cos(lag), -np.sin(lag), np.ones(len(lag))])
    sine, cosine, _ = np.linalg.lstsq(basis, q.T, rcond=None)[0]
    return np.unwrap(np.arctan2(sine, cosine))


class MeanHeading:
    """Average the heading over the period of the gait that ends at each tick."""

    def __init__(self, setup: Setup) -> None:
        self._waves = float(setup.scenario.controller.get("waves", 1.5))  # on the body
        self._chain, self._mean = PlanarSnake(setup.parameters), PeriodMean()
        self._phase: float | None = None  # of the gait at the last sample [rad]

    def of(self, part: Trajectory) -> Array:
        """Return the mean heading at each new sample of a part [rad].

        The first sample of a part is the last one of the part before, and is left out.
        """
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


@dataclass(frozen=True)
class Mark:
    """A sample of a motion, with sums over the samples before it.

    Args:
        index, time: number of the sample, and its time [s].
        centre: centre of mass (2,) [m].
        heading: mean heading of the links [rad].
        turned: sum of the headings of all samples before [rad].
        work: sum of |effort dq| until then [J].
    """

    index: int
    time: float
    centre: Array
    heading: float
    turned: float
    work: float

    def mean_heading(self, end: Mark) -> float:
        """Return the mean heading over the samples from this one to `end`, both included [rad]."""
        return (end.turned + end.heading - self.turned) / (end.index - self.index + 1)

    def travel(self, end: Mark) -> float:
        """Return the displacement from this sample to `end`, along the mean heading between [m]."""
        mean = self.mean_heading(end)
        return float((end.centre - self.centre) @ (math.cos(mean), math.sin(mean)))


class GaitFigures(Tally):
    """Measure the figures of a run.

    speed                    displacement of the centre of mass along the mean heading, over the
                             whole periods after the first one, divided by their time [m/s]
    heading                  mean heading over these periods [rad]
    displacement_x, _y       of the centre of mass over the whole run [m]
    cost_of_transport        work / (m g distance) over the same periods as the speed [1]
    travel_per_cycle         displacement along the mean heading in a cycle of the gait, mean over
                             the whole cycles after the start of the gait [m]
    travel_per_cycle_spread  its standard deviation [m]
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._start, self._cycle = start_and_cycle(setup)  # s
        self._periods = list[Mark]()  # ends of the first period and of the newest
        self._ends = list[Mark]()  # end of the newest cycle
        self._count_periods = self._count_cycles = 0
        self._travel: list[float] = []  # of each cycle [m]
        self._first: Mark | None = None  # the first sample; `_last` is the newest
        self._steering = steering_tally(setup)
        # Loads the kernel of `body_motion`, so that this takes no time in the middle of a run.
        body_motion(setup, Trajectory.from_states(setup.joints, [setup.initial]))

    def add(self, part: Trajectory) -> None:
        """Add the next part of the motion."""
        centre, heading = body_motion(self._setup, part)
        if self._first is None:
            self._first = self._last = Mark(0, float(part.time[0]), centre[0], heading[0], 0.0, 0.0)
        previous = self._last
        heading += previous.heading - heading[0]  # whole turns
        turned = previous.turned + np.concatenate([[0.0], np.cumsum(heading[:-1])])
        power = np.abs(part.effort[1:] * np.diff(part.q, axis=0)).sum(axis=1)
        work = previous.work + np.concatenate([[0.0], np.cumsum(power)])

        def mark(i: int) -> Mark:
            index, time = previous.index + i, float(part.time[i])
            return Mark(index, time, centre[i], float(heading[i]), float(turned[i]), float(work[i]))

        # Ends of periods, counted from the start of the run, and of cycles, counted from the end of
        # the start of the gait.
        self._last = mark(len(part) - 1)
        while (due := (self._count_periods + 1) * self._cycle - DUE) <= self._last.time:
            self._count_periods += 1
            self._periods[1:] = [mark(int(np.searchsorted(part.time, due)))]
        while (due := self._start + self._count_cycles * self._cycle - DUE) <= self._last.time:
            self._count_cycles += 1
            self._ends.append(mark(int(np.searchsorted(part.time, due))))
            if len(self._ends) > 1:
                self._travel.append(self._ends[0].travel(self._ends[1]))
                del self._ends[0]
        if self._steering:
            self._steering.add(part, centre)

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures."""
        assert self._first is not None
        whole = len(self._periods) > 1
        first, last = self._periods if whole else (self._first, self._last)
        forward, elapsed = first.travel(last), last.time - first.time
        weight = self._setup.parameters.mass * self._setup.parameters.gravity
        work = last.work - first.work
        total = self._last.centre - self._first.centre
        travel = np.array(self._travel)
        return {
            "speed": forward / elapsed if elapsed else 0.0,
            "heading": first.mean_heading(last),
            "displacement_x": float(total[0]),
            "displacement_y": float(total[1]),
            "cost_of_transport": work / (weight * abs(forward)) if forward else math.inf,
            "travel_per_cycle": float(travel.mean()) if len(travel) else math.nan,
            "travel_per_cycle_spread": float(travel.std()) if len(travel) else math.nan,
            **(self._steering.figures() if self._steering else {}),
        }


def metrics(setup: Setup, trajectory: Trajectory) -> Mapping[str, float]:
    """Return the figures of a run that is in memory as a whole."""
    figures = GaitFigures(setup)
    figures.add(trajectory)
    return figures.figures(trajectory.events)


def start_and_cycle(setup: Setup) -> tuple[float, float]:
    """Return how long the gait takes to start, and how long a period lasts [s].

    The post's gaits start with four configurations of their own, other gaits with one period.

    Raises:
        AccordError: if a period is shorter than two control periods.
    """
    spec = dict(setup.scenario.controller)
    name = spec.pop("name", "")
    if name in ("as_coded", "as_described"):
        start, period = cycle_of(name, spec)
    else:
        frequency = abs(float(spec.get("frequency", 1.0)))
        start = period = 1.0 / frequency if frequency else math.inf
    if period < 2.0 * setup.scenario.control_period:
        raise AccordError(
            f"controller: a period of {period:.3g} s is shorter than two control periods, "
            f"{2.0 * setup.scenario.control_period:g} s"
        )
    return start, period


def body_motion(setup: Setup, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return the centre of mass (k, 2) [m] and the mean heading of the links (k,) [rad]."""
    rows = PlanarSnake(setup.parameters).pack_motion(trajectory)
    return rows[:, :2], np.unwrap(rows[:, 2 : setup.parameters.links + 2].mean(axis=1))
