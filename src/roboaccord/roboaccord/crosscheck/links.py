"""Coordinates in which motions are compared: centres of links and bodies, joints, axes of the base.

The axes are the nine numbers of a rotation matrix, which have no jump as angles do. Free bodies
come after links, and their axes after those of the base. `coordinates` and `name_coordinate` list
the same columns; bounds of levels and names in findings depend on them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from roboaccord.contract import BODY_ORIENTATION, BODY_POSITION, Array, Trajectory
from roboaccord.description.tree import Tree
from roboaccord.numerics.rotations import quaternion_matrix


def link_centres(tree: Tree, trajectory: Trajectory) -> Array:
    """Return the centres of mass of the links, and of the free bodies (k, links + b, 3) [m]."""
    pose = trajectory.q, trajectory.position, trajectory.orientation
    origins, rotations = tree.forward(trajectory.joints, *pose)
    offsets = np.array([link.centre for link in tree.links])
    centres = np.asarray(origins + np.einsum("klij,lj->kli", rotations, offsets))
    if trajectory.bodies is None:
        return centres
    return np.concatenate([centres, trajectory.bodies[:, :, BODY_POSITION]], axis=1)


def coordinates(trajectory: Trajectory, centres: Array) -> Array:
    """Return the coordinates in which motions are compared (k, c).

    Args:
        trajectory: of k samples.
        centres: of its links and bodies (k, links + b, 3) [m].
    """
    count = len(trajectory)
    turns = [trajectory.orientation]
    if trajectory.bodies is not None:
        turns += [*trajectory.bodies[:, :, BODY_ORIENTATION].swapaxes(0, 1)]
    axes = [quaternion_matrix(turn).reshape(count, 9) for turn in turns]
    return np.column_stack([centres.reshape(count, -1), trajectory.q, *axes])


def name_coordinate(
    tree: Tree, joints: Sequence[str], index: int, bodies: Sequence[str] = ()
) -> str:
    """Return the name of a column of `coordinates`, for a finding."""
    centres = [*(link.name for link in tree.links), *bodies]
    names = [f"{axis} of {name}" for name in centres for axis in "xyz"]
    turning = ("base_link", *bodies)
    names += [*joints, *(f"{a} axis of {t}" for t in turning for _ in range(3) for a in "xyz")]
    return names[index]


def largest_distance(differences: Array) -> Array:
    """Return the largest length (k,) over the links, of differences (k, links, 3)."""
    return np.asarray(np.sqrt((differences**2).sum(axis=2)).max(axis=1))
