"""A constant force on one link beside a force law."""

from __future__ import annotations

import numpy as np

from roboaccord.contract.interfaces import ForceLaw, LinkMotion
from roboaccord.contract.state import Array


class PushedLaw:
    """Add a constant force on a link's centre of mass to a force law (ForceLaw).

    Args:
        law: that goes on to act, or None.
        link: name.
        force: in the world (3,) [N].
    """

    def __init__(self, law: ForceLaw | None, link: str, force: Array) -> None:
        own = law.links if law else ()
        self.links = own if link in own else (*own, link)
        self._law, self._count = law, len(own)
        self._index, self._force = self.links.index(link), np.array(force, dtype=float)

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""
        forces, torques = np.zeros((2, len(self.links), 3))
        if self._law:
            n = self._count
            own = LinkMotion(
                motion.rotation[:n], motion.position[:n], motion.linear[:n], motion.angular[:n]
            )
            forces[:n], torques[:n] = self._law.wrenches(own)
        forces[self._index] += self._force
        return forces, torques
