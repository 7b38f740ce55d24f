"""Fields of what a workspace holds: the ground, and the walls apart from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from voxel_sphere.rolling.distance import STAGES, Solid
from voxel_sphere.rolling.field import Field
from voxel_sphere.rolling.walls import STEEP, split
from voxel_sphere.terrain.workspace import Terrain, Workspace, open_workspace


def choose(
    folder: Path, *, surface: str | None, walls: str | None, workspace: str | None
) -> tuple[Workspace, Terrain]:
    """Open a workspace and choose what is rolled on; a whole one has its walls split off.

    Raises:
        AccordError: for what cannot be read, or a choice that is not clear.
    """
    opened = open_workspace(folder)
    return opened, opened.terrain(surface=surface, walls=walls, workspace=workspace)


def fields(
    opened: Workspace,
    terrain: Terrain,
    *,
    steep: float = STEEP,
    done: Callable[[int], None] = lambda count: None,
) -> tuple[Field, Field | None]:
    """Return the fields of ground and walls; `done` is told of each of `stages(terrain)` stages.

    Args:
        steep: angle from the level from which a face of a whole workspace is wall [deg].
    """
    ground: Solid = terrain.surface
    walls: Solid | None = terrain.walls
    if terrain.name in opened.names("workspace"):
        ground, walls = split(ground, steep)
    field = Field.build(ground, terrain.radius, done=done)
    if walls is None:
        return field, None
    return field, Field.build(walls, terrain.radius, done=done)


def stages(opened: Workspace, terrain: Terrain) -> int:
    """Return how many stages building the fields has, at most."""
    whole = terrain.name in opened.names("workspace")
    return STAGES * (1 if terrain.walls is None and not whole else 2)
