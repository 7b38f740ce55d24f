"""Messages that anybody may have sent: what cannot be read is one line, and is ignored.

LARGEST, SHOWN and MOST may be tuned: what is read at all, and how many lines a bad message may
cause. To decode another topic, add it to `decoders`, with `finite` for numbers. UNREADABLE are
errors of content, which end nothing: add to it only what content can cause. test_strangers sends
garbage to every topic.
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

LARGEST = 4_000_000  # bytes of a message that is read
SHOWN, MOST = 200, 5  # characters of what is wrong with one, and such lines of a topic
UNREADABLE = (
    AccordError, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError,
    TypeError, ValueError, struct.error,
)  # fmt: skip
Message = TypeVar("Message")
Content = TypeVar("Content")
Taken = TypeVar("Taken")
_log = logging.getLogger(__name__)


def itself(content: Content) -> Content:
    """Return what was read."""
    return content


def readable(
    topic: str,
    decode: Callable[[Message], Content],
    take: Callable[[Content], Taken],
    is_fatal: Callable[[], bool] = lambda: False,
) -> Callable[[Message], Taken | None]:
    """Return a callback that takes the messages which can be read.

    Args:
        topic: of the messages, for the line about one that cannot.
        decode: raises any of `UNREADABLE` for what is not a message of the topic.
        take: is given what `decode` returns, and may raise what ends the run.
        is_fatal: whether such a message ends the run.
    """
    told = set[str]()

    def read(message: Message) -> Taken | None:
        try:
            if isinstance(message, bytes) and len(message) > LARGEST:
                raise AccordError(f"it has {len(message)} bytes, more than {LARGEST}")
            content = decode(message)
        except UNREADABLE as error:
            if is_fatal():
                raise
            why = visible(str(error) or type(error).__name__)[:SHOWN]
            if why not in told and len(told) < MOST:
                told.add(why)
                _log.warning("a message on %s is ignored: %s", topic, why)
            return None
        return take(content)

    return read


def finite(decode: Callable[[bytes], tuple[float, *tuple[Array, ...]]]) -> Callable[[bytes], Any]:
    """Return a function that decodes a time and arrays, and refuses what is not finite."""

    def decode_finite(data: bytes) -> tuple[float, *tuple[Array, ...]]:
        content = decode(data)
        for array in content[1:]:
            # A sum of squares is finite only where every number is, and costs a third of a sum.
            if not (isfinite(array.dot(array)) or np.isfinite(array).all()):
                raise AccordError(f"it has numbers that are not finite, at t = {content[0]:g} s")
        return content

    return decode_finite


def command_reader(joints: Sequence[str]) -> Callable[[bytes], tuple[float, Array]]:
    """Return a function that decodes the time of a command and its efforts, and checks them."""
    decode = cdr.EffortCodec(joints).decode

    def read(data: bytes) -> tuple[float, Array]:
        stamp, effort = decode(data)
        check_command(Command(effort), joints, "the controller", stamp)
        return stamp, effort

    return read


def decoders(joints: Sequence[str]) -> dict[str, Callable[[bytes], object]]:
    """Return what decodes messages of a robot, by the last part of their topics."""
    states, vector = finite(cdr.JointStateCodec(joints).decode), finite(cdr.decode_wrench)
    return {
        "joint_states": states, "error": states, "odom": finite(cdr.OdometryCodec().decode),
        "joint_trajectory": finite(cdr.EffortCodec(joints).decode), "wrench": vector,
        "joints": partial(decode_change, graph.TARGET_JOINTS, joints=joints), "twist": vector,
        "events": cdr.decode_events, "findings": cdr.decode_events,
    }  # fmt: skip


def read_facts(data: bytes) -> dict[str, Any]:
    """Return what a simulator announces of a run."""
    facts: dict[str, Any] = json.loads(cdr.decode_string(data))
    words = [facts[key] for key in ("engine", "engine_version", "transport")]
    if not all(isinstance(word, str) for word in words):
        raise AccordError(f"engine, its version and transport are {words}")
    return facts


def read_scenario(robot: str, changes: Sequence[str], data: bytes) -> tuple[dict[str, Any], Setup]:
    """Return what a simulator announces of a run, and its robot and scenario.

    Args:
        robot: name of the topics.
        changes: `KEY=VALUE` of the scenario, which may name files, as no message may.
        data: of the message.
    """
    facts = read_facts(data)
    return facts, recorded_setup(facts["scenario"], robot, changes=changes)


def seal_of(key: str) -> str:
    """Return by what a run's announcement lets its result be known, which tells the key."""
    return hashlib.sha256(key.encode()).hexdigest()


def read_result(facts: Mapping[str, Any], data: bytes) -> dict[str, Any]:
    """Return the result of the simulator that announced a run.

    Raises:
        AccordError: for that of anybody else.
    """
    result: dict[str, Any] = json.loads(cdr.decode_string(data))
    if "seal" in facts and facts["seal"] != seal_of(result["key"]):
        raise AccordError("it is not of the simulator that announced the run")
    numbers = {key: int(result.get(key, 0)) for key in ("steps", "events")}
    return {**result, **numbers, "trajectory_sha256": str(result["trajectory_sha256"])}
