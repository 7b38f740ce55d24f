"""Numbers in the attributes of XML elements: read, written and changed.

`write_numbers` keeps all digits, because engines are compared to round-off. Defaults of attributes,
such as `0 0 0`, are given by the caller, as URDF states them. solids.py reads numbers with a
refusal.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import numpy as np

from roboaccord.contract.state import Array

ZEROS = "0 0 0"  # default of `xyz` and `rpy` in a URDF


def numbers(element: ET.Element | None, key: str, default: str = ZEROS) -> Array:
    """Return the numbers of an attribute (k,), or those of the default if it is missing."""
    text = element.get(key) if element is not None else None
    return np.array([float(word) for word in (text or default).split()])


def number(element: ET.Element | None, key: str, default: float) -> float:
    """Return a number of an element; the default where there is no element or no such number."""
    return default if element is None else float(element.get(key, default))


def write_numbers(element: ET.Element, key: str, values: Array) -> None:
    """Write numbers into an attribute, with all their digits."""
    element.set(key, " ".join(repr(float(value)) for value in values))


def edit_numbers(
    element: ET.Element, tag: str, key: str, change: Callable[[Array], Array], default: str = ZEROS
) -> None:
    """Change the numbers of an attribute of a child element, which is made if it is missing.

    Args:
        element: parent.
        tag: of the child.
        key: of the attribute.
        change: returns the new numbers from the old.
        default: numbers of a missing attribute.
    """
    child = element.find(tag)
    if child is None:
        child = ET.SubElement(element, tag)
    write_numbers(child, key, change(numbers(child, key, default)))
