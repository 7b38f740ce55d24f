"""Pseudo-arclength continuation of periodic gaits, and the bifurcations of a family.

An orbit is a root of R(y) = 0, y = (start, controls that are solved for, value along): one more
unknown than equations, so orbits lie on a curve. It is followed by pseudo-arclength (Keller 1977):
a step along the tangent, then Newton's method in the plane across it, which goes round turning
points, where a family has no orbit beyond some value and two before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from monkeybot.gaits.orbits import Orbit
from roboaccord.contract import AccordError, Array

from roboaccord_studies.monkeybot.family import Family, Point

FEW = 3
SHORTEST, FIRST = 1e-3, 0.2  # steps, as parts of the largest one

Done = Callable[[str], None]


@dataclass(frozen=True)
class Branch:
    """Hold a part of a family, its orbits in order, and why it ends at its first and its last."""

    points: list[Point]
    ends: tuple[str, str]


def follow(
    family: Family,
    orbit: Orbit,
    *,
    largest: float = 0.02,
    most: int = 500,
    done: Done | None = None,
) -> Branch:
    """Follow a family in both directions from an orbit, until it leaves the range.

    Args:
        family: with the robot of the orbit.
        orbit: within the range.
        largest: step, as a part of the range, and of 1 rad, rad/s, s and N m.
        most: orbits in each direction.
        done: called with a text for every orbit.

    Raises:
        AccordError: for an orbit outside the range.
    """
    y = family.unknowns(orbit)
    if not family.low <= y[-1] <= family.high:
        raise AccordError(
            f"the gait has {family.along} {y[-1]:g}, outside the range from {family.low:g} to "
            f"{family.high:g}: begin inside it"
        )
    y, _ = family.corrected(y, np.eye(len(y))[-1])
    first, tangent = family.point(y), family.tangent(y)
    tangent = tangent * (1.0 if tangent[-1] >= 0.0 else -1.0)
    up, top = _one_direction(family, first, tangent, largest, most, done)
    down, bottom = _one_direction(family, first, -tangent, largest, most, done)
    return Branch([*reversed(down), first, *up], (bottom, top))


def _one_direction(
    family: Family, first: Point, tangent: Array, largest: float, most: int, done: Done | None
) -> tuple[list[Point], str]:
    """Return the orbits in one direction, and why there are no more."""
    points: list[Point] = []
    y, length = first.y, FIRST * largest
    while len(points) < most:
        if length < SHORTEST * largest:
            return points, "no orbit beyond"
        try:
            new, count = family.corrected(y + length * tangent * family.scale, tangent)
            inside = family.low <= new[-1] <= family.high
            if not inside:
                new = _at_bound(family, y, new)
            turned, point = family.tangent(new), family.point(new)
        except AccordError:
            length *= 0.5
            continue
        turned = turned * np.sign(turned @ tangent)
        if inside and turned @ tangent < 0.9 and length > 1e-2 * largest:
            length *= 0.5  # round a sharp bend in short steps, and never back
            continue
        points.append(point)
        if done:
            done(f"{len(points)} orbits, {family.along} {point.value:.5g}")
        if not inside:
            return points, "the range's end"
        if np.linalg.norm((new - first.y) / family.scale) < 0.5 * length and len(points) > FEW:
            return points, "closed"
        y, tangent = new, turned
        length = min(largest, length * (1.5 if count <= FEW else 0.7))
    return points, f"{most} orbits"


def _at_bound(family: Family, before: Array, after: Array) -> Array:
    """Return the orbit where a family leaves the range between two of its orbits."""
    bound = family.high if after[-1] > family.high else family.low
    part = (bound - before[-1]) / (after[-1] - before[-1])
    guess = before + part * (after - before)
    guess[-1] = bound
    return family.corrected(guess, np.eye(len(guess))[-1])[0]
