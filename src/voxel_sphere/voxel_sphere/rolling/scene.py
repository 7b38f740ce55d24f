"""A terrain together with the fields of its ground and walls.

`Scene` is what simulators and commands roll on. A field gives the distance and the normal of the
ground (or of the walls) at each point, which is all that rolling needs. Voxels come from terrain/,
fields from field.py, and STEEP_ANGLE of walls.py is the slope from which on a face of a whole
workspace is wall.

Simulators and pages read the attributes of Scene, so they stay. A third field may be added in
`build`; `stages` must then count it, or progress bars end early.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voxel_sphere.rolling.distance import STAGE_COUNT, Solid
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.walls import STEEP_ANGLE, split
from voxel_sphere.terrain.slices import Done, no_progress
from voxel_sphere.terrain.workspace import Terrain, Workspace


@dataclass(frozen=True)
class Scene:
    """A terrain, and the fields of its ground and walls.

    Args:
        terrain: the voxels.
        whole: whether walls and ground are one volume.
    """

    terrain: Terrain
    whole: bool = False

    @classmethod
    def of(
        cls, opened: Workspace, *, surface: str | None, walls: str | None, workspace: str | None
    ) -> Scene:
        """Return the scene of volumes of a workspace, by their names.

        Raises:
            AccordError: if a volume cannot be read, or the choice is not clear.
        """
        terrain = opened.terrain(surface=surface, walls=walls, workspace=workspace)
        return cls(terrain, terrain.name in opened.names("workspace"))

    @property
    def voxel(self) -> float:
        """Edge of a voxel [m]."""
        return self.terrain.voxel_size

    @property
    def stages(self) -> int:
        """Largest number of stages in which the fields are built, for progress bars."""
        return STAGE_COUNT * (1 if self.terrain.walls is None and not self.whole else 2)

    @cached_property
    def fields(self) -> tuple[Field, Field | None]:
        """The fields of ground and walls, in voxels, built at first use."""
        return self.build()

    def build(
        self, *, steep: float = STEEP_ANGLE, done: Done = no_progress
    ) -> tuple[Field, Field | None]:
        """Return the fields of ground and walls, those of a whole workspace split.

        Args:
            steep: angle from the level from which a face of a whole workspace is wall [deg].
            done: called with each of `stages` stages.
        """
        ground: Solid = self.terrain.surface
        walls: Solid | None = self.terrain.walls
        if self.whole:
            ground, walls = split(ground, steep)
        radius = self.terrain.radius
        field = Field.build(ground, radius, done=done)
        return field, None if walls is None else Field.build(walls, radius, done=done)
