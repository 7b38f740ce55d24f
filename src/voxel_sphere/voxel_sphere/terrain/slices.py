"""Volumes as folders of slices, n PNG files of n x n, checked before anything is unpacked.

Slices, their order [x, y, z] and numbers from 0 or, as MATLAB counts, from 1 are fixed by existing
files, which test_voxel_workspace reads. SIZE_WORKSPACE, n / r = 10, is fixed by the source;
VOXEL_SIZE, 1 cm, may be changed. PIXEL and BESIDE, which bound what a hostile file unpacks, stay. A
key of workspace.yaml may be added: a field of Settings and a check in `read_settings`.

Metadata of a workspace are in its `workspace.yaml`, which is optional.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from PIL import Image
from roboaccord import description
from roboaccord.contract import AccordError, read_bytes
from roboaccord.run import write_text

Volume = npt.NDArray[np.uint8]
Done = Callable[[int], None]

SIGNATURE = b"\x89PNG\r\n\x1a\n"
PIXEL = 8  # bytes, of four 16-bit channels
BESIDE = 1_000_000  # bytes, of what is not a pixel
SOLID = 255
OTHERS = (".tif", ".tiff", ".bmp", ".jpg", ".jpeg", ".gif", ".pgm", ".webp")  # pictures, not read


def nothing(count: int) -> None:
    """Discard progress."""


def slice_files(folder: Path, n: int) -> list[Path]:
    """Return the slices of a folder from the lowest to the highest, their sizes checked.

    The number that ends a file's name is z. Slices that run from 1 to n, as MATLAB counts, are
    taken as 0 to n - 1.

    Raises:
        AccordError: unless they are n PNG files of n x n pixels, numbered without a gap.
    """
    numbered: dict[int, Path] = {}
    for path in sorted(folder.glob("*.[pP][nN][gG]")):
        found = re.search(r"(\d+)$", path.stem)
        if not found:
            raise AccordError(f"{path}: the name of a slice ends with its number, as slice_000.png")
        number = int(found[1])
        if number in numbered:
            raise AccordError(f"{folder}: {numbered[number].name} and {path.name} are one slice")
        numbered[number] = path
    if not numbered:
        refuse_pictures(folder)
    if len(numbered) != n:
        raise AccordError(f"{folder}: {len(numbered)} slices, and not {n}")
    first = 1 if n in numbered else 0
    missing = sorted(set(range(first, first + n)) - numbered.keys())
    if missing:
        raise AccordError(f"{folder}: slice {missing[0]} is missing")
    files = [numbered[first + k] for k in range(n)]
    for path in files:
        check_header(path, n)
    return files


def refuse_pictures(folder: Path) -> None:
    """Refuse a folder of pictures of another kind than PNG, in it or below it.

    Raises:
        AccordError: naming the first.
    """
    found = (path for path in sorted(folder.rglob("*.*")) if path.suffix.lower() in OTHERS)
    if other := next(found, None):
        raise AccordError(f"{other}: not a PNG file, as slices are")


def check_header(path: Path, n: int) -> None:
    """Look at a slice's size without unpacking it.

    Raises:
        AccordError: if it cannot be read, is not a PNG, or is not of n x n pixels.
    """
    head = read_bytes(path, PIXEL * n * n + BESIDE)[:24]
    if len(head) < 24 or head[:8] != SIGNATURE or head[12:16] != b"IHDR":
        raise AccordError(f"{path}: not a PNG file")
    width, height = struct.unpack(">II", head[16:24])
    if (width, height) != (n, n):
        raise AccordError(f"{path}: {width} x {height} pixels, and not {n} x {n}")


def read_volume(folder: Path, n: int, done: Done = nothing) -> Volume:
    """Read a volume.

    Args:
        folder: of n slices.
        n: size of the grid [voxels].
        done: called after each slice.

    Returns:
        (n, n, n), indexed [x, y, z]: 0 is empty, 255 solid, between them partly filled.

    Raises:
        AccordError: if the slices are not as `slice_files` wants them, or cannot be read.
    """
    volume = np.empty((n, n, n), np.uint8)
    for k, path in enumerate(slice_files(folder, n)):
        volume[:, :, k] = _read_slice(path, n).T
        done(1)
    # MATLAB's logical arrays may have been saved as numbers: 1 is solid then.
    return volume * np.uint8(SOLID) if volume.max() == 1 else volume


def write_volume(folder: Path, volume: Volume, done: Done = nothing) -> None:
    """Write a volume into a new folder as slice_000.png, slice_001.png, ..."""
    folder.mkdir(parents=True)
    grey = np.logical_and(volume > 0, volume < SOLID).any()
    for k in range(volume.shape[2]):
        picture = Image.fromarray(np.ascontiguousarray(volume[:, :, k].T))
        (picture if grey else picture.convert("1", dither=Image.Dither.NONE)).save(
            folder / f"slice_{k:03d}.png"
        )
        done(1)


def _read_slice(path: Path, n: int) -> Volume:
    """Return one slice, (rows, columns); its size has been checked."""
    try:
        with Image.open(path, formats=["PNG"]) as picture:
            if picture.size != (n, n):  # a second header counts, too
                raise AccordError(f"{path}: it is not of {n} x {n} pixels")
            if picture.mode.startswith("I"):
                return (np.asarray(picture).astype(np.uint32) >> 8).astype(np.uint8)
            if picture.mode in ("1", "L"):
                return np.asarray(picture.convert("L"))
            colours = np.asarray(picture.convert("RGB"))
    except AccordError:
        raise
    except Exception as error:  # noqa: BLE001 - Pillow raises whatever its readers do
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise AccordError(f"cannot read {path}: {reason}") from None
    if (colours != colours[:, :, :1]).any():
        raise AccordError(f"{path}: it has colours; a slice is black, white or grey")
    return colours[:, :, 0]


FILE = "workspace.yaml"
SIZE_WORKSPACE = 10.0  # n / r, where nothing else is stated
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
    data = description.read_yaml(path)
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
    volumes = {name: dict(about) for name, about in settings.volumes.items()}
    data = {**vars(settings), "volumes": volumes}
    stated = {key: value for key, value in data.items() if value is not None}
    write_text(folder / FILE, yaml.safe_dump(stated, sort_keys=False))
