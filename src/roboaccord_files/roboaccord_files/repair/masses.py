"""Find traps of masses: links without a mass, which programs refuse, leave out or let fall.

A trap is text that readers interpret differently or refuse (trap.py). SDFormat merges ("lumps")
links that are fixed to each other, which goes wrong where they have no mass (`_hollow`). MASS and
MOMENT are used to prove a trap by ablation, and are never written into a file.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator

import numpy as np
from roboaccord.description.source import end
from roboaccord.description.tree import MOVING

from roboaccord_files.repair.inertial import give_inertia, inertials, write_inertial
from roboaccord_files.repair.trap import Trap, named_elements

# kg, kg m^2; given to massless links to prove that they matter: above NOTHING and what MuJoCo
# refuses (inertias.REFUSED), and below what moves any robot.
MASS, MOMENT = 1e-5, 1e-9
NOTHING = 1e-6  # kg; SDFormat takes a mass up to this for 0 (test_parity.py checks it)
UNDETERMINED = ": its acceleration is not determined"


def weightless(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of links with an inertia and a mass of 0 kg or less."""
    stated = inertials(top).items()
    zero = tuple(name for name, (mass, inertia) in stated if mass == 0.0 and inertia.any())
    below = tuple(name for name, (mass, _) in stated if mass < 0.0)
    fix = "write its mass, or take the inertia away"

    def repair(top: ET.Element, places: Collection[str]) -> None:
        stated = inertials(top)
        for link, name in named_elements(top, "link", places):
            mass, inertia = stated[name]
            write_inertial(link, abs(mass) or MASS, inertia)

    yield Trap("0 kg link with an inertia", zero, fix, repair, certain=False, needs="mass")
    yield Trap("mass negative", below, "write its mass", repair, certain=False, needs="mass")


class _Links:
    """The links of a URDF: which have a mass, what is fixed to each, and what moves on each.

    Attributes:
        stated: mass [kg] and inertia (3, 3) [kg m^2], by name of each link with an inertial.
        names: of all links but `world`.
        light: those of them that have neither mass nor inertia, in the same order.
        moved: whether a joint moves the link, by name of each link that is a joint's child.
        fixed_to, moving_on: links that are fixed to a link, or move on it, by its name.
    """

    def __init__(self, top: ET.Element) -> None:
        self.stated = inertials(top)
        self.names = [e.get("name", "") for e in top.findall("link") if e.get("name") != "world"]
        self.light = [name for name in self.names if self._is_light(name)]
        self._is_in_light = {*self.light}.__contains__
        self.moved = dict[str, bool]()
        self.fixed_to, self.moving_on = dict[str, list[str]](), dict[str, list[str]]()
        for joint in sorted(top.findall("joint"), key=lambda joint: joint.get("name", "")):
            parent, child = (end(joint, tag) for tag in ("parent", "child"))
            moves = self.moved[child] = joint.get("type") in MOVING
            (self.moving_on if moves else self.fixed_to).setdefault(parent, []).append(child)

    def _is_light(self, name: str) -> bool:
        mass, inertia = self.stated.get(name, (0.0, np.zeros((3, 3))))
        return mass == 0.0 and not inertia.any()

    def has_mass(self, name: str) -> bool:
        """Return whether a link, or what is fixed to it, has a mass."""
        return not self._is_in_light(name) or any(map(self.has_mass, self.fixed_to.get(name, ())))

    def carries(self, name: str) -> bool:
        """Return whether anything moves on a link, or on what is fixed to it."""
        return name in self.moving_on or any(map(self.carries, self.fixed_to.get(name, ())))


def massless(top: ET.Element) -> Iterator[Trap]:
    """Yield links without mass, by what carries them and what they carry."""
    links = _Links(top)
    # Links that a joint moves and whose rigid body has no mass: within a chain, and at its end.
    moving = [n for n in links.light if links.moved.get(n) and not links.has_mass(n)]
    middle = [name for name in moving if links.carries(name)]
    ends = [name for name in moving if name not in middle]
    # Others: all links of a robot without any mass, or those that SDFormat stumbles over.
    empty = [name for name in links.light if name not in moving]
    nothing = empty if len(empty) == len(links.names) else []
    hollow = [] if nothing else _hollow(links, empty)
    # Links without <inertial>, for which mass and inertia of 0 are right, or unknown.
    silent = [name for name in links.names if name not in links.stated and name not in ends]
    unknown = [name for name in silent if name in middle or name in hollow]
    sound = tuple(name for name in silent if name not in unknown)
    fix = 'write <inertial> with <mass value="0"/> and an <inertia> of zeros, or its true values'
    yield Trap("missing inertial", sound, fix, give_inertia(0.0, 0.0))
    fix, needs = "give it its mass and inertia", "mass and inertia"
    drops = ", or name it world if it is fixed: SDFormat drops it with what it carries"
    attached = links.moved
    for cause, names, moment, why in (
        ("missing inertial", unknown, 0.0, ""),
        ("0 kg link in the middle", middle, MOMENT, ": readers refuse or drop it"),
        ("massless moving link", [n for n in ends if n in links.stated], MOMENT, UNDETERMINED),
        ("missing inertial", [n for n in ends if n not in links.stated], MOMENT, UNDETERMINED),
        ("0 kg link fixed to others", [n for n in hollow if n not in attached], MOMENT, drops),
        ("0 kg link fixed to others", [n for n in hollow if n in attached], MOMENT,
         ": SDFormat drops it, or divides by it"),
    ):  # fmt: skip
        edit = give_inertia(MASS if moment else 0.0, moment)
        yield Trap(cause, tuple(names), fix + why, edit, certain=False, needs=needs)

    def fill(top: ET.Element, _: Collection[str]) -> None:
        give_inertia(MASS, MOMENT)(top, nothing)

    fix = "give a link its mass and inertia: SDFormat drops all"
    yield Trap("robot of 0 kg", tuple(nothing[:1]), fix, fill, certain=False, needs=needs)


def _hollow(links: _Links, empty: Collection[str]) -> list[str]:
    """Return the links without mass that SDFormat drops with what they carry, or divides by.

    SDFormat 12 drops a link of 0 kg with what moves on it. It lumps by names of joints, what hangs
    on a link first, and divides 0 by 0 where both have 0 kg.

    Args:
        links: of the robot.
        empty: links without mass, but those whose whole rigid body moves and has none.
    """
    lumped_first = {links.fixed_to[name][0] for name in empty if name in links.fixed_to}
    leaves = [name for name in empty if name not in links.fixed_to]
    return [name for name in leaves if name in lumped_first or name in links.moving_on]


def tiny(top: ET.Element) -> Iterator[Trap]:
    """Yield roots, and links that move, that SDFormat takes for 0 kg with what is fixed to them."""
    stated, fixed = inertials(top), set[str]()
    fixed_to = dict[str, list[str]]()
    for joint in top.findall("joint"):
        if joint.get("type") not in MOVING:
            fixed_to.setdefault(end(joint, "parent"), []).append(end(joint, "child"))
            fixed.add(end(joint, "child"))

    def total(name: str) -> float:
        """Return the mass of a link with all that is fixed to it [kg]."""
        mass = stated[name][0] if name in stated else 0.0
        return mass + sum(map(total, fixed_to.get(name, ())))

    names = tuple(name for name in stated if name not in fixed and 0.0 < total(name) <= NOTHING)

    def repair(top: ET.Element, places: Collection[str]) -> None:
        for link, name in named_elements(top, "link", places):
            write_inertial(link, MASS, stated[name][1])

    fix = "write its mass: SDFormat takes one up to 1e-6 kg for 0, and drops the link"
    yield Trap("vanishing mass", names, fix, repair, certain=False, needs="mass")
