"""A terrain with the fields (distance and normal everywhere) of ground and walls, to roll on.

No numbers here: voxels come from terrain/, fields from rolling/field.py, the slope that makes a
wall is STEEP of walls.py. A third field beside ground and walls may be added in `build`; `stages`
must then count it, or progress bars end early. Fields of the class Scene stay: simulators and pages
read them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from voxel_sphere.rolling.distance import STAGES, Solid
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.walls import STEEP, split
from voxel_sphere.terrain.slices import Done, nothing
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
        """Choose what is rolled on in a workspace.

        Raises:
            AccordError: for what cannot be read, or a choice that is not clear.
        """
        terrain = opened.terrain(surface=surface, walls=walls, workspace=workspace)
        return cls(terrain, terrain.name in opened.names("workspace"))

    @property
    def voxel(self) -> float:
        """Edge of a voxel [m]."""
        return self.terrain.voxel_size

    @property
    def stages(self) -> int:
        """How many stages building the fields has, at most."""
        return STAGES * (1 if self.terrain.walls is None and not self.whole else 2)

    @cached_property
    def fields(self) -> tuple[Field, Field | None]:
        """The fields of ground and walls, in voxels, built when they are asked for first."""
        return self.build()

    def build(self, *, steep: float = STEEP, done: Done = nothing) -> tuple[Field, Field | None]:
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
