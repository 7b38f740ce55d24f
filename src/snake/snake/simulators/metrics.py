"""Figures of a snake's run: speed, cost of transport, and travel per cycle of the gait.

A run arrives piece by piece, since long runs are never in memory as a whole. `GaitFigures` adds up
each piece, and stores only a `Mark`, a sample with sums up to it, at the ends of the gait's
periods. If the snake is steered, its figures include those of steering_figures.py.

Figures may be added, as keys in `GaitFigures.figures`. Keys that exist stay, for `accord run`
prints them as JSON.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from roboaccord.contract import AccordError, Array, Event, Tally, Trajectory
from roboaccord.scenario import Setup

from snake.controllers.guidance import TIME_TOLERANCE
from snake.model.coordinates import PlanarSnake
from snake.simulators.steering_figures import steering_tally
from snake.source.post import cycle_of


@dataclass(frozen=True)
class Mark:
    """A sample of a motion, with sums over the samples before it.

    Args:
        index, time: number of the sample, and its time [s].
        centre: centre of mass (2,) [m].
        heading: mean heading of the links [rad].
        heading_sum: sum of the headings of all samples before [rad].
        work: sum of |effort dq| until then [J].
    """

    index: int
    time: float
    centre: Array
    heading: float
    heading_sum: float = 0.0
    work: float = 0.0

    def mean_heading(self, end: Mark) -> float:
        """Return the mean heading over the samples from this one to `end`, both included [rad]."""
        heading_sum = end.heading_sum + end.heading - self.heading_sum
        return heading_sum / (end.index - self.index + 1)

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
        self._period_ends = list[Mark]()  # of the first period and of the newest
        self._cycle_ends = list[Mark]()  # of the newest cycle alone
        self._period_count = self._cycle_count = 0
        self._travel: list[float] = []  # of each cycle [m]
        self._first: Mark | None = None  # the first sample
        self._last: Mark  # the newest sample
        self._steering = steering_tally(setup)
        # Loads the kernel of `body_motion`, so that this takes no time in the middle of a run.
        body_motion(setup, Trajectory.from_states(setup.joints, [setup.initial]))

    def add(self, piece: Trajectory) -> None:
        """Add the next piece of the motion."""
        centre, heading = body_motion(self._setup, piece)
        time, cycle = piece.time, self._cycle
        if self._first is None:
            self._first = self._last = Mark(0, float(time[0]), centre[0], heading[0])
        previous = self._last
        heading += previous.heading - heading[0]  # whole turns
        heading_sum = previous.heading_sum + np.concatenate([[0.0], np.cumsum(heading[:-1])])
        step_work = np.abs(piece.effort[1:] * np.diff(piece.q, axis=0)).sum(axis=1)
        work = previous.work + np.concatenate([[0.0], np.cumsum(step_work)])

        def mark(i: int) -> Mark:
            """Return the mark of sample i of the piece."""
            angles = float(heading[i]), float(heading_sum[i])
            return Mark(previous.index + i, float(time[i]), centre[i], *angles, float(work[i]))

        self._last = mark(len(piece) - 1)
        # Ends of periods, counted from the start of the run.
        while (end := (self._period_count + 1) * cycle - TIME_TOLERANCE) <= self._last.time:
            self._period_count += 1
            self._period_ends[1:] = [mark(int(np.searchsorted(time, end)))]  # keeps the first
        # Ends of cycles, counted from the end of the start of the gait.
        while (end := self._start + self._cycle_count * cycle - TIME_TOLERANCE) <= self._last.time:
            self._cycle_count += 1
            self._cycle_ends.append(mark(int(np.searchsorted(time, end))))
            if len(self._cycle_ends) > 1:
                self._travel.append(self._cycle_ends[0].travel(self._cycle_ends[1]))
                del self._cycle_ends[0]
        if self._steering:
            self._steering.add(piece, centre)

    def figures(self, events: Sequence[Event]) -> Mapping[str, float]:
        """Return the figures by name."""
        assert self._first is not None
        has_whole_period = len(self._period_ends) > 1
        first, last = self._period_ends if has_whole_period else (self._first, self._last)
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
    shortest = 2.0 * setup.scenario.control_period
    if period < shortest:
        limit = f"two control periods, {shortest:g} s"
        raise AccordError(f"controller: a period of {period:.3g} s is shorter than {limit}")
    return start, period


def body_motion(setup: Setup, trajectory: Trajectory) -> tuple[Array, Array]:
    """Return the centre of mass (k, 2) [m] and the mean heading of the links (k,) [rad]."""
    rows = PlanarSnake(setup.parameters).pack_motion(trajectory)
    return rows[:, :2], np.unwrap(rows[:, 2 : setup.parameters.links + 2].mean(axis=1))
