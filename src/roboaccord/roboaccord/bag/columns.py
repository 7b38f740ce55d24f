"""A recorded run as a table: one row a control tick, and what its columns are.

Columns may be added at the end, with a unit (`_BASE`, `_TURNING`, `_SLIDING`). Those that exist
must keep name and order, for scripts of users read them in exported files.
"""

from __future__ import annotations

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import Tree

_BASE = {"m": "x y z", "1": "qx qy qz qw", "m/s": "vx vy vz", "rad/s": "wx wy wz"}  # by unit
_TURNING = {"q": "rad", "qd": "rad/s", "effort": "N m"}
_SLIDING = {"q": "m", "qd": "m/s", "effort": "N"}


def columns(run: BagRun) -> list[str]:
    """Return the names of the columns of `table`, each with its unit in brackets."""
    sliding = _sliding_joints(run.urdf)
    joints = [
        f"{kind}/{joint} [{(_SLIDING if joint in sliding else _TURNING)[kind]}]"
        for kind in _TURNING
        for joint in run.trajectory.joints
    ]
    base = [f"base/{name} [{unit}]" for unit, names in _BASE.items() for name in names.split()]
    switches = [f"switch/{name} [1]" for name in run.trajectory.switches]
    return ["time [s]", *joints, *base, *switches]


def table(run: BagRun) -> Array:
    """Return one row a control tick: time, q, qd, effort, position, orientation, twist, switches.

    A switch that is on counts as 1.
    """
    return np.column_stack([run.trajectory.rows(), *run.trajectory.switches.values()])


def _sliding_joints(urdf: str) -> set[str]:
    if not urdf:
        return set()
    try:
        return {j.name for j in Tree.parse(urdf).moving if j.kind == "prismatic"}
    except AccordError:  # as of a foreign description without base_link
        return set()
