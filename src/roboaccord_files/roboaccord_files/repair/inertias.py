"""Find traps of inertias: tensors that no body can have, or that only round-off makes impossible.

A trap is text in a URDF that readers interpret differently or refuse (trap.py). The principal
moments of a body are positive, and none is larger than the sum of the other two. `unphysical` takes
the parsed <robot> element and yields one `Trap` for each kind of fault: the links that have it,
advice, and a function that repairs them. find.py calls it. A repair is certain if it keeps the
body: a sign is reversed, or a moment is raised by 1e-9 of the largest. A tensor that is wrong
altogether needs numbers from the user. Names of traps are names of rules, too, and stay.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import numpy as np
from roboaccord.contract.state import Array

from roboaccord_files.repair.inertial import change_inertia, inertials
from roboaccord_files.repair.masses import MOMENT
from roboaccord_files.repair.trap import RepairFunction, Trap

# kg m^2; MuJoCo refuses smaller principal moments (mjEPS of its compiler).
MIN_MUJOCO_MOMENT = 1e-14
# kg m^2; smallest principal moment after a repair that raises it: twice, so that the rounding of
# the digits in a file does not bring it below. It changes no motion.
MIN_RAISED_MOMENT = 2.0 * MIN_MUJOCO_MOMENT
# Relative to the largest moment: rounding of the numbers in a file. Files have fewer than nine
# digits.
FILE_ROUNDING = 1e-9
# Relative to the largest moment: round-off of eigenvalues, 5000 eps. Their errors are some eps, and
# digits of a file differ by a thousand times as much (FILE_ROUNDING).
EIGENVALUE_ROUND_OFF = 1e-12


def unphysical(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of inertias that are not physical, or are so only by round-off."""
    faults = {name: _fault(mass, inertia) for name, (mass, inertia) in inertials(top).items()}
    impossible, thin = "non-physical inertia", "zero principal moment"

    def trap(fault: str, cause: str, advice: str, repair: RepairFunction, needs: str = "") -> Trap:
        """Return the trap of all links with a fault; a repair that needs no number is certain."""
        names = tuple(name for name in faults if faults[name] == fault)
        return Trap(cause, names, advice, repair, certain=not needs, needs=needs)

    raise_moment, make_sphere = change_inertia(_raised), change_inertia(_sphere)
    advice = "reverse the negative moment's sign: no other entry is wrong"
    yield trap("negative", impossible, advice, change_inertia(_with_positive_diagonal))
    advice = "raise the moment that rounding cut, by 1e-9 of it"
    yield trap("rounded", "rounded inertia", advice, raise_moment)
    advice = "correct the inertia: no body has these principal moments"
    yield trap("broken", impossible, advice, make_sphere, "inertia")
    advice = "give the link a thickness: 1e-9 of its largest moment is enough"
    yield trap("flat", thin, advice, raise_moment)
    advice = "give the link an inertia: one of 0 is refused"
    yield trap("point", thin, advice, make_sphere, "inertia")
    advice = "give it its inertia, or take <inertial> away"
    yield trap("vanishing", "vanishing inertia", advice, make_sphere, "inertia")


def _fault(mass: float, inertia: Array) -> str:
    """Return a word for the fault of the inertia (3, 3) [kg m^2] of a link; "" for none."""
    moments, excess = np.linalg.eigvalsh(inertia), violation(inertia)
    if mass <= 0.0 and not inertia.any():
        return ""  # masses.py judges links without either
    # No body has these moments; then moments that are 0, or too small; then those on the edge.
    if excess > EIGENVALUE_ROUND_OFF * abs(moments[2]):
        remaining_violation = violation(_with_positive_diagonal(inertia))
        if np.sum(np.diag(inertia) < 0.0) == 1 and remaining_violation <= 0.0:
            return "negative"
        return "rounded" if excess <= FILE_ROUNDING * moments[2] else "broken"
    if moments[0] <= EIGENVALUE_ROUND_OFF * moments[2]:
        return "flat" if moments[2] >= MIN_RAISED_MOMENT / FILE_ROUNDING else "point"
    if moments[0] < MIN_MUJOCO_MOMENT:
        return "vanishing"
    return "rounded" if _is_on_edge(inertia) else ""


def violation(inertia: Array) -> float:
    """Return by how much principal moments violate a condition [kg m^2]; at most 0 if none.

    The conditions: no moment is negative, and the largest is at most the sum of the others.
    """
    moments = np.linalg.eigvalsh(inertia)
    return float(max(-moments[0], moments[2] - moments[1] - moments[0]))


def moments_text(inertia: Array) -> str:
    """Return, in words, the condition that the principal moments of an inertia (3, 3) violate."""
    moments = np.linalg.eigvalsh(inertia)
    first, second, third = (f"{moment:.6g}" for moment in moments)
    if moments[0] < 0.0:
        return f"{first} kg m^2 is below 0"
    return f"{third} kg m^2 is more than {first} + {second}"


def _is_on_edge(inertia: Array) -> bool:
    """Return whether round-off decides if the largest moment is more than the sum of the others."""
    first, second, third = np.linalg.eigvalsh(inertia)
    if np.count_nonzero(inertia - np.diag(np.diag(inertia))):
        return bool(abs(third - second - first) <= EIGENVALUE_ROUND_OFF * third)
    return bool(first + second < third)


def _with_positive_diagonal(inertia: Array) -> Array:
    """Return an inertia in which negative diagonal entries are positive."""
    return np.asarray(inertia + 2.0 * np.diag(np.maximum(-np.diag(inertia), 0.0)))


def _raised(inertia: Array) -> Array:
    """Return a physical inertia close to one that violates a condition by round-off.

    The smallest diagonal entry is raised, or a larger one, or all three: the first that suffices.
    """
    largest = np.linalg.eigvalsh(inertia)[2]
    step = float(f"{max(violation(inertia), 0.0) + FILE_ROUNDING * largest:.1e}")
    order = np.argsort(np.diag(inertia))
    for entries in (*order[:, None], order):
        raised = inertia.copy()
        raised[entries, entries] += step
        if violation(raised) < 0.0:
            break
    return raised


def _sphere(inertia: Array) -> Array:
    """Return the inertia of a sphere with the same trace; that of MOMENT if it is not positive."""
    return np.eye(3) * max(float(np.trace(inertia)) / 3.0, MOMENT)
