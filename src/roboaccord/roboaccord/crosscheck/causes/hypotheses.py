"""Hypotheses: the parameters of a robot, an engine or a recording that may be wrong, as data.

A hypothesis is a quantity with its joint or link, such as the mass of a link; its size is an error
in the unit of UNITS, or a share of the parameter (unit 1). To add one, give it an effect: a branch
of engines/deviations.py (in a simulator), a function of RECORDED in samples.py (in recorded data),
or a `Problem` of its own. Names of quantities are in reports and stay.
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
# Names of the components of a quantity; others have a single one.
AXES = {"centre": ("x", "y", "z"), "inertia": ("xx", "xy", "xz", "yy", "yz", "zz")}
AXES[PAYLOAD] = ("mass", "x", "y", "z")
AXES["gravity"] = AXES["origin"] = AXES["axis"] = AXES["centre"]
ZERO, LIMIT, MOTOR, FILTER = "zero", "effort limit", "motor lag", "effort filter"
FACTOR, SPEED_LIMIT, BACKLASH, SPRING = "effort factor", "velocity limit", "backlash", "spring"
BRAKE = "brake"
OF_ENCODERS_AND_DRIVES = (
    ZERO, LIMIT, MOTOR, FILTER, FACTOR, SPEED_LIMIT, BACKLASH, SPRING, "axis", "effort offset"
)  # fmt: skip
BENT = ("centre", "origin", "axis", ZERO, "clock", LIMIT, MOTOR, PAYLOAD)  # effect not linear
# Bounds of sizes: shares of a mass, from none to 21 times, for what is off by more is a unit
# (1000); of a factor that keeps its sign; what cannot be negative.
HEAVY, WORKS, ACTS = (-1.0, 20.0), (-0.9, np.inf), (0.0, np.inf)
POSSIBLE = {
    "mass": HEAVY, "inertia": HEAVY, "gear": WORKS, "gravity": WORKS, MOTOR: ACTS, LIMIT: ACTS,
    FILTER: ACTS, PAYLOAD: ACTS, PRODUCTS: (-3.0, 3.0),
}  # fmt: skip
"""Bounds of sizes that are physically possible; a gear of the other sign is another error.

Products of inertia of the other sign are off by -2 of themselves, which must be within.
"""
ANY = -np.inf, np.inf
# In the unit of the size: change of a parameter, to find what it does. The one-sided difference
# errs by half of 1e-4 times the curvature, and by round-off of 1e-12 of a coordinate.
PROBE = 1e-4
# kg m^2: small beside 1e-5 of light links; s: a thousandth of a tick
PROBES = {"armature": 1e-7, MOTOR: 1e-6}


class Hypothesis(NamedTuple):
    """A parameter that may be wrong: a quantity, its joint or link, and its axis or component."""

    quantity: str
    where: str = ""
    axis: int = 0

    @property
    def whole(self) -> Hypothesis:
        """The same quantity without the axis, of which this may be one component."""
        return self._replace(axis=0)

    @property
    def unit(self) -> str:
        """Unit of its sizes; "1" for shares of the parameter."""
        if self.quantity == PAYLOAD:
            return "m" if self.axis else "kg"
        return UNITS.get(self.quantity, "1")

    @property
    def probe(self) -> float:
        """Change of the size by which its effect is found."""
        return PROBES.get(self.quantity, PROBE)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest size that is physically possible."""
        return ANY if self.composite and self.axis else POSSIBLE.get(self.quantity, ANY)

    @property
    def composite(self) -> bool:
        """Whether its components are different quantities (mass and place), all reported."""
        return self.quantity == PAYLOAD

    @property
    def place(self) -> str:
        """What `where` names: "joint" or "link"."""
        return "joint" if self.quantity in (*OF_JOINTS, *OF_ENCODERS_AND_DRIVES) else "link"

    @property
    def component(self) -> str:
        """Name of the axis or component; "" for a quantity without components."""
        return AXES[self.quantity][self.axis] if self.quantity in AXES else ""


Group = tuple[Hypothesis, ...]
"""Components that are fitted together."""
Sizes = Mapping[Hypothesis, float]


def telling(group: Group) -> Group:
    """Return the components of which one must surely differ from 0.

    For a payload these are the moments: mass at the centre of its link is the link's own mass.
    """
    return group[1:] if group[0].composite else group


def components(whole: Hypothesis) -> Group:
    """Return the components of a quantity, as hypotheses."""
    return tuple(whole._replace(axis=axis) for axis in range(len(AXES.get(whole.quantity, "1"))))
