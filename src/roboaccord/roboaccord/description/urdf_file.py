"""A URDF or xacro file of any robot: its text as shipped, and versions of it for engines.

`read_urdf` reads a file, or expands a xacro, and checks its form. The `UrdfFile` keeps the text as
shipped, because messages name its lines; its methods return other texts: with absolute paths of
meshes (`resolved`), without geometry (`stripped`), and with a root `base_link`, as every simulator
calls it (`rooted`). Oddities of public files that are accepted have cases in test_urdf_file.

LARGEST, MOST_LINKS and LONGEST_NAME bound the work on a stranger's file and may be raised.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import is_file, parse_xml, read_bytes
from roboaccord.description.meshes import FILE, MODEL, PACKAGE
from roboaccord.description.resources import package_folders
from roboaccord.description.rotors import rotor_inertias
from roboaccord.description.xacro_file import NO_ARGUMENTS, expand_isolated

LARGEST = 10_000_000  # bytes of a file: 50 times the largest of 69 public ones (0.2 million)
MOST_LINKS = 2000  # links of a robot: twenty times those of a humanoid with hands
LONGEST_NAME = 255  # characters, as many as file systems allow in the name of a file
NO_PACKAGES: Mapping[str, Path] = MappingProxyType({})
ROOT = "base_link"  # name of the root link in every simulator
RESERVED = (ROOT, "world")  # names of links that have a meaning in engines
# Declaration of a prefix, as in `xmlns:drake="http://drake.mit.edu"`.
PREFIX = re.compile(r"""xmlns:([\w.-]+)=["']([^"']+)["']""")
# Declaration of a default namespace in the first element, as in `<robot xmlns="..."`, and blanks
# before that of XML, `<?xml ...?>`.
NAMESPACE = re.compile(r"""(<robot\b[^>]*?)\sxmlns=(?:"[^">]*"|'[^'>]*')""")
LEADING = re.compile(r"\A(\s+)(<\?xml.*?\?>)")
STANDARD_INPUT = Path("-")  # path that stands for it
# Name of the robot in a URDF, SDFormat or MJCF file: `<robot name="..."`, `<model name="..."` or
# `<mujoco model="..."`.
TITLE = re.compile(
    r"<(?:(?:robot|model)\b[^>]*?\bname|mujoco\b[^>]*?\bmodel)\s*=\s*[\"']([^\"'$]+)[\"']"
)
# Elements beside links and joints, which few engines read.
OTHER_ELEMENTS = ("transmission", "gazebo", "material")


@dataclass(frozen=True)
class UrdfFile:
    """The URDF of a robot that has no package of ours.

    Args:
        path: of the file, absolute.
        name: of the robot, as written.
        text: URDF as shipped, after xacro.
        packages: folders of ROS packages, by name.
        notes: what the user should know of a conversion from another format, a line each.
        made: links that a conversion made: this text has them, and the file does not.
        lacks: what changes the motion and is missing in the text, a line each.
        form: name of the first element of a file in another format, such as `mujoco`.
        origin: text of the file in that format.
        missing: paths of meshes and textures that do not exist.
        unweighed: links whose mass comes from a missing mesh; their mass in the text is wrong.
    """

    path: Path
    name: str
    text: str
    packages: Mapping[str, Path] = field(default_factory=lambda: NO_PACKAGES)
    notes: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()
    lacks: tuple[str, ...] = ()
    form: str = ""
    origin: str = ""
    missing: tuple[str, ...] = ()
    unweighed: tuple[str, ...] = ()

    def resolved(self) -> str:
        """Return the URDF with absolute paths for the meshes that are found."""
        top = ET.fromstring(self.text)
        for mesh in top.iter("mesh"):
            if file := self.find(mesh.get("filename", "")):
                mesh.set("filename", str(file))
        return ET.tostring(top, encoding="unicode")

    def stripped(self) -> str:
        """Return the URDF without geometry, materials, transmissions and elements for Gazebo."""
        return strip(self.text)

    def rooted(self, urdf: str = "") -> tuple[str, str]:
        """Return the URDF with its root link renamed to `base_link`, and the root's own name.

        Another link of that name, or one named `world`, gets a number appended.

        Args:
            urdf: such as `resolved()` or `stripped()`; the text as shipped if empty.

        Raises:
            AccordError: if the file has no root link, or several.
        """
        top = ET.fromstring(urdf or self.text)
        names = self.new_names()
        for element, attribute in _link_names(top):
            old = element.get(attribute, "")
            element.set(attribute, names.get(old, old))
        return ET.tostring(top, encoding="unicode"), next(iter(names))

    def new_names(self) -> dict[str, str]:
        """Return the new names of the links that `rooted` renames, by their own; the root first.

        Raises:
            AccordError: if the file has no root link, or several.
        """
        top = ET.fromstring(self.text)
        links = [link.get("name", "") for link in top.findall("link")]
        root = find_root(top, self.path.name)
        names = {root: ROOT}
        for name in RESERVED:
            if name in links and name != root:
                candidates = (f"{name}_{i}" for i in range(1, len(links) + 2))
                names[name] = next(candidate for candidate in candidates if candidate not in links)
        return names

    def find(self, mesh: str) -> Path | None:
        """Return the file of a mesh by its name in the URDF, or None if it does not exist."""
        mesh = mesh.replace("\\", "/")
        if not mesh.startswith((PACKAGE, MODEL)):
            # Of several slashes the first two would begin a host's name.
            name = re.sub("^/+", "/", mesh.removeprefix(FILE))
            path = self.path.parent / name
            return path if is_file(path) else None
        package, _, inside = mesh.partition("://")[2].partition("/")
        folders = package_folders(package, self.path, self.packages)
        return next((f / inside for f in folders if is_file(f / inside)), None)


def read_urdf(
    path: Path,
    packages: Mapping[str, Path] = NO_PACKAGES,
    arguments: Mapping[str, str] = NO_ARGUMENTS,
) -> UrdfFile:
    """Read a URDF, or expand a xacro file.

    Whether its joints form a tree is not checked here.

    Args:
        path: of the file; one that ends in .xacro is expanded; `-` is standard input, no xacro.
        packages: folders of ROS packages by name, for `package://NAME/...`.
        arguments: of the xacro.

    Raises:
        AccordError: if it cannot be read, is not XML or holds no robot, or a folder is not there.
    """
    packages = absolute_packages(packages)
    return check_urdf(path, read_text(path, packages, arguments), packages)


def absolute_packages(packages: Mapping[str, Path]) -> dict[str, Path]:
    """Return the folders of packages as absolute paths.

    Raises:
        AccordError: if one does not exist.
    """
    for name, folder in packages.items():
        if not folder.is_dir():
            raise AccordError(f"--package {name}: {folder} is not a folder")
    return {name: folder.absolute() for name, folder in packages.items()}


def read_text(path: Path, packages: Mapping[str, Path], arguments: Mapping[str, str]) -> str:
    """Return the text of a file or of standard input; a xacro file is expanded.

    Raises:
        AccordError: if it cannot be read.
    """
    is_piped = path == STANDARD_INPUT
    data = sys.stdin.buffer.read(LARGEST + 1) if is_piped else read_bytes(path, LARGEST)
    path = path.absolute()
    is_xacro = path.suffix == ".xacro"
    text = expand_isolated(path, packages, arguments) if is_xacro else decode_xml(data)
    if len(text) > LARGEST:
        raise AccordError(f"{path.name} is larger than {LARGEST // 1_000_000} MB")
    return text


def check_urdf(
    path: Path,
    text: str,
    packages: Mapping[str, Path],
    notes: tuple[str, ...] = (),
    made: frozenset[str] = frozenset(),
) -> UrdfFile:
    """Return a text as a `UrdfFile`, after checks of its form and size.

    Args:
        path: of the file from which the text comes.
        text, packages, notes, made: as of a `UrdfFile`.

    Raises:
        AccordError: if it is not XML or holds no robot.
    """
    path, text = path.absolute(), plain_xml(text)
    top = parse_xml(text, path.name)
    if top.tag != "robot":
        raise AccordError(f"{path.name} holds no robot: its first element is <{top.tag}>")
    if top.find("link") is None:
        raise AccordError(f"{path.name} holds a robot without links")
    for element in top.iter():
        if len(element.get("name", "")) > LONGEST_NAME:
            raise AccordError(f"{path.name} holds a name of more than {LONGEST_NAME} characters")
    if len(top.findall("link")) > MOST_LINKS:
        raise AccordError(f"{path.name} holds more than {MOST_LINKS} links")
    register_prefixes(text)
    name = top.get("name") or path.name.partition(".")[0]
    return UrdfFile(path, name, text, packages, notes, made)


def register_prefixes(urdf: str) -> None:
    """Register the prefixes of a text, such as `drake:`, so that parsing and writing keep them."""
    for prefix, space in PREFIX.findall(urdf):
        with suppress(ValueError):  # ns0 and its like are taken
            ET.register_namespace(prefix, space)


def strip(urdf: str, others: Collection[str] = OTHER_ELEMENTS) -> str:
    """Return a URDF without geometry, and without the elements `others` beside links and joints.

    A transmission that states a rotor's inertia stays, because it changes the motion.
    """
    register_prefixes(urdf)
    top = ET.fromstring(urdf)
    for child in [child for child in top if child.tag in others and not rotor_inertias([child])]:
        top.remove(child)
    for link in top.findall("link"):
        for shape in (*link.findall("visual"), *link.findall("collision")):
            link.remove(shape)
    return ET.tostring(top, encoding="unicode")


def robot_name(path: Path) -> str:
    """Return a name for topics and folders: the robot's in its file, or that of the file.

    Raises:
        AccordError: if the file cannot be read.
    """
    title = TITLE.search(decode_xml(read_bytes(path, LARGEST)))
    name = title[1] if title else path.name.partition(".")[0]
    word = re.sub(r"[^A-Za-z0-9]+", "_", name[:LONGEST_NAME]).strip("_") or "robot"
    return word if word[0].isalpha() else f"robot_{word}"


def find_root(top: ET.Element, source: str) -> str:
    """Return the name of the one link that no joint leads to.

    Args:
        top: the element `robot`.
        source: name of the file, for messages.

    Raises:
        AccordError: if every link has a joint that leads to it, or several have none.
    """
    children = {child.get("link") for child in top.findall("joint/child")}
    links = dict.fromkeys(link.get("name", "") for link in top.findall("link"))
    links |= {e.get("link", ""): None for e in top.iterfind("joint/parent[@link='world']")}
    if not (roots := [name for name in links if name not in children]):
        raise AccordError(f"broken description {source}: a loop, no link is the root")
    if len(roots) > 1:
        several = f"{len(roots)} links are roots: {', '.join(roots[:4])}"
        raise AccordError(f"broken description {source}: {several}")
    return roots[0]


def _link_names(top: ET.Element) -> Iterator[tuple[ET.Element, str]]:
    """Yield each element that names a link, and the attribute in which it does."""
    joints = {joint.get("name") for joint in top.findall("joint")}
    for element in top.iter():
        if element.tag in ("parent", "child"):
            yield element, "link"
        elif element.tag == "gazebo" and element.get("reference") not in joints:
            yield element, "reference"
    for link in top.findall("link"):
        yield link, "name"


def plain_xml(text: str) -> str:
    """Return XML without a default namespace, and without blanks before its declaration."""
    return NAMESPACE.sub(r"\1", LEADING.sub(r"\2\1", text, count=1), count=1)


def decode_xml(data: bytes) -> str:
    """Return the text of XML in the encoding that it declares, UTF-8 mostly."""
    with suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    with suppress(ET.ParseError, ValueError):
        return ET.tostring(ET.fromstring(data), encoding="unicode")
    return data.decode("utf-8", "replace")
