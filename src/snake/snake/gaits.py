"""Gaits: desired joint angles as functions of time."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from roboaccord.state import Array


@dataclass(frozen=True)
class Serpenoid:
    """Bend joint i by A(t) sin(2 pi f t - beta i) + offset, beta = 2 pi waves / joints.

    The wave runs from the head to the tail (Hirose, Biologically Inspired Robots, 1993).

    Args:
        joints: number n of joints.
        amplitude: A [rad].
        frequency: f [Hz].
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
        if self.frequency <= 0 or self.ramp < 0:
            raise ValueError("frequency must be positive, and ramp not negative")

    def shape(self, time: float) -> tuple[Array, Array, Array]:
        """Return the angles, rates and accelerations of the joints, each (n,)."""
        rate = 2.0 * math.pi * self.frequency
        lag = 2.0 * math.pi * self.waves / self.joints
        phase = rate * time - lag * np.arange(1, self.joints + 1)
        sin, cos = self.amplitude * np.sin(phase), self.amplitude * rate * np.cos(phase)
        g, gd, gdd = self._rise(time)
        base = sin + self.offset
        return (
            g * base,
            gd * base + g * cos,
            gdd * base + 2.0 * gd * cos - g * rate * rate * sin,
        )

    def _rise(self, time: float) -> tuple[float, float, float]:
        """Return the quintic smooth step and its first two derivatives."""
        if time >= self.ramp:
            return 1.0, 0.0, 0.0
        x, r = time / self.ramp, self.ramp
        return (
            x**3 * (10.0 - 15.0 * x + 6.0 * x * x),
            30.0 * x * x * (1.0 - x) ** 2 / r,
            60.0 * x * (1.0 - x) * (1.0 - 2.0 * x) / (r * r),
        )
