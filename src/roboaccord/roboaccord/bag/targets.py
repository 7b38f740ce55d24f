"""Targets of a controller as messages, with the time of the tick from which they are in force.

A target is what a person asks of a controller while driving a robot: a twist of the base, and
positions, velocities or efforts of joints. A bag (a recording in the format of ROS 2) has only its
changes: those of the twist on one topic, those of joints on another. `encode_target` writes and
`read_targets` reads them, bit for bit, for otherwise a driven run could not be repeated
(test_run_inputs). A new field of `Target` needs a default, because older bags lack it; it is
written in `encode_target` and read in `decode_change`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from roboaccord.bag.content import Content
from roboaccord.bag.topics import TARGET_JOINTS, TARGET_TWIST
from roboaccord.cdr import CdrWriter, decode_wrench, encode_wrench, read_joint_state
from roboaccord.cdr.wire import indices_of
from roboaccord.contract.state import Array, Target

_JOINT_FIELDS = ("position", "velocity", "effort")  # of a JointState, in its order


def encode_target(
    time: float, target: Target, before: Target | None, joints: Sequence[str]
) -> dict[str, bytes]:
    """Return the changes of a target at a tick as messages, by topic.

    Args:
        time: of the tick [s].
        target: that is in force from this tick on.
        before: target that was in force before; None at the start.
        joints: joint names, in the order of the target's arrays.
    """
    before = before or Target()
    messages = {}
    pairs = [(getattr(target, name), getattr(before, name)) for name in _JOINT_FIELDS]
    if not all(_are_equal(*pair) for pair in pairs):
        writer = CdrWriter(time)
        writer.strings(joints)
        for values, _ in pairs:
            writer.count(0 if values is None else len(values))
            if values is not None:
                writer.numbers(values)
        messages[TARGET_JOINTS] = bytes(writer.data)
    # At least one message, as the time of a target is recorded even if its values are the old ones.
    if not messages or not _are_equal(target.twist, before.twist):
        # A TwistStamped has the same layout as a WrenchStamped: a header and six numbers.
        messages[TARGET_TWIST] = encode_wrench(time, target.twist, "base_link")
    return messages


def read_targets(content: Content, joints: Sequence[str]) -> list[tuple[float, Target]]:
    """Return the targets in a bag, each with the time from which it is in force [s].

    Raises:
        AccordError: for a message that cannot be decoded.
    """
    changes = [
        decode_change(name, data, joints)
        for name in (TARGET_TWIST, TARGET_JOINTS)
        for data in content.messages_since_reset(name)
    ]
    targets: list[tuple[float, Target]] = []
    for time, change in sorted(changes, key=lambda pair: pair[0]):
        add_change(targets, time, change)
    return targets


def decode_change(name: str, data: bytes, joints: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """Return the time of the tick [s] and the changed fields of the target in a message.

    Raises:
        AccordError: for a message that cannot be decoded.
    """
    if name == TARGET_TWIST:
        time, twist = decode_wrench(data)
        return time, {"twist": twist}
    time, names, *columns = read_joint_state(data)
    order = indices_of(joints, names, "JointState")
    values = (column[order] if len(column) else None for column in columns)
    return time, dict(zip(_JOINT_FIELDS, values, strict=True))


def add_change(targets: list[tuple[float, Target]], time: float, change: Mapping[str, Any]) -> None:
    """Append the target after a change at a tick; two changes of one tick make one target.

    Args:
        targets: so far, each with the time from which it is in force [s]; changed in place.
        time: of the tick [s].
        change: new values by name of the field.
    """
    # Before the first tick, at a time that no tick has, the target is 0.
    last_time, last_target = targets[-1] if targets else (-1.0, Target())
    if last_time == time:
        targets.pop()
    targets.append((time, replace(last_target, **change)))


def _are_equal(a: Array | None, b: Array | None) -> bool:
    """Return whether two arrays are equal, NaN to NaN, or both are None."""
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=True)
