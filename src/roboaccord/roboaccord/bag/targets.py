"""Targets of a controller as messages, stamped with the tick from which they are in force.

A field may be added to `Target`: write it in `encode_target` and read it in `decode_change`, in a
topic of topics.py; older bags lack it, so it needs a default. Only changes are recorded, and they
must be read back bit for bit (test_run_inputs), or a driven run could not be repeated. `_JOINTS`,
the order of fields of a JointState, is fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from roboaccord.bag.content import Content
from roboaccord.bag.topics import TARGET_JOINTS, TARGET_TWIST
from roboaccord.cdr import CdrWriter, decode_wrench, encode_wrench, read_joint_state
from roboaccord.cdr.wire import by_name
from roboaccord.contract.state import Array, Target

_JOINTS = ("position", "velocity", "effort")


def encode_target(
    time: float, target: Target, before: Target | None, joints: Sequence[str]
) -> dict[str, bytes]:
    """Return the changes of a target at a tick as messages, by topic.

    Args:
        time: of the tick [s].
        target: in force from then on.
        before: target that was in force; None at the start.
        joints: joint names, in the order of the target's arrays.
    """
    before = before or Target()
    messages = {}
    pairs = [(getattr(target, name), getattr(before, name)) for name in _JOINTS]
    if not all(_same(*pair) for pair in pairs):
        writer = CdrWriter(time)
        writer.string("")
        writer.strings(joints)
        for values, _ in pairs:
            writer.count(0 if values is None else len(values))
            if values is not None:
                writer.numbers(values)
        messages[TARGET_JOINTS] = bytes(writer.data)
    if not messages or not _same(target.twist, before.twist):
        # TwistStamped has the bytes of a WrenchStamped: a header and six numbers.
        messages[TARGET_TWIST] = encode_wrench(time, target.twist, "base_link")
    return messages


def read_targets(content: Content, joints: Sequence[str]) -> list[tuple[float, Target]]:
    """Return the targets of a bag with the times from which they are in force [s].

    Raises:
        AccordError: for a message that cannot be decoded.
    """
    changes = [
        decode_change(name, data, joints)
        for name in (TARGET_TWIST, TARGET_JOINTS)
        for data in content.since_reset(name)
    ]
    targets: list[tuple[float, Target]] = []
    for time, change in sorted(changes, key=lambda pair: pair[0]):
        add_change(targets, time, change)
    return targets


def decode_change(name: str, data: bytes, joints: Sequence[str]) -> tuple[float, dict[str, Any]]:
    """Return the time of the tick [s] and the changes of the target in a message of a topic.

    Raises:
        AccordError: for a message that cannot be decoded.
    """
    if name == TARGET_TWIST:
        time, twist = decode_wrench(data)
        return time, {"twist": twist}
    time, names, *columns = read_joint_state(data)
    order = by_name(names, joints, "JointState")
    values = (column[order] if len(column) else None for column in columns)
    return time, dict(zip(_JOINTS, values, strict=True))


def add_change(targets: list[tuple[float, Target]], time: float, change: Mapping[str, Any]) -> None:
    """Add the changes at a tick to the targets so far; a tick may have several messages."""
    last = targets[-1] if targets else (-1.0, Target())
    if last[0] == time:
        targets.pop()
    targets.append((time, replace(last[1], **change)))


def _same(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None:
        return a is b
    return np.array_equal(a, b, equal_nan=True)
