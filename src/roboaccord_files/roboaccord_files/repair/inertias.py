"""Find traps of inertias: tensors that no body can have, or that only round-off makes so.

A trap is text that readers interpret differently or refuse (trap.py). Principal moments must be
positive, and none may be larger than the sum of the others. A repair is certain if it keeps the
body: a sign is turned, or a moment is raised by 1e-9 of the largest; a tensor that is wrong
altogether needs numbers from the user. Names of traps are names of rules, too, and stay.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.repair.inertial import change_inertia, inertials
from roboaccord_files.repair.masses import MOMENT
from roboaccord_files.repair.trap import Trap

REFUSED = 1e-14  # kg m^2; MuJoCo refuses smaller principal moments (mjEPS of its compiler)
LEAST = 2.0 * REFUSED  # kg m^2; smallest principal moment after a repair that raises it
# Relative to the largest moment: rounding of the numbers in a file, and round-off of eigenvalues.
# Nine digits are more than files have; 1e-12 is 5000 eps.
ROUND, SLACK = 1e-9, 1e-12


def unphysical(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of inertias that are not physical, or are so only by round-off."""
    faults = {name: _fault(mass, inertia) for name, (mass, inertia) in inertials(top).items()}
    bad, thin = "non-physical inertia", "zero principal moment"
    for fault, cause, change, fix in (
        ("negative", bad, _upright, "reverse the negative moment's sign: no other entry is wrong"),
        ("rounded", "rounded inertia", _nudged,
         "raise the moment that rounding cut, by 1e-9 of it"),
        ("broken", bad, _sphere, "correct the inertia: no body has these principal moments"),
        ("flat", thin, _nudged, "give the link a thickness: 1e-9 of its largest moment is enough"),
        ("point", thin, _sphere, "give the link an inertia: one of 0 is refused"),
        ("vanishing", "vanishing inertia", _sphere,
         "give it its inertia, or take <inertial> away"),
    ):  # fmt: skip
        names = tuple(name for name in faults if faults[name] == fault)
        certain = change is not _sphere
        needs = "" if certain else "inertia"
        yield Trap(cause, names, fix, change_inertia(change), certain, needs=needs)


def _fault(mass: float, inertia: Array) -> str:
    """Return in a word what is wrong with the inertia (3, 3) of a link; "" if nothing is."""
    moments, short = np.linalg.eigvalsh(inertia), shortage(inertia)
    if mass <= 0.0 and not inertia.any():
        return ""
    if short > SLACK * abs(moments[2]):
        if np.sum(np.diag(inertia) < 0.0) == 1 and shortage(_upright(inertia)) <= 0.0:
            return "negative"
        return "rounded" if short <= ROUND * moments[2] else "broken"
    if moments[0] <= SLACK * moments[2]:
        return "flat" if moments[2] >= LEAST / ROUND else "point"
    if moments[0] < REFUSED:
        return "vanishing"
    return "rounded" if _is_on_edge(inertia) else ""


def shortage(inertia: Array) -> float:
    """Return by how much principal moments break a condition [kg m^2]; 0 or less if none is broken.

    The conditions: no moment is negative, and the largest is at most the sum of the others.
    """
    moments = np.linalg.eigvalsh(inertia)
    return float(max(-moments[0], moments[2] - moments[1] - moments[0]))


def moments_text(inertia: Array) -> str:
    """Return the condition that the principal moments of an inertia (3, 3) break, in words."""
    moments = np.linalg.eigvalsh(inertia)
    first, second, third = (f"{moment:.6g}" for moment in moments)
    if moments[0] < 0.0:
        return f"{first} kg m^2 is below 0"
    return f"{third} kg m^2 is more than {first} + {second}"


def _is_on_edge(inertia: Array) -> bool:
    """Return whether round-off decides if the largest moment is more than the sum of the others."""
    first, second, third = np.linalg.eigvalsh(inertia)
    if np.count_nonzero(inertia - np.diag(np.diag(inertia))):
        return bool(abs(third - second - first) <= SLACK * third)
    return bool(first + second < third)


def _upright(inertia: Array) -> Array:
    """Return an inertia with the signs of negative diagonal entries turned."""
    return np.asarray(inertia + 2.0 * np.diag(np.maximum(-np.diag(inertia), 0.0)))


def _nudged(inertia: Array) -> Array:
    """Return a physical inertia near to one that is nearly so: one entry raised, or all three."""
    largest = np.linalg.eigvalsh(inertia)[2]
    step = float(f"{max(shortage(inertia), 0.0) + ROUND * largest:.1e}")
    order = np.argsort(np.diag(inertia))
    for rows in (*order[:, None], order):
        new = inertia.copy()
        new[rows, rows] += step
        if shortage(new) < 0.0:
            break
    return new


def _sphere(inertia: Array) -> Array:
    """Return the inertia of a sphere with the same trace; that of MOMENT if it is not positive."""
    return np.eye(3) * max(float(np.trace(inertia)) / 3.0, MOMENT)
