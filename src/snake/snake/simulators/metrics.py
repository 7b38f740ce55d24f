"""Figures of a snake's motion: speed, effort and cost of transport."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import AccordError, Array, Event, Tally, Trajectory
from roboaccord.run import work_of
from roboaccord.scenario import Setup

from snake.model.coordinates import PlanarSnake
from snake.source.post import cycle_of
from snake.steering.metrics import steering_tally

ROUND_OFF = 1e-9  # s
STEADY = 0.01  # of the speed: by how much the cycles of a steady gait may differ


@dataclass(frozen=True)
class Mark:
    """Hold what is known at a sample of a motion.

    Args:
        index, time: of the sample; time [s].
        centre: of mass (2,) [m].
        heading: mean of the links [rad].
        turned: sum of the headings of the samples before [rad].
        work: done until then [J].
    """

    index: int
    time: float
    centre: Array
    heading: float
    turned: float
    work: float

    def mean_heading(self, end: Mark) -> float:
        """Return the mean heading of the samples from here to `end`, both included [rad]."""
        return (end.turned + end.heading - self.turned) / (end.index - self.index + 1)

    def travel(self, end: Mark) -> float:
        """Return the displacement up to `end` along the mean heading until then [m]."""
        mean = self.mean_heading(end)
        return float((end.centre - self.centre) @ (math.cos(mean), math.sin(mean)))


class GaitFigures(Tally):
    """Measure the figures of a run.

    `speed` is the displacement of the centre of mass along the mean heading of the body, over the
    whole periods after the first one, divided by their time [m/s]; `displacement_x` and `_y` are
    the centre's over the whole run [m]; `cost_of_transport` = work / (m g distance);
    `travel_per_cycle` as in `travel_of_cycles`, its mean and standard deviation over the cycles.
    """

    def __init__(self, setup: Setup) -> None:
        self._setup = setup
        self._start, self._cycle = start_and_cycle(setup)
        self._periods, self._ends = list[Mark](), list[Mark]()  # the first, and the newest
        self._count_periods = self._count_cycles = 0
        self._travel: list[float] = []
        self._first: Mark | None = None
        self._steering = steering_tally(setup)
        # Its kernel is loaded here, and not in the middle of a run.
        body_motion(setup, Trajectory.from_states(setup.joints, [setup.initial]))

    def add(self, part: Trajectory) -> None:
        """Take a part of the motion."""
        centre, heading = body_motion(self._setup, part)
        if self._first is None:
            self._first = self._last = Mark(0, float(part.time[0]), centre[0], heading[0], 0.0, 0.0)
        before = self._last
        heading += before.heading - heading[0]  # whole turns
        turned = before.turned + np.concatenate([[0.0], np.cumsum(heading[:-1])])
        power = np.abs(part.effort[1:] * np.diff(part.q, axis=0)).sum(axis=1)
        work = before.work + np.concatenate([[0.0], np.cumsum(power)])

        def mark(i: int) -> Mark:
            place = before.index + i, float(part.time[i]), centre[i]
            return Mark(*place, float(heading[i]), float(turned[i]), float(work[i]))

        self._last = mark(len(part) - 1)
        while (due := (self._count_periods + 1) * self._cycle - ROUND_OFF) <= self._last.time:
            self._count_periods += 1
            self._periods[1:] = [mark(int(np.searchsorted(part.time, due)))]
        while (
            due := self._start + self._count_cycles * self._cycle - ROUND_OFF
        ) <= self._last.time:
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
    """Return the figures of a run that is there as a whole."""
    return setup.robot.metrics(setup, trajectory)


def travel_of_cycles(setup: Setup, time: Array, centre: Array, heading: Array) -> Array:
    """Return how far the robot came headwards in each whole cycle after the start (k,) [m].

    That is the displacement of the centre of mass in the cycle along the mean heading in the
    cycle, so a robot that turns is measured along its curve.
    """
    ends = _ends_of_cycles(setup, time)
    travel = np.empty(len(ends) - 1)
    for i, (first, last) in enumerate(pairwise(ends)):
        mean = heading[first : last + 1].mean()
        travel[i] = (centre[last] - centre[first]) @ (np.cos(mean), np.sin(mean))
    return travel


def _ends_of_cycles(setup: Setup, time: Array) -> NDArray[np.intp]:
    """Return the samples at which the whole cycles after the start begin, and the last one ends."""
    start, cycle = start_and_cycle(setup)
    count = max(int((time[-1] - start + ROUND_OFF) / cycle), 0)
    return np.searchsorted(time, start + cycle * np.arange(count + 1) - ROUND_OFF)


def last_cycles(travel: Array) -> Array:
    """Return the travel of the last half of all cycles, of at least two if there are as many."""
    return travel[-max(2, (len(travel) + 1) // 2) :]


def speed_and_cost_of_last(setup: Setup, trajectory: Trajectory) -> tuple[float, float, Array]:
    """Return the speed [m/s] and cost of transport of the last cycles, and the travel of all [m].

    Without a whole cycle speed and cost are of the whole run.
    """
    centre, heading = body_motion(setup, trajectory)
    travel = travel_of_cycles(setup, trajectory.time, centre, heading)
    if not len(travel):
        whole = metrics(setup, trajectory)
        return whole["speed"], whole["cost_of_transport"], travel
    last = last_cycles(travel)
    forward, ends = float(last.sum()), _ends_of_cycles(setup, trajectory.time)
    start, end = trajectory.time[[ends[-1 - len(last)], ends[-1]]].tolist()
    weight = setup.parameters.mass * setup.parameters.gravity
    work = work_of(trajectory.window(start, end))
    cost = work / (weight * abs(forward)) if forward else math.inf
    return forward / (end - start), cost, travel


def is_steady(travel: Array) -> bool:
    """Return whether a gait has settled: its last cycles all have the same speed within 1 %.

    A settled gait is a limit cycle up to the motion of the plane, so every cycle has the same
    travel. A run of less than two whole cycles after its start shows no limit cycle.

    Args:
        travel: of each cycle (k,) [m], as `travel_of_cycles` gives it.
    """
    last = last_cycles(travel)
    return len(last) > 1 and bool(np.ptp(last) <= STEADY * np.abs(last).max())


def start_and_cycle(setup: Setup) -> tuple[float, float]:
    """Return how long the gait takes to start, and a period of it [s].

    The post's gait starts with four configurations of its own, others with their first period.

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
