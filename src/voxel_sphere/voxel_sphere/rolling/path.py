"""Result of a run: sampled path, events and status, and Montana's contact coordinates.

Columns of HEADING, fields of RollEvent and keys of MESSAGES are read by scripts and stay, in order;
others may be appended. A status without failure goes beside DONE and LEFT. The charts (maps of the
ball's surface to two coordinates) are fixed by Murray, Li and Sastry (5.6), and test_voxel_rolling
checks (5.28) by them; LIMIT, 80 degrees, and GRAPH may be tuned.

Montana's contact coordinates of ground and ball, and the contact angle.

Chart of the ball (Murray, Li and Sastry 5.6): r (cu cv, -cu sv, su). Its poles are singular; there
are three such charts, with the poles on the ball's z, x and y, and one is left before |u| = 80 deg.
The ground is a graph over (x, y); psi turns its x tangent into the ball's u tangent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from roboaccord.contract import AccordError, Array, Quantity, writing
from roboaccord.numerics import quaternion_matrix

from voxel_sphere.rolling.field import Field, Vector

LIMIT = math.radians(80.0)
GRAPH = 0.05  # z of the normal below which the ground is not a graph
# Row k of a chart is the ball's axis that serves as its k-th.
CHARTS = tuple(np.roll(np.eye(3), shift, axis=1) for shift in (0, 1, 2))


def chart_coordinates(contact: Array, n: Array, rotation: Array, chart: int) -> Array:
    """Return [x, y, u, v, psi] in a chart; all nan where the ground is not a graph.

    Args:
        contact: (3,) [voxels].
        n: the ground's unit normal (3,).
        rotation: the ball's orientation (3, 3).
        chart: 0, 1 or 2.
    """
    if n[2] < GRAPH:
        return np.full(5, np.nan)
    axes = rotation @ CHARTS[chart].T  # of the chart, in the world
    p = axes.T @ -n
    u, v = math.asin(min(max(p[2], -1.0), 1.0)), math.atan2(-p[1], p[0])
    e_u = axes @ np.array([-math.sin(u) * math.cos(v), math.sin(u) * math.sin(v), math.cos(u)])
    e_v = axes @ np.array([-math.sin(v), -math.cos(v), 0.0])
    f_x = np.array([n[2], 0.0, -n[0]])  # along (1, 0, z_x), z_x = -n_x / n_z
    # f_x = cos(psi) e_u - sin(psi) e_v, the first column of (5.26)
    return np.array([contact[0], contact[1], u, v, math.atan2(-(f_x @ e_v), f_x @ e_u)])


def best_chart(n: Array, rotation: Array, chart: int) -> int:
    """Return the chart to be used next: the same below 80 deg, else the one with the least |u|."""
    heights = [abs(math.asin(min(max(float(row @ (rotation.T @ -n)), -1.0), 1.0)))
               for row in (axes[2] for axes in CHARTS)]  # fmt: skip
    return chart if heights[chart] < LIMIT else int(np.argmin(heights))


def coordinates(contact: Array, normal: Array, orientation: Array) -> tuple[Array, Array]:
    """Return [x, y, u, v, psi] (k, 5) and the chart (k,) along a path.

    Args:
        contact: (k, 3) [voxels].
        normal: of the ground (k, 3).
        orientation: of the ball, (k, 4), x y z w.
    """
    chart, rows, charts = 0, [], []
    for p, n, rotation in zip(contact, normal, quaternion_matrix(orientation)):
        chart = best_chart(n, rotation, chart)
        rows.append(chart_coordinates(p, n, rotation, chart))
        charts.append(chart)
    return np.array(rows).reshape(-1, 5), np.array(charts, dtype=int)


DONE, LEFT = "done", "left"  # of the statuses the ones that are not failures
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
    """An event: time [s], kind, the sphere's centre (3,) [voxels], and description."""

    time: Annotated[float, Quantity("s", form=".4f")]
    kind: Annotated[str, Quantity("", form="s")]
    centre: tuple[float, ...]
    detail: Annotated[str, Quantity("", form="text")]


class Ball:
    """A sphere that moves on a field, and what happens to it.

    Args:
        field: the ground.
        walls: a field of their own, or None.
        state: centre (3) [voxels], orientation x y z w (4), and what else a subclass keeps there.
        lost: error of the distance from the ground at which the contact is lost [voxels].

    Raises:
        AccordError: for a start off the ground.
    """

    def __init__(self, field: Field, walls: Field | None, state: Vector, lost: float) -> None:
        self.field, self.walls = field, walls
        self.time, self.status, self.message = 0.0, DONE, MESSAGES[DONE]
        self.events: list[RollEvent] = []
        self._state, self._lost = np.array(state, dtype=float), lost
        gap = field.distance(self.centre) - field.radius
        if not abs(gap) <= lost:
            where = "in the air" if gap > 0 else "inside the ground"
            raise AccordError(f"the start is {where}, {abs(gap):.3g} voxels off")

    @property
    def centre(self) -> Array:
        """The sphere's centre (3,) [voxels]."""
        return self._state[:3].copy()

    @property
    def orientation(self) -> Array:
        """The sphere's orientation x y z w (4,)."""
        return self._state[3:7].copy()

    @property
    def normal(self) -> Array:
        """The ground's unit normal under the sphere (3,)."""
        return self.field.normal(self._state[:3])

    def _record(self, kind: str, detail: str) -> None:
        self.events.append(RollEvent(self.time, kind, tuple(self.centre.tolist()), detail))

    def _end(self, status: str) -> None:
        self.status, self.message = status, MESSAGES[status]
        self._record(status, self.message)


def three(numbers: Vector, name: str) -> Array:
    """Return a vector (3,) that was given.

    Raises:
        AccordError: if it is not three finite numbers.
    """
    vector = np.asarray(numbers, dtype=float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise AccordError(f"{name} is three finite numbers, not {numbers}")
    return vector


Row = tuple[float, Array, Array, Array, Array]
"""Time, centre, normal, orientation and angular velocity of a sample."""


@dataclass(frozen=True, kw_only=True)
class RolledPath:
    """A run, sampled; lengths in voxels, time in s.

    Args:
        radius: of the sphere.
        time: (k,).
        centre, normal: of the sphere, of the ground below (k, 3).
        orientation: (k, 4), x y z w.
        omega: in force from there on, world frame (k, 3) [rad/s].
        events: in order of time.
        travel: length of the centre's path.
        status: one of `MESSAGES`.
        message: what it means, with figures where there are any.
    """

    radius: float
    time: Array
    centre: Array
    normal: Array
    orientation: Array
    omega: Array
    events: Sequence[RollEvent] = ()
    travel: float = 0.0
    status: str = DONE
    message: str = MESSAGES[DONE]

    @classmethod
    def of(
        cls, rows: Sequence[Row], radius: float, travel: float, status: str,
        events: Sequence[RollEvent],
    ) -> RolledPath:  # fmt: skip
        """Return the path of samples."""
        time, centre, normal, orientation, omega = map(np.array, zip(*rows))
        return cls(
            radius=radius, time=time, centre=centre, normal=normal, orientation=orientation,
            omega=omega, events=events, travel=travel, status=status, message=MESSAGES[status],
        )  # fmt: skip

    @property
    def contact(self) -> Array:
        """Contact points with the ground, p = c - r n (k, 3)."""
        return np.asarray(self.centre - self.radius * self.normal)

    @property
    def montana(self) -> tuple[Array, Array]:
        """[x, y, u, v, psi] (k, 5), nan where the ground is not a graph, and the chart (k,)."""
        return coordinates(self.contact, self.normal, self.orientation)

    @property
    def failed(self) -> bool:
        """True if the run ended outside the assumptions of the theory."""
        return self.status not in (DONE, LEFT)

    def save(self, file: Path) -> None:
        """Write the samples as .npz, or as .csv with a heading of names and units."""
        montana, chart = self.montana
        columns: dict[str, Any] = {
            "time": self.time, "centre": self.centre, "contact": self.contact,
            "orientation": self.orientation, "omega": self.omega, "montana": montana,
            "chart": chart,
        }  # fmt: skip
        with writing(file) as draft:
            if file.suffix == ".npz":
                np.savez_compressed(draft, radius=self.radius, status=self.status, **columns)
            else:
                table = np.column_stack(list(columns.values()))
                np.savetxt(draft, table, delimiter=",", header=HEADING, comments="", fmt="%.10g")


HEADING = (
    "time_s,x,y,z,contact_x,contact_y,contact_z,qx,qy,qz,qw,wx_rad_s,wy_rad_s,wz_rad_s,"
    "montana_x,montana_y,montana_u_rad,montana_v_rad,montana_psi_rad,chart"
)
