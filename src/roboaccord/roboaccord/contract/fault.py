"""Failures of joints: what fails, how, and from when on."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.trajectory import Event

Kind = Literal["frozen", "loose"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FORM = "JOINT=frozen|frozen:RAD|loose[@SECONDS]"
FOUND, REFUSED = "found_", "target_refused"  # findings: a joint's kind, and of a target why
EVENTS: dict[str, Kind] = {f"joint_{kind}": kind for kind in KINDS}
_TEXT = re.compile(r"\s*([\w/]+)\s*=\s*(\w+)\s*(?::\s*([^@\s]+)\s*)?(?:@\s*(\S+)\s*)?")


@dataclass(frozen=True, slots=True)
class Fault:
    """Failure of a joint, in force from a control tick on.

    Args:
        joint: name.
        kind: `frozen`, held rigidly, or `loose`, without the effort of its actuator.
        time: it acts at the first control tick that is not earlier [s].
        angle: at which the joint is frozen from the start [rad]; None for where it is.
    """

    joint: str
    kind: Kind
    time: float = 0.0
    angle: float | None = None

    def __str__(self) -> str:
        """Return the text that `parse_fault` reads back."""
        angle = "" if self.angle is None else f":{self.angle!r}"
        return f"{self.joint}={self.kind}{angle}" + (f"@{self.time!r}" if self.time else "")


def parse_fault(text: str) -> Fault:
    """Return the fault of a text `JOINT=frozen|frozen:RAD|loose[@SECONDS]`.

    Raises:
        AccordError: for a text of another form, an unknown kind, or a number out of range.
    """
    found = _TEXT.fullmatch(text)
    if not found:
        raise AccordError(f"a fault is {FORM}, not {text!r}")
    joint, kind, angle, seconds = found.groups()
    check_known(f"fault {text}: unknown kind ", kind, KINDS)
    if angle and (kind != "frozen" or seconds):
        raise AccordError(f"fault {text}: an angle goes with frozen, from the start")
    time, place = _number(text, seconds or "0"), _number(text, angle) if angle else None
    if time < 0.0:
        raise AccordError(f"fault {text}: {seconds} s is before the start")
    return Fault(joint, "frozen" if kind == "frozen" else "loose", time, place)


def fault_of(event: Event) -> Fault | None:
    """Return the fault that an event tells of, None where it tells of something else."""
    kind = EVENTS.get(event.kind)
    return Fault(event.subject, kind, event.time) if kind else None


def check_joint(fault: Fault, joints: Collection[str], hinges: Iterable[str]) -> None:
    """Refuse a fault of anything but a hinge.

    Args:
        fault: to check.
        joints: of the robot.
        hinges: those that are revolute or continuous.

    Raises:
        AccordError: for an unknown joint, or one that slides.
    """
    check_known(f"fault {fault}: no joint ", fault.joint, joints)
    if fault.joint not in hinges:
        raise AccordError(
            f"fault {fault}: {fault.joint} slides; hinges can fail, and no base or prismatic joint"
        )


def _number(text: str, word: str) -> float:
    try:
        value = float(word) if "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AccordError(f"fault {text}: {word} is no number")
    return value
