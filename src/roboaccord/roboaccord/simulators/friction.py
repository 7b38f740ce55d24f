"""Friction of joints, and springs in them, the same in every simulator.

`JointFriction` contains the law (viscous friction, dry friction, stiction) with its parameters.
References and engines evaluate it in each stage of a step. engines/compiled.py has the same law in
a kernel, which must give the same bits. test_engines compares it with closed forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array


@dataclass(frozen=True)
class JointFriction:
    """Friction of joints: an effort -(b w + k w / sqrt(w^2 + e^2)) [N m] at the rate w [rad/s].

    The dry part k falls from stiction to constant as the joint starts to move, by Stribeck's law
    k = c + (s - c) exp(-(w / w_s)^2) [Armstrong-Helouvry et al. 1994, equation 6, with an exponent
    of 2].

    Args:
        viscous: b of each joint (n,) [N m s/rad].
        constant: c, the dry friction of a moving joint (n,) [N m].
        speed: e, below which the dry friction fades to 0 [rad/s].
        stiction: s, at least c: the effort that sets a joint in motion (n,) [N m]; None for c.
        stribeck_speed: w_s, at which most of the fall has happened [rad/s].
        spring: stiffness [N m/rad] and slack positions of springs in the joints (n,), or None.
    """

    viscous: Array
    constant: Array
    speed: float
    stiction: Array | None = None
    stribeck_speed: float = 0.01
    spring: tuple[Array, Array] | None = None

    def __post_init__(self) -> None:
        """Check the stiction.

        Raises:
            AccordError: if it is below the dry friction of the moving joint.
        """
        if self.stiction is not None and np.any(self.stiction < self.constant):
            raise AccordError("stiction of a joint is below its dry friction in motion")

    def efforts(self, qd: Array) -> Array:
        """Return the efforts (n,) [N m] at joint rates qd (n,) [rad/s]."""
        return -qd * (self.viscous + self._dry(qd) / np.sqrt(qd * qd + self.speed**2))

    def add(self, effort: Array, q: Array, qd: Array) -> Array:
        """Return efforts (n,) with those of friction and springs added, at q and qd (n,)."""
        total = effort + self.efforts(qd)
        return total - self.spring[0] * (q - self.spring[1]) if self.spring else total

    def with_joints(self, convert: Callable[[Array], Array]) -> JointFriction:
        """Return the same law for other joints, with each array (n,) converted to theirs."""
        viscous, constant = convert(self.viscous), convert(self.constant)
        stiction = None if self.stiction is None else convert(self.stiction)
        spring = self.spring and (convert(self.spring[0]), convert(self.spring[1]))
        return replace(self, viscous=viscous, constant=constant, stiction=stiction, spring=spring)

    @property
    def any_dry(self) -> bool:
        """True if any joint has dry friction."""
        return bool(np.any(self.constant if self.stiction is None else self.stiction))

    def damping(self, qd: Array) -> Array:
        """Return the damping (n,) [N m s/rad] at rates qd: minus the derivative of the efforts.

        The fall of the dry part by Stribeck's law is left out, because it does not damp.
        """
        return self.viscous + self._dry(qd) * self.speed**2 / (qd * qd + self.speed**2) ** 1.5

    def _dry(self, qd: Array) -> Array:
        """Return k, the dry friction at rates qd (n,) [N m]."""
        if self.stiction is None:
            return self.constant
        excess = self.stiction - self.constant
        return np.asarray(self.constant + excess * np.exp(-((qd / self.stribeck_speed) ** 2)))
