"""Find the files of robots in a folder, and read them when they are examined.

`find_files` searches a folder for the command `accord parity FOLDER`. Files that are known by their
names match PATTERNS; files that match OTHER_PATTERNS are opened to see whether they describe a
robot, by the element of ROBOT_ELEMENTS. A file that is not read yet is an `Unread`; `read_source`
reads it in the process that examines it. Results are in the order of paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from xml.parsers import expat

from roboaccord.contract import AccordError, is_file, read_bytes
from roboaccord.description import urdf_file
from roboaccord.description.source import parse_lines
from roboaccord.description.urdf_file import LARGEST, NO_PACKAGES, UrdfFile, read_text
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines.formats import formats, read_robot

PATTERNS = ("*.urdf", "*.urdf.xacro")  # of files that are taken for robots by their names
# Patterns of files that may be robots, worlds, scenes, or something else.
OTHER_PATTERNS = ("*.sdf", "*.xml")
# By the first element of a file, an element that a robot has, and a scene or fragment has not.
ROBOT_ELEMENTS = {"sdf": "model/joint", "mujoco": "worldbody/body"}


@dataclass(frozen=True)
class Unread:
    """The file of a robot that is not read yet.

    Args:
        path: path of the file.
        digest: SHA-256 of its bytes, so that a changed file is another job for a cluster.
        packages: folders of ROS packages by name.
        arguments: arguments of a xacro file.
    """

    path: Path
    digest: str
    packages: Mapping[str, Path]
    arguments: Mapping[str, str]


# A robot's file, read or still to be read.
Source = UrdfFile | Unread


def read_source(source: Source) -> UrdfFile:
    """Return a robot's file.

    Raises:
        AccordError: if it cannot be read.
    """
    if isinstance(source, UrdfFile):
        return source
    return read_robot(source.path, source.packages, source.arguments)


def unchanged_path(file: UrdfFile) -> Path | None:
    """Return the path of a file that has the robot's text; None for xacro and changed texts.

    Of a format other than URDF, `origin` is the text before its conversion.
    """
    if file.path.suffix == ".xacro" or not is_file(file.path):
        return None
    text = urdf_file.plain_xml(urdf_file.decode_xml(read_bytes(file.path, LARGEST)))
    return file.path if text == urdf_file.plain_xml(file.origin or file.text) else None


def find_files(
    folder: Path, packages: Mapping[str, Path], arguments: Mapping[str, str] = NO_ARGUMENTS
) -> list[Unread]:
    """Return the robots' files in a folder and below: URDF, and other formats that engines read.

    Args:
        folder: searched with all folders in it.
        packages: folders of ROS packages by name.
        arguments: arguments of xacro files.

    Raises:
        AccordError: if there is none.
    """
    urdfs = {path for pattern in PATTERNS for path in folder.rglob(pattern)}
    others = {path for pattern in OTHER_PATTERNS for path in folder.rglob(pattern)}
    paths = urdfs | {path for path in others if path.is_file() and describes_robot(path)}
    if not paths:
        raise AccordError(f"no URDF, SDF or MJCF of a robot in {folder}")
    files = []
    for path in sorted(paths):
        if path.is_file():
            digest = sha256(read_bytes(path, LARGEST)).hexdigest()
            files.append(Unread(path, digest, dict(packages), dict(arguments)))
    return files


def describes_robot(path: Path) -> bool:
    """Return whether a file describes a robot in a format of an engine, and no world or scene."""
    try:
        top, _ = parse_lines(read_text(path, NO_PACKAGES, NO_ARGUMENTS))
    except (AccordError, expat.ExpatError, ValueError):
        return False
    return top.tag in formats() and top.find(ROBOT_ELEMENTS.get(top.tag, ".")) is not None
