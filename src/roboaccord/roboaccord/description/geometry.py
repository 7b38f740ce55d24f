"""Geometry of a URDF's visual and collision elements: form, dimensions and pose."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.numerics.rotations import rpy_matrix


@dataclass(frozen=True)
class Geometry:
    """Hold one form in the frame of its link.

    Args:
        form: box, cylinder, sphere or mesh, or whatever else the URDF says.
        position: of its frame (3,) [m].
        rotation: from its frame to the link's (3, 3).
        size: of a box (3,) [m].
        radius, length: of a cylinder along z, or of a sphere [m].
        file: of a mesh, as the URDF names it.
        scale: of a mesh (3,).
    """

    form: str
    position: Array
    rotation: Array
    size: Array
    radius: float
    length: float
    file: str
    scale: Array

    def placed(self, points: Array) -> Array:
        """Return points (m, 3) [m] of the form's frame in the link's."""
        return points @ self.rotation.T + self.position


def read_geometry(element: ET.Element) -> Geometry:
    """Return the geometry of a `<visual>` or `<collision>` element.

    Raises:
        ValueError: if it has none, or a number is missing or none.
    """
    form = element.find("geometry/*")
    if form is None:
        raise ValueError("it has no geometry")
    needed = {"box": ("size",), "cylinder": ("radius", "length"), "sphere": ("radius",)}
    for key in needed.get(form.tag, ("filename",) if form.tag == "mesh" else ()):
        if form.get(key) is None:
            raise ValueError(f"its {form.tag} has no {key}")
    origin = element.find("origin")
    return Geometry(
        form=form.tag,
        position=numbers_of(origin, "xyz"),
        rotation=rpy_matrix(*numbers_of(origin, "rpy")),
        size=numbers_of(form, "size"),
        radius=float(form.get("radius", "0")),
        length=float(form.get("length", "0")),
        file=form.get("filename", ""),
        scale=numbers_of(form, "scale", (1.0, 1.0, 1.0)),
    )


def numbers_of(
    element: ET.Element | None, key: str, default: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> Array:
    """Return the three numbers of an attribute (3,), or a default where it is not there.

    Raises:
        ValueError: for something else.
    """
    text = element.get(key) if element is not None else None
    values = np.array([float(word) for word in text.split()] if text else default)
    if values.shape != (3,):
        raise ValueError(f"{key} is {text!r}, not three numbers")
    return values
