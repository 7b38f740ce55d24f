"""Programs of the ball: functions that return its velocity over time.

There is one of headings, driven one after the other, and one of a figure of eight. The controllers
of drive.py evaluate a program in each control period. To gain and lose speed, the ball accelerates
evenly for the time `ramp`.
"""

import math
from collections.abc import Callable

import numpy as np
from roboaccord.contract import Array

# Velocity in the plane (2,) [m/s], by the time [s].
Program = Callable[[float], Array]


def trapezoid(time: float, duration: float, ramp: float) -> float:
    """Return the fraction of the full speed at a time: a trapezoid over `duration`.

    It rises linearly from 0 to 1 within `ramp`, stays 1, and falls to 0 within the last `ramp`; all
    times in seconds.
    """
    return min(max(min(time, duration - time) / ramp, 0.0), 1.0)


def headings(speed: float, count: int, hold: float, ramp: float) -> Program:
    """Return a program of `count` headings, evenly around, each from rest to rest.

    Args:
        speed: [m/s].
        count: number of headings, the first along x.
        hold: time of each, the ramps included [s].
        ramp: time to gain the speed, and to lose it [s].
    """

    def velocity(time: float) -> Array:
        """Return the ball's velocity at a time [s]."""
        index = math.floor(time / hold)
        fraction = trapezoid(time - index * hold, hold, ramp) if index < count else 0.0
        heading = 2.0 * math.pi * index / count
        return speed * fraction * np.array([math.cos(heading), math.sin(heading)])

    return velocity


def figure_eight(speed: float, radius: float, ramp: float) -> Program:
    """Return a program of two circles, the first to the left, from rest to rest where they touch.

    Args:
        speed: [m/s].
        radius: of both circles [m].
        ramp: time to gain the speed, and to lose it [s].
    """
    length = 4.0 * math.pi * radius
    duration = figure_eight_time(speed, radius, ramp)

    def velocity(time: float) -> Array:
        """Return the ball's velocity at a time [s]."""
        # Distance along the path: the integral of speed times the trapezoid, from either end.
        fraction = trapezoid(time, duration, ramp)
        remaining = max(duration - time, 0.0)
        if time < ramp:  # it gains speed,
            distance = 0.5 * speed * time * time / ramp
        elif remaining > ramp:  # keeps it,
            distance = length - speed * (remaining - 0.5 * ramp)
        else:  # and loses it
            distance = length - 0.5 * speed * remaining * remaining / ramp
        # The first circle turns left by 2 pi; the second turns right, so the heading falls again.
        angle = distance / radius
        heading = angle if angle < 2.0 * math.pi else 4.0 * math.pi - angle
        return speed * fraction * np.array([math.cos(heading), math.sin(heading)])

    return velocity


def figure_eight_time(speed: float, radius: float, ramp: float) -> float:
    """Return the duration of a figure of eight [s]: its length over the speed, plus one ramp.

    While it gains and loses speed the ball covers half of what it would at full speed.
    """
    return 4.0 * math.pi * radius / speed + ramp
