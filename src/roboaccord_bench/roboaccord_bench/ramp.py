"""Ramps and walls: boxes that friction holds and that creep, or that slide or tip.

A ramp is made by tilting gravity: the ground stays level, and in its axes the equations of motion
are exactly those of a ramp. A slope is the tangent of the ramp's angle.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import hypot, radians
from typing import ClassVar

from roboaccord.contract import AccordError

from roboaccord_bench.problem import Problem, Row, Trial
from roboaccord_bench.scene import GROUND, Body, G, Scene, Vector, direction, vector

GAP = 0.02  # between an estimate of a threshold and the next slope that is tried
STRIDE = 0.06  # between the two slopes of a secant
ROUNDS = 2


def tilted(slope: float, heading: float) -> Vector:
    """Return gravity on a ramp that falls towards a heading in degrees [m/s^2]."""
    return vector((slope * direction(heading) - (0.0, 0.0, 1.0)) * G / hypot(1.0, slope))


def box_on_ramp(size: tuple[float, ...], mu: float, slope: float, heading: float) -> Scene:
    """Return a box of 1 kg at rest on a ramp that falls towards a heading in degrees."""
    position, yaw = (0.0, 0.0, size[2] / 2.0), radians(heading)
    box = Body(name="box", size=size, mass=1.0, position=position, yaw=yaw)
    return Scene((GROUND, box), mu, gravity=tilted(slope, heading))


class Creep(Problem):
    """Speed of a body that friction holds, over the second half of a run.

    Until then, a soft contact has settled.
    """

    unit = "m/s"
    scale = 1e-3

    def read(self, rows: Sequence[Row], **_: float) -> float:
        """Return the mean speed from 0.5 to 1 s [m/s]."""
        (start, first), (end, last) = rows[len(rows) // 2 - 1], rows[-1]
        return (last - first) / (end - start)


class Threshold(Problem):
    """Least slope on which a box moves on and on.

    What is looked at is how far or how fast a box has gone after some time: zero up to the
    threshold, and proportional to what the slope is above it. A line through two slopes is extended
    to zero, and the next two are tried right above. Where the growth itself grows with the slope,
    as under a pyramid, an estimate is never below the threshold. There is no grid of slopes whose
    width would limit the resolution: an error of a measurement is passed on 1.7-fold at most.

    Attributes:
        size: of the box (3,) [m].
        mu: coefficient of friction.
        slope: of the first run, which the series is of; above all thresholds.
    """

    unit = ""
    size: ClassVar[tuple[float, ...]]
    mu: ClassVar[float]
    slope: ClassVar[float]

    def scene(self, **case: float) -> Scene:
        """Return the box at rest, on a ramp that falls towards the heading with the first slope."""
        return box_on_ramp(self.size, self.mu, self.slope, **case)

    def measure(self, trial: Trial, scene: Scene, **case: float) -> list[float]:
        """Return the threshold.

        Raises:
            AccordError: if the box goes no further on the steeper one of two slopes, or by less
                than a hundredth of what it goes on the first slope.
        """

        def progress(slope: float) -> float:
            """Return what the box has gone, over the share of gravity that presses it."""
            ramp = replace(scene, gravity=tilted(slope, **case))
            rows = self.rows(trial, ramp, **case)
            trial.series = trial.series or rows
            return self.read(rows) * hypot(1.0, slope)

        low = self.slope
        for _ in range(ROUNDS):
            first, second = progress(low), progress(low + STRIDE)
            if second - first < 0.01 * self.series(self.duration)[0]:
                raise AccordError(f"the box goes no further on slopes above {low:.3f}")
            found = low - STRIDE * first / (second - first)
            low = found + GAP
        return [found]
