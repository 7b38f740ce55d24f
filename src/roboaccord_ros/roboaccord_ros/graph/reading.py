"""Reads messages that anybody may have sent: one that cannot be read is logged, and ignored.

`readable` wraps a callback in this way. UNREADABLE lists the errors that bad content can cause;
these do not end a node, so an error that content cannot cause does not belong there. test_strangers
sends garbage to every topic.

Another topic is added to `decoders`, with `finite_only` if it has numbers. MAX_BYTES, MAX_REASON
and MAX_LINES may be tuned.
"""

from __future__ import annotations

import hashlib
import json
import logging
import struct
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isfinite
from typing import Any, TypeVar

import numpy as np
from roboaccord import cdr
from roboaccord.bag import decode_change
from roboaccord.contract import AccordError, Array, Command, check_command, visible
from roboaccord.scenario import Setup, recorded_setup

from roboaccord_ros.graph import names as graph

# Longest message that is read [bytes]. The largest of a run have 70 kB, and any limit well above
# would do: it prevents a stranger's message from filling the memory.
MAX_BYTES = 4_000_000
MAX_REASON = 200  # characters of an error that are logged, two lines of a terminal
# Number of lines that are logged about the messages of one topic, so that a flood of bad messages
# does not fill the log. By choice: each line has another reason, and a fault has few.
MAX_LINES = 5
# Errors that the content of a message can cause in a decoder.
UNREADABLE = (
    AccordError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError, struct.error,
)  # fmt: skip
Message = TypeVar("Message")  # a message of ROS, or its bytes
Content = TypeVar("Content")  # what is decoded from it
Result = TypeVar("Result")  # of the callback that takes the content
Decoder = Callable[[bytes], tuple[float, *tuple[Array, ...]]]  # of a message with a time and arrays
_log = logging.getLogger(__name__)


def itself(content: Content) -> Content:
    """Return the argument: for `readable`, whose result is then the decoded content."""
    return content


def readable(
    topic: str,
    decode: Callable[[Message], Content],
    take: Callable[[Content], Result],
    is_fatal: Callable[[], bool] = lambda: False,
) -> Callable[[Message], Result | None]:
    """Return a callback that decodes messages, and ignores those that cannot be read.

    Args:
        topic: name of the topic, for log lines.
        decode: returns the content of a message, or raises one of `UNREADABLE`.
        take: called with the content; its errors are not caught.
        is_fatal: returns whether a message that cannot be read ends the run.

    Returns:
        a callback that returns what `take` does, or None for a message that cannot be read.
    """
    logged = set[str]()

    def read(message: Message) -> Result | None:
        """Pass the content of a message to `take`, or log why it cannot be read."""
        try:
            if isinstance(message, bytes) and len(message) > MAX_BYTES:
                raise AccordError(f"it has {len(message)} bytes, more than {MAX_BYTES}")
            content = decode(message)
        except UNREADABLE as error:
            if is_fatal():
                raise
            reason = visible(str(error) or type(error).__name__)[:MAX_REASON]
            if reason not in logged and len(logged) < MAX_LINES:
                logged.add(reason)
                _log.warning("a message on %s is ignored: %s", topic, reason)
            return None
        return take(content)

    return read


def finite_only(decode: Decoder) -> Callable[[bytes], Any]:
    """Return a function that decodes a time and arrays, and refuses numbers that are not finite."""

    def decode_finite(data: bytes) -> tuple[float, *tuple[Array, ...]]:
        """Return the content of a message if all its numbers are finite."""
        content = decode(data)
        for array in content[1:]:
            # A sum of squares is finite only if all numbers are; it costs a third of `isfinite`.
            if not (isfinite(array.dot(array)) or np.isfinite(array).all()):
                raise AccordError(f"it has numbers that are not finite, at t = {content[0]:g} s")
        return content

    return decode_finite


def command_reader(joints: Sequence[str]) -> Callable[[bytes], tuple[float, Array]]:
    """Return a function that decodes the time of a command and its efforts, and checks them."""
    decode = cdr.EffortCodec(joints).decode

    def read(data: bytes) -> tuple[float, Array]:
        """Return time [s] and efforts (n,) of a command that fits to the joints."""
        stamp, effort = decode(data)
        check_command(Command(effort), joints, "the controller", stamp)
        return stamp, effort

    return read


def decoders(joints: Sequence[str]) -> dict[str, Callable[[bytes], object]]:
    """Return the decoder of each topic of a robot, by the last word of its name."""
    states = finite_only(cdr.JointStateCodec(joints).decode)
    vector = finite_only(cdr.decode_wrench)  # twists have the same layout
    return {
        "joint_states": states, "error": states, "odom": finite_only(cdr.OdometryCodec().decode),
        "joint_trajectory": finite_only(cdr.EffortCodec(joints).decode), "wrench": vector,
        "joints": partial(decode_change, graph.TARGET_JOINTS, joints=joints), "twist": vector,
        "bodies": cdr.read_body, "events": cdr.decode_events, "findings": cdr.decode_events,
    }  # fmt: skip


def read_facts(data: bytes) -> dict[str, Any]:
    """Return the facts that a simulator announces of a run."""
    facts: dict[str, Any] = json.loads(cdr.decode_string(data))
    words = [facts[key] for key in ("engine", "engine_version", "transport")]
    if not all(isinstance(word, str) for word in words):
        raise AccordError(f"engine, its version and transport are {words}")
    return facts


def read_scenario(robot: str, changes: Sequence[str], data: bytes) -> tuple[dict[str, Any], Setup]:
    """Return the facts that a simulator announces of a run, and its robot and scenario.

    Args:
        robot: name of the topics.
        changes: `KEY=VALUE` of the scenario, which may name files, as no message may.
        data: of the message.
    """
    facts = read_facts(data)
    return facts, recorded_setup(facts["scenario"], robot, changes=changes)


def seal_of(key: str) -> str:
    """Return the seal in a run's announcement: a hash of the key that comes with its result."""
    return hashlib.sha256(key.encode()).hexdigest()


def read_result(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Return the result of the simulator that announced a run.

    Raises:
        AccordError: for a result of anybody else.
    """
    result: dict[str, Any] = json.loads(cdr.decode_string(data))
    if "seal" in facts and facts["seal"] != seal_of(result["key"]):
        raise AccordError("it is not of the simulator that announced the run")
    numbers = {key: int(result.get(key, 0)) for key in ("steps", "events")}
    return {**result, **numbers, "trajectory_sha256": str(result["trajectory_sha256"])}
