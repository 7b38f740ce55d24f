"""Find traps of joint limits: missing, swapped, in degrees, or given to a continuous joint.

A trap is text in a URDF that readers interpret differently or refuse (trap.py). `limits` takes the
parsed <robot> element and yields one `Trap` for each kind of fault: the joints that have it,
advice, and a function that repairs them. find.py calls it. Two repairs are certain, and written by
`accord parity --repair`: swapped limits of equal size, and limits of a continuous joint. For the
others the user must state the numbers; those repairs only prove by ablation that the trap matters.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Collection, Iterator

import numpy as np

from roboaccord_files.repair.trap import RepairFunction, Trap, named_elements

# Range of a limit of a revolute joint that is taken to be in degrees: more than two turns in rad,
# and at most two turns in degrees.
IN_DEGREES = (4 * np.pi, 720.0)
ENDS = ("lower", "upper")  # attributes of <limit>: end positions [rad or m]
DRIVE = ("effort", "velocity")  # attributes of <limit>: largest effort and rate of the drive
BIG = "1000"  # N m or N, rad/s or m/s; a limit of a drive that limits nothing in a proof


def limits(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of limits that are missing, or cannot be what is meant."""
    joints_with = defaultdict[str, list[str]](list)
    for joint in top.findall("joint"):
        for fault in _faults(joint):
            joints_with[fault].append(joint.get("name", ""))

    def trap(cause: str, fault: str, advice: str, repair: RepairFunction, needs: str = "") -> Trap:
        """Return the trap of all joints that have a fault."""
        certain = repair in (_swap, _remove_ends)
        return Trap(cause, tuple(joints_with[fault]), advice, repair, certain, "joint", needs)

    ends, drive = "lower and upper limit", "effort and velocity limit"
    advice = 'write lower and upper, or type="continuous" for a joint without limits'
    yield trap("limits missing", "missing", advice, _allow_turn, ends)
    advice = "write the true limits: they are swapped, or a sign is wrong"
    yield trap("limits swapped", "wrong", advice, _allow_turn, ends)
    advice = "write what the drive can do"
    yield trap("limit incomplete", "incomplete", advice, _complete, drive)
    yield trap("limit negative", "negative", advice, _complete, drive)
    advice = "swap them: to turn both signs gives the same"
    yield trap("limits swapped", "swapped", advice, _swap)
    advice = "take lower and upper away: a continuous joint has none"
    yield trap("limits of a continuous joint", "continuous", advice, _remove_ends)
    advice = "write lower and upper in rad: they are taken for rad by every reader"
    yield trap("limit in degrees", "degrees", advice, _convert_to_radians)


def _faults(joint: ET.Element) -> Iterator[str]:
    """Yield a word for each fault of the limits of a joint."""
    kind, limit = joint.get("type"), joint.find("limit")
    written = {} if limit is None else limit.attrib
    ends = {key: float(written[key]) for key in ENDS if key in written}
    if kind in ("revolute", "prismatic") and (len(ends) < 2 or not any(ends.values())):
        yield "missing"
    if limit is not None and not {*DRIVE} <= written.keys():
        yield "incomplete"
    if any(float(written.get(key, "0")) < 0.0 for key in DRIVE):
        yield "negative"
    if kind == "continuous" and ends:
        yield "continuous"
    elif len(ends) == 2 and ends["lower"] > ends["upper"]:
        yield "swapped" if ends["lower"] == -ends["upper"] else "wrong"
    largest = max(map(abs, ends.values()), default=0.0)
    if kind == "revolute" and IN_DEGREES[0] < largest <= IN_DEGREES[1]:
        yield "degrees"


def _allow_turn(top: ET.Element, names: Collection[str]) -> None:
    """Write limits of half a turn in both directions."""
    for joint, _ in named_elements(top, "joint", names):
        limit = joint.find("limit")
        if limit is None:
            limit = ET.SubElement(joint, "limit", effort="0", velocity="0")
        limit.attrib.update(lower=repr(-np.pi), upper=repr(np.pi))


def _complete(top: ET.Element, names: Collection[str]) -> None:
    """Write the limits BIG of effort and velocity where they are missing or negative."""
    for limits in _written_limits(top, names):
        for key in DRIVE:
            if float(limits.get(key, "-1")) < 0.0:
                limits[key] = BIG


def _written_limits(top: ET.Element, names: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield the attributes of the <limit> elements of joints, to be changed in place."""
    for joint, _ in named_elements(top, "joint", names):
        yield from (limit.attrib for limit in joint.findall("limit"))


def _swap(top: ET.Element, names: Collection[str]) -> None:
    """Swap lower and upper limit."""
    for limits in _written_limits(top, names):
        limits.update(lower=limits["upper"], upper=limits["lower"])


def _remove_ends(top: ET.Element, names: Collection[str]) -> None:
    """Remove lower and upper limit."""
    for limits in _written_limits(top, names):
        for key in ENDS:
            limits.pop(key, None)


def _convert_to_radians(top: ET.Element, names: Collection[str]) -> None:
    """Convert lower and upper limit from degrees to radians."""
    for limits in _written_limits(top, names):
        for key in ENDS:
            limits[key] = repr(float(np.radians(float(limits.get(key, "0")))))
