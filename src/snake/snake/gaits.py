"""Gaits: desired joint angles as functions of time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from roboaccord.state import Array

from snake.tracking import serpenoid


@dataclass(frozen=True)
class Serpenoid:
    """Bend joint i by A(t) sin(2 pi f t - beta i) + offset, beta = 2 pi waves / joints.

    The wave runs from the head to the tail (Hirose, Biologically Inspired Robots, 1993).

    Args:
        joints: number n of joints.
        amplitude: A [rad].
        frequency: f [Hz]; negative for a wave that runs from the tail to the head.
        waves: waves on the body.
        offset: mean angle [rad].
        ramp: A(t) rises from 0 over this time [s], twice differentiable.
    """

    joints: int
    amplitude: float
    frequency: float
    waves: float
    offset: float = 0.0
    ramp: float = 1.0

    def __post_init__(self) -> None:
        if self.frequency == 0 or self.ramp < 0:
            raise ValueError("frequency must not be 0, and ramp not negative")

    def shape(self, time: float) -> tuple[Array, Array, Array]:
        """Return the angles, rates and accelerations of the joints, each (n,)."""
        q, qd, qdd = np.empty((3, self.joints))
        rate = 2.0 * math.pi * self.frequency
        lag = 2.0 * math.pi * self.waves / self.joints
        serpenoid(time, self.amplitude, rate, lag, self.offset, self.ramp, q, qd, qdd)
        return q, qd, qdd
