"""Workspaces: `Bitmaps_n` folders that store terrain as slices, one PNG picture for each height.

A folder in it is a volume of n^3 voxels. There are four kinds: the robot (a sphere, of which the
radius is read), a surface, walls, and a whole workspace with surface and walls in one. `Workspace`
lists and reads them, and `select` picks those that a user means; each refusal is one line.

Lengths are in voxels from the grid's corner: voxel i covers [i, i + 1], and its centre is at
i + 0.5. ROBOT, the name Bitmaps_n and the kinds by name (`_kind`) stay, for existing folders use
them (docs/voxel_terrain.md); MIN_SIZE and MAX_SIZE may be changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from roboaccord.contract import AccordError

from voxel_sphere.terrain import slices
from voxel_sphere.terrain.settings import SIZE_WORKSPACE, Settings, read_settings
from voxel_sphere.terrain.slices import SOLID, Done, Volume, no_progress

ROBOT = "Sphere_robot"  # name of the robot's volume in existing folders
MIN_SIZE = 8  # voxels along an edge: a sphere of radius n / 10 then still has some volume
MAX_SIZE = 256  # voxels along an edge: distance fields of larger grids need gigabytes


@dataclass(frozen=True)
class Terrain:
    """Terrain for a sphere: surface and walls.

    Args:
        n: size of the grid [voxels].
        radius: radius of the sphere [voxels].
        voxel_size: edge of a voxel [m].
        surface: (n, n, n), indexed [x, y, z]; 0 empty, 255 solid.
        walls: the same, or None.
        name: name of the terrain in messages and files.
        grey: whether voxels may be partly filled.
    """

    n: int
    radius: float
    voxel_size: float
    surface: Volume
    walls: Volume | None = None
    name: str = "terrain"
    grey: bool = True

    @property
    def solid(self) -> Volume:
        """Surface and walls in one (n, n, n)."""
        return self.surface if self.walls is None else np.maximum(self.surface, self.walls)


@dataclass(frozen=True)
class Workspace:
    """A `Bitmaps_n` folder; volumes are read when they are asked for.

    Args:
        path: the folder.
        n: size of the grid [voxels].
        settings: settings of its `workspace.yaml`.
    """

    path: Path
    n: int
    settings: Settings = field(default_factory=Settings)

    @property
    def voxel_size(self) -> float:
        """Edge of a voxel [m]."""
        return self.settings.voxel_size

    @property
    def size_workspace(self) -> float:
        """The source's n / r: as `workspace.yaml` states it, or 10."""
        return self.settings.size_workspace or SIZE_WORKSPACE

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Kind of each volume: robot, surface, walls or workspace.

        A volume is a folder with PNG files, at any depth; its name is its path. The kind is as
        `workspace.yaml` states it, or else by the name.
        """
        folders = sorted({path.parent for path in self.path.rglob("*.[pP][nN][gG]")})
        names = [folder.relative_to(self.path).as_posix() for folder in folders]
        return {
            name: self.settings.volumes.get(name, {}).get("kind") or _kind(name)
            for name in names
            if name != "." and "/." not in f"/{name}"
        }

    def names(self, kind: str | None = None) -> list[str]:
        """Return the names of the volumes, of one kind or of all."""
        return [name for name, its_kind in self.kinds.items() if kind in (None, its_kind)]

    def volume(self, name: str, done: Done = no_progress) -> Volume:
        """Return a volume, (n, n, n) indexed [x, y, z]; 0 is empty, 255 solid.

        Raises:
            AccordError: if there is none of this name, its slices are not right, or it is empty.
        """
        if name not in self.kinds:
            slices.refuse_pictures(self.path / name)
            available = ", ".join(self.kinds) or "nothing"
            named = name or "without a name"
            raise AccordError(f"{self.path}: no volume {named}; available: {available}")
        volume = slices.read_volume(self.path / name, self.n, done)
        if not volume.any():
            raise AccordError(f"{self.path / name}: all slices are black, so it is empty")
        return volume

    @cached_property
    def radius(self) -> float:
        """Radius of the sphere [voxels], from the volume of `Sphere_robot`.

        Raises:
            AccordError: if that is not a sphere within one voxel, is larger than the grid, or is
                not of the size that `workspace.yaml` states.
        """
        robots = self.names("robot")
        if len(robots) != 1:
            slices.refuse_pictures(self.path)
            reason = f"{len(robots)} robots; one folder {ROBOT} must be there"
            raise AccordError(f"{self.path}: {reason}")
        radius = sphere_radius(self.volume(robots[0]), self.path / robots[0])
        stated = self.settings.size_workspace
        if stated and abs(radius - self.n / stated) > 1.0:
            raise AccordError(
                f"{self.path}: {robots[0]} has a radius of {radius:.2f} voxels, where "
                f"size_workspace {stated:g} in workspace.yaml makes it {self.n / stated:.2f}"
            )
        return radius

    def terrain(
        self, *, surface: str | None = None, walls: str | None = None, workspace: str | None = None
    ) -> Terrain:
        """Return a surface with or without walls, or a whole workspace.

        Where nothing is named, it is the only whole workspace, or the only surface with, if there
        are any, the only walls.

        Raises:
            AccordError: if the choice is not clear, or what is chosen cannot be read.
        """
        names = self.select(surface=surface, walls=walls, workspace=workspace)
        volumes = [self.volume(name) for name in names]
        grey = all(map(self.is_grey, names, volumes))
        wall = volumes[1] if len(volumes) > 1 else None
        name = "+".join(names)
        return Terrain(self.n, self.radius, self.voxel_size, volumes[0], wall, name, grey)

    def is_grey(self, name: str, volume: Volume) -> bool:
        """Return whether a volume is grey, by `workspace.yaml` or else by its values."""
        stated = self.settings.volumes.get(name, {}).get("grey")
        return bool(((volume > 0) & (volume < SOLID)).any()) if stated is None else bool(stated)

    def select(
        self, *, surface: str | None = None, walls: str | None = None, workspace: str | None = None
    ) -> list[str]:
        """Return the names of the volumes that `terrain` reads, the ground first.

        Raises:
            AccordError: if the names contradict each other, or leave more than one choice.
        """
        if workspace is not None:
            if surface is not None or walls is not None:
                raise AccordError("a workspace has its walls: name it alone, or surface and walls")
            return [workspace]
        wholes = self.names("workspace")
        surfaces = self.names("surface")
        all_walls = self.names("walls")
        # No surface is named: take the only whole workspace, or the only surface.
        if surface is None:
            if walls is None and len(wholes) == 1 and not surfaces:
                return wholes
            if not (surfaces or wholes):
                slices.refuse_pictures(self.path)
            if len(surfaces) != 1 or wholes or (walls is None and len(all_walls) > 1):
                available = ", ".join(name for name in self.kinds if self.kinds[name] != "robot")
                raise AccordError(
                    f"{self.path}: which one? Name a surface, walls or workspace of "
                    f"{available or 'none'}"
                )
            surface, walls = surfaces[0], walls or next(iter(all_walls), None)
        return [surface] if walls is None else [surface, walls]


def open_workspace(path: Path) -> Workspace:
    """Open a `Bitmaps_n` folder, or the only one in a folder.

    Raises:
        AccordError: if there is none, or several, or n is out of range.
    """
    path = Path(path)
    if not path.is_dir():
        raise AccordError(f"{path}: no such folder")
    folders = [path] if grid_size(path) else sorted(p for p in path.iterdir() if grid_size(p))
    folders = [folder for folder in folders if folder.is_dir()]
    if not folders:
        raise AccordError(f"{path}: no folder Bitmaps_n in it, n the size of the grid")
    if len(folders) > 1:
        raise AccordError(f"{path}: which one of {', '.join(p.name for p in folders)}?")
    n = grid_size(folders[0])
    check_size(n, f"{folders[0]}: n is")
    return Workspace(folders[0], n, read_settings(folders[0]))


def check_size(n: float, subject: str) -> None:
    """Refuse a number of voxels along an edge of the grid.

    Raises:
        AccordError: if it is not whole, or out of range; its text begins with `subject`.
    """
    if n != int(n) or not MIN_SIZE <= n <= MAX_SIZE:
        raise AccordError(f"{subject} {n:g}; grids are of {MIN_SIZE} to {MAX_SIZE} voxels")


def grid_size(path: Path) -> int:
    """Return n of a path whose last folder is `Bitmaps_n`, or 0."""
    size = re.fullmatch(r"Bitmaps_(\d{1,9})", path.absolute().name)
    return int(size[1]) if size else 0


def sphere_radius(volume: Volume, place: Path) -> float:
    """Return the radius of the sphere that has as many full voxels as a volume [voxels].

    A grey voxel counts by its fraction of 255.

    Raises:
        AccordError: if the surface of the volume is farther than one voxel from that sphere.
    """
    n = volume.shape[0]
    content = volume.sum() / 255
    radius = float(np.cbrt(0.75 * content / np.pi))
    solid = np.argwhere(volume >= 128) + 0.5
    if not len(solid):
        raise AccordError(f"{place}: no voxel is filled to more than a half, so it is empty")
    if 2 * radius > n + 0.1:
        raise AccordError(f"{place}: the sphere is larger than the grid of {n} voxels")
    # Squared coordinates of the voxels from the sphere's middle; then its surface is checked.
    x, y, z = ((np.arange(n) + 0.5 - middle) ** 2 for middle in solid.mean(axis=0))
    distance = np.sqrt(x[:, None, None] + y[:, None] + z)
    # Full voxels more than one voxel outside the sphere, and empty ones as far inside.
    misplaced = (distance > radius + 1) & (volume >= 128) | (distance < radius - 1) & (volume < 128)
    if misplaced.any():
        raise AccordError(f"{place}: not a sphere within one voxel")
    return radius


def _kind(name: str) -> str:
    """Return the kind of a volume, by words in its name; a surface if there are none."""
    if name.rpartition("/")[2] == ROBOT:
        return "robot"
    if "workspace" in name.lower():
        return "workspace"
    return "walls" if "wall" in name.lower() else "surface"
