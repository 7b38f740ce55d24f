"""Failures of joints: what fails, how, and from when on.

A kind may be added: a name in `Kind` and, where it has a size, an entry of SIZES with its unit and
bounds; FORM, EVENTS and the help follow from them and need no change. What it does to a joint is
written in simulators/faults.py, and for Gazebo in gazebo/faults.py of roboaccord_ros, with a motion
of its own in test_partial_faults. Existing names, and the text that `str` gives and `parse_fault`
reads, are fixed: they stand in bags, scenarios and on command lines.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.trajectory import Event

Kind = Literal["frozen", "loose", "weak", "slipping", "backlash", "stuck", "drifting"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FOUND, REFUSED = "found_", "target_refused"  # findings: a joint's kind, and of a target why
SIZES: dict[Kind, tuple[str, float, float]] = {
    "weak": ("FRACTION", 0.0, 1.0),
    "slipping": ("N_M", 0.0, math.inf),
    "backlash": ("RAD", 0.0, math.inf),
    "drifting": ("RAD_PER_S", -math.inf, math.inf),
}
"""What the size of a kind is, the least and the most; other kinds have none."""
HOLDING: tuple[Kind, ...] = ("frozen", "slipping")
"""Kinds that act on the joint itself, beside the effort of its drive."""
_FORMS = [f"{kind}:{SIZES[kind][0]}" if kind in SIZES else kind for kind in KINDS]
FORM = f"JOINT={'|'.join(['frozen:RAD', *_FORMS])}[@SECONDS]"
EVENTS: dict[str, Kind] = {f"joint_{kind}": kind for kind in KINDS}
_TEXT = re.compile(r"\s*([\w/]+)\s*=\s*(\w+)\s*(?::\s*([^@\s]+)\s*)?(?:@\s*(\S+)\s*)?")


@dataclass(frozen=True, slots=True)
class Fault:
    """Failure of a joint, in force from a control tick on.

    Args:
        joint: name.
        kind: `frozen`, held rigidly; `loose`, without the effort of its actuator; `weak`, with a
            fraction of it; `slipping`, braked by dry friction; `backlash`, driven across a gap;
            `stuck`, an encoder that repeats its angle; `drifting`, one whose angle runs away.
        time: it acts at the first control tick that is not earlier [s].
        angle: at which the joint is frozen from the start [rad]; None for where it is.
        size: of the effort that is left [1], of the friction [N m], of the gap [rad], of the drift
            [rad/s]; 0 for other kinds.
    """

    joint: str
    kind: Kind
    time: float = 0.0
    angle: float | None = None
    size: float = 0.0

    def __str__(self) -> str:
        """Return the text that `parse_fault` reads back."""
        size = self.size if self.kind in SIZES else self.angle
        number = "" if size is None else f":{size!r}"
        return f"{self.joint}={self.kind}{number}" + (f"@{self.time!r}" if self.time else "")


def parse_fault(text: str) -> Fault:
    """Return the fault of a text of the form `FORM`.

    Raises:
        AccordError: for a text of another form, an unknown kind, or a number out of range.
    """
    if not (found := _TEXT.fullmatch(text)):
        raise AccordError(f"a fault is {FORM}, not {text!r}")
    joint, word, number, seconds = found.groups()
    check_known(f"fault {text}: unknown kind ", word, KINDS)
    kind = EVENTS[f"joint_{word}"]
    time, value = _number(text, seconds or "0"), _number(text, number) if number else None
    if time < 0.0:
        raise AccordError(f"fault {text}: {seconds} s is before the start")
    if kind in SIZES:
        what, least, most = SIZES[kind]
        if value is None:
            raise AccordError(f"fault {text}: {kind} needs a size, {kind}:{what}")
        if not least <= value <= most:
            raise AccordError(f"fault {text}: {what} is {least:g} to {most:g}")
        return Fault(joint, kind, time, size=value)
    if number and (kind != "frozen" or seconds):
        raise AccordError(f"fault {text}: an angle goes with frozen, from the start")
    return Fault(joint, kind, time, value)


def fault_of(event: Event) -> Fault | None:
    """Return the fault that an event reports, None where it reports something else."""
    kind = EVENTS.get(event.kind)
    return Fault(event.subject, kind, event.time, size=event.size) if kind else None


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
        can = "hinges can fail, and no base or prismatic joint"
        raise AccordError(f"fault {fault}: {fault.joint} slides; {can}")


def _number(text: str, word: str) -> float:
    try:
        value = float(word) if "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AccordError(f"fault {text}: {word} is not a number")
    return value
