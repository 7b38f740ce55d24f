"""All traps of a text, in the order in which they are repaired, and their repair.

A trap may be added: a function in the module of its subject, and its name in FINDERS, which must
come behind all whose repair it needs: edits are made in this order.

A trap is a property of the text. Whether it makes a difference in an engine is decided by ablation
(parity/ablation.py), for which every trap has a repair. Written are those alone that are certain:
that follow from the file, so that the robot stays the same and no number is invented.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection

from roboaccord_files.repair.edits import Change, applied, changes
from roboaccord_files.repair.inertial import inertial_twice
from roboaccord_files.repair.inertias import unphysical
from roboaccord_files.repair.joints import axes, loops, mimic, several_degrees, steep
from roboaccord_files.repair.limits import limits
from roboaccord_files.repair.masses import massless, tiny, weightless
from roboaccord_files.repair.names import (
    blanks,
    duplicates,
    nameless,
    shared_names,
    undeclared_world,
)
from roboaccord_files.repair.trap import Trap


def find_traps(urdf: str) -> list[Trap]:
    """Return the traps of a text, in the order in which they are to be repaired."""
    top = ET.fromstring(urdf)
    found = (find(top) for find in FINDERS)
    return [trap for traps in found for trap in traps if trap.where]


def repaired(urdf: str, traps: Collection[Trap]) -> str:
    """Return a URDF without the traps given; the rest of its text stays."""
    data, edits = urdf.encode(), [(trap.cause, trap.edit) for trap in traps]
    return applied(data, changes(data, edits, "utf-8")).decode()


def written(data: bytes, traps: Collection[Trap]) -> list[Change]:
    """Return what repairs change in a file's text; all of it if elements are in entities."""
    edits = [(trap.cause, trap.edit) for trap in traps]
    try:
        return changes(data, edits) if edits else []
    except ValueError:
        plain = ET.tostring(ET.fromstring(data))
        new = applied(plain, changes(plain, edits))
        return [Change(0, len(data), new, "without its entities")]


FINDERS = (
    undeclared_world, several_degrees, loops, blanks, duplicates, unphysical, weightless,
    massless, tiny, axes, mimic, limits, nameless, inertial_twice, steep, shared_names,
)  # fmt: skip
