"""Result of a run: sampled path, events and status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract.files import writing
from roboaccord.contract.state import Array

from voxel_sphere.rolling.montana import coordinates

DONE, LEFT = "done", "left"  # of the statuses the ones that are no failure
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

    time: float
    kind: str
    centre: tuple[float, ...]
    detail: str


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

    @property
    def contact(self) -> Array:
        """Contact points with the ground, p = c - r n (k, 3)."""
        return np.asarray(self.centre - self.radius * self.normal)

    @property
    def montana(self) -> tuple[Array, Array]:
        """[x, y, u, v, psi] (k, 5), nan where the ground is no graph, and the chart (k,)."""
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
