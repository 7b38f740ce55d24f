"""Merge links that fixed joints connect, which readers call lumping.

Many engines keep one link for each rigid body, and give it the mass of all links that are fixed to
it. Before such a reading is compared (compare.py), the links of the reference's tree are merged in
the same way: `lumped_links` returns what each link of an engine should have. placing.py lumps the
links of two files in each other's way.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

import numpy as np
from roboaccord.description.merge import point_inertia
from roboaccord.description.tree import MOVING, Tree
from roboaccord.engines import LinkProperties, Reading

from roboaccord_files.parity.frames import Frame


def lumped_links(tree: Tree, reading: Reading) -> dict[str, LinkProperties]:
    """Return the properties that each link of a reading should have, by name of the link.

    They are those of the reference's tree, with the links lumped that the reading has merged. Links
    that the reading lacks altogether are there, too.
    """
    return {name: lump(tree, name, members) for name, members in lumps(tree, reading).items()}


def lumps(tree: Tree, reading: Reading) -> dict[str, list[str]]:
    """Return, by the name of each link that a reading keeps, the links that it has merged into it.

    A link that the reading lacks without having merged it is a member of itself. With a fixed base,
    links that are welded to the world are left out.
    """
    parents = fixed_parents(tree)
    members_by_link = dict[str, list[str]]()
    for link in tree.links:
        kept = nearest_above(link.name, parents, reading.links)
        first_of_body = nearest_above(link.name, parents, ())
        if reading.question.base == "fixed" and first_of_body == tree.links[0].name:
            continue
        name = kept if kept in reading.links else link.name
        members_by_link.setdefault(name, []).append(link.name)
    return members_by_link


def fixed_parents(tree: Tree) -> dict[str, str]:
    """Return the parent of each link that a fixed joint connects with it."""
    return {joint.child: joint.parent for joint in tree.joints if joint.kind not in MOVING}


def nearest_above(link: str, parents: Mapping[str, str], kept: Container[str]) -> str:
    """Return the first link of a rigid body that is in `kept`, from a link towards the root.

    If none is, it is the first link of the body.
    """
    while link not in kept and link in parents:
        link = parents[link]
    return link


def lump(tree: Tree, frame: str, members: Sequence[str]) -> LinkProperties:
    """Return the properties of links that are fixed to each other, in the frame of one.

    The inertias are shifted to the common centre of mass by the parallel axis theorem (Steiner).

    Args:
        tree: the robot.
        frame: name of the link in whose frame the properties are given.
        members: names of the links.
    """
    links = {link.name: link for link in tree.links}
    if members == [frame]:
        return LinkProperties(links[frame].mass, links[frame].centre, links[frame].inertia)
    poses = relative_poses(tree, frame)
    mass = sum(links[name].mass for name in members)
    centres = {n: poses[n].position + poses[n].rotation @ links[n].centre for n in members}
    first_moment = sum((links[name].mass * centres[name] for name in members), np.zeros(3))
    centre = first_moment / (mass or 1.0)
    inertia = np.zeros((3, 3))
    for name in members:
        link, rotation = links[name], poses[name].rotation
        shift = link.mass * point_inertia(centres[name] - centre)
        inertia += rotation @ link.inertia @ rotation.T + shift
    return LinkProperties(float(mass), centre, inertia)


def relative_poses(tree: Tree, frame: str) -> dict[str, Frame]:
    """Return the poses of all links in the frame of one, at q = 0."""
    joints = tuple(joint.name for joint in tree.moving)
    # Coordinates of the joints; position and orientation of the base, a quaternion (x, y, z, w).
    at_zero = np.zeros(len(joints)), np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    origins, rotations = tree.forward(joints, *at_zero)
    index = {link.name: i for i, link in enumerate(tree.links)}
    origin, to_frame = origins[index[frame]], rotations[index[frame]].T
    return {
        name: Frame(to_frame @ (origins[i] - origin), to_frame @ rotations[i])
        for name, i in index.items()
    }
