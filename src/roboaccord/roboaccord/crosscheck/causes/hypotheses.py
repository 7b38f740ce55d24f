"""Hypotheses: what may be off, as data.

A hypothesis may be added: what it changes is a branch of engines/deviations.py, a function of
RECORDED (samples.py), or a `Problem` of its own knows it; with a unit in UNITS, unless its size is
a part. Names of quantities are in reports and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from roboaccord.engines.deviations import OF_JOINTS, PRODUCTS

PAYLOAD = "payload"
UNITS = {
    "damping": "N m s/rad", "dry friction": "N m", "armature": "kg m^2", "centre": "m",
    "origin": "m", "axis": "rad", "zero": "rad", "delay": "ticks", "lag": "ticks",
    "motor lag": "s", "effort limit": "N m", "effort offset": "N m", "gravity direction": "rad",
    "effort filter": "s", "backlash": "rad", "spring": "N m/rad", "velocity limit": "rad/s",
}  # fmt: skip
AXES = {"centre": ("x", "y", "z"), "inertia": ("xx", "xy", "xz", "yy", "yz", "zz")}
AXES[PAYLOAD] = ("mass", "x", "y", "z")
AXES["gravity"] = AXES["origin"] = AXES["axis"] = AXES["centre"]
ZERO, LIMIT, MOTOR, FILTER = "zero", "effort limit", "motor lag", "effort filter"
FACTOR, SPEED_LIMIT, BACKLASH, SPRING = "effort factor", "velocity limit", "backlash", "spring"
OF_ENCODERS_AND_DRIVES = (
    ZERO, LIMIT, MOTOR, FILTER, FACTOR, SPEED_LIMIT, BACKLASH, SPRING, "axis", "effort offset"
)  # fmt: skip
BENT = ("centre", "origin", "axis", ZERO, "clock", LIMIT, MOTOR, PAYLOAD)  # not linear
HEAVY, WORKS, ACTS = (-1.0, 20.0), (-0.9, np.inf), (0.0, np.inf)
POSSIBLE = {
    "mass": HEAVY, "inertia": HEAVY, "gear": WORKS, "gravity": WORKS, MOTOR: ACTS, LIMIT: ACTS,
    FILTER: ACTS, PAYLOAD: ACTS, PRODUCTS: (-3.0, 3.0),
}  # fmt: skip
"""Sizes between which a robot can be; a gear of the other sign is another error."""
ANY = -np.inf, np.inf
PROBE = 1e-4  # by which a parameter is changed
PROBES = {"armature": 1e-7, MOTOR: 1e-6}  # of which light links have little; of a short time


class Hypothesis(NamedTuple):
    """Name a parameter: a quantity, its joint or link, and the axis or component of it."""

    quantity: str
    where: str = ""
    axis: int = 0

    @property
    def whole(self) -> Hypothesis:
        """The quantity of which it may be one of several components."""
        return self._replace(axis=0)

    @property
    def unit(self) -> str:
        """Unit of its sizes; 1 for parts of the parameter."""
        if self.quantity == PAYLOAD:
            return "m" if self.axis else "kg"
        return UNITS.get(self.quantity, "1")

    @property
    def probe(self) -> float:
        """By how much it is changed to see what that does."""
        return PROBES.get(self.quantity, PROBE)

    @property
    def bounds(self) -> tuple[float, float]:
        """Sizes between which a robot can be."""
        return ANY if self.composite and self.axis else POSSIBLE.get(self.quantity, ANY)

    @property
    def composite(self) -> bool:
        """Whether its components are different things, how much and where, and all are reported."""
        return self.quantity == PAYLOAD

    @property
    def place(self) -> str:
        """What `where` names."""
        return "joint" if self.quantity in (*OF_JOINTS, *OF_ENCODERS_AND_DRIVES) else "link"

    @property
    def component(self) -> str:
        """Name of the axis or component; "" where there is one."""
        return AXES[self.quantity][self.axis] if self.quantity in AXES else ""


Group = tuple[Hypothesis, ...]
"""Components that are fitted together."""
Sizes = Mapping[Hypothesis, float]


def telling(group: Group) -> Group:
    """Return the components that make a group what it is: a payload at a link's centre is mass."""
    return group[1:] if group[0].composite else group


def components(one: Hypothesis) -> Group:
    """Return the components of a quantity."""
    return tuple(one._replace(axis=axis) for axis in range(len(AXES.get(one.quantity, "1"))))
