"""Settings of a workspace: the optional file `workspace.yaml` in its folder.

A workspace is a folder of terrain as slices (workspace.py). `read_settings` checks the file, and
`write_settings` writes it, with the recipe of each volume that generate.py has made. A key may be
added: a field of Settings and a check in `read_settings`. Keys that exist stay, for users' files
contain them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from roboaccord import description
from roboaccord.contract import AccordError
from roboaccord.run import write_text

FILE = "workspace.yaml"
SIZE_WORKSPACE = 10.0  # default of n / r, the size of the grid over the ball's radius: the source's
VOXEL_SIZE = 0.01  # m; default, our choice: a ball of 0.1 m radius on 100 voxels
MAX_VALUE = 1e6  # bound of both numbers; larger ones, such as voxels of 1,000 km, are typing errors
KINDS = ("robot", "surface", "walls", "workspace")  # kinds of volumes


@dataclass(frozen=True)
class Settings:
    """Contents of `workspace.yaml`.

    Args:
        size_workspace: n / r, or None where it is not stated.
        voxel_size: edge of a voxel [m].
        volumes: by name, with `kind`, whether it is `grey`, and the `recipe` that made it.
    """

    size_workspace: float | None = None
    voxel_size: float = VOXEL_SIZE
    volumes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def recipe(self, name: str) -> Mapping[str, Any]:
        """Return the recipe of a volume, {} if unknown."""
        recipe = self.volumes.get(name, {}).get("recipe")
        return recipe if isinstance(recipe, Mapping) else {}


def read_settings(folder: Path) -> Settings:
    """Return the settings of a `Bitmaps_n` folder.

    Raises:
        AccordError: if they cannot be read, or hold an unknown key or a wrong value.
    """
    path = folder / FILE
    if not path.exists():
        return Settings()
    data = description.read_yaml(path)
    for key in data.keys() - {"size_workspace", "voxel_size", "volumes"}:
        raise AccordError(f"{path}: unknown key {key}")
    for key in ("size_workspace", "voxel_size"):
        value = data.get(key, 1.0)
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not 0 < value < MAX_VALUE:
            raise AccordError(f"{path}: {key} is {value!r}, and must be a positive number")
    volumes = data.get("volumes", {})
    if not isinstance(volumes, dict):
        raise AccordError(f"{path}: volumes holds no names")
    for name, entry in volumes.items():
        if not isinstance(entry, dict) or entry.get("kind", "surface") not in KINDS:
            raise AccordError(f"{path}: volumes.{name}: its kind is one of {', '.join(KINDS)}")
    return Settings(**data)


def write_settings(folder: Path, settings: Settings) -> None:
    """Write settings, whole or not at all."""
    volumes = {name: dict(entry) for name, entry in settings.volumes.items()}
    data = {**vars(settings), "volumes": volumes}
    present = {key: value for key, value in data.items() if value is not None}
    write_text(folder / FILE, yaml.safe_dump(present, sort_keys=False))
