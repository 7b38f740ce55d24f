"""A robot's URDF as the rules read it: elements by name, line numbers, and sizes of links.

`Source` computes what several rules need, once and on demand; find.py gives it to all of them. A
link whose size cannot be determined is not in `sizes`, and no rule judges it by its size.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from contextlib import suppress
from functools import cached_property
from xml.parsers.expat import ExpatError

from roboaccord.description.source import numbers, parse_lines
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.repair.extents import mesh_extent
from roboaccord_files.repair.meshes import wrong_scales

# m; shapes that do not reach as far mark frames and sensors, and allow no conclusion about the
# mass: a steel ball of 1 cm radius has 33 g.
TINY = 0.02


class Source:
    """A URDF whose elements know their lines.

    Args:
        file: the file as it was read.

    Attributes:
        top: the element <robot>.
    """

    def __init__(self, file: UrdfFile) -> None:
        self.file = file
        self.top, self._lines = parse_lines(file.text)
        self._expanded = file.path.suffix == ".xacro" or bool(file.notes)

    def line(self, element: ET.Element) -> int:
        """Return the line of an element; in a xacro file the first line with its name."""
        if not self._expanded:
            return self._lines[element]
        while element.get("name") is None and element in self.parents:
            element = self.parents[element]
        attribute = f'name="{element.get("name")}"'
        return next((i for i, line in enumerate(self._written, 1) if attribute in line), 1)

    @cached_property
    def parents(self) -> dict[ET.Element, ET.Element]:
        """The element around each element."""
        return {child: parent for parent in self.top.iter() for child in parent}

    @cached_property
    def original(self) -> ET.Element | None:
        """The element <sdf> of the file from which this URDF was converted; None for a URDF."""
        try:
            top, _ = parse_lines("\n".join(self._written))
        except (OSError, ValueError, ExpatError):
            return None
        return top if top.tag == "sdf" else None

    @cached_property
    def _written(self) -> list[str]:
        """The lines of the file as it was written, before xacro or conversion."""
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
    def parts(self) -> tuple[ET.Element, ...]:
        """All links, then all joints."""
        return (*self.top.findall("link"), *self.top.findall("joint"))

    @cached_property
    def misscaled(self) -> dict[str, float]:
        """The power of ten by which to scale meshes in a wrong unit, by name of the link."""
        with suppress(ValueError):  # raised for text where a number must be
            return wrong_scales(self.file)
        return {}

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Largest distance of each link's shapes from its origin [m], as far as it is known."""
        shapes = {name: link.iterfind("*/geometry") for name, link in self.links.items()}
        reaches = {name: max(map(self._reach, shapes[name]), default=0.0) for name in shapes}
        return {name: reach for name, reach in reaches.items() if reach}

    def _reach(self, geometry: ET.Element) -> float:
        """Return the largest distance of a shape from its link's origin [m]; 0 if unknown."""
        offset = norm(numbers(self.parents[geometry].find("origin"), "xyz"))
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


def norm(values: list[float]) -> float:
    """Return the length of a vector."""
    return math.hypot(*values)
