"""Colours of a description: a translucent second robot, with links in red where something is wrong.

Bags, RViz and films show the robot of another simulator over the first one; `translucent` makes its
description. The colours and opacities are a matter of taste and may be changed; tests take them
from here.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection

Colour = tuple[float, float, float]
# Red, green, blue of the second robot, and of its links that are marked: by eye.
BLUE, RED = (0.27, 0.43, 0.86), (0.90, 0.10, 0.10)
OPACITY = 0.35  # of the second robot, 0 to 1: by eye, so that the first one is seen through it
RED_OPACITY = 0.9  # of its red links: by eye, nearly opaque, to be seen inside the first robot
# Factor on the size of its shapes: 1 mm at 5 cm, because faces that coincide with those of the
# first robot flicker.
SKIN = 1.02
SIZES = ("size", "radius", "length", "scale")  # URDF's attributes of shapes that are lengths


def translucent(
    urdf: str, opacity: float = OPACITY, red: Collection[str] = (), colour: Colour = BLUE
) -> str:
    """Return a description whose visuals are translucent in one colour, and larger by `SKIN`.

    Args:
        urdf: description of the robot.
        opacity: 0 to 1.
        red: names of links that are red instead.
        colour: red, green and blue of the other links, 0 to 1.
    """
    root = ET.fromstring(urdf)
    for material in root.findall("material"):
        root.remove(material)
    for link in root.findall("link"):
        is_red = link.get("name") in red
        rgba = (*RED, RED_OPACITY) if is_red else (*colour, opacity)
        for visual in link.findall("visual"):
            _paint(visual, "outside" if is_red else "reference", rgba)
            for form in visual.findall("geometry/*"):
                _enlarge(form)
    return ET.tostring(root, encoding="unicode")


def _paint(visual: ET.Element, name: str, colour: tuple[float, ...]) -> None:
    """Replace the material of a visual by one of a name and a colour with opacity (4,)."""
    for material in visual.findall("material"):
        visual.remove(material)
    material = ET.SubElement(visual, "material", name=name)
    ET.SubElement(material, "color", rgba=" ".join(f"{value:g}" for value in colour))


def _enlarge(form: ET.Element) -> None:
    """Multiply the lengths of a shape by SKIN."""
    if form.tag == "mesh":
        form.attrib.setdefault("scale", "1 1 1")
    for name in SIZES:
        if name in form.attrib:
            lengths = map(float, form.get(name, "").split())
            form.set(name, " ".join(f"{SKIN * length:.9g}" for length in lengths))
