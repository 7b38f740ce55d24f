"""Find traps of joint limits: missing, swapped, in degrees, or where a joint has none.

A trap is text that readers interpret differently or refuse (trap.py). Two of these repairs are
certain, and written by `--repair`: swapped limits of equal size, and limits of a continuous joint.
For the others the numbers must come from the user; their repairs serve the proof by ablation only.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator

import numpy as np

from roboaccord_files.repair.trap import Trap, named_elements

# A limit of a revolute joint between these is taken to be in degrees: more than two turns in rad,
# and at most two turns in degrees.
TURN = (4 * np.pi, 720.0)


def limits(top: ET.Element) -> Iterator[Trap]:
    """Yield the traps of limits that are missing, or cannot be what was meant."""
    names = dict[str, list[str]]()
    for joint in top.findall("joint"):
        for fault in _faults(joint):
            names.setdefault(fault, []).append(joint.get("name", ""))
    ends, drive = "lower and upper limit", "effort and velocity limit"
    for fault, cause, fix, repair, needs in (
        ("missing", "limits missing",
         'write lower and upper, or type="continuous" for a joint without limits',
         _turn_freely, ends),
        ("wrong", "limits swapped",
         "write the true limits: they are swapped, or a sign is wrong", _turn_freely, ends),
        ("incomplete", "limit incomplete", "write what the drive can do", _complete, drive),
        ("negative", "limit negative", "write what the drive can do", _complete, drive),
        ("swapped", "limits swapped", "swap them: to turn both signs gives the same", _swap, ""),
        ("continuous", "limits of a continuous joint",
         "take lower and upper away: a continuous joint has none", _unlimit, ""),
        ("degrees", "limit in degrees",
         "write lower and upper in rad: they are taken for rad by every reader", _radians, ""),
    ):  # fmt: skip
        certain = repair in (_swap, _unlimit)
        yield Trap(cause, tuple(names.get(fault, ())), fix, repair, certain, "joint", needs)


def _faults(joint: ET.Element) -> Iterator[str]:
    """Yield in a word each what is wrong with the limits of a joint."""
    kind, limit = joint.get("type"), joint.find("limit")
    written = {} if limit is None else limit.attrib
    ends = {key: float(written[key]) for key in ("lower", "upper") if key in written}
    if kind in ("revolute", "prismatic") and (len(ends) < 2 or not any(ends.values())):
        yield "missing"
    if limit is not None and not {"effort", "velocity"} <= written.keys():
        yield "incomplete"
    if any(float(written.get(key, "0")) < 0.0 for key in ("effort", "velocity")):
        yield "negative"
    if kind == "continuous" and ends:
        yield "continuous"
    elif len(ends) == 2 and ends["lower"] > ends["upper"]:
        yield "swapped" if ends["lower"] == -ends["upper"] else "wrong"
    if kind == "revolute" and TURN[0] < max(map(abs, ends.values()), default=0.0) <= TURN[1]:
        yield "degrees"


def _turn_freely(top: ET.Element, places: Collection[str]) -> None:
    """Write limits of half a turn in both directions."""
    for joint, _ in named_elements(top, "joint", places):
        limit = joint.find("limit")
        if limit is None:
            limit = ET.SubElement(joint, "limit", effort="0", velocity="0")
        limit.attrib.update(lower=repr(-np.pi), upper=repr(np.pi))


def _complete(top: ET.Element, places: Collection[str]) -> None:
    """Write large limits of effort and velocity where they are missing or negative."""
    for joint, _ in named_elements(top, "joint", places):
        for limit in joint.findall("limit"):
            for key in ("effort", "velocity"):
                if float(limit.get(key, "-1")) < 0.0:
                    limit.set(key, "1000")


def _written_limits(top: ET.Element, places: Collection[str]) -> Iterator[dict[str, str]]:
    """Yield the attributes of the limits of joints, which may be changed."""
    for joint, _ in named_elements(top, "joint", places):
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
