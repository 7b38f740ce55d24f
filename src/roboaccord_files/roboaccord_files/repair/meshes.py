"""Find meshes in a wrong unit: far larger, or far smaller, than their robot.

URDF has metres, but many meshes are in millimetres. `wrong_scales` takes the size of a robot from
the origins of its joints: a mesh many times as large, or a robot whose largest mesh is tiny, has
the wrong scale. This is no trap of the text (trap.py): it shows only in the mesh files, and is not
repaired. The rules of `accord check` and parity/reading.py report it.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET

import numpy as np
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.repair.extents import mesh_extent

# Advice on such a mesh.
MILLIMETRES = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
# Relative to the robot's size; a larger mesh is in millimetres. Correct meshes are a few times the
# robot's size at most, and millimetres give a factor of 1000, so 30, the geometric mean of 1 and
# 1000.
TOO_LARGE = 30.0
# Relative to the robot's size; usual size of a mesh, by which the right scale is guessed: that of a
# link of a robot with five links in a row.
USUAL = 0.2
# Relative to the robot's size; if its largest mesh is smaller, meshes are in a larger unit. A
# factor of 1/100 makes USUAL 0.002, and three times that allows for large links.
TOO_SMALL = 0.006


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
    extents = dict[str, float]()  # of the largest mesh of each link that has any
    for link in top.findall("link"):
        if of_meshes := [_extent(file, mesh) for mesh in link.iter("mesh")]:
            extents[link.get("name", "")] = max(of_meshes)
    misscaled = {name: extent for name, extent in extents.items() if extent > TOO_LARGE * size}
    if not misscaled and len(extents) > 1 and 0.0 < max(extents.values()) < TOO_SMALL * size:
        misscaled = {name: extent for name, extent in extents.items() if extent}
    largest = max(misscaled.values(), default=1.0)
    factor = 10.0 ** round(math.log10(USUAL * size / largest))
    return dict.fromkeys(misscaled, factor)


def _extent(file: UrdfFile, mesh: ET.Element) -> float:
    """Return the largest coordinate of a mesh [m].

    Of a mesh whose file is not found it is the scale, if that is 1000 or more, and else 0.
    """
    scale = max(abs(float(word)) for word in mesh.get("scale", "1 1 1").split())
    path = file.find(mesh.get("filename", ""))
    extent = mesh_extent(path) if path else None
    if extent:
        return scale * extent.coordinate
    return scale if scale >= 1e3 else 0.0
