"""Faults of joints (`Fault`), and their form as text and as events.

On command lines, in scenarios and in bags a fault is a text, such as `elbow=weak:0.5@2`: from 2 s
on, the joint `elbow` has half of its effort. `parse_fault` reads the text that `str` writes. In a
recorded motion a fault is an event, which `fault_of` converts back. The effects of faults are in
simulators/faults.py and, for Gazebo, in gazebo/faults.py of roboaccord_ros.

A new kind is a name in `Kind` and, where it has a size, an entry of SIZES; FORM, EVENTS and the
help follow from these. It also needs a motion in test_partial_faults. Existing names and texts
stay.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, get_args

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.trajectory import Event

Kind = Literal["frozen", "loose", "weak", "slipping", "backlash", "stuck", "drifting"]
KINDS: tuple[Kind, ...] = get_args(Kind)
FOUND = "found_"  # prefix of the kind of an event: a controller has detected a fault of that kind
REFUSED = "target_refused"  # kind of an event: a controller has refused its target
# By kind of fault: name of its size, smallest and largest value; other kinds have no size.
SIZES: dict[Kind, tuple[str, float, float]] = {
    "weak": ("FRACTION", 0.0, 1.0),
    "slipping": ("N_M", 0.0, math.inf),
    "backlash": ("RAD", 0.0, math.inf),
    "drifting": ("RAD_PER_S", -math.inf, math.inf),
}
# Kinds that hold the joint itself; the others change its drive or its encoder.
HOLDING: tuple[Kind, ...] = ("frozen", "slipping")
# The form of a fault's text, for messages.
_FORMS = [f"{kind}:{SIZES[kind][0]}" if kind in SIZES else kind for kind in KINDS]
FORM = f"JOINT={'|'.join(['frozen:RAD', *_FORMS])}[@SECONDS]"
EVENTS: dict[str, Kind] = {f"joint_{kind}": kind for kind in KINDS}  # by the kind of the event
# JOINT = KIND [: SIZE] [@ TIME], with blanks anywhere between.
_TEXT = re.compile(r"\s*([\w/]+)\s*=\s*(\w+)\s*(?::\s*([^@\s]+)\s*)?(?:@\s*(\S+)\s*)?")


@dataclass(frozen=True, slots=True)
class Fault:
    """Failure of a joint, in force from a control tick on.

    Args:
        joint: name.
        kind: `frozen`, held rigidly; `loose`, without the effort of its actuator; `weak`, with a
            fraction of the effort; `slipping`, with additional dry friction; `backlash`, driven
            across a gap; `stuck`, with an encoder that repeats its last angle; `drifting`, with an
            encoder whose angle drifts.
        time: the fault acts from the first control tick at or after this time [s].
        angle: at which the joint is frozen from the start [rad]; None to freeze it where it is.
        size: remaining share of the effort [1], friction [N m], gap [rad] or drift [rad/s]; 0 for
            other kinds.
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
    """Return the fault that a text of the form FORM describes.

    Raises:
        AccordError: for a text of another form, an unknown kind, or a number out of range.
    """
    if not (match := _TEXT.fullmatch(text)):
        raise AccordError(f"a fault is JOINT=KIND[:SIZE][@SECONDS], not {text!r}")
    joint, word, number, seconds = match.groups()
    check_known(f"fault {text}: unknown kind ", word, KINDS)
    kind = EVENTS[f"joint_{word}"]
    time = _number(text, seconds or "0")
    value = _number(text, number) if number else None
    if time < 0.0:
        raise AccordError(f"fault {text}: {seconds} s is before the start")
    if kind in SIZES:
        size_name, least, most = SIZES[kind]
        if value is None:
            raise AccordError(f"fault {text}: {kind} needs a size, {kind}:{size_name}")
        if not least <= value <= most:
            raise AccordError(f"fault {text}: {size_name} is {least:g} to {most:g}")
        return Fault(joint, kind, time, size=value)
    if number and (kind != "frozen" or seconds):
        raise AccordError(f"fault {text}: an angle goes with frozen, from the start")
    return Fault(joint, kind, time, value)


def fault_of(event: Event) -> Fault | None:
    """Return the fault that an event reports; None for an event of another kind."""
    kind = EVENTS.get(event.kind)
    return Fault(event.subject, kind, event.time, size=event.size) if kind else None


def check_joint(fault: Fault, joints: Collection[str], hinges: Collection[str]) -> None:
    """Refuse a fault of a joint that is not a hinge.

    Args:
        fault: the fault that is checked.
        joints: names of all joints of the robot.
        hinges: names of those that are revolute or continuous.

    Raises:
        AccordError: for an unknown joint, or one that slides.
    """
    if fault.joint not in joints:
        check_known(f"fault {fault}: no joint ", fault.joint, hinges)
    if fault.joint not in hinges:
        can = "hinges can fail, and no base or prismatic joint"
        raise AccordError(f"fault {fault}: {fault.joint} slides; {can}")


def _number(text: str, word: str) -> float:
    """Return a word of the text of a fault as a number, or refuse it."""
    try:
        value = float(word) if "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise AccordError(f"fault {text}: {word} is not a number")
    return value
