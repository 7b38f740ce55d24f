"""Stability of clocked gaits over the mass distribution of the links: which robot is best?

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. Both links are equal. In units of their mass m, their
length L and the time sqrt(L / g), a robot without friction is described by two numbers: the
distance from the hand to the centre of gravity, c = r1 / L, and the inertia about it, k = I / (m
L^2). This pair is called the shape. Mass, length and gravity only scale the gaits, periods with
sqrt(L / g) and torques with m g L, and do not change their stability. So a map over (c, k) covers
all robots.

`design_map` starts from the robot as it is and follows its horizontal clocked gaits (level.py) over
a grid of shapes, each from a neighbour. No body has an inertia k above c (1 - c) (Bhatia and Davis,
2000).

FINEST_STEP, NEIGHBOURS and SHAPE_STEPS may be tuned. The names in MARGINS stay, for they are in the
JSON output; a further one needs a case in `Robot.cost`, an array in `DesignMap.arrays` and an entry
in CUTS of cli/design.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from monkeybot.gaits.landscape import Done
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import AccordError, Array, Json, Quantity, by_fields, to_json

from roboaccord_studies.monkeybot.clocked import Setting, Step, follow, pieces_of
from roboaccord_studies.monkeybot.flood import SIDES, Cell, flood, nearest_cell
from roboaccord_studies.monkeybot.level import Level, level_gaits, shipped_level

MARGINS = "radius", "width"  # measures of stability: spectral radius, and range of stable periods
# Step at which a search of the best shape ends, as a part of the grid's spacing: finer than what a
# map shows.
FINEST_STEP = 0.05
# Largest steps of c and k when a gait is followed: about a grid's spacing (0.003 of k), which a
# neighbour's derivative bears.
SHAPE_STEPS = 0.005, 0.0025
# Gaits that are followed to another shape, in turn until one gets there: their places along the
# period, counted from the best gait in steps of level.PERIOD_STEP, 1 ms.
NEIGHBOURS = (0, -4, 4, -8, 8)


@dataclass(frozen=True)
class Shape:
    """The mass distribution of both links.

    Args:
        centre: c, from the hand to the centre of gravity; 0 to 1.
        inertia: k, about the centre of gravity.
    """

    centre: Annotated[float, Quantity("L", "of gravity, from the hand", form=".4f")]
    inertia: Annotated[float, Quantity("m L^2", "about it", form=".5f")]

    @property
    def possible(self) -> bool:
        """True if a body inside the link can have this shape.

        All mass at the two ends has c (1 - c), and none has more (Bhatia and Davis, 2000).
        """
        return 0.0 < self.centre < 1.0 and 0.0 < self.inertia <= self.centre * (1.0 - self.centre)


@dataclass(frozen=True)
class Robot:
    """A robot's shape, its parameters and its horizontal gaits."""

    shape: Shape
    parameters: MonkeyBotParameters
    level: Level

    def cost(self, margin: str) -> float:
        """Return a number that is smaller for a better robot, by one of `MARGINS`."""
        return self.level.best.radius if margin == "radius" else -self.level.width

    def to_json(self) -> dict[str, Json]:
        """Return the shape, and the figures of the most stable gait."""
        best = self.level.best
        return by_fields(self.shape) | {
            "period": best.period,
            "torque": best.torque,
            "post_impact": to_json(best.start),
            "spectral_radius": best.radius,
            "stride": best.stride,
            "stable_periods": self.level.stable,
            "width": self.level.width,
        }


class DesignMap(NamedTuple):
    """The robots over a grid of shapes to which the gait was followed.

    Args:
        centre, inertia: of the grid (n,), (m,), as in `Shape`.
        robots: by cell (i, j) of the grid; cells that were not reached are absent.
    """

    centre: Array
    inertia: Array
    robots: Mapping[Cell, Robot]

    @property
    def arrays(self) -> dict[str, Array]:
        """The map as arrays; NaN where there is no robot.

        `centre` (n,) and `inertia` (m,); of the best gait over the period `radius`, `period` [s]
        and `torque` [N m] (n, m); `width` of the range of stable periods, over their middle.
        """
        shape = len(self.centre), len(self.inertia)
        fields = {name: np.full(shape, np.nan) for name in ("radius", "width", "period", "torque")}
        for cell, robot in self.robots.items():
            best = robot.level.best
            values = best.radius, robot.level.width, best.period, best.torque
            for field, value in zip(fields.values(), values, strict=True):
                field[cell] = value
        return {"centre": self.centre, "inertia": self.inertia, **fields}

    def contains(self, shape: Shape) -> bool:
        """Return whether a shape is within the bounds of the grid."""
        inside = self.centre[0] <= shape.centre <= self.centre[-1]
        return bool(inside and self.inertia[0] <= shape.inertia <= self.inertia[-1])


def shape_of(parameters: MonkeyBotParameters) -> Shape:
    """Return the shape of a robot.

    Raises:
        AccordError: for links that differ, or for joints with friction.
    """
    p = parameters
    link_a = (p.mass_a, p.inertia_a, p.length_a, p.centre_a)
    link_b = (p.mass_b, p.inertia_b, p.length_b, p.length_b - p.centre_b)
    if not np.allclose(link_a, link_b, rtol=1e-9, atol=0.0):
        raise AccordError("the links are not alike: the map is of robots whose links are")
    if not p.frictionless:
        raise AccordError("the joints have friction: the map is of robots without")
    return Shape(p.centre_a / p.length_a, p.inertia_a / (p.mass_a * p.length_a**2))


def with_shape(parameters: MonkeyBotParameters, shape: Shape) -> MonkeyBotParameters:
    """Return the parameters of a robot with the same mass and length, and another shape.

    Raises:
        AccordError: for a shape that no body inside the link has.
    """
    if not shape.possible:
        raise AccordError(
            f"no body inside the link has its centre at {shape.centre:g} L and an inertia of "
            f"{shape.inertia:g} m L^2: at most c (1 - c)"
        )
    length = parameters.length_a
    centre_a, centre_b = shape.centre * length, (1.0 - shape.centre) * length
    inertia = shape.inertia * parameters.mass_a * length**2
    inertias = {"inertia_a": inertia, "inertia_b": inertia}
    return parameters.replace(centre_a=centre_a, centre_b=centre_b, **inertias)


def shipped_robot(parameters: MonkeyBotParameters, largest: float = 1.0) -> Robot:
    """Return the robot of given parameters, with the horizontal gaits about the shipped one.

    Args:
        parameters: of the robot.
        largest: spectral radius up to which a gait counts as stable.
    """
    return Robot(shape_of(parameters), parameters, shipped_level(parameters, largest))


def follow_to_shape(robot: Robot, after: Shape) -> Robot | None:
    """Return a robot of another shape, to which the gaits of this one are followed.

    None if the gaits end before, or no body has the shape.

    The best gait is followed at its period. If its family ends before, gaits of neighbouring
    periods are tried.
    """
    if not after.possible:
        return None
    steps = robot.level.steps
    best = steps.index(robot.level.best)
    for offset in NEIGHBOURS:
        i = best + offset
        step = _follow_gait(robot, steps[i], after) if 0 <= i < len(steps) else None
        if step is not None:
            parameters = with_shape(robot.parameters, after)
            return Robot(after, parameters, level_gaits(parameters, step, robot.level.largest))
    return None


def _follow_gait(robot: Robot, step: Step, after: Shape) -> Step | None:
    """Return a gait followed to another shape at a constant period; None if it ends before."""
    before = robot.shape
    changes = (after.centre - before.centre, after.inertia - before.inertia)

    def course(share: float) -> Setting:
        """Return the setting at a share, 0 to 1, of the way to the other shape."""
        centre, inertia = before.centre + share * changes[0], before.inertia + share * changes[1]
        return Setting(with_shape(robot.parameters, Shape(centre, inertia)), step.period)

    return follow(step, course, pieces_of(*zip(changes, SHAPE_STEPS, strict=True)))


def design_map(
    parameters: MonkeyBotParameters,
    centre: Array,
    inertia: Array,
    *,
    largest: float = 1.0,
    done: Done | None = None,
) -> DesignMap:
    """Follow the best horizontal gait of a robot over a grid of shapes.

    The result does not depend on the number of cores.

    Args:
        parameters: of the robot where it starts; links alike, no friction.
        centre, inertia: of the grid (n,), (m,), as in `Shape`.
        largest: spectral radius up to which a gait counts as stable, in the ranges of periods.
        done: called with the number of robots that were finished.

    Raises:
        AccordError: if no shape of the grid can be reached.
    """

    def follow_to_cell(robot: Robot, cell: Cell) -> Robot | None:
        """Return the robot of a cell of the grid, followed from another one."""
        return follow_to_shape(robot, Shape(float(centre[cell[0]]), float(inertia[cell[1]])))

    shipped = shipped_robot(parameters, largest)
    cell = nearest_cell(centre, inertia, (shipped.shape.centre, shipped.shape.inertia))
    first = follow_to_cell(shipped, cell)
    if first is None:
        raise AccordError("the gait cannot be followed to the grid; choose one about the robot")
    robots = flood((len(centre), len(inertia)), cell, first, follow_to_cell, done=done)
    return DesignMap(centre, inertia, robots)


def better_robot(designs: DesignMap, margin: str) -> Robot:
    """Return the robot with the best margin, searched finer and finer about that of a map.

    A pattern search (Hooke and Jeeves 1961) within the map's bounds: a smallest radius has a kink,
    where two multipliers meet, on which methods that use derivatives stop.

    Args:
        designs: the map.
        margin: one of `MARGINS`.
    """
    robot = min(designs.robots.values(), key=lambda robot: robot.cost(margin))
    spacing = np.array([np.diff(designs.centre).mean(), np.diff(designs.inertia).mean()])
    stride = 0.5  # step of the search, as a part of the grid's spacing
    while stride > FINEST_STEP:
        changes = [stride * spacing * side for side in SIDES]
        shapes = [Shape(robot.shape.centre + dc, robot.shape.inertia + dk) for dc, dk in changes]
        reached = [follow_to_shape(robot, shape) for shape in shapes if designs.contains(shape)]
        best = min((r for r in reached if r), key=lambda r: r.cost(margin), default=robot)
        if best.cost(margin) < robot.cost(margin):
            robot = best
        else:
            stride *= 0.5
    return robot
