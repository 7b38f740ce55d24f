"""Meshes in another unit: those far larger, or far smaller, than their robot.

LARGE may be tuned, between robots whose meshes are large and a factor of 1000, and SMALL between
those with small meshes and a factor of 1/100. MILLIMETRES,
the cure that `accord parity` prints, may be reworded. What must stay: nothing repairs it, and
FINDERS (find.py) has no entry for it, since the text alone does not show it.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.repair.extents import mesh_extent

MILLIMETRES = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
LARGE = 30.0  # a mesh so many times the size of the robot is in millimetres
SMALL = 0.006  # of the size of a robot: its largest mesh is smaller only in a larger unit
OWN = 0.2  # of the size of a robot: a mesh mostly, by which its scale is guessed


def large_meshes(file: UrdfFile) -> tuple[str, ...]:
    """Return the links whose mesh is far larger than the robot: 1000 times, mostly."""
    return tuple(name for name, factor in wrong_scales(file).items() if factor < 1.0)


def wrong_scales(file: UrdfFile) -> dict[str, float]:
    """Return the links whose mesh is far too large or small, and by what power of ten to scale it.

    A file that has no joints, or all in one place, has no size with which a mesh could be compared.
    """
    top = ET.fromstring(file.text)
    offsets = [e.get("xyz", "0 0 0").split() for e in top.findall("joint/origin")]
    size = sum(float(np.linalg.norm([float(x) for x in xyz])) for xyz in offsets)
    if not size:
        return {}
    size = max(0.1, size)
    extents = {
        link.get("name", ""): max(_extent(file, mesh) for mesh in link.iter("mesh"))
        for link in top.findall("link") if link.find(".//mesh") is not None
    }  # fmt: skip
    wrong = {name: extent for name, extent in extents.items() if extent > LARGE * size}
    if not wrong and len(extents) > 1 and 0.0 < max(extents.values()) < SMALL * size:
        wrong = {name: extent for name, extent in extents.items() if extent}
    largest = max(wrong.values(), default=1.0)
    factor = 10.0 ** round(math.log10(OWN * size / largest))
    return dict.fromkeys(wrong, factor)


def _extent(file: UrdfFile, mesh: ET.Element) -> float:
    """Return the largest coordinate of a mesh [m]; its scale where the file is not found."""
    scale = max(abs(float(word)) for word in mesh.get("scale", "1 1 1").split())
    path = file.find(mesh.get("filename", ""))
    found = mesh_extent(path) if path else None
    if found:
        return scale * found.coordinate
    return scale if scale >= 1e3 else 0.0
