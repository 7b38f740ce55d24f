"""Find the robots' files in a folder, and read them when they are examined.

A kind of file that is known by its name is a pattern in PATTERNS. Others (FOREIGN) are opened to
see whether they hold a robot, by the element of MODELS. Results keep the order of paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from xml.parsers import expat

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import is_file, read_bytes
from roboaccord.description import urdf_file
from roboaccord.description.source import parse_lines
from roboaccord.description.urdf_file import LARGEST, NO_PACKAGES, UrdfFile, read_text
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines.formats import formats, read_robot

PATTERNS = ("*.urdf", "*.urdf.xacro")
MODELS = {"sdf": "model/joint", "mujoco": "worldbody/body"}
"""By format, what a robot has, and a world or a part to include has not."""
FOREIGN = ("*.sdf", "*.xml")


@dataclass(frozen=True)
class Unread:
    """A file that is still to be read.

    Args:
        path: of the file.
        digest: SHA-256 of its bytes, so that changed files are other jobs.
        packages: folders of ROS packages by name.
        arguments: of a xacro file.
    """

    path: Path
    digest: str
    packages: Mapping[str, Path]
    arguments: Mapping[str, str]


Source = UrdfFile | Unread
"""A robot's file, read or still to be read."""


def read(source: Source) -> UrdfFile:
    """Return a robot's file.

    Raises:
        AccordError: if it cannot be read.
    """
    if isinstance(source, UrdfFile):
        return source
    return read_robot(source.path, source.packages, source.arguments)


def shipped(file: UrdfFile) -> Path | None:
    """Return the file that holds exactly a robot's text; None for xacro and for changed texts."""
    if file.path.suffix == ".xacro" or not is_file(file.path):
        return None
    text = urdf_file.plain_xml(urdf_file.decode_xml(read_bytes(file.path, LARGEST)))
    return file.path if text == urdf_file.plain_xml(file.origin or file.text) else None


def find_files(
    folder: Path, packages: Mapping[str, Path], arguments: Mapping[str, str] = NO_ARGUMENTS
) -> list[Unread]:
    """Return the robots' files in a folder and below: URDF, and other formats that engines read.

    Args:
        folder: that is searched.
        packages: folders of ROS packages by name.
        arguments: of xacro files.

    Raises:
        AccordError: if there is none.
    """
    urdfs = {path for pattern in PATTERNS for path in folder.rglob(pattern)}
    others = (path for pattern in FOREIGN for path in folder.rglob(pattern))
    paths = sorted(urdfs | {path for path in others if path.is_file() and holds_robot(path)})
    if not paths:
        raise AccordError(f"no URDF, SDF or MJCF of a robot in {folder}")
    files = ((path, read_bytes(path, LARGEST)) for path in paths if path.is_file())
    return [
        Unread(path, sha256(data).hexdigest(), dict(packages), dict(arguments))
        for path, data in files
    ]


def holds_robot(path: Path) -> bool:
    """Return whether a file holds a whole robot in a format of an engine, and no world or scene."""
    try:
        top, _ = parse_lines(read_text(path, NO_PACKAGES, NO_ARGUMENTS))
    except (AccordError, expat.ExpatError, ValueError):
        return False
    return top.tag in formats() and top.find(MODELS.get(top.tag, ".")) is not None
