"""Volumes as folders of slices: n PNG files of n x n pixels, checked before they are unpacked.

A volume is an array (n, n, n), indexed [x, y, z], from 0 empty to 255 solid; slice k is its layer
z = k. `read_volume` and `write_volume` are for workspace.py and generate.py. Slices are numbered
from 0 or, as MATLAB counts, from 1. Both are fixed by existing files, which test_voxel_workspace
reads. PIXEL and OVERHEAD bound what a hostile file can unpack, and stay.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from roboaccord.contract import AccordError, read_bytes

# A volume (n, n, n), 0 empty to 255 solid.
Volume = npt.NDArray[np.uint8]
# Called with the number of steps that are done, for progress bars.
Done = Callable[[int], None]

SIGNATURE = b"\x89PNG\r\n\x1a\n"  # first bytes of PNG files
HEADER = 24  # bytes; signature, length and name of the chunk IHDR, width, height
PIXEL = 8  # bytes; largest pixel, four channels of 16 bits
# bytes; largest part of a file that is not pixels, such as a colour profile: those of printers have
# some 0.5 MB. Any size would do that is no burden.
OVERHEAD = 1_000_000
SOLID = 255  # value of a full voxel
# Endings of other pictures, which are refused
PICTURES = (".tif", ".tiff", ".bmp", ".jpg", ".jpeg", ".gif", ".pgm", ".webp")


def no_progress(count: int) -> None:
    """Discard progress."""


def slice_files(folder: Path, n: int) -> list[Path]:
    """Return the slices of a folder from the lowest to the highest, their sizes checked.

    The number at the end of a file's name is z. Slices from 1 to n, as MATLAB counts, are taken as
    0 to n - 1.

    Raises:
        AccordError: unless they are n PNG files of n x n pixels, numbered without a gap.
    """
    numbered: dict[int, Path] = {}
    for path in sorted(folder.glob("*.[pP][nN][gG]")):
        digits = re.search(r"(\d+)$", path.stem)
        if not digits:
            raise AccordError(f"{path}: the name of a slice ends with its number, as slice_000.png")
        number = int(digits[1])
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
        AccordError: that names the first of them.
    """
    pictures = (path for path in sorted(folder.rglob("*.*")) if path.suffix.lower() in PICTURES)
    if first := next(pictures, None):
        raise AccordError(f"{first}: not a PNG file, as slices are")


def check_header(path: Path, n: int) -> None:
    """Check a slice's size without unpacking it.

    Raises:
        AccordError: if it cannot be read, is not a PNG, or is not of n x n pixels.
    """
    head = read_bytes(path, PIXEL * n * n + OVERHEAD)[:HEADER]
    if len(head) < HEADER or head[:8] != SIGNATURE or head[12:16] != b"IHDR":
        raise AccordError(f"{path}: not a PNG file")
    width, height = struct.unpack(">II", head[16:HEADER])
    if (width, height) != (n, n):
        raise AccordError(f"{path}: {width} x {height} pixels, and not {n} x {n}")


def read_volume(folder: Path, n: int, done: Done = no_progress) -> Volume:
    """Read a volume.

    Args:
        folder: folder of n slices.
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


def write_volume(folder: Path, volume: Volume, done: Done = no_progress) -> None:
    """Write a volume into a new folder as slice_000.png, slice_001.png, ..."""
    folder.mkdir(parents=True)
    # Binary volumes are written with one bit per pixel.
    grey = np.logical_and(volume > 0, volume < SOLID).any()
    for k in range(volume.shape[2]):
        picture = Image.fromarray(np.ascontiguousarray(volume[:, :, k].T))
        picture = picture if grey else picture.convert("1", dither=Image.Dither.NONE)
        picture.save(folder / f"slice_{k:03d}.png")
        done(1)


def _read_slice(path: Path, n: int) -> Volume:
    """Return one slice (rows, columns), whose header has been checked."""
    try:
        with Image.open(path, formats=["PNG"]) as picture:
            if picture.size != (n, n):  # Pillow takes the last header of a file
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
