"""The numbers of a joint that two descriptions are compared by, beside where it is.

A number that `Joint` gets is compared without a change here. What a tree has not, velocity limits
and what a joint mimics, is read from the text.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from roboaccord.description.tree import Joint
from roboaccord.description.tree_text import ENDLESS
from roboaccord.description.urdf_file import UrdfFile

from roboaccord_files.repair.joints import MIMIC

ENDS = ("lower", "upper")
NUMBERS = [e.name for e in fields(Joint) if e.type == "float" and e.name not in ENDS]
PARTS = [e.name for e in fields(Joint) if str(e.type).startswith("tuple[float")]
ACTING = {*NUMBERS, *PARTS} - {"effort"}  # on accelerations
SERVO = "servo"  # which MJCF alone states
Mimic: TypeAlias = tuple[str, float, float]
"""The joint that one mimics, multiplier and offset [rad or m]."""
ALONE: Mimic = ("", 0.0, 0.0)  # a joint that mimics none


def numbers_of(joint: Joint, file: UrdfFile, mimic: Mimic) -> dict[tuple[str, str], float]:
    """Return the numbers of a joint beside geometry, by quantity and component."""
    values = {(key, ""): endless(getattr(joint, key)) for key in NUMBERS}
    values |= {("limit", end): endless(x) for end, x in zip(ENDS, joint.ends, strict=True)}
    for key in PARTS:
        values |= {(key, str(i)): float(x) for i, x in enumerate(getattr(joint, key))}
    written = joints_in(file.text).get(joint.name)
    limit = None if written is None else written.find("limit")
    velocity = float("inf" if limit is None else limit.get("velocity", "inf"))
    values["velocity", ""] = endless(velocity)
    return {**values, (MIMIC, "multiplier"): mimic[1], (MIMIC, "offset"): mimic[2]}


def endless(value: float) -> float:
    """Return a limit; infinity where it stands for none."""
    return value if abs(value) < ENDLESS else float(np.copysign(np.inf, value))


@lru_cache(maxsize=2)  # the two files
def joints_in(text: str) -> dict[str, ET.Element]:
    """Return the joints of a URDF by name."""
    return {joint.get("name", ""): joint for joint in ET.fromstring(text).findall("joint")}


def mimics_of(file: UrdfFile) -> dict[str, Mimic]:
    """Return what joints mimic, by name."""
    tags = ((name, joint.find(MIMIC)) for name, joint in joints_in(file.text).items())
    return {n: (tag.get("joint", ""), float(tag.get("multiplier", "1")),
                float(tag.get("offset", "0"))) for n, tag in tags if tag is not None}  # fmt: skip


def led_by(mimics: Mapping[str, Mimic], wanted: Mapping[str, str]) -> dict[str, Mimic]:
    """Return mimics with the leaders of another file, where two joints are coupled in both.

    Args:
        mimics: by the joint that follows.
        wanted: leaders in the other file, likewise.
    """
    changed = dict(mimics)
    for name, (lead, times, offset) in mimics.items():
        if wanted.get(lead) == name and lead not in mimics and times:
            del changed[name]
            changed[lead] = name, 1.0 / times, -offset / times
    return changed
