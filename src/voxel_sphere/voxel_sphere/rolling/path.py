"""The path of a run as samples, with its events, its contact coordinates, and its files.

`RolledPath.of` collects the samples that `roll` (motion.py) and `roll_as_described`
(source/described.py) take of a rolling sphere; `save` writes them as .csv or .npz. Scripts read the
columns of HEADING and the names of the fields: they stay, in their order; others may be appended.
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

# Columns of a .csv file, with units; lengths without one are in voxels.
HEADING = (
    "time_s,x,y,z,contact_x,contact_y,contact_z,qx,qy,qz,qw,wx_rad_s,wy_rad_s,wz_rad_s,"
    "montana_x,montana_y,montana_u_rad,montana_v_rad,montana_psi_rad,chart"
)


class Sample(NamedTuple):
    """State of a sphere at a time; the fields are those of RolledPath, for one sample."""

    time: float
    centre: Array
    normal: Array
    orientation: Array
    omega: Array

    @classmethod
    def of(cls, sphere: Any) -> Sample:
        """Return the present state of a sphere of any scheme."""
        return cls(sphere.time, sphere.centre, sphere.normal, sphere.orientation, sphere.omega)


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

    @classmethod
    def of(
        cls,
        samples: Sequence[Sample],
        radius: float,
        travel: float,
        status: str,
        events: Sequence[RollEvent],
    ) -> RolledPath:
        """Return the path that consists of samples, with how the run ended."""
        columns: dict[str, Any] = {}  # the fields of Sample, each of all samples
        for name in Sample._fields:
            columns[name] = np.array([getattr(sample, name) for sample in samples])
        return cls(radius=radius, travel=travel, status=status, events=events, **columns)

    @property
    def message(self) -> str:
        """Meaning of the status."""
        return MESSAGES[self.status]

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
        names = ("time", "centre", "contact", "orientation", "omega")
        columns: dict[str, Any] = {name: getattr(self, name) for name in names}
        columns["montana"], columns["chart"] = self.montana
        with writing(file) as draft:
            if file.suffix == ".npz":
                np.savez_compressed(draft, radius=self.radius, status=self.status, **columns)
            else:
                table = np.column_stack(list(columns.values()))
                np.savetxt(draft, table, delimiter=",", header=HEADING, comments="", fmt="%.10g")
