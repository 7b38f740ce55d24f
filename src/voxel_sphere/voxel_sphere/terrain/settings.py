"""Metadata of a workspace's slices, from the optional `workspace.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from roboaccord.contract import AccordError
from roboaccord.description import read_yaml
from roboaccord.run import write_text

FILE = "workspace.yaml"
SIZE_WORKSPACE = 10.0  # n / r, where nothing else is said
VOXEL_SIZE = 0.01  # m
KINDS = ("robot", "surface", "walls", "workspace")


@dataclass(frozen=True)
class Settings:
    """Contents of `workspace.yaml`.

    Args:
        size_workspace: n / r, or None where it is not stated.
        voxel_size: edge of a voxel [m].
        volumes: by name: its `kind`, whether it is `grey`, and the `recipe` that it was made from.
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
    data = read_yaml(path)
    for key in data.keys() - {"size_workspace", "voxel_size", "volumes"}:
        raise AccordError(f"{path}: unknown key {key}")
    for key in ("size_workspace", "voxel_size"):
        value = data.get(key, 1.0)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e6:
            raise AccordError(f"{path}: {key} is {value!r}, and must be a positive number")
    volumes = data.get("volumes", {})
    if not isinstance(volumes, dict):
        raise AccordError(f"{path}: volumes holds no names")
    for name, about in volumes.items():
        if not isinstance(about, dict) or about.get("kind", "surface") not in KINDS:
            raise AccordError(f"{path}: volumes.{name}: its kind is one of {', '.join(KINDS)}")
    return Settings(**data)


def write_settings(folder: Path, settings: Settings) -> None:
    """Write settings, whole or not at all."""
    data = {
        "size_workspace": settings.size_workspace,
        "voxel_size": settings.voxel_size,
        "volumes": {name: dict(about) for name, about in settings.volumes.items()},
    }
    if settings.size_workspace is None:
        del data["size_workspace"]
    write_text(folder / FILE, yaml.safe_dump(data, sort_keys=False))
