"""A recorded run as a table with one row for each control tick, and the names of its columns.

The names of signals, which plots and comparisons show and take, are those of the columns without
the unit: `q/JOINT`, `qd/JOINT`, `effort/JOINT`, `base/x`, `BODY/x`, `switch/NAME`. Plots have more
(report/signals.py) in the same form. `matching` also reads former names.

`table` returns the numbers of a run that was read from a bag (reader.py), and `columns` the names;
exported files have both. Columns may be added at the end, with their unit. Existing ones keep name
and order: users' scripts read them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from roboaccord.bag.reader import BagRun
from roboaccord.contract import AccordError, Array
from roboaccord.description.tree import Tree

# Columns of the base, and of each free body, by their unit; then units of the columns of joints
# that turn, and that slide.
_BASE = {"m": "x y z", "1": "qx qy qz qw", "m/s": "vx vy vz", "rad/s": "wx wy wz"}
_REVOLUTE = {"q": "rad", "qd": "rad/s", "effort": "N m"}
_PRISMATIC = {"q": "m", "qd": "m/s", "effort": "N"}
QUANTITIES = tuple(_REVOLUTE)  # of joints: first parts of the names


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


def matching(names: Sequence[str], pattern: str) -> list[str]:
    """Return the names of signals that match a name or a glob pattern, written as now or before."""
    if pattern in names:  # a name may have characters of patterns, such as brackets
        return [pattern]
    matches = [name for name in names if fnmatchcase(name, pattern)]
    return matches or [name for name in names if fnmatchcase(_former(name), pattern)]


def _former(name: str) -> str:
    """Return the former name of a signal: `JOINT.q`, `base.x`, `link:LINK.x`, `switch:NAME`."""
    first, _, last = name.partition("/")
    rest = f":{last}" if first in ("link", "switch") else f".{last}"
    return f"{last}.{first}" if first in QUANTITIES else f"{first}{rest.replace('/', '.')}"


def _prismatic_joints(urdf: str) -> set[str]:
    """Return the names of the prismatic joints; none where there is no usable description."""
    try:
        return {j.name for j in Tree.parse(urdf).moving if j.kind == "prismatic"}
    except AccordError:  # no description, or a foreign one, such as without base_link
        return set()
