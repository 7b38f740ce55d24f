"""A recorded run as a table with one row for each control tick, and the names of its columns.

`table` returns the numbers of a run that was read from a bag (reader.py), and `columns` the names;
exported files have both. Columns may be added at the end, with their unit. Existing ones keep name
and order: users' scripts read them.
"""

from __future__ import annotations

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract import AccordError, Array
from roboaccord.description.tree import Tree

# Columns of the base, and of each free body, by their unit; then units of the columns of joints
# that turn, and that slide.
_BASE = {"m": "x y z", "1": "qx qy qz qw", "m/s": "vx vy vz", "rad/s": "wx wy wz"}
_REVOLUTE = {"q": "rad", "qd": "rad/s", "effort": "N m"}
_PRISMATIC = {"q": "m", "qd": "m/s", "effort": "N"}


def columns(run: BagRun) -> list[str]:
    """Return the names of the columns of `table`, each with its unit in brackets."""
    prismatic = _prismatic_joints(run.urdf)
    joints = list[str]()
    for quantity in _REVOLUTE:
        for joint in run.trajectory.joints:
            units = _PRISMATIC if joint in prismatic else _REVOLUTE
            joints.append(f"{quantity}/{joint} [{units[quantity]}]")
    base = [
        f"{frame}/{name} [{unit}]"
        for frame in ("base", *run.bodies)
        for unit, names in _BASE.items()
        for name in names.split()
    ]
    switches = [f"switch/{name} [1]" for name in run.trajectory.switches]
    return ["time [s]", *joints, *base, *switches]


def table(run: BagRun) -> Array:
    """Return a row for each tick: time, q, qd, effort, those of base and bodies, switches.

    The table is (k, 3n + 14 + 13b + switches) for n joints and b bodies, each with position,
    orientation and twist as the base; a switch is 1 where it is on.
    """
    return np.column_stack([run.trajectory.rows(), *run.trajectory.switches.values()])


def _prismatic_joints(urdf: str) -> set[str]:
    """Return the names of the prismatic joints; none where there is no usable description."""
    try:
        return {j.name for j in Tree.parse(urdf).moving if j.kind == "prismatic"}
    except AccordError:  # no description, or a foreign one, such as without base_link
        return set()
