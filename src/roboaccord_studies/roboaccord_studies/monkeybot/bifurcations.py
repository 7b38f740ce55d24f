"""Bifurcations of a family: where its multipliers leave the unit circle, and where it is stable.

They do at 1 (fold), at -1 (flip: every second step alike) or as a pair (Neimark and Sacker: the
gait starts to sway).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import INLINE, Quantity

from roboaccord_studies.monkeybot.continuation import Branch
from roboaccord_studies.monkeybot.family import Family, Point

REAL = 1e-6  # imaginary part below which a multiplier is real
LOCATED = 1e-10  # part of a step to which crossings are located


@dataclass(frozen=True)
class Crossing:
    """Hold an orbit with Floquet multipliers on the unit circle, and its bifurcation.

    Args:
        kind: fold, flip or Neimark-Sacker.
        outside: multipliers outside the circle before and after it, along the branch.
        point: the orbit.
    """

    kind: Annotated[str, Quantity("", "what crosses the unit circle", "crosses", "s")]
    outside: Annotated[
        tuple[int, int] | None, Quantity("", "multipliers outside it, before and after")
    ]
    point: Point = field(metadata=INLINE)


@dataclass(frozen=True)
class Stretch:
    """Hold the orbits of a part of a branch on which every gait is stable."""

    points: list[Point]

    def spans(self, along: str) -> dict[str, tuple[float, float]]:
        """Return the least and the largest value of what varies along the branch, and of controls.

        Args:
            along: name of what varies.
        """
        rows = [{along: point.value, **point.orbit.controls} for point in self.points]
        return {name: (min(r[name] for r in rows), max(r[name] for r in rows)) for name in rows[0]}


def between(family: Family, a: Point, b: Point, part: float) -> Point:
    """Return the orbit at a part, 0 to 1, of the distance between two neighbours."""
    if part in (0.0, 1.0):
        return a if part == 0.0 else b
    across = (b.y - a.y) / family.scale
    y, _ = family.corrected(a.y + part * (b.y - a.y), across / np.linalg.norm(across))
    return family.point(y)


def crossings(family: Family, branch: Branch) -> list[Crossing]:
    """Return where multipliers of a branch cross the unit circle, in order."""
    found = []
    for a, b in itertools.pairwise(branch.points):
        counts = outside(a), outside(b)
        parts = [_part(family, a, b, k) for k in range(min(counts), max(counts))]
        parts.sort()
        step = np.sign(counts[1] - counts[0])
        before = counts[0]
        for part, group in itertools.groupby(parts, lambda part: round(part, 6)):
            after = before + int(step) * len(list(group))
            point = between(family, a, b, part)
            found.append(Crossing(_kind(point), (before, after), point))
            before = after
    return found


def outside(point: Point) -> int:
    """Return how many multipliers are outside the unit circle."""
    return int((np.abs(point.orbit.multipliers) >= 1.0).sum())


def stable(branch: Branch, found: list[Crossing]) -> list[Stretch]:
    """Return the stable stretches of a branch, from crossing to crossing."""
    ends = {id(c.point) for c in found}
    stretches: list[list[Point]] = [[]]
    for point in _merged(branch, found):
        if id(point) in ends:
            stretches[-1].append(point)
            stretches.append([point])
        elif outside(point) == 0:
            stretches[-1].append(point)
    return [Stretch(s) for s in stretches if any(id(point) not in ends for point in s)]


def best(family: Family, branch: Branch) -> Point:
    """Return the orbit of the smallest spectral radius, minimised between the sampled ones."""
    points = branch.points
    i = int(np.argmin([point.orbit.spectral_radius for point in points]))
    candidates = [points[i]]
    for a, b in itertools.pairwise(points[max(i - 1, 0) : i + 2]):

        def radius(part: float, a: Point = a, b: Point = b) -> float:
            return between(family, a, b, part).orbit.spectral_radius

        least = scipy.optimize.minimize_scalar(
            radius, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-7}
        )
        candidates.append(between(family, a, b, float(least.x)))
    return min(candidates, key=lambda point: point.orbit.spectral_radius)


def _merged(branch: Branch, found: list[Crossing]) -> list[Point]:
    """Return the branch's points with the crossings at their places."""
    rest, merged = list(found), branch.points[:1]
    for a, b in itertools.pairwise(branch.points):
        change = b.y - a.y
        while (
            rest
            and outside(a) != outside(b)
            and 0.0 <= (rest[0].point.y - a.y) @ change <= change @ change
        ):
            merged.append(rest.pop(0).point)
        merged.append(b)
    return merged


def _part(family: Family, a: Point, b: Point, k: int) -> float:
    """Return the part of the distance at which the multiplier of rank k (0: largest) has size 1."""

    def excess(part: float) -> float:
        sizes = np.abs(between(family, a, b, part).orbit.multipliers)
        return float(np.sort(sizes)[::-1][k]) - 1.0

    return float(scipy.optimize.brentq(excess, 0.0, 1.0, xtol=LOCATED))


def _kind(point: Point) -> str:
    """Name the bifurcation by the multiplier nearest to the unit circle."""
    values = point.orbit.multipliers
    nearest = values[np.argmin(np.abs(np.abs(values) - 1.0))]
    if abs(nearest.imag) > REAL:
        return "Neimark-Sacker"
    return "fold" if nearest.real > 0.0 else "flip"
