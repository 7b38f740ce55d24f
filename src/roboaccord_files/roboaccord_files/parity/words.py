"""The codes of a parity check, and the words for them in the JSON, the terminal and the page.

A parity check compares what a physics engine reads from a robot's file with a reference, the
analytical model of this project. `ParityCode` says why an engine does not read a robot as the
reference does; the dictionaries have the words for it. CURES (cures.yaml) is the advice on each
cause of a difference that has no advice of its own: traps (text that readers interpret differently)
have theirs in roboaccord_files.repair. Words of the JSON must not change, for users' scripts read
them.
"""

from __future__ import annotations

from enum import StrEnum, auto
from pathlib import Path
from typing import Any

from roboaccord.contract.outcome import Finding, Outcome
from roboaccord.description.yaml_files import read_yaml


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
# What to do about a cause that is no trap of the text.
CURES: dict[str, str] = read_yaml(Path(__file__).with_name("cures.yaml"))


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
