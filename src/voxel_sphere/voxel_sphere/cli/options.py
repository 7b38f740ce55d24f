"""Command-line options that several commands of the voxel sphere have in common.

`Folder` is the argument for a workspace (a folder of slices), `VolumeNames` the options that name
volumes in it, and `Replace` the option to overwrite. Commands of other packages use them as well,
so the names stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Folder = Annotated[Path, Argument(metavar="DIR", help="A Bitmaps_n folder, or its parent.")]


@dataclass(frozen=True)
class VolumeNames:
    """Names of the volumes of a terrain; None where the only one is taken."""

    surface: Annotated[str | None, Option(help="Name of the surface.")] = None
    walls: Annotated[str | None, Option(help="Name of the walls.")] = None
    workspace: Annotated[str | None, Option(help="Name of a whole workspace.")] = None


DEFAULT_NAMES = VolumeNames()
FORCE = "Replace what has this name in --out, and take --out if something else is in it."
Replace = Annotated[bool, Option("--force", help=FORCE)]
