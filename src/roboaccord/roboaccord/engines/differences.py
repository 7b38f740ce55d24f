"""Differences between a model and what it should be: of links, joints, axes and limits.

The cross-check compares the model inside an engine with the description, and `accord parity` what
readers make of a file; both use the functions `compare_...` here, each of which returns a
`Difference` with its error, the error that the caller allows, and the words for it.

Two things stay: the keys of `Difference.to_json`, which scripts read, and that a limit of ENDLESS
or more counts as none, because SDFormat writes 1e16 for it.
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
UNSTATED = because(Code.TEXT, text="")


@dataclass(frozen=True)
class Difference:
    """Difference of a quantity of a link or joint from what it should be.

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
        """The error; None where it is not finite."""
        return self.error if math.isfinite(self.error) else None

    def to_json(self) -> Mapping[str, Json]:
        """Return quantity, place and error, which is null where it is not finite."""
        return {"quantity": self.quantity, "where": self.where, "error": self.finite}


def relative_at(measured: Array, expected: Array) -> tuple[float, int]:
    """Return the largest difference relative to the largest expected value, and its index.

    Relative to 1 where that value is 0; infinite where anything is not finite.
    """
    with np.errstate(invalid="ignore"):
        errors = np.abs(measured - expected)
        size = float(np.abs(expected).max(initial=0.0)) or 1.0
    if not np.isfinite(errors).all():
        return np.inf, int(np.argmax(~np.isfinite(errors)))
    return float(errors.max(initial=0.0)) / size, first_largest(errors) if errors.size else 0


def compare_value(
    quantity: str,
    where: str,
    want: Value,
    have: Value,
    allowed: float,
    whole: float = 1.0,
    unit: str = "",
) -> Difference:
    """Return the largest difference of a quantity's components, relative to `whole`.

    Args:
        quantity, where: as of `Difference`.
        want, have: what it should be, and what it is.
        allowed: relative error.
        whole: to which the error is relative, in the unit of the quantity.
        unit: in which the difference is stated; "" for a percentage.
    """
    wanted, present = np.atleast_1d(want), np.atleast_1d(have)
    with np.errstate(invalid="ignore"):  # limits at infinity
        errors = np.where(wanted == present, 0.0, np.abs(wanted - present))
    size = float(np.nan_to_num(errors, nan=np.inf, posinf=np.inf).max(initial=0.0))
    error = size / whole if math.isfinite(size) else math.inf
    share = because(Code.OFF_BY_SHARE, share=error)
    how = because(Code.OFF_BY, size=size, unit=unit) if unit else share
    return Difference(quantity, where, error, allowed, how)


def compare_axis(where: str, want: Array, have: Array, allowed: float) -> Difference:
    """Return the difference of two unit axes, stated as the angle between them."""
    angle = math.atan2(float(np.linalg.norm(np.cross(want, have))), float(want @ have))
    how = because(Code.OFF_BY_ANGLE, size=angle)
    return replace(compare_value("axis", where, want, have, allowed), how=how)


def compare_limits(where: str, want: Value, have: Value, allowed: float) -> Difference:
    """Return the difference of lower and upper limits, relative to the largest limit or to 1.

    The larger of the two counts; limits of ENDLESS or more count as infinite.
    """
    ends = np.array([want, have], dtype=float)
    ends = np.where(np.abs(ends) >= ENDLESS, np.copysign(np.inf, ends), ends)
    scale = float(np.abs(ends[np.isfinite(ends)]).max(initial=1.0))
    return compare_value("limit", where, ends[0], ends[1], allowed, scale, "rad")


def compare_link(
    name: str,
    want: LinkProperties,
    have: LinkProperties | None,
    allowed: float,
    length: float = 1.0,
    noise: float = 0.0,
) -> Iterator[Difference]:
    """Yield the differences of a link in mass, centre and inertia, allowed ones included.

    Args:
        name: of the link.
        want, have: what it should be, and what it is; None for a missing link.
        allowed: relative error.
        length: to which the error of a centre of mass is relative [m].
        noise: error of an inertia by round-off, per unit of mass [m^2]; less is not reported.
    """
    if have is None:
        if want.mass:
            how = because(Code.MISSING, mass=want.mass)
            yield Difference("link", name, math.inf, allowed, how)
        return
    heavier = max(want.mass, have.mass)
    if heavier:
        yield compare_mass(name, want.mass, have.mass, allowed)
        if want.mass and have.mass:
            unit = unit_of(LinkProperties, "centre")
            yield compare_value("centre", name, want.centre, have.centre, allowed, length, unit)
    error = float(np.abs(want.inertia - have.inertia).max())
    if not error <= noise * heavier:  # also if it is NaN
        wanted, present = (float(np.abs(x.inertia).max()) for x in (want, have))
        difference = compare_value(
            "inertia", name, want.inertia, have.inertia, allowed, max(wanted, present)
        )
        yield replace(difference, how=because(Code.OFF_BY_SHARE, share=error / (wanted or present)))


def compare_mass(name: str, want: float, have: float, allowed: float) -> Difference:
    """Return the difference of masses that are not both 0, relative to the larger."""
    how = because(Code.INSTEAD, have=have, want=0.0, unit="kg")
    if want:
        how = because(Code.OFF_BY_SHARE, share=have / want - 1.0, signed=True)
    difference = compare_value("mass", name, want, have, allowed, max(want, have))
    return replace(difference, how=how)
