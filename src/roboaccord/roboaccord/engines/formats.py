"""Reading of robots in any format: URDF and xacro here, others by the engine that knows the format.

`read_robot` returns a robot as a URDF with notes for the user. The first element of the file tells
its format: URDF and xacro are read by description/urdf_file.py, and any other format is converted
by the engine that lists it in the `formats` of its `EngineSpec`, where formats are added. The
conversion runs in a process of its own with limited memory, time and access to files, because a
file may come from a stranger (test_readers, test_formats). What URDF cannot express becomes a note.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from xml.parsers import expat

from roboaccord.contract.errors import AccordError
from roboaccord.description import urdf_file
from roboaccord.description.isolated import SECONDS, run_isolated
from roboaccord.description.resources import package_folders
from roboaccord.description.source import parse_lines
from roboaccord.description.urdf_file import read_text
from roboaccord.description.xacro_file import NO_ARGUMENTS
from roboaccord.engines import specs
from roboaccord.engines.spec import EngineSpec
from roboaccord.numerics.fence import fence

# [bytes] Largest address space of the converting process: 4 GB, of which Drake's libraries alone
# need 1.5 GB.
MEMORY = 4 << 30
# A package that a file refers to; the group is its name.
PACKAGE_URI = re.compile(r"(?:model|package)://([\w.-]+)")


def read_robot(
    path: Path,
    packages: Mapping[str, Path] = urdf_file.NO_PACKAGES,
    arguments: Mapping[str, str] = NO_ARGUMENTS,
) -> urdf_file.UrdfFile:
    """Read a robot in URDF, xacro, or a format of an engine, by the first element of the file.

    Args:
        path, packages, arguments: as of `read_urdf`.

    Raises:
        AccordError: if it cannot be read, or the engine that reads its format is not installed.
    """
    packages = urdf_file.absolute_packages(packages)
    text = read_text(path, packages, arguments)
    form = format_of(text)
    engine = formats().get(form)
    if engine is None:
        return urdf_file.check_urdf(path, text, packages)  # its error names the kind of file
    # Folders of the packages that the file names: the fenced process cannot search for them.
    folders = dict(packages)
    for name in {*PACKAGE_URI.findall(text)}:
        candidates = package_folders(name, path.absolute(), packages)
        if folder := next(filter(Path.is_dir, candidates), None):
            folders[name] = folder
    # The engine loads the file itself, unless the text came from standard input or from xacro.
    is_file = path != urdf_file.STANDARD_INPUT and path.suffix != ".xacro"
    loaded_path = str(path.absolute()) if is_file else ""
    folder_names = {name: str(folder) for name, folder in folders.items()}
    version = engine.load(engine.version)
    try:
        job = convert_apart, form, text, loaded_path, folder_names
        urdf, notes, links, *others = run_isolated(*job, seconds=SECONDS, memory=MEMORY)
    except AccordError as error:
        raise AccordError(f"{path.name}: {error}") from None
    # Notes for the user: which engine converted the file, and what was lost.
    reader = f"<{form}> read by {engine.name} {version}"
    summary = f"{reader} and converted to a URDF, without its shapes"
    lacks, missing, unweighed = map(tuple, others)
    notes = (summary, *notes, *(f"{line}: left out" for line in lacks))
    file = urdf_file.check_urdf(path, urdf, folders, notes, frozenset(links))
    return replace(file, lacks=lacks, form=form, origin=text, missing=missing, unweighed=unweighed)


def convert_apart(
    form: str, text: str, path: str, packages: Mapping[str, str]
) -> tuple[str, *tuple[Sequence[str], ...]]:
    """Return the fields of `Converted` for a robot in another format, in types of JSON.

    It runs in a process of its own. The engine is loaded before the fence limits access to files.

    Args:
        form: name of the format.
        text: content of the robot's file.
        path: path of the file; "" if the engine must load the text.
        packages: folders of ROS packages by name.
    """
    engine = formats()[form]
    convert = engine.load(engine.formats[form])
    fence()
    folders = {name: Path(folder) for name, folder in packages.items()}
    robot = convert(text, Path(path) if path else None, folders)
    added_links = sorted(robot.made)
    return robot.text, robot.notes, added_links, robot.lacks, robot.missing, robot.unweighed


def formats() -> dict[str, EngineSpec]:
    """Return the engines that convert other formats, by the first element of a file."""
    return {form: engine for engine in specs().values() for form in engine.formats}


def format_of(text: str) -> str:
    """Return the name of the first element of an XML text, or "" if it is not XML.

    Prefixes of names need not be declared, as engines require no declaration either.
    """
    try:
        return parse_lines(text)[0].tag
    except (expat.ExpatError, ValueError):
        return ""
