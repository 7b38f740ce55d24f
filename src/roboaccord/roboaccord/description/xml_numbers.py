"""Numbers in the attributes of a description's elements: read, written and changed.

`write_numbers` must keep all digits, because engines and what they are checked by are compared to
round-off. Functions for other attributes may be added. Defaults of attributes (`0 0 0`, or `0 0 1`
of an axis) are the caller's to give, as URDF states them. Reading with a refusal is in solids.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np

from roboaccord.contract.state import Array


def numbers(element: ET.Element | None, key: str, default: str = "0 0 0") -> Array:
    """Return the numbers of an attribute; those of the default where it is not there."""
    text = element.get(key) if element is not None else None
    return np.array([float(word) for word in (text or default).split()])


def write_numbers(element: ET.Element, key: str, values: Array) -> None:
    """Write numbers into an attribute, with all their digits."""
    element.set(key, " ".join(repr(float(value)) for value in values))


def edit_numbers(
    element: ET.Element,
    tag: str,
    key: str,
    change: Callable[[Array], Array],
    default: str = "0 0 0",
) -> None:
    """Change the numbers of an attribute of a child, which is made where there is none."""
    child = element.find(tag)
    if child is None:
        child = ET.SubElement(element, tag)
    write_numbers(child, key, change(numbers(child, key, default)))
