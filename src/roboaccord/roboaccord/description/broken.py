"""Mistakes in a URDF that engines read differently, and that are refused before a run.

Three functions look for mistakes: `broken_names`, `broken_numbers` and `broken_structure`. Each
yields a mistake as the name of its rule, its element, a message and a cure. `check_description`
raises the first; `accord check` reports all, by the same rules (rules.yaml). A refusal may be added
to the function of its subject, with an entry there; the names of rules stay. What engines merely
read differently, although it is correct, belongs to checks.py.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from roboaccord.contract.errors import AccordError
from roboaccord.description.source import NUMBERS, end, label, numbers, parse_lines
from roboaccord.description.tree import MOVING
from roboaccord.description.urdf_file import UrdfFile

# Mistakes, each as a tuple: name of its rule, its element, a message and a cure. The rules of
# `accord check` yield the same.
Found: TypeAlias = Iterator[tuple[str, ET.Element, str, str]]
VECTORS = ("xyz", "rpy", "size", "scale")  # attributes of three numbers


def check_description(file: UrdfFile) -> None:
    """Refuse mistakes that engines read differently: duplicate names, bad numbers, unknown joints.

    Raises:
        AccordError: naming the link or the joint.
    """
    top, broken = parse_lines(file.text)[0], f"broken description {file.path.name}"
    for find in (broken_names, broken_numbers, broken_structure):
        for _rule, _element, message, _cure in find(top):
            raise AccordError(f"{broken}: {message}")  # the first
    kinds = (*MOVING, "fixed")
    for joint in top.findall("joint"):
        if (kind := joint.get("type")) not in kinds:
            wrong = f"{label(joint)} is of type {kind}, and not of {', '.join(kinds)}"
            raise AccordError(f"{broken}: {wrong}")


def broken_names(top: ET.Element) -> Found:
    """Yield elements without a name, and links or joints with the same name."""
    if not top.get("name"):
        yield "name-missing", top, "the robot has no name", 'write <robot name="...">'
    names = set[tuple[str, str]]()  # of the elements before, with their kind
    for element in (*top.findall("link"), *top.findall("joint")):
        name = element.get("name", "")
        if not name:
            yield "name-missing", element, f"a {element.tag} has no name", "give it one"
        elif (element.tag, name) in names:
            message, cure = f"{label(element)} is there twice", "give each a name of its own"
            yield f"duplicate-{element.tag}-name", element, message, cure
        names.add((element.tag, name))


def broken_numbers(top: ET.Element) -> Found:
    """Yield attributes that are no numbers or too many or few numbers, and negative masses."""
    tags = ("link", "joint", "transmission")
    for owner in (element for tag in tags for element in top.findall(tag)):
        for element in owner.iter():
            for key in NUMBERS.get(element.tag, ()):
                if key in element.attrib:
                    yield from _broken_attribute(owner, element, key)


def _broken_attribute(owner: ET.Element, element: ET.Element, key: str) -> Found:
    """Yield what is wrong with the numbers of an attribute, in a link or joint `owner`."""
    text, where = element.attrib[key], f"{label(owner)}: {element.tag} {key}"
    words, values = text.split(), numbers(element, key)
    expected = 3 if key in VECTORS else 1
    may_be_infinite = element.tag == "limit" and not any(map(math.isnan, values))
    if len(values) != len(words):
        yield "number-invalid", element, f"{where} {text!r} is not a number", "write a number"
    elif not all(map(math.isfinite, values)) and not may_be_infinite:
        message = f"{where} is {text}, and not finite"
        yield "number-invalid", element, message, "write a finite number"
    elif len(words) != expected:
        message = f"{where} has {len(words)} numbers"
        yield "number-count", element, message, f"write {expected} of them"
    elif element.tag == "mass" and values[0] < 0.0 and text == words[0]:
        cure = f"needs your number: mass of {owner.get('name')}"
        yield "mass-negative", element, f"{label(owner)}: its mass is {values[0]:g} kg", cure


def broken_structure(top: ET.Element) -> Found:
    """Yield joints of links that do not exist, and loops."""
    links = {e.get("name", ""): e for e in top.findall("link")}
    joints_to, parents = Counter[str](), dict[str, str]()
    for joint in top.findall("joint"):
        ends = {tag: end(joint, tag) for tag in ("parent", "child")}
        for tag in ends:
            if ends[tag] not in links and (tag, ends[tag]) != ("parent", "world"):
                message = f"{label(joint)}: its {tag} {ends[tag] or 'is not named'} is not a link"
                yield "link-unknown", joint, message, "name a link of this file"
        joints_to[ends["child"]] += 1
        parents[ends["child"]] = ends["parent"]
        if joints_to[ends["child"]] == 2:
            message = f"a loop: {label(joint)} is the second that leads to {ends['child']}"
            yield "link-loop", joint, message, "a URDF is a tree: cut the loop"
    # From each link towards the root: a path that returns to the link is a loop.
    for name in parents:
        visited, link = {name}, parents[name]
        while link in parents and link not in visited:
            visited.add(link)
            link = parents[link]
        if link == name:
            message = f"a loop of links: {', '.join(sorted(visited)[:4])}"
            yield "link-loop", links.get(name, top), message, "cut the loop"
            break  # further links would show the same loop
