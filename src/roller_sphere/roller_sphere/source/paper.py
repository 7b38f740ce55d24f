"""Section 3 of the paper: its rig at four roller angles, all headings at 1 m/s."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.contract.state import Array

from roller_sphere.model.kinematics import Kinematics, RollerMotion
from roller_sphere.model.rig import Rig

SOURCE = "Kimura, Ogata and Ishii 2019, doi 10.2991/jrnal.k.190531.006"
AZIMUTH, LATITUDE = (215.0, 325.0), (60.0, 60.0)  # degrees
ALPHAS = (0.0, 10.0, 20.0, 30.0)  # of roller 1, degrees; roller 2 has the opposite
COLOURS = ("#d1495b", "#3366cc", "#12a594", "#e377c2")  # red, blue, green and pink, as there
SPEED = 1.0  # m/s


@dataclass(frozen=True)
class Case:
    """Hold the rig at one roller angle, with its motions along all headings."""

    alpha: float
    kinematics: Kinematics
    motion: RollerMotion


def rig_at(alpha: float) -> Rig:
    """Return the paper's rig with the first roller at an angle [degrees]."""
    return Rig.degrees(1.0, AZIMUTH, LATITUDE, (alpha, -alpha))


def cases(heading_deg: Array) -> list[Case]:
    """Return the four cases at headings (m,) [degrees]."""
    found = []
    for alpha in ALPHAS:
        kinematics = Kinematics(rig_at(alpha))
        found.append(Case(alpha, kinematics, kinematics.inverse(SPEED, np.radians(heading_deg))))
    return found
