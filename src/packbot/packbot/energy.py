"""The book of the energy: what there is, what efforts put in, and what should not have come."""

from __future__ import annotations

import numpy as np
from roboaccord.state import Array

from packbot.arm import Arm


class EnergyBook:
    """Add up by how much the energy rises beyond the work of the efforts.

    Friction and impacts take energy, and contact gives none: what rises is an error.

    Args:
        arm: whose energy it is.

    Attributes:
        rise: sum of all rises [J].
        largest: of them [J].
    """

    def __init__(self, arm: Arm) -> None:
        self._arm = arm
        self.rise = self.largest = 0.0
        self._last = 0.0
        self._q: Array = np.zeros(0)

    def start(self, q: Array, v: Array) -> None:
        """Begin anew at a state."""
        self.rise = self.largest = 0.0
        self._q, self._last = q, self._arm.energy(q, v)

    def note(self, q: Array, v: Array, efforts: Array) -> None:
        """Take the state after a step or an event, in which `efforts` were held (n,) [N m]."""
        energy = self._arm.energy(q, v)
        work = float(efforts @ (q - self._q))
        rise = max(0.0, energy - self._last - work)
        self.rise += rise
        self.largest = max(self.largest, rise)
        self._q, self._last = q, energy
