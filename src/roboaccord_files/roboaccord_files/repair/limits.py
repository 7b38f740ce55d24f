"""Find traps of joint limits: missing, swapped, in degrees, or where a joint has none.

A trap is text that readers interpret differently or refuse (trap.py). Two of these repairs are
certain, and written by `--repair`: swapped limits of equal size, and limits of a continuous joint.
For the others the numbers must come from the user; their repairs serve the proof by ablation only.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator

import numpy as np

from roboaccord_files.repair.trap import Trap, each_of

# A limit of a revolute joint between these is taken to be in degrees: more than two turns in rad,
# and at most two turns in degrees.
TURN = (4 * np.pi, 720.0)


def limits(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of limits that are missing, or cannot be what was meant."""
    # The joints of each trap.
    missing, turning, degrees, swapped, wrong, open_ended, negative = (
        list[str]() for _ in range(7)
    )
    for joint in top.findall("joint"):
        name, kind, limit = joint.get("name", ""), joint.get("type"), joint.find("limit")
        limits = {} if limit is None else limit.attrib
        ends = {key: float(limits[key]) for key in ("lower", "upper") if key in limits}
        if kind in ("revolute", "prismatic") and (len(ends) < 2 or not any(ends.values())):
            missing.append(name)
        if limit is not None and not {"effort", "velocity"} <= limit.attrib.keys():
            open_ended.append(name)
        if any(float(limits.get(key, "0")) < 0.0 for key in ("effort", "velocity")):
            negative.append(name)
        if kind == "continuous" and ends:
            turning.append(name)
        elif len(ends) == 2 and ends["lower"] > ends["upper"]:
            (swapped if ends["lower"] == -ends["upper"] else wrong).append(name)
        largest = max(map(abs, ends.values()), default=0.0)
        if kind == "revolute" and TURN[0] < largest <= TURN[1]:
            degrees.append(name)
    # The traps, with advice and repair.
    fix = 'write lower and upper, or type="continuous" for a joint without limits'
    for cause, here, why in (
        ("limits missing", missing, fix),
        ("limits swapped", wrong, "write the true limits: they are swapped, or a sign is wrong"),
    ):
        yield Trap(cause, tuple(here), why, _turn_freely, False, "joint", "lower and upper limit")
    fix, needs = "write what the drive can do", "effort and velocity limit"
    yield Trap("limit incomplete", tuple(open_ended), fix, _complete, False, "joint", needs)
    yield Trap("limit negative", tuple(negative), fix, _complete, False, "joint", needs)
    fix = "swap them: to turn both signs gives the same"
    yield Trap("limits swapped", tuple(swapped), fix, _swap, of="joint")
    fix = "take lower and upper away: a continuous joint has none"
    yield Trap("limits of a continuous joint", tuple(turning), fix, _unlimit, of="joint")
    fix = "write lower and upper in rad: they are taken for rad by every reader"
    yield Trap("limit in degrees", tuple(degrees), fix, _radians, certain=False, of="joint")


def _turn_freely(top: ET.Element, places: Collection[str]) -> None:
    """Write limits of half a turn in both directions."""
    for joint, _ in each_of(top, "joint", places):
        limit = joint.find("limit")
        if limit is None:
            limit = ET.SubElement(joint, "limit", effort="0", velocity="0")
        limit.attrib.update(lower=repr(-np.pi), upper=repr(np.pi))


def _complete(top: ET.Element, places: Collection[str]) -> None:
    """Write large limits of effort and velocity where they are missing or negative."""
    for joint, _ in each_of(top, "joint", places):
        for limit in joint.findall("limit"):
            for key in ("effort", "velocity"):
                if float(limit.get(key, "-1")) < 0.0:
                    limit.set(key, "1000")


def _written_limits(top: ET.Element, places: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield the attributes of the limits of joints, which may be changed."""
    for joint, _ in each_of(top, "joint", places):
        yield from (limit.attrib for limit in joint.findall("limit"))


def _swap(top: ET.Element, places: Collection[str]) -> None:
    """Swap lower and upper limit."""
    for limits in _written_limits(top, places):
        limits.update(lower=limits["upper"], upper=limits["lower"])


def _unlimit(top: ET.Element, places: Collection[str]) -> None:
    """Remove lower and upper limit."""
    for limits in _written_limits(top, places):
        for key in {"lower", "upper"} & set(limits):
            del limits[key]


def _radians(top: ET.Element, places: Collection[str]) -> None:
    """Convert lower and upper limit from degrees to radians."""
    for limits in _written_limits(top, places):
        for key in ("lower", "upper"):
            limits[key] = repr(float(np.radians(float(limits.get(key, "0")))))
