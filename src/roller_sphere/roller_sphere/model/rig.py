"""Geometry of a rig: a ball, the contact points of its rollers, and their axes.

Symbols and equation numbers are those of Kimura, Ogata and Ishii (2019), "Novel Mathematical
Modeling and Motion Analysis of a Sphere Considering Slipping", doi 10.2991/jrnal.k.190531.006. A
rig of your own is made by `Rig.degrees(radius, azimuth, latitude, alpha)` with two or more rollers.
test_roller_rigs checks lengths and right angles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from roboaccord.contract import AccordError, Array

# Sine of the smallest angle between the first two contacts, or between a further one and the
# pole. Below it, e or X_i consists of rounding errors of angles given to 1e-4 degrees, 2e-6 rad.
MIN_SINE = 1e-5
RIGHT_ANGLE = 0.5 * np.pi  # rad
ROUNDING = 1e-12  # rad: 90 degrees, converted with an error of 1e-16, are not more than 90 degrees


class RigError(AccordError, ValueError):
    """A rig that is singular, or a motion that is impossible, in one line."""


@dataclass(frozen=True, eq=False)
class Rig:
    """A ball of a radius [m] and its n >= 2 rollers.

    Args:
        radius: r of the ball [m].
        azimuth: th1 of each contact, about z from x (n,) [rad].
        latitude: th2 of each contact, from the x-y plane up (n,) [rad].
        alpha: from the plane through the centre and the first two contacts to the axis of each
            roller (n,) [rad], within +-pi/2. For a further roller: from its X_i.

    Raises:
        RigError: for numbers that make no rig.
    """

    radius: float
    azimuth: Array
    latitude: Array
    alpha: Array

    def __post_init__(self) -> None:
        for name in ("azimuth", "latitude", "alpha"):
            values = np.array(getattr(self, name), dtype=float, ndmin=1)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        self._check_numbers()
        self._check_contacts()

    @classmethod
    def degrees(cls, radius: float, *angles: Sequence[float]) -> Rig:
        """Return a rig whose azimuths, latitudes and alphas, in this order, are in degrees."""
        return cls(radius, *(np.radians(np.asarray(values, float)) for values in angles))

    @property
    def count(self) -> int:
        """Number n of rollers."""
        return len(self.azimuth)

    @cached_property
    def normals(self) -> Array:
        """Unit vectors p_i = P_i/r from the centre to the contacts (n, 3)."""
        c = np.cos(self.latitude)
        x, y = np.cos(self.azimuth) * c, np.sin(self.azimuth) * c
        return np.column_stack([x, y, np.sin(self.latitude)])

    @cached_property
    def contacts(self) -> Array:
        """Contacts P_i (n, 3) [m], (12)."""
        return self.radius * self.normals

    @cached_property
    def pole(self) -> Array:
        """Unit vector e = (P1 x P2)/N (3,), (6)."""
        normal = np.cross(self.normals[0], self.normals[1])
        return np.asarray(normal / np.linalg.norm(normal))

    @cached_property
    def across(self) -> Array:
        """Unit tangents X_i = e x P_i, to length 1 (n, 3), (6)."""
        tangents = np.cross(self.pole, self.normals)
        return np.asarray(tangents / np.linalg.norm(tangents, axis=1, keepdims=True))

    @cached_property
    def along(self) -> Array:
        """Unit tangents E_i = P_i x X_i / r (n, 3); of the first two contacts this is e."""
        return np.cross(self.normals, self.across)

    @cached_property
    def axes(self) -> Array:
        """Unit vectors eta_i along the axes of the rollers (n, 3), (5)."""
        c, s = np.cos(self.alpha)[:, None], np.sin(self.alpha)[:, None]
        return np.asarray(c * self.across + s * self.along)

    @cached_property
    def directions(self) -> Array:
        """Unit vectors e_i = eta_i x P_i / r in which the rollers' surfaces move (n, 3)."""
        return np.cross(self.axes, self.normals)

    def split(self, omega: Array) -> tuple[Array, Array]:
        """Return w_t in the plane of the first two contacts and w_s along e, each (..., 3)."""
        up = (omega @ self.pole)[..., None] * self.pole
        return omega - up, up

    def _check_numbers(self) -> None:
        """Check number and range of radius and angles.

        Raises:
            RigError: for the first that is wrong.
        """
        angles = (self.azimuth, self.latitude, self.alpha)
        sizes = [len(a) for a in angles]
        if any(a.ndim != 1 for a in angles) or len(set(sizes)) > 1:
            raise RigError(f"azimuths, latitudes and alphas differ in number: {sizes}")
        if sizes[0] < 2:
            raise RigError(f"a rig has at least two rollers, not {sizes[0]}")
        if not all(np.isfinite(a).all() for a in (self.radius, *angles)):
            raise RigError("the radius and all angles must be finite numbers")
        if self.radius <= 0.0:
            raise RigError(f"radius is {self.radius:g} m, and must be positive")
        for name, values in (("latitude", self.latitude), ("alpha", self.alpha)):
            if (np.abs(values) > RIGHT_ANGLE + ROUNDING).any():
                worst = np.degrees(values[np.argmax(np.abs(values))])
                raise RigError(f"{name} is {worst:g} degrees, and must be within +-90")

    def _check_contacts(self) -> None:
        """Check that the contacts define a plane, and no further one is at its pole.

        Raises:
            RigError: if they do not.
        """
        first, second = self.normals[:2]
        if np.linalg.norm(np.cross(first, second)) < MIN_SINE:
            how = "the same point" if first @ second > 0.0 else "antipodal"
            raise RigError(f"N = |P1 x P2| = 0: contacts 1 and 2 are {how}, and define no plane")
        for number, normal in enumerate(self.normals[2:], 3):
            if np.linalg.norm(np.cross(self.pole, normal)) < MIN_SINE:
                effect = "its alpha counts from X = e x P, which is 0 there"
                raise RigError(f"contact {number} is at a pole of contacts 1 and 2: {effect}")
