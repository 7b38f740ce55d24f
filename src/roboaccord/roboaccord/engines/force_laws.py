"""Force laws made from another law: with constant forces added, or scaled on some links.

A force law (`ForceLaw` of contract/interfaces.py) has the names of its `links` and a method
`wrenches` from their motion to forces and torques. The compiled forces of compiled.py do not know
the laws of this module, so Python computes them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from roboaccord.contract.interfaces import ForceLaw, LinkMotion
from roboaccord.contract.state import Array


class PushedLaw:
    """Add constant forces on links' centres of mass to a force law (ForceLaw).

    Args:
        law: the law to which forces are added, or None.
        pushes: forces by link, in the world (3,) [N].
    """

    def __init__(self, law: ForceLaw | None, pushes: Mapping[str, Array]) -> None:
        links = tuple(law.links) if law else ()
        self.links = (*links, *(link for link in pushes if link not in links))
        self._law, self._count = law, len(links)
        self._pushes = np.array([pushes.get(link, np.zeros(3)) for link in self.links], float)

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""
        forces, torques = self._pushes.copy(), np.zeros((len(self.links), 3))
        if self._law:
            rows_of_law = slice(self._count)
            law_forces, torques[rows_of_law] = self._law.wrenches(motion.at(rows_of_law))
            forces[rows_of_law] += law_forces
        return forces, torques


class ScaledLaw:
    """Scale the wrenches of a force law on some links (ForceLaw).

    Args:
        law: the law that is scaled.
        factors: by link; 1 for the others.
    """

    def __init__(self, law: ForceLaw, factors: Mapping[str, float]) -> None:
        self.links, self._law = tuple(law.links), law
        self._factors = np.array([[factors.get(link, 1.0)] for link in self.links])

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques about the centres of mass (k, 3) [N m]."""
        forces, torques = self._law.wrenches(motion)
        return self._factors * forces, self._factors * torques
