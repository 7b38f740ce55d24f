"""Coordinates in which motions are compared: centres of links, joints, axes of the base.

The axes are the nine numbers of the base's rotation matrix, which have no jump as angles do.
`coordinates` and `name_coordinate` list the same columns; bounds of levels and names in findings
depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.contract.trajectory import Trajectory
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix


def link_centres(tree: Tree, trajectory: Trajectory) -> Array:
    """Return the centres of mass of the links (k, links, 3) [m]."""
    pose = trajectory.q, trajectory.position, trajectory.orientation
    origins, rotations = tree.forward(trajectory.joints, *pose)
    offsets = np.array([link.centre for link in tree.links])
    return np.asarray(origins + np.einsum("klij,lj->kli", rotations, offsets))


def coordinates(trajectory: Trajectory, centres: Array) -> Array:
    """Return the coordinates in which motions are compared (k, c).

    Args:
        trajectory: of k samples.
        centres: of its links (k, links, 3) [m].
    """
    count = len(trajectory)
    axes = quaternion_matrix(trajectory.orientation).reshape(count, 9)
    return np.column_stack([centres.reshape(count, -1), trajectory.q, axes])


def name_coordinate(tree: Tree, joints: Sequence[str], index: int) -> str:
    """Return the name of a column of `coordinates`, for a finding."""
    names = [f"{axis} of {link.name}" for link in tree.links for axis in "xyz"]
    names += [*joints, *(f"{axis} axis of base_link" for _ in range(3) for axis in "xyz")]
    return names[index]


def largest_distance(differences: Array) -> Array:
    """Return the largest length (k,) over the links, of differences (k, links, 3)."""
    return np.asarray(np.sqrt((differences**2).sum(axis=2)).max(axis=1))
