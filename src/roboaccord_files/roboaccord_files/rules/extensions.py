"""What `<gazebo>` in a URDF, and the same tags in SDF, make Gazebo do, and no other engine.

Tags may be added: a tag, its rule and where SDFormat reads it are rows of extensions.yaml, a rule's
text one of rules.yaml. What they say is fixed by SDFormat 12.3: test_gazebo_extensions.py asks its
tool for each. A tag that it drops where it stands is named. When a tag asks for nothing is decided
in `_acts`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator, Mapping, Sequence

from roboaccord.description.broken import Found
from roboaccord.description.source import label

from roboaccord_files.rules.source import Source
from roboaccord_files.rules.table import read_table

OF_MOTION = ("gazebo-damping", "gazebo-joint")  # rules that no fixed joint needs
KEEP = ("preserveFixedJoint", "disableFixedJointLumping")
TRUE = ("true", "yes", "1")
NOTHING = ("", "0", "false", "no")
JOINT, WELD = "joint that moves", "fixed joint"
KEPT = "fixed joint with <preserveFixedJoint>"
_TABLE = read_table("extensions.yaml")
EFFECTS: Mapping[str, tuple[str, str]] = {n: (r["does"], r["cure"]) for n, r in _TABLE.items()}
"""By rule, what Gazebo does and what to write instead."""
TAGS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    tag: (rule, tuple(places["of"]))
    for rule, row in _TABLE.items() for places in row["tags"] for tag in places["named"]
}  # fmt: skip
"""By tag of `<gazebo>`, its rule and where SDFormat reads it."""


def find_extensions(source: Source) -> Found:
    """Yield what Gazebo alone does with a robot: a finding for each rule in a `<gazebo>`."""
    # What a converted text has was written by us, and not by the user.
    blocks = [] if source.file.form else source.top.findall("gazebo")
    fixed, hinged = (
        {b.get("reference", "") for b in blocks for e in b.findall(tag) if _acts(e)} for tag in KEEP
    )
    for block in blocks:
        name = block.get("reference", "")
        owner = source.links.get(name, source.joints.get(name)) if name else source.top
        if owner is None:
            continue  # which is a rule of its own
        acting = dict[str, list[ET.Element]]()  # by rule
        for tag in block:
            rule, places = TAGS.get(tag.tag, ("", ()))
            here = _places(owner, fixed | hinged)
            if not rule or not _acts(tag) or (here == {WELD} and rule in OF_MOTION):
                continue
            if here.isdisjoint(places):
                message = f"{label(owner)}: SDFormat does nothing with <{tag.tag}> here"
                yield "gazebo-misplaced", tag, message, f"write it for a {' or a '.join(places)}"
                continue
            if rule == "gazebo-hinge" and name in fixed:
                rule = "gazebo-lumping"
            acting.setdefault(rule, []).append(tag)
        for rule, elements in acting.items():
            does, cure = EFFECTS[rule]
            tags = ", ".join(dict.fromkeys(map(_named, elements)))
            message = f"{label(owner)}: Gazebo alone reads {tags}, and {does}"
            yield rule, elements[0], message, cure


def find_in_sdf(source: Source) -> Found:
    """Yield what Gazebo does with a model in SDF: the same rules, by links and joints."""
    if not source.file.notes or (top := source.original) is None:
        return
    for link in top.iter("link"):
        off = [gravity for gravity in link.findall("gravity") if _value(gravity) in NOTHING[1:]]
        yield from _in_sdf(source, link, "gazebo-gravity", off)
        yield from _in_sdf(source, link, "gazebo-plugin", link.findall("sensor"))
    for joint in top.iter("joint"):
        springs = joint.findall("axis/dynamics/spring_stiffness")
        springs = [spring for spring in springs if any(map(float, _value(spring).split()))]
        yield from _in_sdf(source, joint, "gazebo-spring", springs)
    for model in top.iter("model"):
        yield from _in_sdf(source, model, "gazebo-plugin", model.findall("plugin"))


def _in_sdf(
    source: Source, owner: ET.Element, rule: str, tags: Sequence[ET.Element]
) -> Iterator[tuple[str, ET.Element, str, str]]:
    """Yield the finding of tags in a link, joint or model, if there are any."""
    if tags:
        name, (does, cure) = owner.get("name", ""), EFFECTS[rule]
        element = source.links.get(name, source.joints.get(name, source.top))
        names = ", ".join(dict.fromkeys(map(_named, tags)))
        yield rule, element, f"{label(owner)}: Gazebo reads {names}, and {does}", cure


def _acts(element: ET.Element) -> bool:
    """Return whether a tag asks for anything: `<static>false</static>` does not."""
    value = _value(element)
    if element.tag == "gravity":
        return value in NOTHING[1:]
    if element.tag in ("static", "turnGravityOff", *KEEP):
        return value in TRUE
    return len(element) > 0 or element.tag in ("plugin", "sensor", "mu1", "mu2") or (
        value not in NOTHING
    )  # fmt: skip


def _value(element: ET.Element) -> str:
    return (element.get("value") or element.text or "").strip().lower()


def _named(element: ET.Element) -> str:
    name = element.get("name")
    return f"<{element.tag}>" if name is None else f"<{element.tag}> {name}"


def _places(owner: ET.Element, kept: Collection[str]) -> set[str]:
    if owner.tag != "joint":
        return {owner.tag}
    if owner.get("type") != "fixed":
        return {JOINT}
    return {WELD, KEPT} if owner.get("name") in kept else {WELD}
