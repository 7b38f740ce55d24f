"""A family of periodic gaits: the equations that its orbits are roots of.

An orbit is a root of R(y) = 0, y = (start, controls that are solved for, value along): one more
unknown than equations, so orbits lie on a curve, which `continuation` follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from monkeybot.gaits.kinds import Kind
from monkeybot.gaits.orbits import Closing, Orbit, describe
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import INLINE, LEFT_OUT, AccordError, Array, Quantity
from roboaccord.description import parameter_file
from roboaccord.numerics import central_slope

ALIKE = ("mass", "inertia", "length", "centre")  # of both links at once
DIFFERENCE = 1e-6  # of the unknowns; of the value along it is a part of the range
SLIGHT = 1e-5
CLOSED, EXACT = 1e-10, 1e-12  # what a residual must be below, and is wanted to be
SINGULAR = 1e14  # condition of a matrix
NEWTON_STEPS = 14


@dataclass(frozen=True)
class Point:
    """Hold an orbit of a family: the value along it, the unknowns (n,), the robot, the orbit."""

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

    def value_of(self, orbit: Orbit) -> float:
        """Return the value along the family of an orbit of the robot as it is."""
        if self.along in orbit.controls:
            return orbit.controls[self.along]
        return present(self.parameters, self.along)

    def unknowns(self, orbit: Orbit) -> Array:
        """Return the unknowns of an orbit of the robot as it is (n,)."""
        free = [orbit.controls[name] for name in self.free]
        return np.array([*orbit.start, *free, self.value_of(orbit)])

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
        steps[-1] = SLIGHT
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
