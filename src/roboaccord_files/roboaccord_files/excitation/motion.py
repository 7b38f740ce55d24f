"""Motions by Fourier series, from rest to rest [Swevers et al. 1997].

q(t) = q0 + sum over l of a_l sin(l w t) + b_l cos(l w t), with w = 2 pi / T and harmonics l = 1, 2,
... The sums of l a_l and of l^2 b_l are 0, so that rates and accelerations are 0 at both ends.
search.py draws the amplitudes at random and makes a `FourierMotion` of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from roboaccord.contract.state import Array

# Number of samples in a period: 5 for each period of the 20th harmonic, the highest in use. With 50
# or 1000 samples the condition number changes by 1 %.
STEPS = 100


@dataclass(frozen=True)
class FourierMotion:
    """A periodic motion.

    Args:
        middle: positions q0 about which the joints move (n,) [rad or m].
        sines, cosines: amplitudes a and b of the h harmonics (n, h) [rad or m].
        duration: period T [s].
    """

    middle: Array
    sines: Array
    cosines: Array
    duration: float

    @classmethod
    def of(cls, shape: Array, middle: Array, duration: float) -> FourierMotion:
        """Return the motion nearest to amplitudes (2, n, h) that begins and ends at rest.

        The sines are projected onto the plane sum of l a_l = 0, the cosines onto the plane sum of
        l^2 b_l = 0: what lies along the plane's normal is subtracted.
        """
        order = np.arange(1, shape.shape[-1] + 1)
        sines, cosines = shape
        return cls(middle, _projected(sines, order), _projected(cosines, order**2), duration)

    def at(self, times: Array) -> tuple[Array, Array, Array]:
        """Return positions, rates and accelerations (k, n) at times (k,) [s]."""
        rate = 2.0 * np.pi / self.duration * np.arange(1, self.sines.shape[1] + 1)
        sine, cosine = np.sin(np.outer(times, rate)), np.cos(np.outer(times, rate))
        a, b = self.sines.T, self.cosines.T
        q = self.middle + sine @ a + cosine @ b
        qd = (cosine * rate) @ a - (sine * rate) @ b
        return q, qd, -(sine * rate**2) @ a - (cosine * rate**2) @ b

    @cached_property
    def samples(self) -> tuple[Array, Array, Array]:
        """Positions, rates and accelerations over a period."""
        return self.at(np.linspace(0.0, self.duration, STEPS, endpoint=False))

    def scaled(self, factors: Array) -> FourierMotion:
        """Return the motion with the amplitudes of each joint multiplied by a factor (n,)."""
        column = factors[:, None]
        return replace(self, sines=self.sines * column, cosines=self.cosines * column)


def _projected(amplitudes: Array, normal: Array) -> Array:
    """Return amplitudes (n, h) without their part along the normal (h,) of a plane."""
    return amplitudes - np.outer(amplitudes @ normal, normal) / (normal @ normal)
