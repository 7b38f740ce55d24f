"""Check SDF by sdformat's own checker, if it is installed, and by its schema of elements.

The checker, `gz sdf -k` or in Debian's packages `ign sdf -k`, ignores unknown elements, so that a
misspelt <max_stepsize> silently becomes a default. `sdformat_problems` runs it; `unknown_elements`
also checks elements and values against the schema, files whose folders are in ROOTS. files.py and
check.py call them. A file that takes longer than TIMEOUT is undecided. VERSION is that of all SDF
in this project, in its templates and in check.py, too.
"""

from __future__ import annotations

import os
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

# Part of a line that Debian's ign prints about itself, whatever the file.
NOT_ABOUT_THE_FILE = "libignition-tools-backward.so not found"
# s; a check that takes longer is undecided. Loading `gz` takes seconds, and many times as long on a
# busy machine.
TIMEOUT = 60.0
VERSION = "1.9"  # of SDF
# Folders that may have sdformat's schema, as patterns below /: of Debian's packages, and of each
# release of ROS.
VENDOR = "opt/ros/*/*/sdformat_vendor/share"
ROOTS = "usr/share", "usr/share/gz", VENDOR, f"{VENDOR}/gz"
# How many numbers a value of a type has, by SDFormat's schema; and other counts that it accepts:
# colours without opacity, and poses whose rotation is a quaternion.
NUMBERS = {"double": 1, "float": 1, "int": 1, "vector2d": 2, "vector3": 3, "pose": 6, "color": 4}
ALSO_ACCEPTED = (("color", 3), ("pose", 7))


@dataclass(frozen=True)
class Undecided:
    """The reason why nothing is known of a file; a problem that is printed, but is no error."""

    reason: str

    def __str__(self) -> str:
        """Return the line that is printed."""
        return f"undecided: {self.reason}"

    to_json = __str__  # the JSON has the same line


# A line about a file: what is wrong, or why that is not known.
Problem = str | Undecided


def sdformat_problems(tool: str, path: Path, models: Sequence[Path]) -> list[Problem]:
    """Return the problems that sdformat's checker reports about a file, a line on stderr each.

    A check that takes longer than TIMEOUT is undecided, for the machine may be slow.

    Args:
        tool: as `sdformat_tool` gives it.
        path: SDF or URDF.
        models: folders for `model://NAME`.
    """
    folders = os.pathsep.join(str(folder) for folder in models)
    command = [tool, "sdf", "-k", str(path)]
    env = {**os.environ, "SDF_PATH": folders, "GZ_SIM_RESOURCE_PATH": folders}
    try:
        done = subprocess.run(
            command, capture_output=True, errors="replace", check=False, timeout=TIMEOUT, env=env
        )
    except subprocess.TimeoutExpired:
        return [Undecided(f"no answer of sdformat in {TIMEOUT:g} s")]
    errors = [line for line in done.stderr.splitlines() if NOT_ABOUT_THE_FILE not in line]
    problems: list[Problem] = [f"sdformat: {line.strip()}" for line in errors if line.strip()]
    if not problems and (done.returncode or "Valid." not in done.stdout):
        problems.append(f"sdformat: {done.stdout.strip() or f'status {done.returncode}'}")
    return problems


def schema_folder(version: str = VERSION) -> Path | None:
    """Return the folder of sdformat's schema of a version, or None if it is not installed."""
    if not re.fullmatch(r"\d+\.\d+", version):
        return None
    for root in ROOTS:
        if folders := sorted(Path("/").glob(f"{root}/sdformat*/{version}")):
            return folders[0]
    return None


def unknown_elements(root: ET.Element, folder: Path) -> Iterator[str]:
    """Yield a line for each element or attribute that is unknown or has a wrong value."""
    yield from _unknown_in(root, _read_schema(folder, "root"), folder, root.tag)


def _unknown_in(element: ET.Element, schema: ET.Element, folder: Path, path: str) -> Iterator[str]:
    """Yield the lines of an element and of the elements in it, with their paths."""
    attributes = {a.get("name") for a in schema.findall("attribute")}
    for name in element.attrib:
        if name not in attributes and ":" not in name and "}" not in name:
            yield f"{path}: no attribute {name} in SDF {folder.name}"
    yield from _check_value(element, schema.get("type", ""), path)
    if schema.find("element[@copy_data]") is not None:
        return  # the schema allows any content, as that of a plugin
    children = _child_schemas(schema, folder)
    for child in element:
        if ":" in child.tag or "}" in child.tag:
            continue  # a custom element, which sdformat asks to be put in a namespace
        where = f"{path}/{child.tag}"
        if child.tag not in children:
            yield f"{where}: no such element in SDF {folder.name}"
        else:
            yield from _unknown_in(child, children[child.tag], folder, where)


def _check_value(element: ET.Element, kind: str, path: str) -> Iterator[str]:
    """Yield a line if the text of an element is no value of its kind (NUMBERS)."""
    words = (element.text or "").split()
    count = NUMBERS.get(kind)
    if count is None or not words:
        return
    try:
        [float(word) for word in words]
    except ValueError:
        yield f"{path}: {' '.join(words)!r} is not a {kind}"
        return
    if len(words) != count and (kind, len(words)) not in ALSO_ACCEPTED:
        yield f"{path}: {len(words)} numbers, a {kind} has {count}"


def _child_schemas(schema: ET.Element, folder: Path) -> dict[str, ET.Element]:
    """Return the schemas of the elements that an element may have, by name."""
    children = {}
    for child in schema.findall("element"):
        reference = child.get("ref")
        children[child.get("name", "")] = _read_schema(folder, reference) if reference else child
    for include in schema.findall("include"):
        loaded = _read_schema(folder, Path(include.get("filename", "")).stem)
        children[loaded.get("name", "")] = loaded
    return children


@cache
def _read_schema(folder: Path, name: str) -> ET.Element:
    """Return the schema of an element, from its file in a folder."""
    return ET.parse(folder / f"{name}.sdf").getroot()
