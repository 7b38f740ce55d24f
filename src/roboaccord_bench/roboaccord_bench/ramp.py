"""Ramps: boxes that stay on one, creep down, slide or tip.

A ramp is made by tilting gravity: the ground stays level, and in its axes the equations of motion
are exactly those of a ramp. A slope is the tangent of the ramp's angle.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from math import cos, hypot, radians, sin
from typing import ClassVar

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import GROUND, Body, G, Motion, Scene

GAP = 0.02  # between an estimate of a threshold and the next slope that is tried
STRIDE = 0.06  # between the two slopes of a secant
ROUNDS = 2


def direction(heading: float) -> Array:
    """Return the horizontal unit vector of a heading in degrees (3,)."""
    return np.array([cos(radians(heading)), sin(radians(heading)), 0.0])


def box_on_ramp(size: tuple[float, ...], mu: float, slope: float, heading: float) -> Scene:
    """Return a box of 1 kg at rest on a ramp that falls towards a heading in degrees."""
    position, rotation = (0.0, 0.0, size[2] / 2.0), (0.0, 0.0, radians(heading))
    box = Body(name="box", size=size, mass=1.0, position=position, rotation=rotation)
    x, y, z = (slope * direction(heading) - (0.0, 0.0, 1.0)) * G / hypot(1.0, slope)
    return Scene((GROUND, box), mu, gravity=(float(x), float(y), float(z)))


def creep(series: Sequence[Sequence[float]]) -> float:
    """Return the mean speed over the second half of a series of time and distance [m/s].

    Until then, a soft contact has settled.
    """
    (start, first), (end, last) = series[len(series) // 2 - 1], series[-1]
    return (last - first) / (end - start)


class Threshold(Problem):
    """Least slope on which a box moves on and on.

    What is measured is how far or how fast a box has gone after some time: zero up to the
    threshold, and proportional to what the slope is above it. A line through two slopes is extended
    to zero, and the next two are tried right above. Where the growth itself grows with the slope,
    as under a pyramid, an estimate is never below the threshold. There is no grid of slopes whose
    width would limit the resolution: an error of a measurement is passed on 1.7-fold at most.

    Attributes:
        slope: of the first run, which the series is of; above all thresholds.
        duration: of a run [s].
    """

    slope: ClassVar[float]
    duration: ClassVar[float]

    @abstractmethod
    def scene(self, slope: float, heading: float) -> Scene:
        """Return a box at rest on a ramp that falls towards the heading."""

    @abstractmethod
    def progress(self, motion: Motion, heading: float) -> float:
        """Return how far or how fast the box has gone."""

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the threshold.

        Raises:
            AccordError: if the box goes no further on the steeper one of two slopes.
        """
        low = self.slope
        for _ in range(ROUNDS):
            first, second = (self._run(trial, low + more, **case) for more in (0.0, STRIDE))
            if second <= first:
                raise AccordError(f"the box goes no further on a slope above {low:.3f}")
            found = low - STRIDE * first / (second - first)
            low = found + GAP
        return found

    def _run(self, trial: Trial, slope: float, heading: float) -> float:
        """Return the progress on a slope over the share of gravity that presses the box on it."""
        run, first = trial.start(self.scene(slope, heading)), not trial.series
        for time in run.steps(self.duration):
            progress = self.progress(run.motion("box"), heading)
            if first:
                trial.record(time, progress)
        return progress * hypot(1.0, slope)
