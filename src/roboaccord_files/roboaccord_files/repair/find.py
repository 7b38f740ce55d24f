"""Find the traps of a URDF, and repair its text.

A trap is a passage in a URDF that engines read differently or refuse, such as a mass of 0 or a
mimic joint (trap.py). Each has a repair of the text. Whether a trap matters to an engine is decided
by ablation: the engine reads the text with and without it (parity/ablation.py). A repair is written
into the user's file (`accord parity --repair`) only if it is certain, which means that it follows
from the file: the robot stays the same, and no number is invented.

A new trap is a function in the module of its subject, and its name in FINDERS. Repairs are made in
the order of FINDERS, so a trap must come after those whose repair it relies on.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection

from roboaccord_files.repair import inertial, inertias, joints, limits, masses, names
from roboaccord_files.repair.edits import Change, applied, changes
from roboaccord_files.repair.trap import Trap


def find_traps(urdf: str) -> list[Trap]:
    """Return the traps of a URDF, in the order in which they are to be repaired."""
    top = ET.fromstring(urdf)
    by_finder = (find(top) for find in FINDERS)
    return [trap for traps in by_finder for trap in traps if trap.where]


def repaired(urdf: str, traps: Collection[Trap]) -> str:
    """Return a URDF in which the given traps are repaired; the rest of its text stays as it is."""
    data, edits = urdf.encode(), [(trap.cause, trap.edit) for trap in traps]
    return applied(data, changes(data, edits, "utf-8")).decode()


def changes_for(data: bytes, traps: Collection[Trap]) -> list[Change]:
    """Return the changes of a file's bytes that repair the given traps.

    Elements from XML entities are not in the file itself; if there are any, the only change
    replaces the whole file by its text with entities expanded.
    """
    edits = [(trap.cause, trap.edit) for trap in traps]
    try:
        return changes(data, edits) if edits else []
    except ValueError:
        plain = ET.tostring(ET.fromstring(data))
        new = applied(plain, changes(plain, edits))
        return [Change(0, len(data), new, "without its entities")]


# Functions that yield the traps of a parsed text, in the order in which traps are repaired.
FINDERS = (
    names.undeclared_world, joints.several_degrees, joints.loops, names.blanks, names.duplicates,
    inertias.unphysical, masses.weightless, masses.massless, masses.tiny, joints.axes, joints.mimic,
    limits.limits, names.nameless, inertial.inertial_twice, joints.steep, names.shared_names,
)  # fmt: skip
