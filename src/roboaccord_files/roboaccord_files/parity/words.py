"""The codes of a parity check, and the words for them in the JSON, the terminal and the page.

`ParityCode` says why an engine does not read a robot as the reference does. STATUSES, ENDED and
SHIPPED are words of the JSON, and stay. CURES has the advice for differences that are no trap;
traps (text that programs read differently) have theirs in roboaccord_files.repair.
"""

from __future__ import annotations

from enum import StrEnum, auto
from typing import Any

from roboaccord.contract.outcome import Finding, Outcome

from roboaccord_files.repair.meshes import MILLIMETRES


class ParityCode(StrEnum):
    """Why an engine does not read a robot as the reference does."""

    DIFFERS = auto()
    REFUSED = auto()
    CRASH = auto()
    NO_ANSWER = auto()  # for which the robot is not to blame
    CONVERTED = auto()  # a text that we made of the file, which is not to blame
    NOT_READ = auto()  # by us, so that no engine was asked


STATUSES = ("same", "differ", "refused", "undecided")
OF_OURS = "of the URDF converted from it"  # said of what is not about the user's file
ENDED = {
    ParityCode.CRASH: "crash", ParityCode.NO_ANSWER: "no verdict",
    ParityCode.CONVERTED: "no verdict", ParityCode.NOT_READ: "not read",
}  # fmt: skip
"""The cause that is listed where there is no reading."""
SHIPPED = {ParityCode.REFUSED: "mesh", ParityCode.CRASH: "mesh"}
"""The cause why meshes are not loaded; of all others, that there is no answer."""
LOST = "check the link that carries it: that was lost with all that is attached to it"
CURES = {
    "armature": "it has {have:.4g} kg m^2 of rotor inertia for {want:.4g}: of all readers Drake "
    "alone reads <drake:rotor_inertia>",
    "axis": "the axis is {how}",
    "axis flipped": "reverse the sign of the joint's <axis>",
    "centre": "the centre of mass is read differently",
    "gazebo": "Gazebo alone {does}: {cure}",
    "gazebo refused": "with <gazebo>, {error}",
    "inertia": "the moments of inertia are read differently",
    "inertial rotated": "the inertial's axes are {angle:.3g} degrees off: look at rpy",
    "joint dropped": LOST,
    "joint order": "map joints by name, never by index",
    "limit": "write lower and upper: it has {lower:.4g} to {upper:.4g}",
    "limit in degrees": "write lower and upper in rad",
    "link dropped": LOST,
    "mass": "the mass is {how}: {have:.6g} kg for {want:.6g}",
    "mesh scale": MILLIMETRES,
    "missing inertial": "the link has no mass there: write its <inertial>",
    "not explained": "compare the text with what the engine expects there",
    "origin": "the joint's <origin> is read differently",
    "welded root": "compare total masses with a free base: what is welded to the world is left out",
}
"""What to do about a cause that is no trap of the text."""


def status_of(finding: Finding) -> str:
    """Return an outcome in the word of `--json`."""
    if finding.outcome is Outcome.WITHIN:
        return "loaded" if finding.level == "shipped" else "same"
    if finding.outcome is Outcome.NOT_JUDGED:
        return "undecided"
    return "differ" if ParityCode.DIFFERS in finding.codes else "refused"


def cure(cause: str, **figures: Any) -> str:
    """Return what to do about a cause that is no trap."""
    return CURES[cause].format(**figures)
