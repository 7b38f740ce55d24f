"""Friction of joints, the same law in every simulator."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array


@dataclass(frozen=True)
class JointFriction:
    """Brake each joint by an effort -(b w + k w / sqrt(w^2 + e^2)) [N m] at the rate w [rad/s].

    The dry part k falls from stiction to constant as the joint gets under way, by Stribeck's law
    k = c + (s - c) exp(-(w / w_s)^2) [Armstrong-Helouvry et al. 1994, equation 6, with an exponent
    of 2].

    Args:
        viscous: b of each joint (n,) [N m s/rad].
        constant: c, the dry friction of a joint under way (n,) [N m].
        speed: e, below which the dry friction falls to 0 [rad/s].
        stiction: s, not below c: what breaks a joint away (n,) [N m]; c where None.
        stribeck_speed: w_s, by which a joint is under way [rad/s].
    """

    viscous: Array
    constant: Array
    speed: float
    stiction: Array | None = None
    stribeck_speed: float = 0.01

    def __post_init__(self) -> None:
        """Refuse stiction below the dry friction under way.

        Raises:
            AccordError: if it is, for one joint at least.
        """
        if self.stiction is not None and np.any(self.stiction < self.constant):
            raise AccordError("stiction of a joint is below its dry friction under way")

    def efforts(self, qd: Array) -> Array:
        """Return the efforts (n,) [N m] at joint rates qd (n,) [rad/s]."""
        return -qd * (self.viscous + self._dry(qd) / np.sqrt(qd * qd + self.speed**2))

    @property
    def any_dry(self) -> bool:
        """True if any joint has dry friction."""
        return bool(np.any(self.constant if self.stiction is None else self.stiction))

    def damping(self, qd: Array) -> Array:
        """Return how the efforts fall with the rates qd (n,) [N m s/rad].

        Stribeck's fall of the dry part is left out: it alone is no damping.
        """
        return self.viscous + self._dry(qd) * self.speed**2 / (qd * qd + self.speed**2) ** 1.5

    def _dry(self, qd: Array) -> Array:
        if self.stiction is None:
            return self.constant
        more = self.stiction - self.constant
        return np.asarray(self.constant + more * np.exp(-((qd / self.stribeck_speed) ** 2)))
