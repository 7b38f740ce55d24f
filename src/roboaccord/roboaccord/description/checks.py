"""Mistakes in a description that engines take in silence, each in its own way."""

from __future__ import annotations

import logging
import math
import xml.etree.ElementTree as ET
from functools import cache

from roboaccord.contract.errors import AccordError
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import MOVING, Tree

logger = logging.getLogger(__name__)
NUMBERS = {
    "origin": ("xyz", "rpy"),
    "axis": ("xyz",),
    "mass": ("value",),
    "inertia": ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"),
    "dynamics": ("damping", "friction"),
    "limit": ("lower", "upper", "effort"),
}
ENDLESS = ("limit",)  # whose numbers may be infinite


def check_description(top: ET.Element, source: str) -> None:
    """Refuse what no two engines read alike: names twice, no numbers, joints of other types.

    Args:
        top: the element `robot`.
        source: name of the file, for messages.

    Raises:
        AccordError: naming the link or the joint.
    """
    broken = f"broken description {source}"
    for tag in ("link", "joint"):
        names = [each.get("name", "") for each in top.findall(tag)]
        for name in names:
            if not name or names.count(name) > 1:
                fault = f"{tag} {name} is there twice" if name else f"a {tag} has no name"
                raise AccordError(f"{broken}: {fault}")
        for each in top.findall(tag):
            _check_numbers(each, f"{broken}: {tag} {each.get('name')}")
    led = set[str]()
    for joint in top.findall("joint"):
        label, kind, child = joint.get("name"), joint.get("type"), joint.find("child")
        if kind not in (*MOVING, "fixed"):
            known = ", ".join((*MOVING, "fixed"))
            raise AccordError(f"{broken}: joint {label} is of type {kind}, and not of {known}")
        link = child.get("link", "") if child is not None else ""
        if link in led:
            raise AccordError(f"{broken}: a loop: joint {label} is the second that leads to {link}")
        led.add(link)
    _check_loops(top, broken)


def _check_loops(top: ET.Element, broken: str) -> None:
    """Refuse joints that lead from none of the roots to their links."""
    ends = [
        [end.get("link", "") for tag in ("parent", "child") for end in joint.findall(tag)]
        for joint in top.findall("joint")
    ]
    left = {child: parent for parent, child in (pair for pair in ends if len(pair) == 2)}
    while loose := [child for child, parent in left.items() if parent not in left]:
        for child in loose:
            del left[child]
    if left:
        raise AccordError(f"{broken}: a loop of links: {', '.join(sorted(left)[:4])}")


def _check_numbers(element: ET.Element, where: str) -> None:
    for each in element.iter():
        for key in NUMBERS.get(each.tag, ()):
            words = each.get(key, "0").split()
            try:
                values = [float(word) for word in words]
            except ValueError:
                raise AccordError(
                    f"{where}: {each.tag} {key} {each.get(key)!r} is no number"
                ) from None
            if len(values) != (3 if key in ("xyz", "rpy") else 1) and key in each.attrib:
                raise AccordError(f"{where}: {each.tag} {key} has {len(values)} numbers")
            finite = all(map(math.isfinite, values))
            if not finite and (each.tag not in ENDLESS or any(map(math.isnan, values))):
                raise AccordError(f"{where}: {each.tag} {key} is {each.get(key)}, and not finite")
            if each.tag == "mass" and values[0] < 0.0:
                raise AccordError(f"{where}: its mass is {values[0]:g} kg")


def check_world(urdf: str, base: str) -> None:
    """Refuse a base that is fixed or planar and hangs on nothing.

    DART lets it fall freely, MuJoCo welds it to the world, and neither says so.

    Args:
        urdf: the description.
        base: how `base_link` is tied to the world.

    Raises:
        AccordError: if no joint of that type ties `base_link` to the link `world`.
    """
    if not KINDS[base].tied:
        return
    root = ET.fromstring(urdf)
    for joint in root.findall("joint"):
        ends = [end.get("link") for tag in ("parent", "child") for end in joint.findall(tag)]
        if ends == ["world", "base_link"] and joint.get("type") == base:
            return
    raise AccordError(
        f"broken description of {root.get('name')}: base is {base}, and no joint of type {base} "
        "ties base_link to a link world"
    )


def warn_massless(urdf: str, tree: Tree, base: str) -> None:
    """Log each link that moves without any mass, alone or with what is fixed to it, once."""
    for name in massless(tree, base):
        _warn(ET.fromstring(urdf).get("name", ""), name)


@cache
def _warn(robot: str, link: str) -> None:
    logger.warning("%s: link %s moves and has no <inertial>, so that it has no mass", robot, link)


def massless(tree: Tree, base: str) -> list[str]:
    """Return the links that move and have no mass, nor has what is fixed to them.

    Args:
        tree: of the description.
        base: how `base_link` is tied to the world.
    """
    carrier = {joint.child: joint.parent for joint in tree.joints if joint.kind not in MOVING}

    def body(name: str) -> str:
        while name in carrier:
            name = carrier[name]
        return name

    mass = {body(link.name): 0.0 for link in tree.links}
    for link in tree.links:
        mass[body(link.name)] += link.mass
    moving = [joint.child for joint in tree.moving]
    moving += [body(tree.links[0].name)] if KINDS[base].moves else []
    return [name for name in moving if name != "world" and not mass[name]]
