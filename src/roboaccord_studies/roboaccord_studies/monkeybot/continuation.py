"""Families of periodic gaits: equations that their orbits are roots of, and how to follow them.

An orbit is a root of R(y) = 0, y = (start, controls that are solved for, value along): one more
unknown than equations, so orbits lie on a curve. It is followed by pseudo-arclength (Keller 1977):
a step along the tangent, then Newton's method in the plane across it, which goes round turning
points, where a family has no orbit beyond some value and two before it.

The tolerances below may be tuned as long as every orbit of a branch repeats (test_continuation).
A name added to ALIKE varies NAME_a and NAME_b together; one that does not, such as length and
centre, has its case in `changed` and `present`. Fields of `Point`, keys of the JSON output, stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import INLINE, LEFT_OUT, AccordError, Array, Quantity
from roboaccord.description import parameter_file
from roboaccord.numerics import central_slope

from roboaccord_studies.monkeybot.kinds import Kind
from roboaccord_studies.monkeybot.orbits import Closing, Orbit, describe

ALIKE = ("mass", "inertia", "length", "centre")  # of both links at once
DIFFERENCE = 1e-6  # of start and controls, for derivatives [rad, rad/s, s, N m]
RANGE_DIFFERENCE = 1e-5  # of the value along the family, as a part of its range
CLOSED, EXACT = 1e-10, 1e-12  # what a residual must be below, and is wanted to be
SINGULAR = 1e14  # condition of a matrix, beyond which a solution has no digits
NEWTON_STEPS = 14  # at most
QUICK = 3  # steps of Newton's method after which the next step along the family is longer
SHORTEST, FIRST = 1e-3, 0.2  # steps along the family, as parts of the largest one
BEND = 0.9  # cosine between two tangents below which a bend is sharp


@dataclass(frozen=True)
class Point:
    """An orbit of a family: the value along it, the unknowns (n,), the robot, the orbit."""

    value: Annotated[float, Quantity("", "of what is varied, in SI units", form=".7g")]
    y: Array = field(metadata=LEFT_OUT)
    parameters: MonkeyBotParameters = field(metadata=LEFT_OUT)
    orbit: Orbit = field(metadata=INLINE)


@dataclass(frozen=True)
class Family:
    """Describe a family of orbits.

    Args:
        kind: of the gait.
        parameters: of the robot.
        controls: of the gait; those that are free are guesses.
        along: a control, or a parameter of the robot: a field, or mass, inertia, length or centre
            (from the elbow to the centre of gravity) of both links.
        low, high: range of the value along.
        rise: of a cycle [m], where the kind has a control to meet it.
    """

    kind: Kind
    parameters: MonkeyBotParameters
    controls: Mapping[str, float]
    along: str
    low: float
    high: float
    rise: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite([self.low, self.high]).all() and self.low < self.high):
            raise AccordError(f"the range from {self.low:g} to {self.high:g} must rise")
        names = (*self.kind.controls, *ALIKE, *parameter_file("monkeybot"))
        if self.along not in names:
            raise AccordError(
                f"a {self.kind.name} gait is followed along {', '.join(self.kind.controls)}, or a "
                f"parameter of the robot such as {', '.join(ALIKE)}, not {self.along}"
            )
        if len(self.free) < len(self.kind.solved):
            raise AccordError(
                f"a {self.kind.name} gait stands alone for one robot: it has no family along "
                f"{self.along}; follow it along a parameter of the robot"
            )

    @property
    def free(self) -> tuple[str, ...]:
        """The controls that are solved for."""
        if self.along not in self.kind.solved:
            return self.kind.solved
        others = [name for name in self.kind.controls if name not in self.kind.solved]
        return tuple(others[: len(self.kind.solved)])

    @property
    def scale(self) -> Array:
        """Size of a unit step of each unknown (n,); 1 rad, rad/s, s and N m, and the range."""
        return np.array([*np.ones(4 + len(self.free)), self.high - self.low])

    def at(self, y: Array) -> tuple[MonkeyBotParameters, dict[str, float]]:
        """Return the robot and the controls at unknowns."""
        value = float(y[-1])
        controls = {**self.controls, **dict(zip(self.free, y[4:-1].tolist(), strict=True))}
        if self.along in controls:
            return self.parameters, {**controls, self.along: value}
        return changed(self.parameters, self.along, value), controls

    def unknowns(self, orbit: Orbit) -> Array:
        """Return the unknowns of an orbit of the robot as it is (n,)."""
        free, along = [orbit.controls[name] for name in self.free], self.along
        is_control = along in orbit.controls
        value = orbit.controls[along] if is_control else present(self.parameters, along)
        return np.array([*orbit.start, *free, value])

    def residual(self, y: Array) -> Array:
        """Return P(x) - x, and the rise less the one that is wanted (n - 1,); NaN if it fails."""
        try:
            parameters, controls = self.at(y)
        except ValueError:  # no such robot
            return np.full(len(y) - 1, np.nan)
        return Closing(self.kind, parameters, controls, self.rise).residual(y[:4])

    def slope(self, y: Array) -> Array:
        """Return the derivative of the residual by the scaled unknowns (n - 1, n)."""
        steps = np.full(len(y), DIFFERENCE)
        steps[-1] = RANGE_DIFFERENCE
        return central_slope(self.residual, y, steps, self.scale)

    def tangent(self, y: Array) -> Array:
        """Return the scaled direction of the family (n,), of length 1."""
        slope = self.slope(y)
        if not np.isfinite(slope).all():
            raise AccordError("the gait misses an event there")
        return np.asarray(np.linalg.svd(slope)[2][-1])

    def corrected(self, y: Array, across: Array) -> tuple[Array, int]:
        """Return the orbit in the plane across a scaled direction (n,), and the steps it took.

        Raises:
            AccordError: if Newton's method finds none.
        """
        best, least = y, np.inf
        for count in range(NEWTON_STEPS):
            residual = self.residual(y)
            size = float(np.linalg.norm(residual))
            settled = least < CLOSED and not size < 0.5 * least  # what is left is round-off
            if size < least:
                best, least = y, size
            if least < EXACT or settled:
                return best, count
            matrix = np.vstack([self.slope(y), across])
            if not (np.isfinite(size) and np.isfinite(matrix).all()):
                break
            if np.linalg.cond(matrix) > SINGULAR:
                break
            y = y - self.scale * np.linalg.solve(matrix, [*residual, 0.0])
        if least < CLOSED:
            return best, NEWTON_STEPS
        raise AccordError("Newton's method finds no orbit there")

    def point(self, y: Array) -> Point:
        """Return the orbit at unknowns that are known to repeat."""
        parameters, controls = self.at(y)
        residual = float(np.linalg.norm(self.residual(y)))
        orbit = describe(self.kind, parameters, controls, y[:4], residual=residual)
        return Point(float(y[-1]), y, parameters, orbit)


def changed(parameters: MonkeyBotParameters, name: str, value: float) -> MonkeyBotParameters:
    """Return a robot with one parameter changed, or that of both links (`Family`)."""
    p = parameters
    if name == "length":  # the motor stays at the elbow: r2 is kept
        to_a = value - (p.length_a - p.centre_a)
        return p.replace(length_a=value, length_b=value, centre_a=to_a)
    if name == "centre":
        return p.replace(centre_a=p.length_a - value, centre_b=value)
    names = [f"{name}_a", f"{name}_b"] if name in ALIKE else [name]
    return p.replace(**dict.fromkeys(names, value))


def present(parameters: MonkeyBotParameters, name: str) -> float:
    """Return a parameter of the robot, or that of both links.

    Raises:
        AccordError: where the links differ in it.
    """
    p = parameters
    if name not in ALIKE:
        return float(getattr(p, name))
    centre = name == "centre"
    a, b = (p.length_a - p.centre_a if centre else getattr(p, f"{name}_a")), getattr(p, f"{name}_b")
    if not np.isclose(a, b, rtol=1e-9):
        raise AccordError(f"the links differ in {name}: follow {name}_a or {name}_b")
    return float(b)


Done = Callable[[str], None]


@dataclass(frozen=True)
class Branch:
    """A part of a family, its orbits in order, and why it ends at its first and its last."""

    points: list[Point]
    ends: tuple[str, str]


def follow(
    family: Family, orbit: Orbit, *, largest: float = 0.02, most: int = 500,
    done: Done | None = None,
) -> Branch:  # fmt: skip
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
        if inside and turned @ tangent < BEND and length > 1e-2 * largest:
            length *= 0.5  # round a sharp bend in short steps, and never back
            continue
        points.append(point)
        if done:
            done(f"{len(points)} orbits, {family.along} {point.value:.5g}")
        if not inside:
            return points, "the range's end"
        if np.linalg.norm((new - first.y) / family.scale) < 0.5 * length and len(points) > QUICK:
            return points, "closed"
        y, tangent = new, turned
        length = min(largest, length * (1.5 if count <= QUICK else 0.7))
    return points, f"{most} orbits"


def _at_bound(family: Family, before: Array, after: Array) -> Array:
    """Return the orbit where a family leaves the range between two of its orbits."""
    bound = family.high if after[-1] > family.high else family.low
    share = (bound - before[-1]) / (after[-1] - before[-1])
    guess = before + share * (after - before)
    guess[-1] = bound
    return family.corrected(guess, np.eye(len(guess))[-1])[0]
