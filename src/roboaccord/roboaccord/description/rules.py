"""Rules for a URDF: what is wrong in the text, on which line, and its cure, without any engine.

What readers take in different ways (`traps`) is a rule each; the others need no engine to be wrong:
numbers that are none, units, limits, axes, names, and what refers to nothing.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from xml.parsers import expat

import numpy as np

from roboaccord.description.checks import NUMBERS
from roboaccord.description.extents import mesh_extent
from roboaccord.description.findings import Finding, Severity
from roboaccord.description.meshes import PACKAGE
from roboaccord.description.traps import find_traps, large_meshes
from roboaccord.description.tree import MOVING
from roboaccord.description.urdf_file import UrdfFile

RULES: Mapping[str, tuple[Severity, str]] = {
    "number-invalid": ("error", "a value that is not a finite number"),
    "number-count": ("error", "a vector that has not three numbers, or a scalar not one"),
    "number-blanks": ("warning", "blanks around a number, which some readers refuse or read as 0"),
    "no-masses": ("error", "no link has a mass"),
    "mass-negative": ("error", "a mass below 0"),
    "mass-unit": ("warning", "a link heavier than solid gold of its size: grams, perhaps"),
    "inertia-unit": ("warning", "a radius of gyration beyond the link: g mm^2 or kg mm^2, perhaps"),
    "centre-of-mass-unit": ("warning", "a centre of mass far outside its link: mm, perhaps"),
    "length-unit": ("warning", "a joint far from its parent: mm, perhaps"),
    "angle-unit": ("warning", "a roll, pitch or yaw beyond a turn: degrees, perhaps"),
    "limits-swapped": ("error", "the lower limit lies above the upper one"),
    "effort-zero": ("warning", "an effort limit of 0, by which nothing moves the joint"),
    "velocity-zero": ("warning", "a velocity limit of 0, by which nothing moves the joint"),
    "damping-negative": ("error", "damping or friction below 0, which gives energy"),
    "axis-zero": ("error", "an axis without a direction"),
    "axis-length": ("warning", "an axis that is not of unit length, which some readers scale by"),
    "mimic-unknown": ("error", "a joint that mimics one that is not there"),
    "mimic-cycle": ("error", "joints that mimic each other, or one itself"),
    "joint-type": ("error", "a joint of a type that URDF does not have"),
    "link-unknown": ("error", "a joint whose parent or child is no link of the file"),
    "link-loop": ("error", "a link that two joints lead to, or joints in a loop"),
    "link-roots": ("error", "several links that no joint leads to"),
    "name-characters": ("warning", "a name with blanks, or letters that are not ASCII"),
    "reference-unknown": ("error", "a tag refers to a link or joint that is not in the file"),
    "mesh-missing": ("warning", "a mesh whose file is not found"),
    "mesh-mirrored": ("note", "a mesh with a negative scale, whose faces point inwards"),
    "mesh-scale": ("warning", "a mesh far larger than the robot: mm, perhaps"),
    "duplicate-joint-name": ("error", "joints with one name"),
    "duplicate-link-name": ("error", "links with one name"),
    "joint-and-link-share-a-name": ("warning", "a joint and a link with one name, refused by SDF"),
    "non-physical-inertia": ("error", "principal moments that no body has"),
    "zero-principal-moment": ("warning", "a body without thickness"),
    "0-kg-link-with-an-inertia": ("error", "an inertia without a mass"),
    "missing-inertial": ("warning", "a link without an inertial, to which DART gives 1 kg"),
    "0-kg-link-in-the-middle": ("error", "a link without mass between two joints that move"),
    "massless-moving-link": ("error", "a link that moves and has no mass"),
    "0-kg-link-fixed-to-others": ("warning", "links without mass fixed to each other"),
    "world-not-declared": ("warning", "a joint to a link `world` that the file does not declare"),
    "planar-joint": ("note", "a joint that moves in a plane, which few readers know"),
    "floating-joint": ("note", "a joint that leaves its link free, which few readers know"),
    "mimic": ("note", "a joint that mimics another, which no two readers take alike"),
    "limits-missing": ("warning", "a joint with an end that has no limits"),
    "limits-of-a-continuous-joint": ("warning", "limits of a joint that has none"),
    "limit-in-degrees": ("warning", "a limit beyond two turns: degrees, perhaps"),
}  # fmt: skip
"""Severity of each rule, and what it finds."""
GOLD = 19_300.0  # kg/m^3
BEYOND = 3.0  # times the size of a link: farther out is no part of it
TINY = 5e-3  # m: smaller shapes stand for something else
FAR = 20.0  # m from a joint to the next
UNREADABLE = ("number-invalid", "number-count", "link-loop")  # traps are sought in none of these
TYPES = (*MOVING, "fixed", "floating", "planar")

Found = Iterator[tuple[str, ET.Element, str, str]]
"""Rule, element, message and cure."""


class Source:
    """Hold a URDF whose elements know their lines.

    Args:
        file: as read.

    Attributes:
        top: the element `robot`.
    """

    def __init__(self, file: UrdfFile) -> None:
        self.file = file
        self.top, self._lines = parse_lines(file.text)
        self._expanded = file.expanded

    def line(self, element: ET.Element) -> int:
        """Return the line of an element; in a xacro file that of its name."""
        if not self._expanded:
            return self._lines[element]
        while (name := element.get("name")) is None and element in self.parents:
            element = self.parents[element]
        wanted = f'name="{name}"'
        return next((i for i, line in enumerate(self._written, 1) if wanted in line), 1)

    @cached_property
    def parents(self) -> dict[ET.Element, ET.Element]:
        """The element around each element."""
        return {child: parent for parent in self.top.iter() for child in parent}

    @cached_property
    def _written(self) -> list[str]:
        return self.file.path.read_text(encoding="utf-8", errors="replace").splitlines()

    @cached_property
    def links(self) -> dict[str, ET.Element]:
        """The links, by name."""
        return {e.get("name", ""): e for e in self.top.findall("link")}

    @cached_property
    def joints(self) -> dict[str, ET.Element]:
        """The joints, by name."""
        return {e.get("name", ""): e for e in self.top.findall("joint")}

    @cached_property
    def sizes(self) -> dict[str, float]:
        """How far the shapes of each link reach from its origin [m]; without what is not known."""
        found = {name: max(map(self._reach, link.iterfind("*/geometry")), default=0.0)
                 for name, link in self.links.items()}  # fmt: skip
        return {name: size for name, size in found.items() if size}

    def _reach(self, geometry: ET.Element) -> float:
        around = self.parents[geometry].find("origin")
        offset = norm(numbers(around, "xyz")) if around is not None else 0.0
        for shape in geometry:
            if shape.tag == "box":
                return offset + 0.5 * norm(numbers(shape, "size"))
            if shape.tag in ("sphere", "cylinder", "capsule"):
                radius, length = numbers(shape, "radius"), numbers(shape, "length")
                return offset + math.hypot(sum(radius), 0.5 * sum(length))
            path = self.file.find(shape.get("filename", ""))
            if shape.tag == "mesh" and path and (extent := mesh_extent(path)):
                scale = max(map(abs, numbers(shape, "scale")), default=1.0)
                return offset + scale * extent.distance
        return 0.0


def findings(file: UrdfFile) -> list[Finding]:
    """Return what the rules find in a file, by line; the file by its path from here, if below."""
    source, here = Source(file), Path.cwd()
    named = str(file.path.relative_to(here) if file.path.is_relative_to(here) else file.path)
    found = [each for find in FINDERS for each in find(source)]
    if not any(rule in UNREADABLE for rule, *_ in found):
        found += _traps(source)
    rows = [
        Finding(rule, RULES[rule][0], named, source.line(element), message, cure)
        for rule, element, message, cure in found
        if element.get("name") not in file.made
    ]
    return sorted(rows, key=lambda row: (row.line, row.rule))


def parse_lines(text: str) -> tuple[ET.Element, dict[ET.Element, int]]:
    """Return the top element of a text, and the line of each element."""
    builder, parser = ET.TreeBuilder(), expat.ParserCreate()
    lines = dict[ET.Element, int]()

    def start(tag: str, attributes: dict[str, str]) -> None:
        lines[builder.start(tag, attributes)] = parser.CurrentLineNumber

    parser.StartElementHandler, parser.EndElementHandler = start, builder.end
    parser.CharacterDataHandler = builder.data
    parser.Parse(text, True)
    return builder.close(), lines


def numbers(element: ET.Element | None, key: str) -> list[float]:
    """Return the numbers of an attribute; none where it is not there, or holds something else."""
    try:
        return [] if element is None else [float(w) for w in element.get(key, "").split()]
    except ValueError:
        return []


def norm(values: list[float]) -> float:
    """Return the length of a vector."""
    return math.hypot(*values)


def label(element: ET.Element) -> str:
    """Return a link or joint by its name."""
    return f"{element.tag} {element.get('name')}"


def _numbers(source: Source) -> Found:
    for owner in (*source.top.findall("link"), *source.top.findall("joint")):
        for each in owner.iter():
            for key in NUMBERS.get(each.tag, ()):
                if key not in each.attrib:
                    continue
                said, where = each.attrib[key], f"{label(owner)}: {each.tag} {key}"
                words, wanted = said.split(), 3 if key in ("xyz", "rpy") else 1
                values = numbers(each, key)
                if len(values) != len(words) or not all(map(math.isfinite, values)):
                    endless = each.tag == "limit" and not any(map(math.isnan, values or [math.nan]))
                    if not endless:
                        yield (
                            "number-invalid",
                            each,
                            f'{where} is "{said}"',
                            "write a finite number",
                        )
                elif len(words) != wanted:
                    message = f'{where} is "{said}": {len(words)} numbers'
                    yield "number-count", each, message, f"write {wanted} of them"
                elif wanted == 1 and said != said.strip():
                    yield "number-blanks", each, f'{where} is "{said}"', f'write "{words[0]}"'


def _traps(source: Source) -> Found:
    for trap in find_traps(source.file.text):
        rule = trap.cause.lower().replace(" ", "-")
        named = source.joints if trap.of == "joint" else source.links
        for place in trap.where:
            element = named.get(place, source.top)
            yield rule, element, f"{label(element)}: {RULES[rule][1]}", trap.fix
    for place in large_meshes(source.file):
        element = source.links[place]
        fix = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
        yield "mesh-scale", element, f"{label(element)}: {RULES['mesh-scale'][1]}", fix


def _masses(source: Source) -> Found:
    moving = any(joint.get("type") in MOVING for joint in source.joints.values())
    if moving and not source.top.findall("link/inertial/mass"):
        yield "no-masses", source.top, "this file has no masses", "write <inertial> in each link"
    for name, link in source.links.items():
        mass = sum(numbers(link.find("inertial/mass"), "value"))
        inertial, size = link.find("inertial"), source.sizes.get(name, 0.0)
        if inertial is None:
            continue
        if mass < 0.0:
            cure = f"needs your number: mass of {name}"
            yield "mass-negative", inertial, f"{label(link)}: {mass:g} kg", cure
        if not size:
            continue
        if size > TINY and mass > GOLD * 4.0 / 3.0 * math.pi * size**3:
            message = f"{label(link)}: {mass:g} kg within {size:.3g} m"
            yield "mass-unit", inertial, message, "write it in kg"
        tensor = inertial.find("inertia")
        largest = max((sum(numbers(tensor, key)) for key in ("ixx", "iyy", "izz")), default=0.0)
        if mass > 0.0 and largest > mass * (BEYOND * size) ** 2:
            gyration = math.sqrt(largest / mass)
            message = f"{label(link)}: a radius of gyration of {gyration:.3g} m within {size:.3g} m"
            yield "inertia-unit", inertial, message, "write it in kg m^2: g mm^2 is 1e-9 of it"
        centre = norm(numbers(inertial.find("origin"), "xyz"))
        if centre > BEYOND * size:
            message = f"{label(link)}: its centre of mass is {centre:.3g} m off, in {size:.3g} m"
            yield "centre-of-mass-unit", inertial, message, "write it in m"


def _joints(source: Source) -> Found:
    for joint in source.joints.values():
        origin, limit, axis = (joint.find(tag) for tag in ("origin", "limit", "axis"))
        kind, dynamics = joint.get("type"), joint.find("dynamics")
        if kind not in TYPES:
            message = f"{label(joint)} is of type {kind}"
            yield "joint-type", joint, message, f"one of {', '.join(TYPES)}"
        if kind != "fixed" and axis is not None and (length := norm(numbers(axis, "xyz"))) != 1.0:
            if not length:
                yield "axis-zero", axis, f"{label(joint)}: its axis is 0", 'write xyz="0 0 1" say'
            elif abs(length - 1.0) > 1e-3:
                cure = f"divide it by {length:.6g}"
                yield "axis-length", axis, f"{label(joint)}: an axis of length {length:.4g}", cure
        if origin is not None and norm(numbers(origin, "xyz")) > FAR:
            message = f"{label(joint)} is {norm(numbers(origin, 'xyz')):.4g} m off its parent"
            yield "length-unit", origin, message, "write it in m"
        if limit is not None and kind in ("revolute", "prismatic", "continuous"):
            lower, upper = (numbers(limit, key) for key in ("lower", "upper"))
            if lower and upper and lower > upper:
                message = f"{label(joint)}: lower {lower[0]:g} above upper {upper[0]:g}"
                yield "limits-swapped", limit, message, "swap them"
            for key in ("effort", "velocity"):
                if numbers(limit, key) == [0.0]:
                    message = f"{label(joint)}: {key} is 0"
                    yield f"{key}-zero", limit, message, "write what the drive can do"
        for key in ("damping", "friction"):
            if sum(numbers(dynamics, key)) < 0.0:
                message = f"{label(joint)}: {key} is below 0"
                yield "damping-negative", joint, message, "write it positive"
    for origin in source.top.iter("origin"):
        turn = max(map(abs, numbers(origin, "rpy")), default=0.0)
        if turn > 2.0 * math.pi + 1e-3:
            owner = source.parents[origin]
            owner = owner if owner.get("name") else source.parents[owner]
            message = f"{label(owner)}: an rpy of {turn:g} rad"
            yield "angle-unit", origin, message, "write it in rad"


def _mimics(source: Source) -> Found:
    leads = {}
    for name, joint in source.joints.items():
        mimic = joint.find("mimic")
        if mimic is not None:
            leads[name] = mimic.get("joint", "")
            if leads[name] not in source.joints:
                message = f"{label(joint)} mimics {leads[name] or 'nothing'}, which is not there"
                yield "mimic-unknown", mimic, message, "name a joint of this file"
    for name in leads:
        seen = [name]
        while (lead := leads.get(seen[-1])) is not None and lead not in seen:
            seen.append(lead)
        if lead == name:
            element = source.joints[name]
            over = f" over {', '.join(seen[1:])}" if seen[1:] else ""
            message = f"{label(element)} mimics itself{over}"
            yield "mimic-cycle", element, message, "name a joint that moves by itself"


def _structure(source: Source) -> Found:
    led, parents = Counter[str](), dict[str, str]()
    for joint in source.top.findall("joint"):
        ends = {}
        for tag in ("parent", "child"):
            end = joint.find(tag)
            ends[tag] = "" if end is None else end.get("link", "")
            if ends[tag] not in source.links and (tag, ends[tag]) != ("parent", "world"):
                message = f"{label(joint)}: its {tag} {ends[tag] or 'is not named'} is no link"
                yield "link-unknown", joint, message, "name a link of this file"
        led[ends["child"]] += 1
        parents[ends["child"]] = ends["parent"]
        if led[ends["child"]] == 2:
            message = f"{label(joint)} is the second that leads to {ends['child']}"
            yield "link-loop", joint, message, "a URDF is a tree: cut the loop"
    for name in parents:
        seen, at = {name}, parents[name]
        while at in parents and at not in seen:
            seen.add(at)
            at = parents[at]
        if at == name:
            message = f"link {name} carries itself, over {len(seen)} joints"
            yield "link-loop", source.links.get(name, source.top), message, "cut the loop"
            break
    roots = [name for name in source.links if name not in led]
    if len(roots) > 1:
        message = f"{len(roots)} links are roots: {', '.join(roots[:4])}"
        yield "link-roots", source.links[roots[1]], message, "tie them together with a joint"


def _names(source: Source) -> Found:
    for element in (*source.top.findall("link"), *source.top.findall("joint")):
        name = element.get("name", "")
        if not name or not name.isascii() or any(c.isspace() for c in name):
            cure = "letters, digits, _ and -"
            yield "name-characters", element, f'{element.tag} is named "{name}"', cure
    known = {*source.links, *source.joints}
    said = [(e, e.get("reference", ""), "gazebo") for e in source.top.findall("gazebo[@reference]")]
    for tag in ("transmission", "ros2_control"):
        said += [(e, e.get("name", ""), tag) for e in source.top.iterfind(f"{tag}/joint")]
    for element, name, tag in said:
        if name not in (known if tag == "gazebo" else source.joints):
            message = f"<{tag}> names {name or 'nothing'}, which is not there"
            yield "reference-unknown", element, message, "name what is in this file"


def _meshes(source: Source) -> Found:
    for link in source.links.values():
        for mesh in link.iter("mesh"):
            name = mesh.get("filename", "")
            if source.file.find(name) is None:
                package = name.removeprefix(PACKAGE).partition("/")[0]
                cure = "write a path that is there"
                if name.startswith(PACKAGE):
                    cure = f"--package {package}=DIR, or install it"
                yield "mesh-missing", mesh, f"{label(link)}: {name} is not found", cure
            if np.prod(numbers(mesh, "scale") or [1.0]) < 0.0:
                message = f"{label(link)}: scale {mesh.get('scale')}"
                yield "mesh-mirrored", mesh, message, "mirror the file itself"


FINDERS: tuple[Callable[[Source], Found], ...] = (
    _numbers, _masses, _joints, _mimics, _structure, _names, _meshes,
)  # fmt: skip
