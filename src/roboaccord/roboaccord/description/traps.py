"""Traps of a URDF: what readers take in different ways, where it is, and the smallest repair.

A trap is a property of the text. Whether it makes a difference in an engine is for the ablation to
say (`causes`).
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.degrees import DEGREES
from roboaccord.description.extents import mesh_extent
from roboaccord.description.findings import Flaw
from roboaccord.description.tree import MOVING
from roboaccord.description.urdf_file import UrdfFile

MASS, MOMENT = 1e-5, 1e-9  # kg, kg m^2: SDFormat takes masses below 1e-6 kg for 0
POSITIVE, LEAST = 1e-9, 1e-12  # of the largest principal moment, kg m^2: no moment below is written
MIMIC = "mimic"  # a cause, and the element and its kind
AXES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
TURN = (4 * np.pi, 720.0)  # bounds beyond which, and up to which, a limit is taken for degrees
LARGE = 30.0  # a mesh so many times the size of the robot is in millimetres

Edit = Callable[[ET.Element, Collection[str]], None]


@dataclass(frozen=True)
class Trap(Flaw):
    """Hold one kind of trap in a text.

    Args:
        repair: removes it from a parsed text, at the places named.
        keeps: whether the repaired robot is the same robot, so that `--repair` may write it.
        of: what its places name, `link` or `joint`.
    """

    repair: Edit
    keeps: bool = True
    of: str = "link"


def find_traps(urdf: str) -> list[Trap]:
    """Return the traps of a text, in the order in which they are to be repaired."""
    top = ET.fromstring(urdf)
    found = (find(top) for find in FINDERS)
    return [trap for traps in found for trap in traps if trap.where]


def repaired(urdf: str, traps: Collection[Trap]) -> str:
    """Return a URDF without the traps given; its comments stay."""
    top = ET.fromstring(urdf, ET.XMLParser(target=ET.TreeBuilder(insert_comments=True)))
    for trap in traps:
        trap.repair(top, trap.where)
    return ET.tostring(top, encoding="unicode")


def _each(top: ET.Element, tag: str, places: Collection[str]) -> Iterator[tuple[ET.Element, str]]:
    """Yield the links or joints named, with their names."""
    for element in top.findall(tag):
        if (name := element.get("name", "")) in places:
            yield element, name


def duplicates(top: ET.Element) -> Iterator[Trap]:
    """Yield joints, and links, that have one name."""
    for kind in ("joint", "link"):
        counts = Counter(e.get("name", "") for e in top.findall(kind))
        names = tuple(name for name, count in counts.items() if count > 1)
        fix = f"give each {kind} a name of its own"
        yield Trap(f"duplicate {kind} name", names, fix, _number(kind), kind == "joint", kind)


def _number(kind: str) -> Edit:
    def repair(top: ET.Element, places: Collection[str]) -> None:
        for name in places:
            same = [e for e in top.findall(kind) if e.get("name") == name]
            for i, element in enumerate(same[1:], start=2):
                element.set("name", f"{name}_{i}")

    return repair


def _shared(top: ET.Element) -> Iterator[Trap]:
    links = {e.get("name", "") for e in top.findall("link")}
    names = tuple(n for e in top.findall("joint") if (n := e.get("name", "")) in links)
    fix = "name the joint unlike the link, NAME_joint say: SDF has one space of names"
    yield Trap("joint and link share a name", names, fix, _rename, of="joint")


def _rename(top: ET.Element, places: Collection[str]) -> None:
    for joint in top.findall("joint"):
        mimic = joint.find(MIMIC)
        for element, key in ((joint, "name"), *(((mimic, "joint"),) if mimic is not None else ())):
            if element.get(key) in places:
                element.set(key, f"{element.get(key)}_joint")


def _inertials(top: ET.Element) -> dict[str, tuple[float, Array]]:
    """Return mass and inertia (3, 3) of each link that has an inertial, in the inertial's axes."""
    found = {}
    for link in top.findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        mass, tensor = inertial.find("mass"), inertial.find("inertia")
        said = {} if tensor is None else tensor.attrib
        xx, xy, xz, yy, yz, zz = (float(said.get(key, "0")) for key in AXES)
        kilograms = 0.0 if mass is None else float(mass.get("value", "0"))
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        found[link.get("name", "")] = kilograms, inertia
    return found


def _write(link: ET.Element, mass: float, inertia: Array) -> None:
    """Write mass and inertia of a link, its centre of mass kept."""
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ET.SubElement(link, "inertial")
    for tag in ("mass", "inertia"):
        if inertial.find(tag) is None:
            ET.SubElement(inertial, tag)
    inertial.find("mass").set("value", repr(float(mass)))  # type: ignore[union-attr]
    values = inertia[np.triu_indices(3)]
    for key, value in zip(AXES, values, strict=True):
        inertial.find("inertia").set(key, repr(float(value)))  # type: ignore[union-attr]


def _give(mass: float, moment: float) -> Edit:
    def repair(top: ET.Element, places: Collection[str]) -> None:
        for link, _ in _each(top, "link", places):
            _write(link, mass, moment * np.eye(3))

    return repair


def _unphysical(top: ET.Element) -> Iterator[Trap]:
    broken, flat = [], []
    for name, (mass, inertia) in _inertials(top).items():
        moments = np.linalg.eigvalsh(inertia)
        if mass <= 0.0 and not inertia.any():
            continue
        slack = max(1e-12 * moments[2], LEAST)
        if moments[0] < -slack or moments[0] + moments[1] < moments[2] - slack:
            broken.append(name)
        elif moments[0] <= slack:
            flat.append(name)
    fix = "correct the inertia: no body has these principal moments; the nearest that one has: "
    fix += "spread what is missing over the three of them"
    yield Trap("non-physical inertia", tuple(broken), fix, _make_physical)
    fix = "give the link a thickness: a principal moment of 0 is refused"
    yield Trap("zero principal moment", tuple(flat), fix, _make_physical)


def _make_physical(top: ET.Element, places: Collection[str]) -> None:
    found = _inertials(top)
    for link, name in _each(top, "link", places):
        _write(link, found[name][0], nearest_physical(found[name][1]))


def nearest_physical(inertia: Array) -> Array:
    """Return the nearest inertia (3, 3) whose moments are positive and obey the triangle rule."""
    moments, axes = np.linalg.eigh(inertia)
    least = max(POSITIVE * float(np.abs(moments).max()), LEAST)
    moments = np.maximum(moments, least)
    short = moments[2] - moments[0] - moments[1]
    if short > -least:
        moments = moments + (short + least) / 3.0 * np.array([1.0, 1.0, -1.0])
    result = axes @ np.diag(moments) @ axes.T
    return np.asarray(0.5 * (result + result.T))


def _heavy_nothing(top: ET.Element) -> Iterator[Trap]:
    found = _inertials(top).items()
    names = tuple(name for name, (mass, inertia) in found if mass <= 0.0 and inertia.any())
    fix = f'write a mass, <mass value="{MASS:g}"/> at least, or take the inertia away'

    def repair(top: ET.Element, places: Collection[str]) -> None:
        found = _inertials(top)
        for link, name in _each(top, "link", places):
            _write(link, MASS, found[name][1])

    yield Trap("0 kg link with an inertia", names, fix, repair)


def _massless(top: ET.Element) -> Iterator[Trap]:
    """Yield links without mass, by what carries them and what they carry."""
    found = _inertials(top)
    names = [e.get("name", "") for e in top.findall("link") if e.get("name") != "world"]
    light = {n for n in names if n not in found or (found[n][0] == 0 and not found[n][1].any())}
    carried, below = dict[str, str](), dict[str, list[tuple[str, bool]]]()
    for joint in top.findall("joint"):
        parent, child = (_end(joint, tag) for tag in ("parent", "child"))
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
    middle = tuple(n for n in moving if carries(n))
    ends = tuple(n for n in moving if n not in middle)
    rest = tuple(n for n in names if n in light and n in carried and n not in moving)
    tiny = f'<mass value="{MASS:g}"/> and moments of {MOMENT:g}'
    fix = f"give it a mass and an inertia, {tiny} at least"
    fix_nothing = (
        'write <inertial> with <mass value="0"/> and an <inertia> of zeros, or its true values'
    )
    silent = tuple(n for n in names if n not in found and n not in ends)
    yield Trap("missing inertial", silent, fix_nothing, _give(0.0, 0.0))
    yield Trap("0 kg link in the middle", middle, fix, _give(MASS, MOMENT))
    fix = f"give it its mass and inertia: its acceleration is not determined; {tiny} are written"
    for cause, known in (("massless moving link", True), ("missing inertial", False)):
        here = tuple(name for name in ends if (name in found) == known)
        yield Trap(cause, here, fix, _give(MASS, MOMENT))
    fix = f"give it a mass and an inertia, {tiny} at least: 0 kg fixed to 0 kg divides by 0"
    yield Trap("0 kg link fixed to others", rest, fix, _give(MASS, MOMENT))


def _end(joint: ET.Element, tag: str) -> str:
    end = joint.find(tag)
    return "" if end is None else end.get("link", "")


def _mimic(top: ET.Element) -> Iterator[Trap]:
    names = tuple(e.get("name", "") for e in top.findall("joint") if e.find(MIMIC) is not None)
    fix = "state the constraint in each engine's own model; no two readers take <mimic> alike"

    def repair(top: ET.Element, places: Collection[str]) -> None:
        for joint, _ in _each(top, "joint", places):
            for element in joint.findall(MIMIC):
                joint.remove(element)

    yield Trap(MIMIC, names, fix, repair, keeps=False, of="joint")


def _limits(top: ET.Element) -> Iterator[Trap]:
    missing, turning, degrees = [], [], []
    for joint in top.findall("joint"):
        name, kind, limit = joint.get("name", ""), joint.get("type"), joint.find("limit")
        said = {} if limit is None else limit.attrib
        ends = {key: float(said[key]) for key in ("lower", "upper") if key in said}
        if kind in ("revolute", "prismatic") and (len(ends) < 2 or not any(ends.values())):
            missing.append(name)
        if kind == "continuous" and ends:
            turning.append(name)
        largest = max(map(abs, ends.values()), default=0.0)
        if kind == "revolute" and TURN[0] < largest <= TURN[1]:
            degrees.append(name)
    fix = 'write lower and upper, or type="continuous" for a joint without limits'
    yield Trap("limits missing", tuple(missing), fix, _turn_freely, keeps=False, of="joint")
    fix = "take lower and upper away: a continuous joint has none"
    yield Trap("limits of a continuous joint", tuple(turning), fix, _unlimit, of="joint")
    fix = "write lower and upper in rad: they are taken for rad by every reader"
    yield Trap("limit in degrees", tuple(degrees), fix, _radians, keeps=False, of="joint")


def _turn_freely(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        limit = joint.find("limit")
        if limit is None:
            limit = ET.SubElement(joint, "limit", effort="0", velocity="0")
        limit.attrib.update(lower=repr(-np.pi), upper=repr(np.pi))


def _unlimit(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        for limit in joint.findall("limit"):
            for key in {"lower", "upper"} & set(limit.attrib):
                del limit.attrib[key]


def _radians(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        for limit in joint.findall("limit"):
            for key in ("lower", "upper"):
                limit.set(key, repr(float(np.radians(float(limit.get(key, "0"))))))


def _several_degrees(top: ET.Element) -> Iterator[Trap]:
    for kind in DEGREES:
        names = tuple(e.get("name", "") for e in top.findall(f"joint[@type='{kind}']"))
        fix = f"few readers know a {kind} joint: write slides and hinges, or let the base be free"

        def weld(top: ET.Element, places: Collection[str]) -> None:
            for joint, _ in _each(top, "joint", places):
                joint.set("type", "fixed")

        yield Trap(f"{kind} joint", names, fix, weld, keeps=False, of="joint")


def _undeclared_world(top: ET.Element) -> Iterator[Trap]:
    if top.find("link[@name='world']") is None:
        named = (e for e in top.findall("joint") if _end(e, "parent") == "world")
        fix = 'declare it: <link name="world"/>'

        def declare(top: ET.Element, _: Collection[str]) -> None:
            top.append(ET.Element("link", name="world"))

        names = tuple(e.get("name", "") for e in named)
        yield Trap("world not declared", names, fix, declare, of="joint")


FINDERS = (
    _undeclared_world, _several_degrees, duplicates, _shared, _unphysical, _heavy_nothing,
    _massless, _mimic, _limits,
)  # fmt: skip


def large_meshes(file: UrdfFile) -> tuple[str, ...]:
    """Return the links whose mesh is far larger than the robot: 1000 times, mostly."""
    top = ET.fromstring(file.text)
    offsets = [e.get("xyz", "0 0 0").split() for e in top.findall("joint/origin")]
    size = max(0.1, sum(float(np.linalg.norm([float(x) for x in each])) for each in offsets))
    return tuple(
        dict.fromkeys(
            link.get("name", "")
            for link in top.findall("link")
            for mesh in link.iter("mesh")
            if _extent(file, mesh) > LARGE * size
        )
    )


def _extent(file: UrdfFile, mesh: ET.Element) -> float:
    """Return the largest coordinate of a mesh [m]; its scale where the file is not found."""
    scale = max(abs(float(word)) for word in mesh.get("scale", "1 1 1").split())
    path = file.find(mesh.get("filename", ""))
    found = mesh_extent(path) if path else None
    if found:
        return scale * found.coordinate
    return scale if scale >= 1e3 else 0.0
