"""The path of a run as samples, with its events, its contact coordinates, and its files.

Scripts read the columns of HEADING and the fields of the path: they stay, in their order; others
may be appended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from roboaccord.contract import Array, writing

from voxel_sphere.rolling.ball import DONE, LEFT, MESSAGES, RollEvent
from voxel_sphere.rolling.montana import coordinates

# Columns of a .csv file.
HEADING = (
    "time_s,x,y,z,contact_x,contact_y,contact_z,qx,qy,qz,qw,wx_rad_s,wy_rad_s,wz_rad_s,"
    "montana_x,montana_y,montana_u_rad,montana_v_rad,montana_psi_rad,chart"
)


class Sample(NamedTuple):
    """Time [s], centre and normal (3,), orientation x y z w (4,), angular velocity (3,)."""

    time: float
    centre: Array
    normal: Array
    orientation: Array
    omega: Array


@dataclass(frozen=True, kw_only=True)
class RolledPath:
    """Samples of a run; lengths in voxels, times in s.

    Args:
        radius: radius of the sphere.
        time: times of the samples (k,).
        centre: centres of the sphere (k, 3).
        normal: unit normals of the ground below it (k, 3).
        orientation: quaternions x y z w of the sphere (k, 4).
        omega: angular velocity from each sample on, world frame (k, 3) [rad/s].
        events: events in order of time.
        travel: length of the centre's path.
        status: how the run ended, a key of `MESSAGES`.
        message: meaning of the status.
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
        cls, samples: Sequence[Sample], radius: float, travel: float, status: str,
        events: Sequence[RollEvent],
    ) -> RolledPath:  # fmt: skip
        """Return the path that consists of samples, with how the run ended."""
        time, centre, normal, orientation, omega = map(np.array, zip(*samples))
        return cls(
            radius=radius, time=time, centre=centre, normal=normal, orientation=orientation,
            omega=omega, events=events, travel=travel, status=status, message=MESSAGES[status],
        )  # fmt: skip

    @property
    def contact(self) -> Array:
        """Contact points p = c - r n with the ground (k, 3)."""
        return np.asarray(self.centre - self.radius * self.normal)

    @property
    def montana(self) -> tuple[Array, Array]:
        """[x, y, u, v, psi] (k, 5), nan where the ground is no graph, and charts (k,)."""
        return coordinates(self.contact, self.normal, self.orientation)

    @property
    def failed(self) -> bool:
        """True if the run ended outside the assumptions of the theory."""
        return self.status not in (DONE, LEFT)

    def save(self, file: Path) -> None:
        """Write the samples as .npz, or as .csv with the names and units of HEADING."""
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
