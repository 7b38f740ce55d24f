"""The <inertial> of a link: reading, writing, and the trap (read differently) of two in one link.

`give` and `change_inertia` are the edits of masses.py and inertias.py: traps may be added there,
each with one of them. Numbers that stay are left in their own digits, which `_put` sees to; AXES,
the order of the upper triangle of a matrix, is fixed by URDF.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import symmetric

from roboaccord_files.repair.trap import Edit, Trap, each_of

AXES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def inertials(top: ET.Element) -> dict[str, tuple[float, Array]]:
    """Return mass and inertia (3, 3) of each link that has an inertial, in the inertial's axes."""
    every = ((link.get("name", ""), link.find("inertial")) for link in top.findall("link"))
    return {name: read_inertial(each) for name, each in every if each is not None}


def read_inertial(inertial: ET.Element, missing: str = "0") -> tuple[float, Array]:
    """Return mass [kg] and inertia (3, 3) in its own axes; what is left out is `missing`."""
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    moments = {} if tensor is None else tensor.attrib
    kilograms = missing if mass is None else mass.get("value", missing)
    return float(kilograms), symmetric([float(moments.get(key, missing)) for key in AXES])


def write_inertial(link: ET.Element, mass: float, inertia: Array) -> None:
    """Write mass and inertia of a link where they are others, its centre of mass kept."""
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ET.SubElement(link, "inertial")
    values = {"mass": {"value": mass}}
    values["inertia"] = dict(zip(AXES, inertia[np.triu_indices(3)], strict=True))
    for tag in values:
        element = inertial.find(tag)
        _put(ET.SubElement(inertial, tag) if element is None else element, values[tag])


def _put(element: ET.Element, values: Mapping[str, float]) -> None:
    """Write those numbers of an element that are others, in as many digits as they have."""
    for key, value in values.items():
        if key not in element.attrib or float(element.attrib[key]) != value:
            element.set(key, repr(float(value)).removesuffix(".0"))


def give(mass: float, moment: float) -> Edit:
    """Return what gives links a mass [kg] and an inertia of equal moments [kg m^2]."""

    def repair(top: ET.Element, places: Collection[str]) -> None:
        for link, _ in each_of(top, "link", places):
            write_inertial(link, mass, moment * np.eye(3))

    return repair


def change_inertia(change: Callable[[Array], Array]) -> Edit:
    """Return what makes other inertias of those that are there."""

    def repair(top: ET.Element, places: Collection[str]) -> None:
        found = inertials(top)
        for link, name in each_of(top, "link", places):
            write_inertial(link, found[name][0], change(found[name][1]))

    return repair


def inertial_twice(top: ET.Element) -> Iterator[Trap]:
    """Yield links with two inertials."""
    names = tuple(e.get("name", "") for e in top.findall("link") if len(e.findall("inertial")) > 1)

    def keep_first(top: ET.Element, places: Collection[str]) -> None:
        for link, _ in each_of(top, "link", places):
            for inertial in link.findall("inertial")[1:]:
                link.remove(inertial)

    fix = "keep one: readers take the first, or the last, or refuse the file"
    yield Trap("inertial twice", names, fix, keep_first, certain=False)
