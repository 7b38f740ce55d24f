"""Meshes in millimetres: those far larger than their robot.

LARGE may be tuned: between robots whose meshes are large and a factor of 1000. MILLIMETRES, the
cure that the rule `mesh-scale` and `accord parity` print, may be reworded. What must stay: nothing
repairs it, and FINDERS (find.py) has no entry for it, since the text alone does not show it.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.repair.extents import mesh_extent

MILLIMETRES = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
LARGE = 30.0  # a mesh so many times the size of the robot is in millimetres


def large_meshes(file: UrdfFile) -> tuple[str, ...]:
    """Return the links whose mesh is far larger than the robot: 1000 times, mostly.

    A file whose joints are all in one place, or that has none, has no size to hold a mesh against.
    """
    top = ET.fromstring(file.text)
    offsets = [e.get("xyz", "0 0 0").split() for e in top.findall("joint/origin")]
    size = sum(float(np.linalg.norm([float(x) for x in each])) for each in offsets)
    if not size:
        return ()
    size = max(0.1, size)
    return tuple(
        dict.fromkeys(
            link.get("name", "")
            for link in top.findall("link")
            for mesh in link.iter("mesh")
            if _extent(file, mesh) > LARGE * size
        )
    )


def _extent(file: UrdfFile, mesh: ET.Element) -> float:
    """Return the largest coordinate of a mesh [m]; its scale where the file is not found."""
    scale = max(abs(float(word)) for word in mesh.get("scale", "1 1 1").split())
    path = file.find(mesh.get("filename", ""))
    found = mesh_extent(path) if path else None
    if found:
        return scale * found.coordinate
    return scale if scale >= 1e3 else 0.0
