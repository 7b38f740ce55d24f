"""Find traps of masses: links without a mass, which programs refuse, leave out or let fall.

A trap is text that readers interpret differently or refuse (trap.py). The comment in `massless`
says how SDFormat merges ("lumps") links without mass into others. MASS and MOMENT are used to prove
a trap by ablation, and are never written into a file.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator

from roboaccord.description.source import end
from roboaccord.description.tree import MOVING

from roboaccord_files.repair.inertial import give, inertials, write_inertial
from roboaccord_files.repair.trap import Trap, each_of

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
        for link, name in each_of(top, "link", places):
            write_inertial(link, abs(stated[name][0]) or MASS, stated[name][1])

    yield Trap("0 kg link with an inertia", zero, fix, repair, certain=False, needs="mass")
    yield Trap("mass negative", below, "write its mass", repair, certain=False, needs="mass")


def massless(top: ET.Element) -> Iterator[Trap]:
    """Yield links without mass, by what carries them and what they carry."""
    stated = inertials(top)
    names = [e.get("name", "") for e in top.findall("link") if e.get("name") != "world"]
    light = {n for n in names if n not in stated or (stated[n][0] == 0 and not stated[n][1].any())}
    carried, below = dict[str, str](), dict[str, list[tuple[str, bool]]]()
    for joint in sorted(top.findall("joint"), key=lambda joint: joint.get("name", "")):
        parent, child = (end(joint, tag) for tag in ("parent", "child"))
        moves = joint.get("type") in MOVING
        carried[child] = joint.get("type", "") if moves else ""
        below.setdefault(parent, []).append((child, moves))

    def weighs(name: str) -> bool:
        """Return whether a link or what is fixed to it has a mass."""
        return name not in light or any(weighs(n) for n, moves in below.get(name, ()) if not moves)

    def carries(name: str) -> bool:
        """Return whether anything moves on a link, or on what is fixed to it."""
        return any(moves or carries(n) for n, moves in below.get(name, ()))

    moving = [n for n in names if n in light and carried.get(n) and not weighs(n)]
    # SDFormat 12 drops a link of 0 kg with what moves on it. It lumps by names of joints, what
    # hangs on a link first, and divides 0 by 0 where both have 0 kg.
    fixed = {parent: [n for n, moves in ends if not moves] for parent, ends in below.items()}
    empty = [n for n in names if n in light and n not in moving]
    first = {fixed[n][0] for n in empty if fixed.get(n)}
    hollow = [n for n in empty if not fixed.get(n) and (n in first or n in below)]
    nothing = empty if len(empty) == len(names) else []
    hollow = [] if nothing else hollow
    middle = tuple(n for n in moving if carries(n))
    ends = tuple(n for n in moving if n not in middle)
    silent = [n for n in names if n not in stated and n not in ends]
    unknown = tuple(n for n in silent if n in middle or n in hollow)
    sound, both = tuple(n for n in silent if n not in unknown), "mass and inertia"
    fix = 'write <inertial> with <mass value="0"/> and an <inertia> of zeros, or its true values'
    yield Trap("missing inertial", sound, fix, give(0.0, 0.0))
    fix = "give it its mass and inertia"
    roots = [n for n in hollow if n not in carried]
    inner = [n for n in hollow if n in carried]
    named = ", or name it world if it is fixed: SDFormat drops it with what it carries"
    for cause, here, moment, why in (
        ("missing inertial", unknown, 0.0, ""),
        ("0 kg link in the middle", middle, MOMENT, ": readers refuse or drop it"),
        ("massless moving link", [n for n in ends if n in stated], MOMENT, UNDETERMINED),
        ("missing inertial", [n for n in ends if n not in stated], MOMENT, UNDETERMINED),
        ("0 kg link fixed to others", roots, MOMENT, named),
        ("0 kg link fixed to others", inner, MOMENT, ": SDFormat drops it, or divides by it"),
    ):
        edit = give(MASS if moment else 0.0, moment)
        yield Trap(cause, tuple(here), fix + why, edit, certain=False, needs=both)

    def fill(top: ET.Element, _: Collection[str]) -> None:
        give(MASS, MOMENT)(top, nothing)

    fix = "give a link its mass and inertia: SDFormat drops all"
    yield Trap("robot of 0 kg", tuple(nothing[:1]), fix, fill, certain=False, needs=both)


def tiny(top: ET.Element) -> Iterator[Trap]:
    """Yield roots, and links that move, that SDFormat takes for 0 kg with what is fixed to them."""
    stated, carried = inertials(top), set[str]()
    fixed = dict[str, list[str]]()
    for joint in top.findall("joint"):
        if joint.get("type") not in MOVING:
            fixed.setdefault(end(joint, "parent"), []).append(end(joint, "child"))
            carried.add(end(joint, "child"))

    def total(name: str) -> float:
        mass = stated[name][0] if name in stated else 0.0
        return mass + sum(map(total, fixed.get(name, ())))

    names = tuple(n for n in stated if n not in carried and 0.0 < total(n) <= NOTHING)

    def repair(top: ET.Element, places: Collection[str]) -> None:
        for link, name in each_of(top, "link", places):
            write_inertial(link, MASS, stated[name][1])

    fix = "write its mass: SDFormat takes one up to 1e-6 kg for 0, and drops the link"
    yield Trap("vanishing mass", names, fix, repair, certain=False, needs="mass")
