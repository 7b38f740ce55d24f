"""A URDF whose elements know their lines, and what the rules ask of them."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from functools import cached_property
from xml.parsers import expat

from roboaccord.description.extents import mesh_extent
from roboaccord.description.urdf_file import UrdfFile

NUMBERS: Mapping[str, tuple[str, ...]] = {
    "origin": ("xyz", "rpy"),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "dynamics": ("damping", "friction"),
    "limit": ("lower", "upper", "effort", "velocity"),
    "mimic": ("multiplier", "offset"),
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("scale",),
}
"""Attributes that hold numbers, by element."""
Found = Iterator[tuple[str, ET.Element, str, str]]
"""Rule, element, message and cure."""


class Source:
    """Hold a URDF whose elements know their lines.

    Args:
        file: as read.

    Attributes:
        top: the element `robot`.
    """

    def __init__(self, file: UrdfFile) -> None:
        self.file = file
        self.top, self._lines = parse_lines(file.text)
        self._expanded = file.expanded

    def line(self, element: ET.Element) -> int:
        """Return the line of an element; in a xacro file that of its name."""
        if not self._expanded:
            return self._lines[element]
        while (name := element.get("name")) is None and element in self.parents:
            element = self.parents[element]
        wanted = f'name="{name}"'
        return next((i for i, line in enumerate(self._written, 1) if wanted in line), 1)

    @cached_property
    def parents(self) -> dict[ET.Element, ET.Element]:
        """The element around each element."""
        return {child: parent for parent in self.top.iter() for child in parent}

    @cached_property
    def _written(self) -> list[str]:
        return self.file.path.read_text(encoding="utf-8", errors="replace").splitlines()

    @cached_property
    def links(self) -> dict[str, ET.Element]:
        """The links, by name."""
        return {e.get("name", ""): e for e in self.top.findall("link")}

    @cached_property
    def joints(self) -> dict[str, ET.Element]:
        """The joints, by name."""
        return {e.get("name", ""): e for e in self.top.findall("joint")}

    @cached_property
    def sizes(self) -> dict[str, float]:
        """How far the shapes of each link reach from its origin [m]; without what is not known."""
        found = {name: max(map(self._reach, link.iterfind("*/geometry")), default=0.0)
                 for name, link in self.links.items()}  # fmt: skip
        return {name: size for name, size in found.items() if size}

    def _reach(self, geometry: ET.Element) -> float:
        around = self.parents[geometry].find("origin")
        offset = norm(numbers(around, "xyz")) if around is not None else 0.0
        for shape in geometry:
            if shape.tag == "box":
                return offset + 0.5 * norm(numbers(shape, "size"))
            if shape.tag in ("sphere", "cylinder", "capsule"):
                radius, length = numbers(shape, "radius"), numbers(shape, "length")
                return offset + math.hypot(sum(radius), 0.5 * sum(length))
            path = self.file.find(shape.get("filename", ""))
            if shape.tag == "mesh" and path and (extent := mesh_extent(path)):
                scale = max(map(abs, numbers(shape, "scale")), default=1.0)
                return offset + scale * extent.distance
        return 0.0


def parse_lines(text: str) -> tuple[ET.Element, dict[ET.Element, int]]:
    """Return the top element of a text, and the line of each element."""
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()
    lines = dict[ET.Element, int]()

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(text, True)
    return builder.close(), lines


def numbers(element: ET.Element | None, key: str) -> list[float]:
    """Return the numbers of an attribute; none where it is not there, or holds something else."""
    try:
        return [] if element is None else [float(w) for w in element.get(key, "").split()]
    except ValueError:
        return []


def norm(values: list[float]) -> float:
    """Return the length of a vector."""
    return math.hypot(*values)


def label(element: ET.Element) -> str:
    """Return a link or joint by its name."""
    return f"{element.tag} {element.get('name')}"


def end(joint: ET.Element, tag: str) -> str:
    """Return the link of a joint's `parent` or `child`, "" where it has none."""
    found = joint.find(tag)
    return "" if found is None else found.get("link", "")
