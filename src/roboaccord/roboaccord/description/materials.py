"""Colours of a description: the same robot translucent, and red where something is off.

BLUE, RED, OPACITY, RED_OPACITY and SKIN are a matter of taste and may be changed; tests take them
from here. Second robots of bags, RViz and films are made with them. SIZES is fixed: attributes of
URDF; a further form of link needs its own there.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection

Colour = tuple[float, float, float]
BLUE, RED = (0.27, 0.43, 0.86), (0.90, 0.10, 0.10)
OPACITY = 0.35  # of a second robot
RED_OPACITY = 0.9
SKIN = 1.02  # times as large: faces that coincide with those of a first robot flicker
SIZES = ("size", "radius", "length", "scale")  # attributes of the forms


def translucent(
    urdf: str, opacity: float = OPACITY, red: Collection[str] = (), colour: Colour = BLUE
) -> str:
    """Return a description whose visuals are translucent in one colour, and larger by `SKIN`.

    Args:
        urdf: description of the robot.
        opacity: 0 to 1.
        red: names of links that are red instead.
        colour: of the others.
    """
    root = ET.fromstring(urdf)
    for material in root.findall("material"):
        root.remove(material)
    for link in root.findall("link"):
        off = link.get("name") in red
        rgba = (*RED, RED_OPACITY) if off else (*colour, opacity)
        for visual in link.findall("visual"):
            _paint(visual, "outside" if off else "reference", rgba)
            for form in visual.findall("geometry/*"):
                _enlarge(form)
    return ET.tostring(root, encoding="unicode")


def _paint(visual: ET.Element, name: str, colour: tuple[float, ...]) -> None:
    for material in visual.findall("material"):
        visual.remove(material)
    material = ET.SubElement(visual, "material", name=name)
    ET.SubElement(material, "color", rgba=" ".join(f"{value:g}" for value in colour))


def _enlarge(form: ET.Element) -> None:
    if form.tag == "mesh":
        form.attrib.setdefault("scale", "1 1 1")
    for name in SIZES:
        if name in form.attrib:
            form.set(
                name, " ".join(f"{SKIN * float(word):.9g}" for word in form.get(name, "").split())
            )
