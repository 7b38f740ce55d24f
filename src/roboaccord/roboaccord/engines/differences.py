"""Differences of a model from what it should be, in an engine and in a reader of files alike.

How much is allowed is not set here: each caller passes it (`allowed`).
To compare another quantity, call `compare_value` with its name. What must stay are the keys of
`Difference.to_json`, which scripts read, and that a limit of ENDLESS or more is none: SDFormat
writes 1e16.
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
    """Hold how far a quantity of a link or joint is off.

    Args:
        quantity: link, mass, centre, inertia, joint, origin, axis, limit, damping, gravity, ...
        where: link or joint; "" where there is one of it.
        error: infinite where something is missing or not finite.
        allowed: that error.
        how: much it is off.
    """

    quantity: str
    where: str
    error: Annotated[float, Quantity("1", "relative error")]
    allowed: Annotated[float, Quantity("1", "relative error allowed")]
    how: Reason = UNSTATED

    @property
    def text(self) -> str:
        """How much it is off, in words."""
        return str(self.how)

    @property
    def excess(self) -> float:
        """The error over what is allowed."""
        return self.error / self.allowed

    @property
    def finite(self) -> float | None:
        """The error; None where it is not finite."""
        return self.error if math.isfinite(self.error) else None

    def to_json(self) -> Mapping[str, Json]:
        """Return it without what is allowed."""
        return {"quantity": self.quantity, "where": self.where, "error": self.finite}


def relative_at(found: Array, expected: Array) -> tuple[float, int]:
    """Return the largest difference over the largest expected value, and its last index.

    Over 1 where that is 0; infinite where anything is not finite.
    """
    with np.errstate(invalid="ignore"):
        apart = np.abs(found - expected)
        size = float(np.abs(expected).max(initial=0.0)) or 1.0
    if not np.isfinite(apart).all():
        return np.inf, int(np.argmax(~np.isfinite(apart)))
    return float(apart.max(initial=0.0)) / size, first_largest(apart) if apart.size else 0


def compare_value(
    quantity: str,
    where: str,
    want: Value,
    have: Value,
    allowed: float,
    whole: float = 1.0,
    unit: str = "",
) -> Difference:
    """Return the difference of a quantity as a part of `whole`, stated in a unit or in %."""
    one, two = np.atleast_1d(want), np.atleast_1d(have)
    with np.errstate(invalid="ignore"):  # limits at infinity
        apart = np.where(one == two, 0.0, np.abs(one - two))
    size = float(np.nan_to_num(apart, nan=np.inf, posinf=np.inf).max(initial=0.0))
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
    """Return the difference of lower and upper limits, as a part of the largest if over 1."""
    ends = np.array([want, have], dtype=float)
    ends = np.where(np.abs(ends) >= ENDLESS, np.copysign(np.inf, ends), ends)
    whole = float(np.abs(ends[np.isfinite(ends)]).max(initial=1.0))
    return compare_value("limit", where, ends[0], ends[1], allowed, whole, "rad")


def compare_link(
    name: str,
    want: LinkProperties,
    have: LinkProperties | None,
    allowed: float,
    length: float = 1.0,
    noise: float = 0.0,
) -> Iterator[Difference]:
    """Yield the differences of a link, whether they are allowed or not.

    Args:
        name: of the link.
        want, have: what it should be, and is; None for a link that is missing.
        allowed: relative error.
        length: of which the error of a centre of mass is a part [m].
        noise: round-off of an inertia, per unit of mass [m^2].
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
    apart = float(np.abs(want.inertia - have.inertia).max())
    if not apart <= noise * heavier:  # also if it is NaN
        mine, other = (float(np.abs(x.inertia).max()) for x in (want, have))
        found = compare_value(
            "inertia", name, want.inertia, have.inertia, allowed, max(mine, other)
        )
        yield replace(found, how=because(Code.OFF_BY_SHARE, share=apart / (mine or other)))


def compare_mass(name: str, want: float, have: float, allowed: float) -> Difference:
    """Return the difference of masses that are not both 0, as a part of the heavier."""
    how = because(Code.INSTEAD, have=have, want=0.0, unit="kg")
    if want:
        how = because(Code.OFF_BY_SHARE, share=have / want - 1.0, signed=True)
    found = compare_value("mass", name, want, have, allowed, max(want, have))
    return replace(found, how=how)
