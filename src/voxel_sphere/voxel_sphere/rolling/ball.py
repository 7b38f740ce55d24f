"""A sphere on ground: the base class of the kinematic and the heavy one, with status and events.

A `Ball` starts on the ground, a field (field.py), keeps its state in one array (state.py), and ends
with a status, one of MESSAGES. Roller (motion.py) and HeavyRoller (heavy.py) derive from it.
Scripts read the fields of RollEvent and the keys of MESSAGES: they stay, in their order, and others
may be appended. A new status that is no failure goes beside DONE and LEFT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Array, Quantity

from voxel_sphere.rolling.field import Arrays, Field, Vector
from voxel_sphere.rolling.state import CENTRE, ORIENTATION

LEVEL = (0.0, 0.0, 0.0, 1.0)  # quaternion x y z w of no rotation
# The centre is moved back to its distance r from the ground once it is off by this fraction of the
# error at which contact counts as lost: clearly before that, and as rarely as possible.
CORRECTED_FRACTION = 0.5
DONE, LEFT = "done", "left"  # the statuses that are no failures
# Statuses of a run, with what they mean.
MESSAGES = {
    DONE: "rolled for the whole time",
    LEFT: "the sphere left the workspace",
    "contact_lost": "contact lost: the centre is no longer at the distance r from the ground",
    "too_many_contacts": "more contacts than the theory allows: the ground and more than two walls",
    "no_wall_normal": "no wall normal: the wall has none in the plane of the ground",
    "stuck": "the sphere does not get out of a corner",
    "lifted": "the sphere has left the ground",
}


@dataclass(frozen=True)
class RollEvent:
    """An event of a run: time [s], kind, centre of the sphere (3,) [voxels], and description."""

    time: Annotated[float, Quantity("s", form=".4f")]
    kind: Annotated[str, Quantity("", form="s")]
    centre: tuple[float, ...]
    detail: Annotated[str, Quantity("", form="text")]


class Surroundings(NamedTuple):
    """Ground and walls of a sphere, as the kernels take them; lengths in voxels.

    Attributes:
        ground, walls: fields (kind, params, grid), made for the sphere's radius.
        has_walls: whether there are walls; if not, `walls` is any field, and is not used.
        radius: r of the sphere.
        size: edge of the workspace, in which the centre stays.
        guard: error of the centre's distance r from the ground above which it is moved back.
        lost: error of that distance above which contact counts as lost.
    """

    ground: Arrays
    walls: Arrays
    has_walls: bool
    radius: float
    size: float
    guard: float
    lost: float


class Ball:
    """A sphere that moves on a field, with its time [s], status and events.

    Args:
        field: field of the ground.
        walls: field of the walls, or None.
        state: initial state as in state.py: centre, orientation, and entries of the subclass.
        lost: error of the distance from the ground at which contact counts as lost [voxels].

    Raises:
        AccordError: for a start off the ground.
    """

    def __init__(self, field: Field, walls: Field | None, state: Vector, lost: float) -> None:
        self.field, self.walls = field, walls
        ground, wall = field.arrays, (walls or field).arrays
        r, size, guard = field.radius, field.size, CORRECTED_FRACTION * lost
        self._surroundings = Surroundings(ground, wall, walls is not None, r, size, guard, lost)
        self.time, self.status = 0.0, DONE
        self.events: list[RollEvent] = []
        self._state = np.array(state, dtype=float)
        gap = field.distance(self.centre) - field.radius
        if not abs(gap) <= lost:
            where = "in the air" if gap > 0 else "inside the ground"
            raise AccordError(f"the start is {where}, {abs(gap):.3g} voxels off")

    @property
    def centre(self) -> Array:
        """The sphere's centre (3,) [voxels]."""
        return self._state[CENTRE].copy()

    @property
    def orientation(self) -> Array:
        """The sphere's orientation x y z w (4,)."""
        return self._state[ORIENTATION].copy()

    @property
    def normal(self) -> Array:
        """The ground's unit normal under the sphere (3,)."""
        return self.field.normal(self._state[CENTRE])

    def _record(self, kind: str, detail: str) -> None:
        """Append an event at the present time and place."""
        self.events.append(RollEvent(self.time, kind, tuple(self.centre.tolist()), detail))

    def _end(self, status: str) -> None:
        """End the motion with a status, one of MESSAGES."""
        self.status = status
        self._record(status, MESSAGES[status])


def checked_vector(numbers: Vector, name: str) -> Array:
    """Return three finite numbers as a vector (3,).

    Raises:
        AccordError: for anything else.
    """
    vector = np.asarray(numbers, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise AccordError(f"{name} is three finite numbers, not {numbers}")
    return vector
