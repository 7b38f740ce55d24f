"""Rules for units: masses, inertias and centres of mass that do not fit the size of their link.

A link cannot be heavier than gold of its size, have a radius of gyration of several times its size,
or a centre of mass far outside. Such numbers are in a wrong unit, or in a wrong frame. The size of
a link is the largest distance of its shapes from its origin (source.py). find.py calls `units`, and
`weighed` if the user states the weight. The bounds may be tuned as long as sound robots have
nothing but notes (test_rules.py).
"""

from __future__ import annotations

import math

from roboaccord.description.broken import Found
from roboaccord.description.source import label, numbers
from roboaccord.description.tree import MOVING

from roboaccord_files.rules.source import TINY, Source, norm

GOLD = 19_300.0  # kg/m^3; density of gold, above that of any material of a robot
# Multiple of a link's size; larger radii of gyration, and centres of mass farther out, are wrong.
# It is at most 1 within a link; its frame, and what is not drawn, may add as much each.
BEYOND = 3.0
# Multiple of a link's size; a centre farther out is in mm, a nearer one in another frame. It is the
# geometric mean of 1 and 1000.
IN_MILLIMETRES = 30.0
# Relative to the weighed mass; a larger difference is not that of cables which the file leaves out:
# in few robots they have 5 % of the mass.
WEIGHT_ERROR = 0.05
UNITS = {"g mm^2": 1e-9, "kg mm^2": 1e-6}  # kg m^2; units that are named in the cure if they fit


def units(source: Source) -> Found:
    """Yield masses, inertias and centres that do not fit their link, or that the file has none."""
    moving = any(joint.get("type") in MOVING for joint in source.joints.values())
    if moving and not source.top.findall("link/inertial/mass"):
        yield "no-masses", source.top, "this file has no masses", "write <inertial> in each link"
    for name, link in source.links.items():
        mass = sum(numbers(link.find("inertial/mass"), "value"))
        inertial, size = link.find("inertial"), source.sizes.get(name, 0.0)
        if inertial is None or size < TINY:
            continue
        if mass > GOLD * 4.0 / 3.0 * math.pi * size**3:
            message = f"{label(link)}: {mass:g} kg within {size:.3g} m"
            yield "mass-unit", inertial, message, "write it in kg"
        tensor = inertial.find("inertia")
        largest = max((sum(numbers(tensor, key)) for key in ("ixx", "iyy", "izz")), default=0.0)
        if mass > 0.0 and largest > mass * (BEYOND * size) ** 2:
            gyration = math.sqrt(largest / mass)
            message = f"{label(link)}: a radius of gyration of {gyration:.3g} m within {size:.3g} m"
            yield "inertia-unit", inertial, message, _unit_of(gyration / size)
        centre = norm(numbers(inertial.find("origin"), "xyz"))
        if centre > BEYOND * size:
            message = f"{label(link)} of {size:.3g} m: its centre of mass is {centre:.3g} m off"
            is_in_mm = centre > IN_MILLIMETRES * size
            cure = "write it in m" if is_in_mm else "write it in the link's own frame"
            yield "centre-of-mass-unit", inertial, message, cure


def weighed(source: Source, mass: float) -> Found:
    """Yield the finding that the masses of the links do not add up to the weighed mass [kg]."""
    masses = {n: sum(numbers(e.find("inertial/mass"), "value")) for n, e in source.links.items()}
    total = sum(masses.values())
    if abs(total - mass) > WEIGHT_ERROR * mass:
        heavy = sorted(masses, key=lambda name: -masses[name])[:3]
        most = ", ".join(f"{name} {masses[name]:g}" for name in heavy)
        message = f"it weighs {total:g} kg, and not {mass:g}; the heaviest links: {most}"
        yield "total-mass", source.top, message, "weigh its links"


def _unit_of(ratio: float) -> str:
    """Return a cure: to write the inertia in kg m^2, and the unit in which it seems to be.

    Args:
        ratio: radius of gyration over the size of the link.
    """
    fits = [unit for unit, factor in UNITS.items() if 0.1 < ratio * math.sqrt(factor) < 1.0]
    return f"write it in kg m^2, not in {fits[0]}" if fits else "write the link's own inertia"
