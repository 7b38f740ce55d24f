"""Mistakes in a description that engines accept without a word, but treat differently.

`check_world` refuses a base that is not attached to the world as the scenario says; `warn_massless`
logs moving links without mass. engines/base.py calls both when it makes a model, for all engines
alike. A check may be added as a function here and a call there, with a case in
test_description_checks that shows what an engine makes of the mistake; messages are one line.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from functools import cache

from roboaccord.contract.errors import AccordError
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.tree import MOVING, Tree

logger = logging.getLogger(__name__)


def check_world(urdf: str, base: str) -> None:
    """Refuse a fixed or planar base that no joint attaches to the world.

    DART lets it fall freely, MuJoCo welds it to the world, and neither warns.

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
        # The parent, then the child.
        ends = [end.get("link") for tag in ("parent", "child") for end in joint.findall(tag)]
        if ends == ["world", "base_link"] and joint.get("type") == base:
            return
    loose = f"no joint of type {base} ties base_link to a link world"
    raise AccordError(f"broken description of {root.get('name')}: base is {base}, and {loose}")


def warn_massless(urdf: str, tree: Tree, base: str) -> None:
    """Log once each moving link that has no mass, even with the links that are fixed to it."""
    for name in massless(tree, base):
        _warn(ET.fromstring(urdf).get("name", ""), name)


@cache
def _warn(robot: str, link: str) -> None:
    """Log a massless link; cached, so that each is logged once."""
    logger.warning("%s: link %s moves and has no <inertial>, so that it has no mass", robot, link)


def massless(tree: Tree, base: str) -> list[str]:
    """Return the moving links that have no mass, even with the links that are fixed to them.

    Args:
        tree: of the description.
        base: how `base_link` is tied to the world.
    """
    carrier = {joint.child: joint.parent for joint in tree.joints if joint.kind not in MOVING}

    def body(name: str) -> str:
        """Return the link nearest the root to which a link is fixed; itself if it is not."""
        while name in carrier:
            name = carrier[name]
        return name

    mass = {body(link.name): 0.0 for link in tree.links}  # of each body, by its first link [kg]
    for link in tree.links:
        mass[body(link.name)] += link.mass
    moving = [joint.child for joint in tree.moving]
    moving += [body(tree.links[0].name)] if KINDS[base].moves else []
    return [name for name in moving if name != "world" and not mass[name]]
