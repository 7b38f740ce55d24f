"""Find traps of names and numbers: names used twice, blanks around numbers, no world declared.

A trap is text in a URDF that readers interpret differently or refuse (trap.py). Each finder here
takes the parsed <robot> element and yields `Trap` objects; find.py lists the finders. To rename a
joint also renames it where other elements refer to it (`_rename`). If anything else in the file has
the same name, this repair is not certain, and not written.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import count

from roboaccord.description.source import NUMBERS, end

from roboaccord_files.repair.joints import MIMIC
from roboaccord_files.repair.trap import RepairFunction, Trap


def duplicates(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of joints, and of links, that have the same name as another."""
    for kind in ("joint", "link"):
        counts = Counter(e.get("name", "") for e in top.findall(kind))
        names = tuple(name for name in counts if counts[name] > 1)
        advice = f"give each {kind} a name of its own"
        yield Trap(f"duplicate {kind} name", names, advice, _numbering(kind), kind == "joint", kind)


def _numbering(kind: str) -> RepairFunction:
    """Return the repair that numbers elements of the same name, from the second on."""

    def repair(top: ET.Element, places: Collection[str]) -> None:
        """Rename all but the first element of each name."""
        for name in places:
            namesakes = [e for e in top.findall(kind) if e.get("name") == name]
            for element in namesakes[1:]:
                element.set("name", free_name(top, f"{name}_{{}}"))

    return repair


def free_name(top: ET.Element, pattern: str) -> str:
    """Return the first unused name of a pattern such as `hand_{}`, counted from 2."""
    used = {element.get("name") for element in top}
    names = (pattern.format(number) for number in count(2))
    return next(name for name in names if name not in used)


def shared_names(top: ET.Element) -> Iterator[Trap]:
    """Yield joints that have the name of a link."""
    links = {e.get("name", "") for e in top.findall("link")}
    names = [e.get("name", "") for e in top.findall("joint") if e.get("name", "") in links]
    elsewhere = {e.get("reference", "") for e in top.findall("gazebo")}
    elsewhere |= {(e.text or "").strip() for e in top.iter()}
    advice = "rename the joint, as NAME_joint: SDF has one namespace for links and joints"
    for certain in (True, False):
        joints = tuple(name for name in names if (name not in elsewhere) == certain)
        yield Trap("joint and link share a name", joints, advice, _rename, certain, "joint")


def _rename(top: ET.Element, places: Collection[str]) -> None:
    """Rename joints, wherever elements name them as a joint or a mimic's leader."""
    for name in places:
        used = {element.get("name") for element in top}
        new = f"{name}_joint"
        new = free_name(top, f"{new}_{{}}") if new in used else new
        for element in top.iter():
            for tag, key in (("joint", "name"), (MIMIC, "joint")):
                if element.tag == tag and element.get(key) == name:
                    element.set(key, new)


def blanks(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of links and joints with blanks around a number; some readers refuse them."""
    for tag in ("link", "joint"):
        names = tuple(e.get("name", "") for e in top.findall(tag) if any(_with_blanks(e)))
        yield Trap("number blanks", names, "take the blanks away", _strip_blanks, of=tag)


def _with_blanks(owner: ET.Element) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements and attributes of a link or joint that have blanks around a number."""
    for element in owner.iter():
        for key in {*NUMBERS.get(element.tag, ())} - {"xyz", "rpy"}:
            text = element.get(key, "")
            if text != text.strip() and text.strip():
                yield element, key


def _strip_blanks(top: ET.Element, places: Collection[str]) -> None:
    """Remove the blanks around numbers."""
    for owner in top:
        if owner.get("name") in places:
            for element, key in [*_with_blanks(owner)]:
                element.set(key, element.get(key, "").strip())


def nameless(top: ET.Element) -> Iterator[Trap]:
    """Yield the trap of a robot without a name."""
    where = () if top.get("name", "").strip() else ("",)

    def give_name(top: ET.Element, _: Collection[str]) -> None:
        """Name the robot."""
        top.set("name", "robot")

    advice = 'name the robot: <robot name="...">'
    yield Trap("name missing", where, advice, give_name, certain=False)


def undeclared_world(top: ET.Element) -> Iterator[Trap]:
    """Yield the trap of joints whose parent is `world`, if no link of that name is declared."""
    if top.find("link[@name='world']") is None:
        attached = (e for e in top.findall("joint") if end(e, "parent") == "world")
        advice = 'declare it: <link name="world"/>'

        def declare(top: ET.Element, _: Collection[str]) -> None:
            """Declare the link at the end of the file."""
            top.append(ET.Element("link", name="world"))

        names = tuple(e.get("name", "") for e in attached)
        yield Trap("world undeclared", names, advice, declare, of="joint")
