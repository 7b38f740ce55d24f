"""Rules for a URDF: what is wrong in the text, on which line, and its cure, without any engine.

What readers interpret differently (`traps`) is a rule each; the others need no engine to be wrong:
numbers that are none, units, limits, axes, names, and what refers to nothing. `rules.md` has a
section for each.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.description.extensions import find_extensions
from roboaccord.description.findings import RuleFinding, Severity
from roboaccord.description.meshes import PACKAGE
from roboaccord.description.resources import package_folders
from roboaccord.description.source import NUMBERS, Found, Source, end, label, norm, numbers
from roboaccord.description.traps import find_traps, inertials, large_meshes, moments_text
from roboaccord.description.tree import MOVING
from roboaccord.description.urdf_file import UrdfFile


class Rule(NamedTuple):
    """Hold a rule of `rules.md`: what it finds, its section, and both sides of the example."""

    severity: Severity
    what: str
    text: str
    bad: str
    good: str

    @property
    def why(self) -> str:
        """What readers make of it, and the cure: its section between first line and example."""
        return " ".join(self.text.split("\n\n")[1].split())


def _read_rules() -> dict[str, Rule]:
    page = files(__package__).joinpath("rules.md").read_text(encoding="utf-8")
    found = {}
    for name, text in re.findall(r"^## (\S+)\n\n(.*?)(?=\n## |\Z)", page, re.S | re.M):
        severity, what = text.partition("\n")[0].rstrip(".").split(": ", 1)
        sides = text.split("```xml\n")[1].split("```")[0].split("<!-- right -->\n")
        found[name] = Rule(cast(Severity, severity), what, text.strip(), *sides)
    return found


RULES: Mapping[str, Rule] = _read_rules()
"""By name, in the order of the page."""
VECTORS = ("xyz", "rpy", "size", "scale")
GOLD = 19_300.0  # kg/m^3
BEYOND = 3.0  # times the size of a link: farther out is not part of it
TINY = 0.02  # m: smaller shapes stand for something else
FAR = 20.0  # m from a joint to the next
UNREADABLE = ("number-invalid", "number-count", "link-loop")  # traps are sought in none of these
TYPES = (*MOVING, "fixed", "floating", "planar")
WIDE = 720.0  # rad or m: a stop beyond it is none
UNITS = {"g mm^2": 1e-9, "kg mm^2": 1e-6}
REFUSED = (
    "name-missing", "duplicate-link-name", "duplicate-joint-name", "number-invalid",
    "number-count", "mass-negative", "link-loop", "link-unknown",
)  # fmt: skip
"""Rules whose files no two engines read alike."""
ALL = "all"  # of what rules can be explained
WANTED: Mapping[str, tuple[str, ...]] = {
    "box": ("size",),
    "sphere": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "mesh": ("filename",),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "mimic": ("joint",),
    "safety_controller": ("k_velocity",),
}
"""Attributes without which urdfdom drops an element, or refuses the file."""
WITHIN = {"inertial": ("mass", "inertia"), "visual": ("geometry",), "collision": ("geometry",)}
SHAPES = ("box", "sphere", "cylinder", "capsule", "mesh")
VERSIONS = ("1.0", "1.1", "1.2")


def findings(file: UrdfFile) -> list[RuleFinding]:
    """Return what the rules find in a file, by line; the file by its path from here, if below."""
    source, named = Source(file), _named(file.path)
    found = [each for find in FINDERS for each in find(source)]
    if not any(rule in UNREADABLE for rule, *_ in found):
        known = {rule for rule, *_ in found}
        found += [each for each in _traps(source) if each[0] not in known]
    rows = [
        RuleFinding(rule, RULES[rule].severity, named, source.line(element), message, cure)
        for rule, element, message, cure in found
        if element.get("name") not in file.made
    ]
    return sorted(rows, key=lambda row: (row.line, row.rule))


def unreadable(path: Path, reason: str) -> RuleFinding:
    """Return the finding that stands for a file of which no robot can be made."""
    rule = "file-unreadable"
    return RuleFinding(rule, RULES[rule].severity, _named(path), 1, reason, "correct the file")


def _named(path: Path) -> str:
    """Return a path from here, if the file is below."""
    here, path = Path.cwd(), path.absolute()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def rule_of(cause: str) -> str:
    """Return the rule that finds a trap."""
    return cause.lower().replace(" ", "-")


def explain(rule: str) -> str:
    """Return the section of a rule: what it finds, why, and an example; of `all`, a line each.

    Raises:
        AccordError: for an unknown one.
    """
    if rule == ALL:
        return "\n".join(f"{name}: {RULES[name].severity}: {RULES[name].what}" for name in RULES)
    check_known("unknown rule ", rule, RULES)
    severity, what, _, bad, good = RULES[rule]
    sides = f"wrong:\n{bad}\nright:\n{good or 'without it'}".rstrip()
    return f"{rule}\n\n{severity}: {what}.\n\n{RULES[rule].why}\n\n{sides}"


def check_description(file: UrdfFile) -> None:
    """Refuse what no two engines read alike: names twice, no numbers, joints of other types.

    Raises:
        AccordError: naming the link or the joint.
    """
    source, broken = Source(file), f"broken description {file.path.name}"
    for find in (_names, _numbers, _structure):
        for rule, _, message, _ in find(source):
            if rule in REFUSED:
                raise AccordError(f"{broken}: {message}")
    known = (*MOVING, "fixed")
    for name, joint in source.joints.items():
        if (kind := joint.get("type")) not in known:
            wrong = f"joint {name} is of type {kind}, and not of {', '.join(known)}"
            raise AccordError(f"{broken}: {wrong}")


def _numbers(source: Source) -> Found:
    for owner in (*source.top.findall("link"), *source.top.findall("joint")):
        for each in owner.iter():
            for key in NUMBERS.get(each.tag, ()):
                if key in each.attrib:
                    yield from _number(owner, each, key)


def _number(owner: ET.Element, element: ET.Element, key: str) -> Found:
    text, where = element.attrib[key], f"{label(owner)}: {element.tag} {key}"
    words, wanted = text.split(), 3 if key in VECTORS else 1
    values = numbers(element, key)
    endless = element.tag == "limit" and not any(map(math.isnan, values))
    if len(values) != len(words):
        yield "number-invalid", element, f"{where} {text!r} is not a number", "write a number"
    elif not all(map(math.isfinite, values)) and not endless:
        message = f"{where} is {text}, and not finite"
        yield "number-invalid", element, message, "write a finite number"
    elif len(words) != wanted:
        message = f"{where} has {len(words)} numbers"
        yield "number-count", element, message, f"write {wanted} of them"
    elif wanted == 1 and text != text.strip():
        yield "number-blanks", element, f'{where} is "{text}"', f'write "{words[0]}"'
    elif element.tag == "mass" and values[0] < 0.0:
        cure = f"needs your number: mass of {owner.get('name')}"
        yield "mass-negative", element, f"{label(owner)}: its mass is {values[0]:g} kg", cure


def _traps(source: Source) -> Found:
    inertias = inertials(source.top)
    for trap in find_traps(source.file.text):
        rule = rule_of(trap.cause)
        named = {e.get("name", ""): e for e in source.top.findall(trap.of)}
        for place in trap.where:
            element = named.get(place, source.top)
            if rule.startswith("duplicate-"):
                continue
            if rule == "0-kg-link-with-an-inertia" and any(
                numbers(element.find("inertial/mass"), "value")
            ):
                continue  # it is below 0
            message = f"{label(element)}: {RULES[rule].what}"
            if rule == "non-physical-inertia":
                message += f": {moments_text(inertias[place][1])}"
            yield rule, element, message, trap.fix
    for place in large_meshes(source.file):
        element = source.links[place]
        fix = 'write the mesh\'s scale: scale="0.001 0.001 0.001" for millimetres'
        yield "mesh-scale", element, f"{label(element)}: {RULES['mesh-scale'].what}", fix


def _masses(source: Source) -> Found:
    moving = any(joint.get("type") in MOVING for joint in source.joints.values())
    if moving and not source.top.findall("link/inertial/mass"):
        yield "no-masses", source.top, "this file has no masses", "write <inertial> in each link"
    for name, link in source.links.items():
        mass = sum(numbers(link.find("inertial/mass"), "value"))
        inertial, size = link.find("inertial"), source.sizes.get(name, 0.0)
        if inertial is None:
            continue
        if size < TINY:
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
            yield "centre-of-mass-unit", inertial, message, "write it in m"


def _unit_of(ratio: float) -> str:
    """Return a cure: the unit by which a radius of gyration would lie within its link."""
    fits = [unit for unit, factor in UNITS.items() if 0.1 < ratio * math.sqrt(factor) < 1.0]
    return f"write it in kg m^2, not in {fits[0]}" if fits else "write the link's own inertia"


def _joints(source: Source) -> Found:
    for joint in source.joints.values():
        origin, limit, axis = (joint.find(tag) for tag in ("origin", "limit", "axis"))
        kind, dynamics = joint.get("type"), joint.find("dynamics")
        if kind not in TYPES:
            message = f"{label(joint)} is of type {kind}"
            yield "joint-type", joint, message, f"one of {', '.join(TYPES)}"
        if kind != "fixed" and axis is not None and (length := norm(numbers(axis, "xyz"))) != 1.0:
            if not length:
                yield (
                    "axis-zero",
                    axis,
                    f"{label(joint)}: its axis is 0",
                    'write an axis, such as xyz="0 0 1"',
                )
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
            if kind != "continuous" and max(map(abs, [*lower, *upper]), default=0.0) > WIDE:
                message = f"{label(joint)}: a stop at {max(map(abs, [*lower, *upper])):g}"
                yield "limit-wide", limit, message, 'type="continuous", or the true stop'
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
        ends = {tag: end(joint, tag) for tag in ("parent", "child")}
        for tag in ends:
            if ends[tag] in source.links:
                continue
            if (tag, ends[tag]) != ("parent", "world"):
                message = f"{label(joint)}: its {tag} {ends[tag] or 'is not named'} is not a link"
                yield "link-unknown", joint, message, "name a link of this file"
        led[ends["child"]] += 1
        parents[ends["child"]] = ends["parent"]
        if led[ends["child"]] == 2:
            message = f"a loop: {label(joint)} is the second that leads to {ends['child']}"
            yield "link-loop", joint, message, "a URDF is a tree: cut the loop"
    for name in parents:
        seen, at = {name}, parents[name]
        while at in parents and at not in seen:
            seen.add(at)
            at = parents[at]
        if at == name:
            message = f"a loop of links: {', '.join(sorted(seen)[:4])}"
            yield "link-loop", source.links.get(name, source.top), message, "cut the loop"
            break
    roots = [name for name in source.links if name not in led]
    if len(roots) > 1:
        message = f"{len(roots)} links are roots: {', '.join(roots[:4])}"
        yield "link-roots", source.links[roots[1]], message, "tie them together with a joint"


def _names(source: Source) -> Found:
    if not source.top.get("name"):
        yield "name-missing", source.top, "the robot has no name", 'write <robot name="...">'
    version = source.top.get("version", "1.0")
    if version not in VERSIONS:
        message = f"URDF of version {version}"
        yield "urdf-version", source.top, message, f"write one of {', '.join(VERSIONS)}, or none"
    seen = set[tuple[str, str]]()
    for element in (*source.top.findall("link"), *source.top.findall("joint")):
        name = element.get("name", "")
        if not name:
            yield "name-missing", element, f"a {element.tag} has no name", "give it one"
        elif (element.tag, name) in seen:
            message, cure = f"{label(element)} is there twice", "give each a name of its own"
            yield f"duplicate-{element.tag}-name", element, message, cure
        elif len(name) > 4 and name.startswith("__") and name.endswith("__"):
            cure = "take the underscores away"
            yield "name-reserved", element, f"{label(element)}: SDF reserves such names", cure
        seen.add((element.tag, name))
        if not name.isascii() or any(c.isspace() for c in name):
            cure = "letters, digits, _ and -"
            yield "name-characters", element, f'{element.tag} is named "{name}"', cure
    known = {*source.links, *source.joints}
    named = [
        (e, e.get("reference", ""), "gazebo") for e in source.top.findall("gazebo[@reference]")
    ]
    for tag in ("transmission", "ros2_control"):
        named += [(e, e.get("name", ""), tag) for e in source.top.iterfind(f"{tag}/joint")]
    for element, name, tag in named:
        if name not in (known if tag == "gazebo" else source.joints):
            message = f"<{tag}> names {name or 'nothing'}, which is not there"
            yield "reference-unknown", element, message, "name what is in this file"


def _complete(source: Source) -> Found:
    for owner in (*source.top.findall("link"), *source.top.findall("joint")):
        for each in owner.iter():
            if each.tag in SHAPES and source.parents[each].tag != "geometry":
                continue  # a hint to another program
            left = [key for key in WANTED.get(each.tag, ()) if not each.get(key)]
            if each.tag == "dynamics" and not {"damping", "friction"} & set(each.attrib):
                left = ["damping"]
            if left:
                message = f"{label(owner)}: <{each.tag}> without {', '.join(left)}"
                yield "attribute-missing", each, message, f"write {', '.join(left)}"
            lost = [tag for tag in WITHIN.get(each.tag, ()) if each.find(tag) is None]
            if each.tag == "geometry" and not any(s.tag in SHAPES or ":" in s.tag for s in each):
                lost = ["one of " + ", ".join(SHAPES)]
            if lost:
                message = f"{label(owner)}: <{each.tag}> without {', '.join(lost)}"
                yield "element-missing", each, message, f"write {', '.join(lost)}"
            if each.tag == "limit" and owner.get("type") in MOVING:
                left = [key for key in ("effort", "velocity") if key not in each.attrib]
                if left:
                    message = f"{label(owner)}: a limit without {' and '.join(left)}"
                    yield "limit-incomplete", each, message, f"write {' and '.join(left)}"


def _drawn(source: Source) -> Found:
    seen = set[str]()
    for each in source.top.findall("material"):
        name = each.get("name", "")
        if name in seen:
            message = f"material {name} is there twice"
            yield "duplicate-material", each, message, "keep one of them"
        seen.add(name)
    seen |= {e.get("name", "") for e in source.top.iter("material") if len(e)}
    for link in source.links.values():
        for each in link.iter("material"):
            if (name := each.get("name", "")) and name not in seen:
                message = f"{label(link)}: material {name} is defined nowhere"
                yield "material-unknown", each, message, "write its <color> in the robot"
    moved = {end(j, "child") for j in source.joints.values() if j.get("type") in MOVING}
    for name, link in source.links.items():
        if name in moved and link.find("visual") is not None and link.find("collision") is None:
            message = f"{label(link)} is drawn, and touches nothing"
            yield "no-collision", link, message, "write <collision>, with simple shapes"


def _meshes(source: Source) -> Found:
    there, lost = dict[str, bool](), set[str]()
    for link in source.links.values():
        for mesh in link.iter("mesh"):
            name = mesh.get("filename", "")
            if name and source.file.find(name) is None:
                package = name.removeprefix(PACKAGE).partition("/")[0]
                if package not in there:
                    folders = package_folders(package, source.file.path, source.file.packages)
                    there[package] = any(map(Path.is_dir, folders))
                if there[package] or not name.startswith(PACKAGE):
                    message = f"{label(link)}: {name} is not found"
                    yield "mesh-missing", mesh, message, "write a path that is there"
                elif package not in lost:
                    lost.add(package)
                    cure = f"--package {package}=DIR, or install it"
                    message = f"package {package}, which meshes name, is not found"
                    yield "package-missing", mesh, message, cure
            if np.prod(numbers(mesh, "scale") or [1.0]) < 0.0:
                message = f"{label(link)}: scale {mesh.get('scale')}"
                yield "mesh-mirrored", mesh, message, "mirror the file itself"


FINDERS: tuple[Callable[[Source], Found], ...] = (
    _names, _numbers, _structure, _masses, _joints, _mimics, _complete, _drawn, _meshes,
    find_extensions,
)  # fmt: skip
