"""Continuation of families of gaits: orbits while one quantity, such as the period, varies.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. An orbit, a gait that repeats exactly, is a root of R(y)
= 0. The unknowns y are the state at the start, the controls that are solved for, and the value of
the varied quantity. There is one more unknown than equations, so the orbits lie on a curve. It is
followed by pseudo-arclength continuation (Keller, 1977): a step along the tangent, then Newton's
method in the plane perpendicular to it. That also goes round turning points, where the value
reaches an extreme and the family turns back.

The tolerances may be tuned. A name in OF_BOTH_LINKS varies NAME_a and NAME_b together; a quantity
that needs more, such as length and centre, has a case in `with_value` and `value_of`. The fields of
`Point` are keys of the JSON output, and stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import INLINE, LEFT_OUT, AccordError, Array, Quantity
from roboaccord.description import parameter_file
from roboaccord.numerics import central_slope

from roboaccord_studies.monkeybot.kinds import Kind
from roboaccord_studies.monkeybot.orbits import Closing, Orbit, describe

OF_BOTH_LINKS = ("mass", "inertia", "length", "centre")  # quantities of both links at once
# rad, rad/s, s, N m: of start and controls, for derivatives: errors of 1e-12 by truncation of
# central differences, and of orbits.FINE_TOLERANCE / 1e-6 = 1e-7.
DIFFERENCE_STEP = 1e-6
# Of the varied value, as a part of its range, for derivatives; as DIFFERENCE_STEP, for ranges of
# some tenths.
RANGE_DIFFERENCE_STEP = 1e-5
# Residual that an orbit must reach, and at which Newton's method ends: 1000 and 10 times the
# integrator's tolerance (orbits.FINE_TOLERANCE).
MAX_RESIDUAL, TARGET_RESIDUAL = 1e-10, 1e-12
# Condition number beyond which a solution has no correct digits: 1 / eps = 4.5e15, but for two
# digits.
MAX_CONDITION = 1e14
# Largest number to an orbit: from a good guess it takes four, as its digits double.
NEWTON_STEPS = 14
# If Newton's method needs no more steps, the next step along the family is longer; the guess was
# better than needed.
FEW_NEWTON_STEPS = 3
# Shortest and first step along the family, as parts of the largest: ten halvings, and a careful
# beginning.
SHORTEST_STEP, FIRST_STEP = 1e-3, 0.2
# Cosine between two tangents below which the step is halved: 26 degrees, so that a turning point
# has seven points in its half turn.
MIN_COSINE = 0.9
# Step at which a bend is taken however sharp it is, as a part of the largest. From 2e-3 to 0.2 the
# turning point of test_continuation is passed, with 28 to 22 orbits.
SHARP_STEP = 1e-2
# Factors on the next step along the family, after at most FEW_NEWTON_STEPS, and after more. Chosen:
# a step that is halved too often or rarely only takes longer.
GROWTH, SHRINKAGE = 1.5, 0.7
# Number of orbits from which on a family that comes back to its first one is closed: fewer are on
# no loop, but still near the first. 1 to 6 give the same two families of test_continuation.
MIN_LOOP = 3


@dataclass(frozen=True)
class Point:
    """An orbit of a family: the varied value, the unknowns (n,), the robot and the orbit itself."""

    value: Annotated[float, Quantity("", "of what is varied, in SI units", form=".7g")]
    y: Array = field(metadata=LEFT_OUT)
    parameters: MonkeyBotParameters = field(metadata=LEFT_OUT)
    orbit: Orbit = field(metadata=INLINE)


@dataclass(frozen=True)
class Family:
    """A family of orbits: the kind of gait, the robot, and the quantity that varies.

    Args:
        kind: of the gait.
        parameters: of the robot.
        controls: of the gait; those that are solved for are guesses.
        along: the varied quantity: a control, a parameter of the robot, or mass, inertia, length or
            centre (from the elbow to the centre of gravity) of both links.
        low, high: range of its value.
        rise: of a cycle [m], if the kind has a control to meet it.
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
        names = (*self.kind.controls, *OF_BOTH_LINKS, *parameter_file("monkeybot"))
        if self.along not in names:
            raise AccordError(
                f"a {self.kind.name} gait is followed along {', '.join(self.kind.controls)}, or a "
                f"parameter of the robot such as {', '.join(OF_BOTH_LINKS)}, not {self.along}"
            )
        if len(self.free_controls) < len(self.kind.solved):
            raise AccordError(
                f"a {self.kind.name} gait stands alone for one robot: it has no family along "
                f"{self.along}; follow it along a parameter of the robot"
            )

    @property
    def free_controls(self) -> tuple[str, ...]:
        """The controls that are solved for."""
        if self.along not in self.kind.solved:
            return self.kind.solved
        others = [name for name in self.kind.controls if name not in self.kind.solved]
        return tuple(others[: len(self.kind.solved)])

    @property
    def scale(self) -> Array:
        """Size of a unit step of each unknown (n,): 1 rad, rad/s, s or N m; the range at last."""
        return np.array([*np.ones(4 + len(self.free_controls)), self.high - self.low])

    def robot_and_controls(self, y: Array) -> tuple[MonkeyBotParameters, dict[str, float]]:
        """Return the robot and the controls for unknowns y (n,)."""
        value = float(y[-1])
        controls = {**self.controls, **dict(zip(self.free_controls, y[4:-1].tolist(), strict=True))}
        if self.along in controls:
            return self.parameters, {**controls, self.along: value}
        return with_value(self.parameters, self.along, value), controls

    def unknowns(self, orbit: Orbit) -> Array:
        """Return the unknowns of an orbit of the robot `parameters` (n,)."""
        free, along = [orbit.controls[name] for name in self.free_controls], self.along
        is_control = along in orbit.controls
        value = orbit.controls[along] if is_control else value_of(self.parameters, along)
        return np.array([*orbit.start, *free, value])

    def residual(self, y: Array) -> Array:
        """Return P(x) - x and the rise minus the wanted rise (n - 1,); NaN if the gait fails."""
        try:
            parameters, controls = self.robot_and_controls(y)
        except ValueError:  # no such robot
            return np.full(len(y) - 1, np.nan)
        return Closing(self.kind, parameters, controls, self.rise).residual(y[:4])

    def slope(self, y: Array) -> Array:
        """Return the derivative of the residual with respect to the scaled unknowns (n - 1, n)."""
        steps = np.full(len(y), DIFFERENCE_STEP)
        steps[-1] = RANGE_DIFFERENCE_STEP
        return central_slope(self.residual, y, steps, self.scale)

    def tangent(self, y: Array) -> Array:
        """Return the scaled direction of the family (n,), of length 1."""
        slope = self.slope(y)
        if not np.isfinite(slope).all():
            raise AccordError("the gait misses an event there")
        return np.asarray(np.linalg.svd(slope)[2][-1])

    def correct(self, y: Array, across: Array) -> tuple[Array, int]:
        """Return the orbit in the plane through y perpendicular to a scaled direction.

        Args:
            y: unknowns near an orbit (n,).
            across: the direction (n,).

        Returns:
            the orbit's unknowns (n,), and the number of steps of Newton's method.

        Raises:
            AccordError: if Newton's method finds none.
        """
        best_y, smallest = y, np.inf
        for count in range(NEWTON_STEPS):
            residual = self.residual(y)
            norm = float(np.linalg.norm(residual))
            # The residual falls no more: what is left is round-off.
            is_round_off = smallest < MAX_RESIDUAL and not norm < 0.5 * smallest
            if norm < smallest:
                best_y, smallest = y, norm
            if smallest < TARGET_RESIDUAL or is_round_off:
                return best_y, count
            matrix = np.vstack([self.slope(y), across])
            if not (np.isfinite(norm) and np.isfinite(matrix).all()):
                break
            if np.linalg.cond(matrix) > MAX_CONDITION:
                break
            y = y - self.scale * np.linalg.solve(matrix, [*residual, 0.0])
        if smallest < MAX_RESIDUAL:
            return best_y, NEWTON_STEPS
        raise AccordError("Newton's method finds no orbit there")

    def point_at(self, y: Array) -> Point:
        """Return the orbit for unknowns y that are a root already."""
        parameters, controls = self.robot_and_controls(y)
        residual = float(np.linalg.norm(self.residual(y)))
        orbit = describe(self.kind, parameters, controls, y[:4], residual=residual)
        return Point(float(y[-1]), y, parameters, orbit)


def with_value(parameters: MonkeyBotParameters, name: str, value: float) -> MonkeyBotParameters:
    """Return a robot with one parameter changed, or one quantity of both links (`Family.along`)."""
    p = parameters
    if name == "length":  # the motor stays at the elbow: r2 is kept
        centre_a = value - (p.length_a - p.centre_a)
        return p.replace(length_a=value, length_b=value, centre_a=centre_a)
    if name == "centre":
        return p.replace(centre_a=p.length_a - value, centre_b=value)
    names = [f"{name}_a", f"{name}_b"] if name in OF_BOTH_LINKS else [name]
    return p.replace(**dict.fromkeys(names, value))


def value_of(parameters: MonkeyBotParameters, name: str) -> float:
    """Return the value of a parameter of the robot, or of a quantity of both links.

    Raises:
        AccordError: if the links differ in it.
    """
    p = parameters
    if name not in OF_BOTH_LINKS:
        return float(getattr(p, name))
    a, b = getattr(p, f"{name}_a"), getattr(p, f"{name}_b")
    if name == "centre":  # both from the elbow
        a = p.length_a - p.centre_a
    if not np.isclose(a, b, rtol=1e-9):
        raise AccordError(f"the links differ in {name}: follow {name}_a or {name}_b")
    return float(b)


Log = Callable[[str], None]  # called with a line of text about the progress


class Branch(NamedTuple):
    """A part of a family.

    Args:
        points: its orbits in order along the family.
        ends: why it ends at the first and at the last one.
    """

    points: list[Point]
    ends: tuple[str, str]


def follow(
    family: Family, orbit: Orbit, *, largest: float = 0.02, most: int = 500, done: Log | None = None
) -> Branch:
    """Follow a family in both directions from an orbit, until it leaves the range.

    Args:
        family: with the robot of the orbit.
        orbit: an orbit within the range.
        largest: largest step, as a part of the range and of 1 rad, rad/s, s and N m.
        most: largest number of orbits in each direction.
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
    y, _ = family.correct(y, np.eye(len(y))[-1])
    first, tangent = family.point_at(y), family.tangent(y)
    tangent = tangent * (1.0 if tangent[-1] >= 0.0 else -1.0)
    up, top = _one_direction(family, first, tangent, largest, most, done)
    down, bottom = _one_direction(family, first, -tangent, largest, most, done)
    return Branch([*reversed(down), first, *up], (bottom, top))


def _one_direction(
    family: Family, first: Point, tangent: Array, largest: float, most: int, done: Log | None
) -> tuple[list[Point], str]:
    """Return the orbits in one direction from `first`, and why there are no more."""
    points: list[Point] = []
    y, length = first.y, FIRST_STEP * largest
    while len(points) < most:
        if length < SHORTEST_STEP * largest:
            return points, "no orbit beyond"
        try:
            new_y, count = family.correct(y + length * tangent * family.scale, tangent)
            is_inside = family.low <= new_y[-1] <= family.high
            if not is_inside:
                new_y = _at_bound(family, y, new_y)
            new_tangent, point = family.tangent(new_y), family.point_at(new_y)
        except AccordError:
            length *= 0.5
            continue
        new_tangent = new_tangent * np.sign(new_tangent @ tangent)
        if is_inside and new_tangent @ tangent < MIN_COSINE and length > SHARP_STEP * largest:
            length *= 0.5  # sharp bends take short steps, which cannot turn back
            continue
        points.append(point)
        if done:
            done(f"{len(points)} orbits, {family.along} {point.value:.5g}")
        if not is_inside:
            return points, "the range's end"
        from_first = np.linalg.norm((new_y - first.y) / family.scale)
        if from_first < 0.5 * length and len(points) > MIN_LOOP:
            return points, "closed"
        y, tangent = new_y, new_tangent
        # Steps grow while Newton's method needs few steps, and shrink where it needs more.
        length = min(largest, length * (GROWTH if count <= FEW_NEWTON_STEPS else SHRINKAGE))
    return points, f"{most} orbits"


def _at_bound(family: Family, before: Array, after: Array) -> Array:
    """Return the unknowns of the orbit at which a family leaves its range between two orbits."""
    bound = family.high if after[-1] > family.high else family.low
    share = (bound - before[-1]) / (after[-1] - before[-1])
    guess = before + share * (after - before)
    guess[-1] = bound
    return family.correct(guess, np.eye(len(guess))[-1])[0]
