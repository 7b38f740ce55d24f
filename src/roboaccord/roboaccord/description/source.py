"""A URDF whose elements know their lines in the file, and the numbers and names in them.

Checks and rules for robot files use it, because their messages name FILE:LINE. The functions only
read; callers report what is wrong. NUMBERS, the attributes that URDF defines as numbers, may be
extended where a dialect has more; an attribute that is missing there is not checked.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from xml.parsers import expat

from roboaccord.description.tree import MOMENTS

# Attributes that hold numbers, by element.
NUMBERS: Mapping[str, tuple[str, ...]] = {
    "origin": ("xyz", "rpy"), "axis": ("xyz",), "mass": ("value",), "inertia": MOMENTS,
    "dynamics": ("damping", "friction"), "mimic": ("multiplier", "offset"),
    "limit": ("lower", "upper", "effort", "velocity"), "mesh": ("scale",), "box": ("size",),
    "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"),
    "drake:rotor_inertia": ("value",), "drake:gear_ratio": ("value",),
}  # fmt: skip


def parse_lines(text: str) -> tuple[ET.Element, dict[ET.Element, int]]:
    """Return the top element of an XML text, and the line of each element, counted from 1."""
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()
    lines = dict[ET.Element, int]()

    def start(tag: str, attributes: dict[str, str]) -> None:
        """Make an element, and note its line."""
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(text, True)
    return builder.close(), lines


def numbers(element: ET.Element | None, key: str) -> list[float]:
    """Return the numbers of an attribute; [] if it is missing or not all words are numbers."""
    try:
        return [] if element is None else [float(w) for w in element.get(key, "").split()]
    except ValueError:
        return []


def label(element: ET.Element) -> str:
    """Return how messages name a link or joint: its kind and its name."""
    return f"{element.tag} {element.get('name')}"


def end(joint: ET.Element, tag: str) -> str:
    """Return the name of the link in a joint's `parent` or `child`, "" if there is none."""
    element = joint.find(tag)
    return "" if element is None else element.get("link", "")
