"""Read and write the <inertial> element of a link, and find links that have two of them.

`give_inertia` and `change_inertia` return the repairs that masses.py and inertias.py use: functions
that take the parsed <robot> element of a URDF and the names of links, and change the XML of these
links. Attributes whose value does not change keep the digits in which they were written.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.tree import MOMENTS, symmetric

from roboaccord_files.repair.trap import RepairFunction, Trap, named_elements, remove_children


def inertials(top: ET.Element) -> dict[str, tuple[float, Array]]:
    """Return mass [kg] and inertia (3, 3) [kg m^2], by name of each link that has an inertial.

    The inertia is about the centre of mass, in the axes of the inertial's own <origin>.
    """
    elements = ((link.get("name", ""), link.find("inertial")) for link in top.findall("link"))
    return {name: read_inertial(inertial) for name, inertial in elements if inertial is not None}


def read_inertial(inertial: ET.Element, missing: str = "0") -> tuple[float, Array]:
    """Return mass [kg] and inertia (3, 3) [kg m^2] of an inertial, in its own axes.

    Args:
        inertial: the element.
        missing: text of the number that stands for an absent attribute or element.
    """
    mass, tensor = inertial.find("mass"), inertial.find("inertia")
    moments = {} if tensor is None else tensor.attrib
    kilograms = missing if mass is None else mass.get("value", missing)
    return float(kilograms), symmetric([float(moments.get(key, missing)) for key in MOMENTS])


def write_inertial(link: ET.Element, mass: float, inertia: Array) -> None:
    """Write mass [kg] and inertia (3, 3) [kg m^2] of a link; its centre of mass stays."""
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ET.SubElement(link, "inertial")
    moments = dict(zip(MOMENTS, inertia[np.triu_indices(3)], strict=True))
    for tag, numbers in (("mass", {"value": mass}), ("inertia", moments)):
        element = inertial.find(tag)
        if element is None:
            element = ET.SubElement(inertial, tag)
        _set_numbers(element, numbers)


def _set_numbers(element: ET.Element, values: Mapping[str, float]) -> None:
    """Set attributes of an element to numbers; those that already have the value stay as written.

    A number is written with the fewest digits from which the same float is read.
    """
    for key, value in values.items():
        if key not in element.attrib or float(element.attrib[key]) != value:
            element.set(key, repr(float(value)).removesuffix(".0"))


def give_inertia(mass: float, moment: float) -> RepairFunction:
    """Return the repair that sets the mass [kg] of links and three equal moments [kg m^2]."""

    def repair(top: ET.Element, names: Collection[str]) -> None:
        """Write the same mass and moments into all named links."""
        for link, _ in named_elements(top, "link", names):
            write_inertial(link, mass, moment * np.eye(3))

    return repair


def change_inertia(change: Callable[[Array], Array]) -> RepairFunction:
    """Return the repair that applies a function to the inertias (3, 3) [kg m^2] of links."""

    def repair(top: ET.Element, names: Collection[str]) -> None:
        """Change the inertias of all named links; their masses stay."""
        inertial_of = inertials(top)
        for link, name in named_elements(top, "link", names):
            mass, inertia = inertial_of[name]
            write_inertial(link, mass, change(inertia))

    return repair


def inertial_twice(top: ET.Element) -> Iterator[Trap]:
    """Yield the trap of links with two inertials, of which readers take one or the other."""
    links = (link for link in top.findall("link") if len(link.findall("inertial")) > 1)
    names = tuple(link.get("name", "") for link in links)
    advice = "keep one: readers take the first, or the last, or refuse the file"
    keep_first = remove_children("link", "inertial", first=1)
    yield Trap("inertial twice", names, advice, keep_first, certain=False)
