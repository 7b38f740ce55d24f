"""Separation of interpenetrating hulls, as states of other simulators have them."""

from __future__ import annotations

import numpy as np
from roboaccord.contract.errors import DivergedError
from roboaccord.contract.state import Array

from packbot.contact.clearance import Clearance
from packbot.contact.impacts import open_gaps
from packbot.model.arm import Arm

ROUNDS = 50
ROOM = 1.01  # how far more than asked hulls are parted: each round is right to first order


def part(arm: Arm, clearance: Clearance, q: Array, least: float) -> Array:
    """Return angles (n,) [rad] near q, at which all pairs are `least` [m] apart.

    Each round takes the displacement that is least in the metric of the mass matrix.

    Raises:
        DivergedError: if they cannot be parted.
    """
    for _ in range(ROUNDS):
        distances = clearance.distances(q)
        if distances.min(initial=np.inf) >= least:
            return q
        near = np.flatnonzero(distances < 10.0 * least)
        found = clearance.witness(q, near)
        wanted = ROOM * least - found.distances
        q = q + open_gaps(arm.mass_matrix(q), found.jacobian, wanted)
    pair, distance = clearance.closest(q)
    names = " and ".join(clearance.pair_names(pair))
    raise DivergedError(f"{names} cannot be parted: {-1e3 * distance:.3g} mm of overlap are left")
