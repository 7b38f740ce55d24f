"""Ramps: boxes that stay on one, creep down, slide or tip.

A ramp is made by tilting gravity: the ground stays level, and in its axes the equations of motion
are exactly those of a ramp. A slope is the tangent of the ramp's angle.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import cos, hypot, radians, sin
from typing import ClassVar

import numpy as np
from roboaccord.contract import AccordError, Array

from roboaccord_bench.problem import Problem, Trial
from roboaccord_bench.scene import GROUND, Body, G, Motion, Scene, Vector

GAP = 0.02  # between an estimate of a threshold and the next slope that is tried
STRIDE = 0.06  # between the two slopes of a secant
ROUNDS = 2


def direction(heading: float) -> Array:
    """Return the horizontal unit vector of a heading in degrees (3,)."""
    return np.array([cos(radians(heading)), sin(radians(heading)), 0.0])


def tilted(slope: float, heading: float) -> Vector:
    """Return gravity on a ramp that falls towards a heading in degrees [m/s^2]."""
    x, y, z = (slope * direction(heading) - (0.0, 0.0, 1.0)) * G / hypot(1.0, slope)
    return float(x), float(y), float(z)


def box_on_ramp(size: tuple[float, ...], mu: float, slope: float, heading: float) -> Scene:
    """Return a box of 1 kg at rest on a ramp that falls towards a heading in degrees."""
    position, yaw = (0.0, 0.0, size[2] / 2.0), radians(heading)
    box = Body(name="box", size=size, mass=1.0, position=position, yaw=yaw)
    return Scene((GROUND, box), mu, gravity=tilted(slope, heading))


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
        size: of the box (3,) [m].
        mu: coefficient of friction.
        slope: of the first run, which the series is of; above all thresholds.
    """

    size: ClassVar[tuple[float, ...]]
    mu: ClassVar[float]
    slope: ClassVar[float]

    @abstractmethod
    def progress(self, motion: Motion, **case: float) -> float:
        """Return how far or how fast the box has gone."""

    def scene(self, **case: float) -> Scene:
        """Return the box at rest, on a ramp that falls towards the heading with the first slope."""
        return box_on_ramp(self.size, self.mu, self.slope, **case)

    def measure(self, trial: Trial, **case: float) -> float:
        """Return the threshold.

        Raises:
            AccordError: if the box goes no further on the steeper one of two slopes, or by less
                than a hundredth of what it goes on the first slope.
        """
        low = self.slope
        for _ in range(ROUNDS):
            first, second = (self._run(trial, low + more, **case) for more in (0.0, STRIDE))
            if second - first < 0.01 * self.series(self.duration)[0]:
                raise AccordError(f"the box goes no further on slopes above {low:.3f}")
            found = low - STRIDE * first / (second - first)
            low = found + GAP
        return found

    def _run(self, trial: Trial, slope: float, **case: float) -> float:
        """Return the progress on a slope over the share of gravity that presses the box on it."""
        scene = replace(self.scene(**case), gravity=tilted(slope, **case))
        run, first = trial.start(scene), not trial.series
        for time in run.steps(self.duration):
            progress = self.progress(run.motion("box"), **case)
            if first:
                trial.record(time, progress)
        return progress * hypot(1.0, slope)
