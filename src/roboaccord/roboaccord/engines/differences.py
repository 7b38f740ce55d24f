"""Differences between actual and expected properties of links and joints.

The cross-check compares the model inside an engine with the description, and `accord parity`
compares the models that readers make of one file. Both use the functions `compare_...` here, each
of which returns a `Difference`: its error, the error that the caller allows, and a reason in words.

Two things must stay: the keys of `Difference.to_json`, which scripts read, and that a limit of
ENDLESS or more counts as none, because SDFormat writes 1e16 for it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from roboaccord.contract.outcome import Code, Reason, because
from roboaccord.contract.results import Json, Quantity, unit_of
from roboaccord.contract.state import Array
from roboaccord.description.tree_text import ENDLESS
from roboaccord.engines.model import LinkProperties
from roboaccord.numerics.ranking import first_largest

Value = Array | float | Sequence[float]
UNSTATED = because(Code.TEXT, text="")  # the words of a difference that has none


@dataclass(frozen=True)
class Difference:
    """Difference between the actual and the expected value of a quantity of a link or joint.

    Args:
        quantity: name: link, mass, centre, inertia, joint, origin, axis, limit, damping, ...
        where: name of the link or joint; "" for a quantity of the whole robot.
        error: relative; infinite where something is missing or not finite.
        allowed: largest error that is accepted.
        how: the difference in words.
    """

    quantity: str
    where: str
    error: Annotated[float, Quantity("1", "relative error")]
    allowed: Annotated[float, Quantity("1", "relative error allowed")]
    how: Reason = UNSTATED

    @property
    def text(self) -> str:
        """The difference in words."""
        return str(self.how)

    @property
    def excess(self) -> float:
        """The error divided by the allowed error."""
        return self.error / self.allowed

    @property
    def finite(self) -> float | None:
        """The error; None if it is not finite."""
        return self.error if math.isfinite(self.error) else None

    def to_json(self) -> Mapping[str, Json]:
        """Return quantity, place and error, which is null if it is not finite."""
        return {"quantity": self.quantity, "where": self.where, "error": self.finite}


def relative_at(measured: Array, expected: Array) -> tuple[float, int]:
    """Return the largest difference relative to the largest expected value, and its flat index.

    It is relative to 1 if that value is 0, and infinite if any difference is not finite.
    """
    with np.errstate(invalid="ignore"):
        errors = np.abs(measured - expected)
        scale = float(np.abs(expected).max(initial=0.0)) or 1.0
    if not np.isfinite(errors).all():
        return np.inf, int(np.argmax(~np.isfinite(errors)))
    index = first_largest(errors) if errors.size else 0
    return float(errors.max(initial=0.0)) / scale, index


def compare_value(
    quantity: str,
    where: str,
    expected: Value,
    actual: Value,
    allowed: float,
    scale: float = 1.0,
    unit: str = "",
) -> Difference:
    """Return the largest difference of a quantity's components, relative to `scale`.

    Args:
        quantity, where: as of `Difference`.
        expected, actual: values or arrays of the quantity.
        allowed: largest relative error that is accepted.
        scale: value to which the error is relative, in the unit of the quantity.
        unit: unit of the stated difference; "" for a percentage.
    """
    expected, actual = np.atleast_1d(expected), np.atleast_1d(actual)
    with np.errstate(invalid="ignore"):  # infinity minus infinity, of limits
        errors = np.where(expected == actual, 0.0, np.abs(expected - actual))
    size = float(np.nan_to_num(errors, nan=np.inf, posinf=np.inf).max(initial=0.0))
    error = size / scale if math.isfinite(size) else math.inf
    share = because(Code.OFF_BY_SHARE, share=error)
    how = because(Code.OFF_BY, size=size, unit=unit) if unit else share
    return Difference(quantity, where, error, allowed, how)


def compare_axis(where: str, expected: Array, actual: Array, allowed: float) -> Difference:
    """Return the difference of two unit axes (3,), stated as the angle between them."""
    sine = float(np.linalg.norm(np.cross(expected, actual)))
    how = because(Code.OFF_BY_ANGLE, size=math.atan2(sine, float(expected @ actual)))
    return replace(compare_value("axis", where, expected, actual, allowed), how=how)


def compare_limits(where: str, expected: Value, actual: Value, allowed: float) -> Difference:
    """Return the difference of lower and upper limits (2,), relative to the largest or to 1.

    The larger of the two counts; limits of ENDLESS or more count as infinite.
    """
    limits = np.array([expected, actual], dtype=float)
    limits = np.where(np.abs(limits) >= ENDLESS, np.copysign(np.inf, limits), limits)
    scale = float(np.abs(limits[np.isfinite(limits)]).max(initial=1.0))
    return compare_value("limit", where, limits[0], limits[1], allowed, scale, "rad")


def compare_link(
    name: str,
    expected: LinkProperties,
    actual: LinkProperties | None,
    allowed: float,
    length: float = 1.0,
    noise: float = 0.0,
) -> Iterator[Difference]:
    """Yield the differences of a link in mass, centre and inertia, allowed ones included.

    Args:
        name: name of the link.
        expected, actual: properties of the link; `actual` is None if it is missing.
        allowed: largest relative error that is accepted.
        length: length to which the error of a centre of mass is relative [m].
        noise: round-off of an inertia per unit of mass [m^2]; smaller errors are not reported.
    """
    if actual is None:
        if expected.mass:
            how = because(Code.MISSING, mass=expected.mass)
            yield Difference("link", name, math.inf, allowed, how)
        return
    heavier = max(expected.mass, actual.mass)
    if heavier:
        yield compare_mass(name, expected.mass, actual.mass, allowed)
        if expected.mass and actual.mass:
            centres, unit = (expected.centre, actual.centre), unit_of(LinkProperties, "centre")
            yield compare_value("centre", name, *centres, allowed, length, unit)
    error = float(np.abs(expected.inertia - actual.inertia).max())
    if not error <= noise * heavier:  # true also for NaN
        inertias = expected.inertia, actual.inertia
        largest = [float(np.abs(inertia).max()) for inertia in inertias]
        difference = compare_value("inertia", name, *inertias, allowed, max(largest))
        share = error / (largest[0] or largest[1])
        yield replace(difference, how=because(Code.OFF_BY_SHARE, share=share))


def compare_mass(name: str, expected: float, actual: float, allowed: float) -> Difference:
    """Return the difference of masses that are not both 0, relative to the larger."""
    how = because(Code.INSTEAD, have=actual, want=0.0, unit="kg")
    if expected:
        how = because(Code.OFF_BY_SHARE, share=actual / expected - 1.0, signed=True)
    difference = compare_value("mass", name, expected, actual, allowed, max(expected, actual))
    return replace(difference, how=how)
