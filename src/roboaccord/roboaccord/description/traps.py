"""Traps of a URDF: what readers interpret differently, where it is, and the smallest repair.

A trap is a property of the text. Whether it makes a difference in an engine is decided by ablation
(`causes`), for which every trap has a repair. Written are those alone that are certain: that
follow from the file, so that the robot stays the same and no number is invented.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import count

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.description.degrees import DEGREES
from roboaccord.description.edits import Change, applied, changes
from roboaccord.description.extents import mesh_extent
from roboaccord.description.findings import Flaw
from roboaccord.description.source import NUMBERS
from roboaccord.description.tree import MOVING
from roboaccord.description.urdf_file import UrdfFile

MASS, MOMENT = 1e-5, 1e-9  # kg, kg m^2, of the ablation
NOTHING = 1e-6  # kg: SDFormat takes no more than that for 0
REFUSED = 1e-14  # kg m^2: MuJoCo refuses smaller principal moments
LEAST = 2.0 * REFUSED
ROUND, SLACK = 1e-9, 1e-12  # of the largest moment: what a file may be rounded by, and round-off
STEEP = 0.99999  # sine of a pitch from which urdfdom takes it for 90 degrees
LONG = 1e-3  # by which the length of an axis may differ from 1
MIMIC = "mimic"  # a cause, and the element and its kind
AXES = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
TURN = (4 * np.pi, 720.0)  # bounds beyond which, and up to which, a limit is taken for degrees
LARGE = 30.0  # a mesh so many times the size of the robot is in millimetres

UNDETERMINED = ": its acceleration is not determined"

Edit = Callable[[ET.Element, Collection[str]], None]


@dataclass(frozen=True)
class Trap(Flaw):
    """Hold one kind of trap in a text.

    Args:
        repair: removes it from a parsed text, at the places named.
        certain: whether that follows from the file, so that `--repair` may write it.
        of: the elements of the robot that its places name: `link`, `joint` or `loop_joint`.
        needs: what a certain repair lacks of each place, if it lacks a number.
    """

    repair: Edit
    certain: bool = True
    of: str = "link"
    needs: str = ""

    def edit(self, top: ET.Element) -> None:
        """Repair a parsed text."""
        self.repair(top, self.where)


def find_traps(urdf: str) -> list[Trap]:
    """Return the traps of a text, in the order in which they are to be repaired."""
    top = ET.fromstring(urdf)
    found = (find(top) for find in FINDERS)
    return [trap for traps in found for trap in traps if trap.where]


def repaired(urdf: str, traps: Collection[Trap]) -> str:
    """Return a URDF without the traps given; the rest of its text stays."""
    data, edits = urdf.encode(), [(trap.cause, trap.edit) for trap in traps]
    return applied(data, changes(data, edits, "utf-8")).decode()


def written(data: bytes, traps: Collection[Trap]) -> list[Change]:
    """Return what repairs change in a file's text; all of it if elements are in entities."""
    edits = [(trap.cause, trap.edit) for trap in traps]
    try:
        return changes(data, edits) if edits else []
    except ValueError:
        plain = ET.tostring(ET.fromstring(data))
        new = applied(plain, changes(plain, edits))
        return [Change(0, len(data), new, "without its entities")]


def _each(top: ET.Element, tag: str, places: Collection[str]) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements named, with their names."""
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
            for element in same[1:]:
                element.set("name", _free(top, f"{name}_{{}}"))

    return repair


def _free(top: ET.Element, pattern: str) -> str:
    """Return the first name by a pattern that no link or joint has, from 2 on."""
    taken = {element.get("name") for element in top}
    return next(name for i in count(2) if (name := pattern.format(i)) not in taken)


def _shared(top: ET.Element) -> Iterator[Trap]:
    links = {e.get("name", "") for e in top.findall("link")}
    names = [n for e in top.findall("joint") if (n := e.get("name", "")) in links]
    elsewhere = {e.get("reference", "") for e in top.findall("gazebo")}
    elsewhere |= {(e.text or "").strip() for e in top.iter()}
    fix = "rename the joint, as NAME_joint: SDF has one namespace for links and joints"
    for certain in (True, False):
        here = tuple(name for name in names if (name not in elsewhere) == certain)
        yield Trap("joint and link share a name", here, fix, _rename, certain, "joint")


def _rename(top: ET.Element, places: Collection[str]) -> None:
    """Rename joints, and what mimics or drives them."""
    for name in places:
        taken = {element.get("name") for element in top}
        new = f"{name}_joint"
        new = new if new not in taken else _free(top, f"{new}_{{}}")
        for element in top.iter():
            for tag, key in (("joint", "name"), (MIMIC, "joint")):
                if element.tag == tag and element.get(key) == name:
                    element.set(key, new)


def _blanks(top: ET.Element) -> Iterator[Trap]:
    for tag in ("link", "joint"):
        names = tuple(e.get("name", "") for e in top.findall(tag) if [*_blank(e)])
        yield Trap("number blanks", names, "take the blanks away", _strip, of=tag)


def _blank(owner: ET.Element) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements and attributes of a link or joint with a number between blanks."""
    for element in owner.iter():
        for key in {*NUMBERS.get(element.tag, ())} - {"xyz", "rpy"}:
            text = element.get(key, "")
            if text != text.strip() and text.strip():
                yield element, key


def _strip(top: ET.Element, places: Collection[str]) -> None:
    for owner in top:
        if owner.get("name") in places:
            for element, key in _blank(owner):
                element.set(key, element.get(key, "").strip())


def inertials(top: ET.Element) -> dict[str, tuple[float, Array]]:
    """Return mass and inertia (3, 3) of each link that has an inertial, in the inertial's axes."""
    found = {}
    for link in top.findall("link"):
        inertial = link.find("inertial")
        if inertial is None:
            continue
        mass, tensor = inertial.find("mass"), inertial.find("inertia")
        moments = {} if tensor is None else tensor.attrib
        xx, xy, xz, yy, yz, zz = (float(moments.get(key, "0")) for key in AXES)
        kilograms = 0.0 if mass is None else float(mass.get("value", "0"))
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        found[link.get("name", "")] = kilograms, inertia
    return found


def _write(link: ET.Element, mass: float, inertia: Array) -> None:
    """Write mass and inertia of a link where they are others, its centre of mass kept."""
    inertial = link.find("inertial")
    if inertial is None:
        inertial = ET.SubElement(link, "inertial")
    values = {"mass": {"value": mass}}
    values["inertia"] = dict(zip(AXES, inertia[np.triu_indices(3)], strict=True))
    for tag in values:
        element = inertial.find(tag)
        _put(ET.SubElement(inertial, tag) if element is None else element, values[tag])


def _put(element: ET.Element, values: Mapping[str, float]) -> None:
    """Write those numbers of an element that are others, in as many digits as they have."""
    for key, value in values.items():
        if key not in element.attrib or float(element.attrib[key]) != value:
            element.set(key, repr(float(value)).removesuffix(".0"))


def _give(mass: float, moment: float) -> Edit:
    def repair(top: ET.Element, places: Collection[str]) -> None:
        for link, _ in _each(top, "link", places):
            _write(link, mass, moment * np.eye(3))

    return repair


def _change(change: Callable[[Array], Array]) -> Edit:
    """Return what makes other inertias of those that are there."""

    def repair(top: ET.Element, places: Collection[str]) -> None:
        found = inertials(top)
        for link, name in _each(top, "link", places):
            _write(link, found[name][0], change(found[name][1]))

    return repair


def _unphysical(top: ET.Element) -> Iterator[Trap]:
    negative, rounded, broken, flat, point, vanishing = (list[str]() for _ in range(6))
    for name, (mass, inertia) in inertials(top).items():
        moments, short = np.linalg.eigvalsh(inertia), shortage(inertia)
        if mass <= 0.0 and not inertia.any():
            continue
        if short > SLACK * abs(moments[2]):
            one = np.sum(np.diag(inertia) < 0.0) == 1 and shortage(_upright(inertia)) <= 0.0
            near = rounded if short <= ROUND * moments[2] else broken
            (negative if one else near).append(name)
        elif moments[0] <= SLACK * moments[2]:
            (flat if moments[2] >= LEAST / ROUND else point).append(name)
        elif moments[0] < REFUSED:
            vanishing.append(name)
        elif _is_on_edge(inertia):
            rounded.append(name)
    bad, thin = "non-physical inertia", "zero principal moment"
    for cause, places, change, fix in (
        (bad, negative, _upright, "reverse the negative moment's sign: no other entry is wrong"),
        ("rounded inertia", rounded, _nudged, "raise the moment that rounding cut, by 1e-9 of it"),
        (bad, broken, _sphere, "correct the inertia: no body has these principal moments"),
        (thin, flat, _nudged, "give the link a thickness: 1e-9 of its largest moment is enough"),
        (thin, point, _sphere, "give the link an inertia: one of 0 is refused"),
        ("vanishing inertia", vanishing, _sphere, "give it its inertia, or take <inertial> away"),
    ):
        certain = change is not _sphere
        edit, needs = _change(change), "" if certain else "inertia"
        yield Trap(cause, tuple(places), fix, edit, certain, needs=needs)


def shortage(inertia: Array) -> float:
    """Return what a principal moment falls short of by 0 and the triangle inequality [kg m^2]."""
    moments = np.linalg.eigvalsh(inertia)
    return float(max(-moments[0], moments[2] - moments[1] - moments[0]))


def moments_text(inertia: Array) -> str:
    """Return in words which condition the principal moments of an inertia (3, 3) break."""
    moments = np.linalg.eigvalsh(inertia)
    first, second, third = (f"{moment:.6g}" for moment in moments)
    if moments[0] < 0.0:
        return f"{first} kg m^2 is below 0"
    return f"{third} kg m^2 is more than {first} + {second}"


def _is_on_edge(inertia: Array) -> bool:
    """Return whether round-off decides if the largest moment is more than the sum of the others."""
    first, second, third = np.linalg.eigvalsh(inertia)
    if np.count_nonzero(inertia - np.diag(np.diag(inertia))):
        return bool(abs(third - second - first) <= SLACK * third)
    return bool(first + second < third)


def _upright(inertia: Array) -> Array:
    return np.asarray(inertia + 2.0 * np.diag(np.maximum(-np.diag(inertia), 0.0)))


def _nudged(inertia: Array) -> Array:
    """Return a physical inertia next to one that is nearly so: one moment raised, or all three."""
    largest = np.linalg.eigvalsh(inertia)[2]
    step = float(f"{max(shortage(inertia), 0.0) + ROUND * largest:.1e}")
    order = np.argsort(np.diag(inertia))
    for rows in (*order[:, None], order):
        new = inertia.copy()
        new[rows, rows] += step
        if shortage(new) < 0.0:
            break
    return new


def _sphere(inertia: Array) -> Array:
    """Return a physical inertia of the same trace, if that is one."""
    return np.eye(3) * max(float(np.trace(inertia)) / 3.0, MOMENT)


def _weightless(top: ET.Element) -> Iterator[Trap]:
    found = inertials(top).items()
    zero = tuple(name for name, (mass, inertia) in found if mass == 0.0 and inertia.any())
    below = tuple(name for name, (mass, _) in found if mass < 0.0)
    fix = "write its mass, or take the inertia away"

    def repair(top: ET.Element, places: Collection[str]) -> None:
        found = inertials(top)
        for link, name in _each(top, "link", places):
            _write(link, abs(found[name][0]) or MASS, found[name][1])

    yield Trap("0 kg link with an inertia", zero, fix, repair, certain=False, needs="mass")
    yield Trap("mass negative", below, "write its mass", repair, certain=False, needs="mass")


def _massless(top: ET.Element) -> Iterator[Trap]:
    """Yield links without mass, by what carries them and what they carry."""
    found = inertials(top)
    names = [e.get("name", "") for e in top.findall("link") if e.get("name") != "world"]
    light = {n for n in names if n not in found or (found[n][0] == 0 and not found[n][1].any())}
    carried, below = dict[str, str](), dict[str, list[tuple[str, bool]]]()
    for joint in sorted(top.findall("joint"), key=lambda joint: joint.get("name", "")):
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
    silent = [n for n in names if n not in found and n not in ends]
    unknown = tuple(n for n in silent if n in middle or n in hollow)
    known, both = tuple(n for n in silent if n not in unknown), "mass and inertia"
    fix = 'write <inertial> with <mass value="0"/> and an <inertia> of zeros, or its true values'
    yield Trap("missing inertial", known, fix, _give(0.0, 0.0))
    fix = "give it its mass and inertia"
    roots = [n for n in hollow if n not in carried]
    inner = [n for n in hollow if n in carried]
    named = ", or name it world if it is fixed: SDFormat drops it with what it carries"
    for cause, here, moment, why in (
        ("missing inertial", unknown, 0.0, ""),
        ("0 kg link in the middle", middle, MOMENT, ": readers refuse or drop it"),
        ("massless moving link", [n for n in ends if n in found], MOMENT, UNDETERMINED),
        ("missing inertial", [n for n in ends if n not in found], MOMENT, UNDETERMINED),
        ("0 kg link fixed to others", roots, MOMENT, named),
        ("0 kg link fixed to others", inner, MOMENT, ": SDFormat drops it, or divides by it"),
    ):
        edit = _give(MASS if moment else 0.0, moment)
        yield Trap(cause, tuple(here), fix + why, edit, certain=False, needs=both)

    def fill(top: ET.Element, _: Collection[str]) -> None:
        _give(MASS, MOMENT)(top, nothing)

    fix = "give a link its mass and inertia: SDFormat drops all"
    yield Trap("robot of 0 kg", tuple(nothing[:1]), fix, fill, certain=False, needs=both)


def _tiny(top: ET.Element) -> Iterator[Trap]:
    """Yield roots, and links that move, that SDFormat takes for 0 kg with what is fixed to them."""
    found, carried = inertials(top), set[str]()
    fixed = dict[str, list[str]]()
    for joint in top.findall("joint"):
        if joint.get("type") not in MOVING:
            fixed.setdefault(_end(joint, "parent"), []).append(_end(joint, "child"))
            carried.add(_end(joint, "child"))

    def total(name: str) -> float:
        own = found[name][0] if name in found else 0.0
        return own + sum(map(total, fixed.get(name, ())))

    names = tuple(n for n in found if n not in carried and 0.0 < total(n) <= NOTHING)

    def repair(top: ET.Element, places: Collection[str]) -> None:
        for link, name in _each(top, "link", places):
            _write(link, MASS, found[name][1])

    fix = "write its mass: SDFormat takes one up to 1e-6 kg for 0, and drops the link"
    yield Trap("vanishing mass", names, fix, repair, certain=False, needs="mass")


def _end(joint: ET.Element, tag: str) -> str:
    end = joint.find(tag)
    return "" if end is None else end.get("link", "")


def _axes(top: ET.Element) -> Iterator[Trap]:
    names = []
    for joint in top.findall("joint"):
        axis = joint.find("axis")
        if joint.get("type") in MOVING and axis is not None:
            length = math.hypot(*map(float, axis.get("xyz", "1 0 0").split()))
            if length and abs(length - 1.0) > LONG:
                names.append(joint.get("name", ""))
    yield Trap("axis length", tuple(names), "divide it by its length", _normalise, of="joint")


def _normalise(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        for axis in joint.findall("axis"):
            values = [float(word) for word in axis.get("xyz", "1 0 0").split()]
            words = (repr(x / math.hypot(*values)).removesuffix(".0") for x in values)
            axis.set("xyz", " ".join(words))


def _mimic(top: ET.Element) -> Iterator[Trap]:
    names = tuple(e.get("name", "") for e in top.findall("joint") if e.find(MIMIC) is not None)
    fix = "state the constraint in each engine's own model; no two readers take <mimic> alike"

    def repair(top: ET.Element, places: Collection[str]) -> None:
        for joint, _ in _each(top, "joint", places):
            for element in joint.findall(MIMIC):
                joint.remove(element)

    yield Trap(MIMIC, names, fix, repair, certain=False, of="joint")


def _limits(top: ET.Element) -> Iterator[Trap]:
    missing, turning, degrees, swapped, wrong, open_ended, negative = (
        list[str]() for _ in range(7)
    )
    for joint in top.findall("joint"):
        name, kind, limit = joint.get("name", ""), joint.get("type"), joint.find("limit")
        limits = {} if limit is None else limit.attrib
        ends = {key: float(limits[key]) for key in ("lower", "upper") if key in limits}
        if kind in ("revolute", "prismatic") and (len(ends) < 2 or not any(ends.values())):
            missing.append(name)
        if limit is not None and not {"effort", "velocity"} <= limit.attrib.keys():
            open_ended.append(name)
        if any(float(limits.get(key, "0")) < 0.0 for key in ("effort", "velocity")):
            negative.append(name)
        if kind == "continuous" and ends:
            turning.append(name)
        elif len(ends) == 2 and ends["lower"] > ends["upper"]:
            (swapped if ends["lower"] == -ends["upper"] else wrong).append(name)
        largest = max(map(abs, ends.values()), default=0.0)
        if kind == "revolute" and TURN[0] < largest <= TURN[1]:
            degrees.append(name)
    fix = 'write lower and upper, or type="continuous" for a joint without limits'
    for cause, here, why in (
        ("limits missing", missing, fix),
        ("limits swapped", wrong, "write the true limits: they are swapped, or a sign is wrong"),
    ):
        yield Trap(cause, tuple(here), why, _turn_freely, False, "joint", "lower and upper limit")
    fix, needs = "write what the drive can do", "effort and velocity limit"
    yield Trap("limit incomplete", tuple(open_ended), fix, _complete, False, "joint", needs)
    yield Trap("limit negative", tuple(negative), fix, _complete, False, "joint", needs)
    fix = "swap them: to turn both signs gives the same"
    yield Trap("limits swapped", tuple(swapped), fix, _swap, of="joint")
    fix = "take lower and upper away: a continuous joint has none"
    yield Trap("limits of a continuous joint", tuple(turning), fix, _unlimit, of="joint")
    fix = "write lower and upper in rad: they are taken for rad by every reader"
    yield Trap("limit in degrees", tuple(degrees), fix, _radians, certain=False, of="joint")


def _turn_freely(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        limit = joint.find("limit")
        if limit is None:
            limit = ET.SubElement(joint, "limit", effort="0", velocity="0")
        limit.attrib.update(lower=repr(-np.pi), upper=repr(np.pi))


def _complete(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        for limit in joint.findall("limit"):
            for key in ("effort", "velocity"):
                if float(limit.get(key, "-1")) < 0.0:
                    limit.set(key, "1000")


def _written_limits(top: ET.Element, places: Collection[str]) -> Iterator[dict[str, str]]:
    for joint, _ in _each(top, "joint", places):
        yield from (limit.attrib for limit in joint.findall("limit"))


def _swap(top: ET.Element, places: Collection[str]) -> None:
    for limits in _written_limits(top, places):
        limits.update(lower=limits["upper"], upper=limits["lower"])


def _unlimit(top: ET.Element, places: Collection[str]) -> None:
    for limits in _written_limits(top, places):
        for key in {"lower", "upper"} & set(limits):
            del limits[key]


def _radians(top: ET.Element, places: Collection[str]) -> None:
    for limits in _written_limits(top, places):
        for key in ("lower", "upper"):
            limits[key] = repr(float(np.radians(float(limits.get(key, "0")))))


def _nameless(top: ET.Element) -> Iterator[Trap]:
    where = () if top.get("name", "").strip() else ("",)

    def name(top: ET.Element, _: Collection[str]) -> None:
        top.set("name", "robot")

    yield Trap("name missing", where, 'name the robot: <robot name="...">', name, certain=False)


def _twice(top: ET.Element) -> Iterator[Trap]:
    names = tuple(e.get("name", "") for e in top.findall("link") if len(e.findall("inertial")) > 1)

    def keep_first(top: ET.Element, places: Collection[str]) -> None:
        for link, _ in _each(top, "link", places):
            for inertial in link.findall("inertial")[1:]:
                link.remove(inertial)

    fix = "keep one: readers take the first, or the last, or refuse the file"
    yield Trap("inertial twice", names, fix, keep_first, certain=False)


def _steep(top: ET.Element) -> Iterator[Trap]:
    """Yield fixed joints near a pitch of 90 degrees, but not at it.

    From a sine of 0.99999 on urdfdom takes the pitch for 90 degrees, so that SDFormat lumps the
    link up to 4.5 mrad off.
    """
    names = []
    for joint in top.findall("joint[@type='fixed']"):
        pitch = _pitch(joint)
        off = abs(abs(pitch) - math.pi / 2)
        if off > 1e-7 and abs(math.sin(pitch)) > STEEP:
            names.append(joint.get("name", ""))

    def upright(top: ET.Element, places: Collection[str]) -> None:
        for joint, _ in _each(top, "joint", places):
            origin = joint.find("origin")
            if origin is not None:
                roll, _, yaw = origin.get("rpy", "0 0 0").split()
                origin.set("rpy", f"{roll} {math.copysign(math.pi / 2, _pitch(joint))!r} {yaw}")

    fix = "urdfdom takes the pitch for 90 degrees: write it so, or turn the link's own frame"
    yield Trap("pitch near 90 degrees", tuple(names), fix, upright, certain=False, of="joint")


def _pitch(joint: ET.Element) -> float:
    origin = joint.find("origin")
    return float(origin.get("rpy", "0 0 0").split()[1]) if origin is not None else 0.0


def _several_degrees(top: ET.Element) -> Iterator[Trap]:
    for kind in DEGREES:
        names = tuple(e.get("name", "") for e in top.findall(f"joint[@type='{kind}']"))
        fix = f"few readers know a {kind} joint: write slides and hinges, or let the base be free"
        yield Trap(f"{kind} joint", names, fix, _weld, certain=False, of="joint")
    known = (*MOVING, "fixed", *DEGREES)
    names = tuple(e.get("name", "") for e in top.findall("joint") if e.get("type") not in known)
    fix = "URDF has no such type: write slides and hinges"
    yield Trap("joint type", names, fix, _weld, certain=False, of="joint")


def _weld(top: ET.Element, places: Collection[str]) -> None:
    for joint, _ in _each(top, "joint", places):
        joint.set("type", "fixed")


def _loops(top: ET.Element) -> Iterator[Trap]:
    names = tuple(e.get("name", "") for e in top.findall("loop_joint"))
    fix = "URDF has no loops: state the constraint in each engine's own model"

    def cut(top: ET.Element, places: Collection[str]) -> None:
        for element, _ in _each(top, "loop_joint", places):
            top.remove(element)

    yield Trap("loop joint", names, fix, cut, certain=False, of="loop_joint")


def _undeclared_world(top: ET.Element) -> Iterator[Trap]:
    if top.find("link[@name='world']") is None:
        named = (e for e in top.findall("joint") if _end(e, "parent") == "world")
        fix = 'declare it: <link name="world"/>'

        def declare(top: ET.Element, _: Collection[str]) -> None:
            top.append(ET.Element("link", name="world"))

        names = tuple(e.get("name", "") for e in named)
        yield Trap("world undeclared", names, fix, declare, of="joint")


FINDERS = (
    _undeclared_world, _several_degrees, _loops, _blanks, duplicates, _unphysical, _weightless,
    _massless, _tiny, _axes, _mimic, _limits, _nameless, _twice, _steep, _shared,
)  # fmt: skip


def large_meshes(file: UrdfFile) -> tuple[str, ...]:
    """Return the links whose mesh is far larger than the robot: 1000 times, mostly.

    A file whose joints are all in one place, or that has none, has no size to hold a mesh against.
    """
    top = ET.fromstring(file.text)
    offsets = [e.get("xyz", "0 0 0").split() for e in top.findall("joint/origin")]
    size = sum(float(np.linalg.norm([float(x) for x in each])) for each in offsets)
    if not size:
        return ()
    size = max(0.1, size)
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
