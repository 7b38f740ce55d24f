"""Find traps of masses: links without a mass, which engines refuse, leave out or let fall.

A trap is text in a URDF that readers interpret differently or refuse (trap.py). Each finder here
(`weightless`, `massless`, `tiny`) takes the parsed <robot> element and yields one `Trap` for each
kind of fault: the links that have it, advice, and a function that repairs them. find.py calls the
finders.

SDFormat, the parser of Gazebo, merges ("lumps") links that are fixed to each other into one body.
That fails where all of them are massless (`_dropped_by_sdformat`). A true mass is known to the user
alone, so MASS and MOMENT are never written into a file: they stand in for it while an engine reads
the text with and without the trap, which proves that the trap matters (parity/ablation.py).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator

import numpy as np
from roboaccord.description.source import end
from roboaccord.description.tree import MOVING

from roboaccord_files.repair.inertial import give_inertia, inertials, write_inertial
from roboaccord_files.repair.trap import Trap, named_elements

# kg and kg m^2; mass and principal moments of a massless link in a proof. They are above NEGLIGIBLE
# and above what MuJoCo refuses (inertias.MIN_MUJOCO_MOMENT), and below what changes the motion of
# any robot.
MASS, MOMENT = 1e-5, 1e-9
NEGLIGIBLE = 1e-6  # kg; SDFormat takes a mass up to this for 0 (test_parity.py checks it)


def weightless(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of links with an inertia and a mass of 0 kg or less."""
    links = inertials(top).items()
    zero = tuple(name for name, (mass, inertia) in links if mass == 0.0 and inertia.any())
    negative = tuple(name for name, (mass, _) in links if mass < 0.0)
    advice = "write its mass, or take the inertia away"
    yield Trap("0 kg link with an inertia", zero, advice, _make_positive, False, needs="mass")
    advice = "write its mass"
    yield Trap("mass negative", negative, advice, _make_positive, False, needs="mass")


def _make_positive(top: ET.Element, names: Collection[str]) -> None:
    """Reverse the sign of the negative masses of links, and replace masses of 0 by MASS."""
    inertial_of = inertials(top)
    for link, name in named_elements(top, "link", names):
        mass, inertia = inertial_of[name]
        write_inertial(link, abs(mass) or MASS, inertia)


class _Links:
    """The links of a URDF: their masses, and the links that joints connect to each.

    Attributes:
        inertials: mass [kg] and inertia (3, 3) [kg m^2], by name of each link with an <inertial>.
        names: all links but `world`.
        massless: those of `names` that have neither mass nor inertia, in the same order.
        is_moved: whether the joint above a link can move, by name of each link with a joint above.
        fixed_children: links that fixed joints connect to a link, by the name of that link.
        moving_children: links that moving joints connect to a link, likewise.
    """

    def __init__(self, top: ET.Element) -> None:
        self.inertials = inertials(top)
        self.names = [e.get("name", "") for e in top.findall("link") if e.get("name") != "world"]
        self.massless = [name for name in self.names if self._is_massless(name)]
        self.is_moved = dict[str, bool]()
        self.fixed_children = dict[str, list[str]]()
        self.moving_children = dict[str, list[str]]()
        for joint in sorted(top.findall("joint"), key=lambda joint: joint.get("name", "")):
            parent, child = end(joint, "parent"), end(joint, "child")
            self.is_moved[child] = joint.get("type") in MOVING
            children = self.moving_children if self.is_moved[child] else self.fixed_children
            children.setdefault(parent, []).append(child)

    def _is_massless(self, name: str) -> bool:
        """Return whether a link has neither mass nor inertia of its own."""
        mass, inertia = self.inertials.get(name, (0.0, np.zeros((3, 3))))
        return mass == 0.0 and not inertia.any()

    def has_mass(self, name: str) -> bool:
        """Return whether a link, or a link fixed to it, has a mass or an inertia."""
        fixed = self.fixed_children.get(name, ())
        return name not in self.massless or any(self.has_mass(child) for child in fixed)

    def carries_joint(self, name: str) -> bool:
        """Return whether a moving joint starts at a link, or at a link fixed to it."""
        fixed = self.fixed_children.get(name, ())
        return name in self.moving_children or any(self.carries_joint(child) for child in fixed)

    def total_mass(self, name: str) -> float:
        """Return the mass of a link with all links fixed to it [kg]."""
        mass = self.inertials[name][0] if name in self.inertials else 0.0
        return mass + sum(self.total_mass(child) for child in self.fixed_children.get(name, ()))


def massless(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of links with neither mass nor inertia, and of links without <inertial>.

    They are told apart by how the links are connected, on which it depends what engines do.
    """
    links = _Links(top)
    # Links that a joint moves, and whose rigid body has no mass: within a chain, and at its end.
    moving = [n for n in links.massless if links.is_moved.get(n) and not links.has_mass(n)]
    mid_chain = [name for name in moving if links.carries_joint(name)]
    chain_ends = [name for name in moving if name not in mid_chain]
    # All others: every link of a robot without any mass, or those that SDFormat cannot handle.
    others = [name for name in links.massless if name not in moving]
    all_links = others if len(others) == len(links.names) else []
    dropped = [] if all_links else _dropped_by_sdformat(links, others)
    # Links without <inertial>: their mass and inertia are 0, or only the user knows them.
    silent = [n for n in links.names if n not in links.inertials and n not in chain_ends]
    unknown = [name for name in silent if name in mid_chain or name in dropped]
    truly_zero = tuple(name for name in silent if name not in unknown)
    advice = 'write <inertial> with <mass value="0"/> and an <inertia> of zeros, or its true values'
    no_inertial, fixed = "missing inertial", "0 kg link fixed to others"
    undetermined = ": its acceleration is not determined"
    yield Trap(no_inertial, truly_zero, advice, give_inertia(0.0, 0.0))
    advice, needs = "give it its mass and inertia", "mass and inertia"
    yield Trap(no_inertial, tuple(unknown), advice, give_inertia(0.0, 0.0), False, needs=needs)
    yield _needs_inertia("0 kg link in the middle", mid_chain, ": readers refuse or drop it")
    stated_ends = [name for name in chain_ends if name in links.inertials]
    yield _needs_inertia("massless moving link", stated_ends, undetermined)
    silent_ends = [name for name in chain_ends if name not in links.inertials]
    yield _needs_inertia(no_inertial, silent_ends, undetermined)
    roots = [name for name in dropped if name not in links.is_moved]
    consequence = ", or name it world if it is fixed: SDFormat drops it with what it carries"
    yield _needs_inertia(fixed, roots, consequence)
    attached = [name for name in dropped if name in links.is_moved]
    yield _needs_inertia(fixed, attached, ": SDFormat drops it, or divides by it")

    def fill_all(top: ET.Element, _: Collection[str]) -> None:
        """Give all links a mass, although the trap names the first alone."""
        give_inertia(MASS, MOMENT)(top, all_links)

    advice = "give a link its mass and inertia: SDFormat drops all"
    yield Trap("robot of 0 kg", tuple(all_links[:1]), advice, fill_all, False, needs=needs)


def _needs_inertia(cause: str, names: Collection[str], consequence: str) -> Trap:
    """Return the trap of links whose mass and inertia are missing and known to the user alone.

    Args:
        cause: name of the trap.
        names: names of the links.
        consequence: what happens without these numbers, appended to the advice.
    """
    advice, repair = f"give it its mass and inertia{consequence}", give_inertia(MASS, MOMENT)
    return Trap(cause, tuple(names), advice, repair, certain=False, needs="mass and inertia")


def _dropped_by_sdformat(links: _Links, candidates: Collection[str]) -> list[str]:
    """Return the massless links that SDFormat drops with all they carry, or divides by.

    SDFormat 12 drops a link of 0 kg with the links that move on it. It lumps in the order of the
    names of joints, children first, and divides 0 by 0 where parent and child both have 0 kg.

    Args:
        links: links of the robot.
        candidates: massless links, without those whose rigid body moves and has no mass at all.
    """
    fixed_children = links.fixed_children
    lumped_first = {fixed_children[name][0] for name in candidates if name in fixed_children}
    leaves = [name for name in candidates if name not in fixed_children]
    return [name for name in leaves if name in lumped_first or name in links.moving_children]


def tiny(top: ET.Element) -> Iterator[Trap]:
    """Yield the trap of rigid bodies of at most NEGLIGIBLE kg, each by its first link."""
    links = _Links(top)
    first_links = [name for name in links.inertials if links.is_moved.get(name, True)]
    names = tuple(n for n in first_links if 0.0 < links.total_mass(n) <= NEGLIGIBLE)

    def give_mass(top: ET.Element, names: Collection[str]) -> None:
        """Write MASS into links; their inertias stay."""
        for link, name in named_elements(top, "link", names):
            write_inertial(link, MASS, links.inertials[name][1])

    advice = "write its mass: SDFormat takes one up to 1e-6 kg for 0, and drops the link"
    yield Trap("vanishing mass", names, advice, give_mass, certain=False, needs="mass")
