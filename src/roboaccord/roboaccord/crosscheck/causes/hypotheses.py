"""Hypotheses: the parameters of a robot, an engine or a recording that may be wrong, as data.

A hypothesis is a quantity with its joint or link, such as the mass of a link. Its size is by how
much the parameter is wrong, in the unit of UNITS, or relative to the parameter (unit 1). fit.py
fits the sizes, and search.py chooses the hypotheses.

To add a hypothesis, give it an effect: a branch of engines/deviations.py (in a simulator), a
function of RECORDED in samples.py (in recorded data), or a `Problem` of its own. Names of
quantities are in reports and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from roboaccord.engines.deviations import OF_JOINTS, PRODUCTS

# Names of the quantities that code refers to. Of encoders and drives: zero position of an encoder,
# limit and first-order lag of a motor's effort, low-pass filter by which efforts were recorded;
# factor on efforts, velocity limit, backlash of a gear, stiffness of a spring at a joint.
ZERO, LIMIT, MOTOR, FILTER = "zero", "effort limit", "motor lag", "effort filter"
FACTOR, SPEED_LIMIT, BACKLASH, SPRING = "effort factor", "velocity limit", "backlash", "spring"
# Of a link that carries an unknown body, and of a joint whose brake is on.
PAYLOAD, BRAKE = "payload", "brake"
# Quantities of joints, beside OF_JOINTS of engines/deviations.py; all others are of links.
DRIVE_QUANTITIES = (ZERO, LIMIT, MOTOR, FILTER, FACTOR, SPEED_LIMIT, BACKLASH, SPRING)
# Units of sizes by quantity; others are relative to the parameter.
UNITS = {
    **dict.fromkeys(("centre", "origin"), "m"),
    **dict.fromkeys(("axis", "gravity direction", ZERO, BACKLASH), "rad"),
    **dict.fromkeys(("dry friction", "effort offset", LIMIT), "N m"),
    **dict.fromkeys(("delay", "lag"), "ticks"),
    **dict.fromkeys((MOTOR, FILTER), "s"),
    "damping": "N m s/rad",
    "armature": "kg m^2",
    SPRING: "N m/rad",
    SPEED_LIMIT: "rad/s",
}
# Names of the components of a quantity; others have a single one.
XYZ = ("x", "y", "z")
AXES = {
    **dict.fromkeys(("centre", "origin", "axis", "gravity"), XYZ),
    "inertia": ("xx", "xy", "xz", "yy", "yz", "zz"),
    PAYLOAD: ("mass", *XYZ),
}
# Quantities whose effect on residuals is not linear in the size.
NONLINEAR = ("centre", "origin", "axis", ZERO, "clock", LIMIT, MOTOR, PAYLOAD)
UNBOUNDED, NOT_NEGATIVE = (-np.inf, np.inf), (0.0, np.inf)
# Physically possible sizes (low, high), in the unit of the quantity; others are unbounded.
SIZE_BOUNDS = {
    # From none to 21 times it: what is off by more has a wrong unit, a factor of 1000.
    **dict.fromkeys(("mass", "inertia"), (-1.0, 20.0)),
    # Factors that keep their sign: a gear of the other sign is another error.
    **dict.fromkeys(("gear", "gravity"), (-0.9, np.inf)),
    **dict.fromkeys((MOTOR, LIMIT, FILTER, PAYLOAD), NOT_NEGATIVE),
    # Products of inertia: one of the other sign is off by -2 of itself.
    PRODUCTS: (-3.0, 3.0),
}
# Change of a size by which its effect is found, in its unit. The one-sided difference errs by half
# of 1e-4 times the curvature, and by round-off of 1e-12 of a coordinate.
PROBE = 1e-4
# The same for quantities of small numbers: of armature [kg m^2], small beside 1e-5 of light links,
# and of a motor lag [s], a thousandth of a tick at 1 kHz.
PROBE_BY_QUANTITY = {"armature": 1e-7, MOTOR: 1e-6}


class Hypothesis(NamedTuple):
    """A parameter that may be wrong.

    Args:
        quantity: such as "mass".
        where: joint or link; "" for a quantity of the whole robot or recording.
        axis: index of the component, in AXES.
    """

    quantity: str
    where: str = ""
    axis: int = 0

    @property
    def parameter(self) -> tuple[str, str]:
        """Its quantity and joint or link, which all its components share."""
        return self.quantity, self.where

    @property
    def unit(self) -> str:
        """Unit of its sizes; "1" for sizes relative to the parameter."""
        if self.quantity == PAYLOAD:
            return "m" if self.axis else "kg"
        return UNITS.get(self.quantity, "1")

    @property
    def probe(self) -> float:
        """Change of the size by which its effect is found."""
        return PROBE_BY_QUANTITY.get(self.quantity, PROBE)

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest size that is physically possible."""
        if self.is_composite and self.axis:
            return UNBOUNDED
        return SIZE_BOUNDS.get(self.quantity, UNBOUNDED)

    @property
    def is_composite(self) -> bool:
        """Whether its components are different quantities (mass and moments), all reported."""
        return self.quantity == PAYLOAD

    @property
    def element(self) -> str:
        """What `where` names: "joint" or "link"."""
        of_joints = (*OF_JOINTS, *DRIVE_QUANTITIES, "axis", "effort offset")
        return "joint" if self.quantity in of_joints else "link"

    @property
    def component(self) -> str:
        """Name of the axis or component; "" for a quantity without components."""
        return AXES[self.quantity][self.axis] if self.quantity in AXES else ""


# Components that are fitted together.
Group = tuple[Hypothesis, ...]
# Sizes of hypotheses, in their units.
Sizes = Mapping[Hypothesis, float]


def tested_components(group: Group) -> Group:
    """Return the components of a fit of which one must significantly differ from 0.

    For a payload these are the moments: mass at the centre of its link is the link's own mass.
    """
    return group[1:] if group[0].is_composite else group


def components(hypothesis: Hypothesis) -> Group:
    """Return all components of the quantity of a hypothesis."""
    count = len(AXES.get(hypothesis.quantity, "1"))
    return tuple(hypothesis._replace(axis=axis) for axis in range(count))
