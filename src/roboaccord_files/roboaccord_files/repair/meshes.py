"""Find meshes in a wrong unit: far larger, or far smaller, than their robot.

URDF has metres, but many meshes are in millimetres. The size of a robot is taken from the origins
of its joints; a mesh many times as large, or a robot whose largest mesh is tiny, has the wrong
scale. This is no trap of the text (trap.py): it shows only in the mesh files, and is not repaired.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.repair.extents import mesh_extent

MILLIMETRES = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
# Of the robot's size; a larger mesh is in millimetres. Sound robots have meshes a few times their
# size at most, and millimetres give a factor of 1000. So 30, the geometric mean of 1 and 1000.
LARGE = 30.0
# Of the robot's size; if its largest mesh is smaller, meshes are in a larger unit (factor 1/100):
# OWN / 100 is 0.002, and three times that allows for large links.
SMALL = 0.006
# Of the robot's size; typical size of a mesh, by which the right scale is guessed: with five links
# in a row, one.
OWN = 0.2


def large_meshes(file: UrdfFile) -> tuple[str, ...]:
    """Return the links whose mesh is far larger than the robot, mostly 1000 times."""
    return tuple(name for name, factor in wrong_scales(file).items() if factor < 1.0)


def wrong_scales(file: UrdfFile) -> dict[str, float]:
    """Return the power of ten by which to scale the mesh of each link that is too large or small.

    A robot without joints, or with all of them in one place, has no size to compare with.
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
    extent = mesh_extent(path) if path else None
    if extent:
        return scale * extent.coordinate
    return scale if scale >= 1e3 else 0.0
