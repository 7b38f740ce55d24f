"""The codes of a parity check, and the words for them in the JSON, the terminal and the page.

A parity check compares what a physics engine reads from a robot's file with a reference, the
analytical model of this project. `ParityCode` says why an engine does not read a robot as the
reference does; the dictionaries have the words for it. CURES is the advice on each cause of a
difference that has no advice of its own: traps (text that readers interpret differently) have
theirs in roboaccord_files.repair. Words of the JSON must not change, for users' scripts read them.
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
    NO_ANSWER = auto()  # in time: not the fault of the robot's file
    CONVERTED = auto()  # it refuses a text that we converted from the file: not the file's fault
    NOT_READ = auto()  # this project could not read the file, so no engine was asked


# Words for the outcome of an engine, in the JSON.
STATUSES = ("same", "differ", "refused", "undecided")
# Words before a reason that is not about the user's file, but about our conversion of it.
OF_CONVERTED = "of the URDF converted from it"
# The cause that is listed where an engine has no reading.
FAILURE_CAUSES = {
    ParityCode.CRASH: "crash",
    ParityCode.NO_ANSWER: "no verdict",
    ParityCode.CONVERTED: "no verdict",
    ParityCode.NOT_READ: "not read",
}
# The cause where an engine does not load the meshes; after another code it gave no answer.
LOADING_CAUSES = {ParityCode.REFUSED: "mesh", ParityCode.CRASH: "mesh"}
LOST_WITH_CARRIER = "check the link that carries it: that was lost with all that is attached to it"
# What to do about a cause that is no trap of the text.
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
    "joint dropped": LOST_WITH_CARRIER,
    "joint order": "map joints by name, never by index",
    "limit": "write lower and upper: it has {lower:.4g} to {upper:.4g}",
    "limit in degrees": "write lower and upper in rad",
    "link dropped": LOST_WITH_CARRIER,
    "mass": "the mass is {how}: {have:.6g} kg for {want:.6g}",
    "mesh scale": MILLIMETRES,
    "missing inertial": "the link has no mass there: write its <inertial>",
    "not explained": "compare the text with what the engine expects there",
    "origin": "the joint's <origin> is read differently",
    "welded root": "compare total masses with a free base: what is welded to the world is left out",
}


def status_of(finding: Finding) -> str:
    """Return the word of the JSON for an outcome, such as "same" or "refused"."""
    if finding.outcome is Outcome.WITHIN:
        return "loaded" if finding.level == "shipped" else "same"
    if finding.outcome is Outcome.NOT_JUDGED:
        return "undecided"
    return "differ" if ParityCode.DIFFERS in finding.codes else "refused"


def cure(cause: str, **figures: Any) -> str:
    """Return the advice of CURES on a cause, with figures filled in."""
    return CURES[cause].format(**figures)
