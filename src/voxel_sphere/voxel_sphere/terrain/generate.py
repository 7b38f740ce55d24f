"""Make the volumes of a workspace, and write them to disk, completely or not at all.

A workspace is a folder OUT/Bitmaps_n with a folder of slices (PNG pictures) for each volume of n^3
voxels: the ground of a surface, its walls, and the robot, a sphere. `surface_parts` fills the
volumes of a surface in closed form, and `write_workspace` writes them; the command
`accord voxel-sphere make` calls both. All is written into a draft folder beside the workspace,
which is then renamed, so that an interruption leaves no half of it (test_voxel_workspace).

workspace.py reads the names of folders (Bitmaps_n, NAME_walls, Sphere_robot), so they stay. A
surface gets another volume by a Part that is appended in `surface_parts`.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import numpy as np
from roboaccord.contract import AccordError, Json, check_folder, check_inside

from voxel_sphere.terrain import slices
from voxel_sphere.terrain.filling import fill_below, fill_inside, sphere
from voxel_sphere.terrain.settings import SIZE_WORKSPACE, VOXEL_SIZE, Settings, write_settings
from voxel_sphere.terrain.slices import Done, Volume, no_progress
from voxel_sphere.terrain.surfaces import Surface
from voxel_sphere.terrain.workspace import ROBOT, Workspace, check_size, grid_size, open_workspace


class Part(NamedTuple):
    """A volume of a workspace, before it is written.

    Args:
        name: name of its folder.
        kind: `robot`, `surface`, `walls` or `workspace`.
        volume: filling of the voxels (n, n, n), 0 empty to 255 solid.
        recipe: description from which it was made (recipes.py), for `workspace.yaml`; None if that
            is unknown.
        grey: whether voxels may be partly filled.
    """

    name: str
    kind: str
    volume: Volume
    recipe: Mapping[str, Json] | None = None
    grey: bool = True


def surface_parts(
    surface: Surface,
    n: int,
    *,
    name: str | None = None,
    recipe: Mapping[str, Json] | None = None,
    binary: bool = False,
    done: Done = no_progress,
) -> list[Part]:
    """Return the ground of a surface and, where it has walls, those as NAME_walls.

    Args:
        surface: surface in closed form; `Surface(name=..., height=...)` makes one of your own.
        n: number of voxels along an edge of the grid.
        name: name of the folder; that of the surface where None.
        recipe: description from which the surface was made, for `workspace.yaml`.
        binary: whether voxels are full or empty only.
        done: called after each slice.
    """
    name = name or surface.name
    ground = fill_below(surface.height, n, binary=binary, done=done)
    parts = [Part(name, "surface", ground, recipe, not binary)]
    if surface.walls is not None:
        walls = fill_inside(surface.walls, n, binary=binary, done=done)
        parts.append(Part(f"{name}_walls", "walls", walls, recipe, not binary))
    return parts


def write_workspace(
    out: Path,
    n: int,
    parts: Sequence[Part],
    *,
    size_workspace: float = SIZE_WORKSPACE,
    voxel_size: float = VOXEL_SIZE,
    binary: bool = False,
    replace: bool = False,
    done: Done = no_progress,
) -> Workspace:
    """Write volumes, and the robot where it is missing, to OUT/Bitmaps_n.

    Args:
        out: the folder, or the `Bitmaps_n` folder itself.
        n: number of voxels along an edge of the grid.
        parts: the volumes.
        size_workspace: n / r, the edge of the grid over the radius of the sphere.
        voxel_size: edge of a voxel [m].
        binary: whether the voxels of the robot are full or empty only.
        replace: whether volumes of the same name are replaced.
        done: called after each slice.

    Raises:
        AccordError: if a volume is empty or exists already, if an existing workspace has another
            sphere or voxel size, or if it cannot be written.
    """
    names = [part.name for part in parts]
    folder = check_workspace(out, n, names, size_workspace, voxel_size, replace=replace)
    for part in parts:
        if not part.volume.any():
            raise AccordError(f"{part.name} has no solid voxel")
    existing = open_workspace(folder).settings if folder.exists() else Settings()
    parts = [*parts]
    if not (folder / ROBOT).exists():
        robot = sphere(n, n / size_workspace, binary=binary, done=done)
        parts.append(Part(ROBOT, "robot", robot, None, not binary))
    volumes = {**existing.volumes, **{part.name: _entry(part) for part in parts}}
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as draft:
            for part in parts:
                slices.write_volume(Path(draft, "new", part.name), part.volume, done)
            write_settings(Path(draft, "new"), Settings(size_workspace, voxel_size, volumes))
            _move_in(Path(draft), folder, [part.name for part in parts])
    except OSError as error:
        raise AccordError(f"cannot write {folder}: {error.strerror}") from None
    return open_workspace(folder)


def check_workspace(
    out: Path, n: int, names: Sequence[str], size_workspace: float, voxel_size: float, replace: bool
) -> Path:
    """Return the `Bitmaps_n` folder for volumes, after checking that they can be written there.

    The arguments are those of `write_workspace`, with the names of the volumes.

    Raises:
        AccordError: as for `write_workspace`, before anything is computed.
    """
    check_size(n, "n is")
    if not 2 <= size_workspace <= n:
        raise AccordError(
            f"size_workspace is {size_workspace:g}; the sphere, of radius n / size_workspace, must "
            "fit into the grid and be of a voxel at least: 2 to n"
        )
    if not 0 < voxel_size < np.inf:
        raise AccordError(f"voxel_size is {voxel_size:g} m, and must be positive")
    if grid_size(out) not in (0, n):
        raise AccordError(f"{out} is a folder for another n than {n}")
    folder = out if grid_size(out) else out / f"Bitmaps_{n}"
    check_inside(out, folder)
    for name in names:
        if not re.fullmatch(r"\w[\w.+-]*", name) or name == ROBOT:
            raise AccordError(f"{name!r} is not a name for a volume: letters, digits, _ . + -")
        if (folder / name).exists() and not replace:
            raise AccordError(f"{folder / name} is there already: use another --name, or --force")
        check_folder(folder / name, ["slice_*.png"])
    if folder.exists():
        existing = open_workspace(folder)
        if (existing.size_workspace, existing.voxel_size) != (size_workspace, voxel_size):
            raise AccordError(
                f"{folder} has size_workspace {existing.size_workspace:g} and voxel_size "
                f"{existing.voxel_size:g} m already: one sphere and one scale a workspace"
            )
    return folder


def _entry(part: Part) -> dict[str, Json]:
    """Return the entry of a volume in `workspace.yaml`: kind, grey or binary, and recipe."""
    recipe = {} if part.recipe is None else {"recipe": deepcopy(dict(part.recipe))}
    return {"kind": part.kind, "grey": part.grey, **recipe}


def _move_in(draft: Path, folder: Path, names: Sequence[str]) -> None:
    """Move the volumes of a finished draft, and its settings, to their folder by renaming alone."""
    new = draft / "new"
    if not folder.exists():
        new.replace(folder)
        return
    for name in names:
        if (folder / name).exists():
            shutil.move(folder / name, draft / f"old_{name}")
        (new / name).replace(folder / name)
    (new / "workspace.yaml").replace(folder / "workspace.yaml")
