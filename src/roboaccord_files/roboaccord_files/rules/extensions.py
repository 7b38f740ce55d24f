"""Rules for what only Gazebo reads: tags within <gazebo> of a URDF, and their equals in SDF.

Such tags (damping, springs, plugins, fixed joints that are not merged, ...) change the robot in
Gazebo and in no other engine. A finding names the tags, what they do, and what to write instead.
Gazebo's parser SDFormat reads a tag in some elements only, for instance in a <gazebo> that refers
to a link but not in one that refers to a joint. A tag elsewhere has no effect, which is a finding,
too. Tags whose value asks for nothing, such as <static>false</static>, are ignored (`_acts`).

The tags, the rule of each and the elements in which SDFormat reads it are rows of extensions.yaml;
texts of rules are in rules.yaml. They describe SDFormat 12.3, with which test_gazebo_extensions.py
tries each of them. find.py calls `find_extensions` and `find_in_sdf`.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterator, Mapping, Sequence

from roboaccord.description.broken import Found
from roboaccord.description.source import label

from roboaccord_files.rules.source import Source
from roboaccord_files.rules.table import read_table

OF_MOTION = ("gazebo-damping", "gazebo-joint")  # rules of joints that move: no fixed joint has them
# Tags by which a fixed joint stays a joint; else SDFormat merges its two links into one.
PRESERVE, DO_NOT_LUMP = "preserveFixedJoint", "disableFixedJointLumping"
FLAGS = ("static", "turnGravityOff", PRESERVE, DO_NOT_LUMP)  # tags that act if their value is true
ALWAYS = ("plugin", "sensor", "mu1", "mu2")  # tags that act with any value
TRUE = ("true", "yes", "1")  # values that switch a tag on
FALSE = ("0", "false", "no")  # values that ask for nothing
# Kinds of elements that a <gazebo> can refer to, in the words of extensions.yaml.
MOVING_JOINT, FIXED_JOINT = "joint that moves", "fixed joint"
PRESERVED_JOINT = "fixed joint with <preserveFixedJoint>"
_TABLE = read_table("extensions.yaml")
# What Gazebo does, and what to write instead, by rule.
EFFECTS: Mapping[str, tuple[str, str]] = {n: (r["does"], r["cure"]) for n, r in _TABLE.items()}
# The rule of each tag within <gazebo>, and the kinds of elements for which SDFormat reads it.
TAGS = dict[str, tuple[str, tuple[str, ...]]]()
for _rule, _row in _TABLE.items():
    for _places in _row["tags"]:
        TAGS |= dict.fromkeys(_places["named"], (_rule, tuple(_places["of"])))


def find_extensions(source: Source) -> Found:
    """Yield a finding for each rule that the tags of each <gazebo> of a URDF make Gazebo apply."""
    # The <gazebo> elements of a text that was converted from SDF are not the user's.
    blocks = [] if source.file.form else source.top.findall("gazebo")
    # Names of fixed joints that are not merged, by either tag.
    preserved = {e.get("reference", "") for e in blocks if any(map(_acts, e.findall(PRESERVE)))}
    not_lumped = {e.get("reference", "") for e in blocks if any(map(_acts, e.findall(DO_NOT_LUMP)))}
    for block in blocks:
        # The element that the block is for: a link, a joint, or the robot.
        name = block.get("reference", "")
        owner = source.links.get(name, source.joints.get(name)) if name else source.top
        if owner is not None:  # else the rule "reference-unknown" finds it
            yield from _of_block(block, owner, preserved, not_lumped)


def _of_block(
    block: ET.Element, owner: ET.Element, preserved: set[str], not_lumped: set[str]
) -> Found:
    """Yield the findings of a <gazebo>.

    Args:
        block: the element.
        owner: element that it refers to: a link, a joint, or the robot.
        preserved, not_lumped: names of fixed joints that are not merged, by either tag.
    """
    kinds = _kinds_of(owner, preserved | not_lumped)
    # The tags that have an effect, by rule.
    acting = dict[str, list[ET.Element]]()
    for tag in block:
        rule, allowed = TAGS.get(tag.tag, ("", ()))
        if not rule or not _acts(tag) or (kinds == {FIXED_JOINT} and rule in OF_MOTION):
            continue
        if kinds.isdisjoint(allowed):
            message = f"{label(owner)}: SDFormat does nothing with <{tag.tag}> here"
            yield "gazebo-misplaced", tag, message, f"write it for a {' or a '.join(allowed)}"
            continue
        # <disableFixedJointLumping> makes a hinge of a joint, unless it is preserved as fixed.
        if rule == "gazebo-hinge" and block.get("reference", "") in preserved:
            rule = "gazebo-lumping"
        acting.setdefault(rule, []).append(tag)
    # One finding a rule, at its first tag.
    for rule, elements in acting.items():
        effect, cure = EFFECTS[rule]
        tags = ", ".join(dict.fromkeys(map(_named, elements)))
        message = f"{label(owner)}: Gazebo alone reads {tags}, and {effect}"
        yield rule, elements[0], message, cure


def find_in_sdf(source: Source) -> Found:
    """Yield findings by the same rules on the elements of a model in SDF."""
    if not source.file.notes or (top := source.original) is None:
        return
    for link in top.iter("link"):
        switched_off = [tag for tag in link.findall("gravity") if _acts(tag)]
        yield from _in_sdf(source, link, "gazebo-gravity", switched_off)
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
    """Yield the finding of a rule for tags within a link, joint or model, if there are any."""
    if tags:
        name = owner.get("name", "")
        effect, cure = EFFECTS[rule]
        element = source.links.get(name, source.joints.get(name, source.top))
        names = ", ".join(dict.fromkeys(map(_named, tags)))
        yield rule, element, f"{label(owner)}: Gazebo reads {names}, and {effect}", cure


def _acts(element: ET.Element) -> bool:
    """Return whether the value of a tag asks for anything; <static>false</static> does not.

    Gravity acts if it is switched off; flags act if they are true; plugins, sensors and friction
    coefficients always; other tags if they have children or a value that is not 0 or false.
    """
    value = _value(element)
    if element.tag == "gravity":
        return value in FALSE
    if element.tag in FLAGS:
        return value in TRUE
    return len(element) > 0 or element.tag in ALWAYS or value not in ("", *FALSE)


def _value(element: ET.Element) -> str:
    """Return the value of a tag, of its attribute or its text, in lower case."""
    return (element.get("value") or element.text or "").strip().lower()


def _named(element: ET.Element) -> str:
    """Return a tag as it is printed, with its name, if it has one."""
    name = element.get("name")
    return f"<{element.tag}>" if name is None else f"<{element.tag}> {name}"


def _kinds_of(owner: ET.Element, kept: Collection[str]) -> set[str]:
    """Return the kinds of an element, as extensions.yaml names them.

    Args:
        owner: robot, link or joint.
        kept: names of fixed joints that stay joints.
    """
    if owner.tag != "joint":
        return {owner.tag}
    if owner.get("type") != "fixed":
        return {MOVING_JOINT}
    return {FIXED_JOINT, PRESERVED_JOINT} if owner.get("name") in kept else {FIXED_JOINT}
