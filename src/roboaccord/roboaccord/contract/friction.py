"""Body-fixed Coulomb friction as an external force, the same in every simulator.

The friction of a contact that slides with body-fixed velocity v = (v_along, v_across) under the
load N follows from maximum dissipation on the ellipse (f_along / mu_along)^2 +
(f_across / mu_across)^2 <= N^2 [Goyal, Ruina, Papadopoulos 1991]:

    f = -N mu^2 v / |mu v|,        mu = diag(mu_along, mu_across)

Below the slip speed eps it is smoothed: |mu v| becomes sqrt(|mu v|^2 + (max mu eps)^2), without
which a force law has no value at rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.contract.errors import AccordError, did_you_mean
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array
from roboaccord.numerics.jit import kernel


@kernel
def ellipse_force(along, across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N] against a slip (along, across) [m/s]."""
    a = mu_along * along
    c = mu_across * across
    e = max(mu_along, mu_across) * slip_speed
    scale = load / np.sqrt(a * a + c * c + e * e)
    return -mu_along * a * scale, -mu_across * c * scale


@kernel
def _ellipse_wrenches(
    rotation, position, linear, angular, points, mu, beyond, load, slip, force, torque
):
    count = points.shape[0]
    mu_along, mu_across = mu[0], mu[1]
    for i in range(rotation.shape[0]):
        # The body's axes as they lie in the horizontal plane.
        norm = np.sqrt(rotation[i, 0, 0] ** 2 + rotation[i, 1, 0] ** 2)
        c = rotation[i, 0, 0] / norm
        s = rotation[i, 1, 0] / norm
        along = c * linear[i, 0] + s * linear[i, 1]
        across = -s * linear[i, 0] + c * linear[i, 1]
        w = angular[i, 2]
        if beyond.shape[0] > 0:
            there = position[i, 0] > beyond[0]
            mu_along, mu_across = (beyond[1], beyond[2]) if there else (mu[0], mu[1])
        fx = 0.0
        fy = 0.0
        moment = 0.0
        for k in range(count):
            px = points[k, 0]
            py = points[k, 1]
            fa, fc = ellipse_force(
                along - w * py, across + w * px, mu_along, mu_across, load / count, slip
            )
            fx += c * fa - s * fc
            fy += s * fa + c * fc
            moment += px * fc - py * fa
        force[i, 0] = fx
        force[i, 1] = fy
        torque[i, 2] = moment


class EllipseFriction:
    """Apply the ellipse at given points of links that slide on a horizontal plane.

    Args:
        links: names of the links.
        points: contact points relative to the centre of mass, along and across (k, 2) [m].
        load: normal force on each link [N], shared by its points.
        mu_along, mu_across: coefficients along the link's x and y axes.
        slip_speed: smoothing speed eps [m/s].
        beyond: ground that changes with place: `x` [m], and the `mu_along` and `mu_across` of
            links whose centre is beyond it.

    Raises:
        ValueError: for a negative coefficient or a slip speed that is not positive.
        AccordError: for keys of `beyond` that are missing or unknown.
    """

    def __init__(
        self,
        links: Sequence[str],
        points: Array,
        load: float,
        mu_along: float,
        mu_across: float,
        slip_speed: float,
        beyond: Mapping[str, float] | None = None,
    ) -> None:
        self.beyond = _beyond(beyond)  # (x, mu_along, mu_across), or empty
        for pair in ((mu_along, mu_across), self.beyond[1:]):
            if min(pair, default=0.0) < 0:
                raise ValueError("a friction coefficient is negative")
            if max(pair, default=1.0) <= 0 or slip_speed <= 0:
                raise ValueError("the slip speed and one friction coefficient must be positive")
        self.links = tuple(links)
        self.points = np.ascontiguousarray(points, dtype=float)
        self.load = float(load)
        self.mu = np.array([mu_along, mu_across], dtype=float)
        self.slip_speed = float(slip_speed)
        self._force = np.zeros((len(self.links), 3))
        self._torque = np.zeros((len(self.links), 3))

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques (k, 3) [N m] about the centres of mass.

        The arrays are used again by the next call.
        """
        _ellipse_wrenches(
            motion.rotation, motion.position, motion.linear, motion.angular, self.points,
            self.mu, self.beyond, self.load, self.slip_speed, self._force, self._torque,
        )  # fmt: skip
        return self._force, self._torque


def _beyond(given: Mapping[str, float] | None) -> Array:
    """Return (x, mu_along, mu_across) of the ground that changes, empty where it does not."""
    if given is None:
        return np.zeros(0)
    keys = ("x", "mu_along", "mu_across")
    for key in given:
        if key not in keys:
            raise AccordError(f"unknown key friction.beyond.{key}{did_you_mean(key, keys)}")
    for key in keys:
        value = given.get(key)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise AccordError(f"friction.beyond.{key}: {value!r} is no number")
    return np.array([given[key] for key in keys], dtype=float)
