"""Gazebo's own transport: Python bindings, messages, requests and a barrier.

For another version of Gazebo, change PACKAGES and the names of modules (gz.msgs10, gz.sim8,
gz.transport13); a message in a module of another name is entered in MODULES. PATIENCE, BARRIER and
LOST may be tuned: they end what hangs. The barrier, explained below, is not to be replaced by
waiting. test_gz_transport holds what is said if a package is missing.

gz-transport has a socket for messages and another for requests, and looks at them in turn: a step
that is asked for right after an effort can overtake it. Messages of one process, whatever their
topics, arrive in order, and one thread of the server handles them one after the other. So an answer
to the last of them shows that all have been handled: the barrier.
"""

from __future__ import annotations

import functools
import importlib
import math
import time
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any, TypeAlias

from roboaccord.contract import AccordError, LockstepError
from roboaccord.gazebo import barrier_topics

Message: TypeAlias = Any  # or a class of them: protobuf, which Gazebo brings, has no types
PATIENCE = 10_000  # ms that Gazebo has to take a request
BARRIER = 10.0  # s that it has to handle what was sent
LOST = 5.0  # s after which the first message through the barrier is taken for lost
# Messages whose file is not named as all others' are.
MODULES = {
    "CameraTrack": "cameratrack",
    "StringMsg": "stringmsg",
    "Double_V": "double_v",
    "SerializedState": "serialized",
    "SerializedStepMap": "serialized_map",
}
PACKAGES = {
    "google": "protobuf for Python (package python3-protobuf)",
    "gz.msgs10": "the Python messages of gz-msgs 10 (package ros-jazzy-gz-msgs-vendor)",
    "gz.sim8": "the Python bindings of Gazebo Sim 8 (package ros-jazzy-gz-sim-vendor)",
    "gz.math7": "the Python bindings of gz-math 7 (package ros-jazzy-gz-math-vendor)",
    "gz.transport13": "the Python bindings of gz-transport 13 "
    "(package ros-jazzy-gz-transport-vendor from 0.0.9 on)",
}


class Server:
    """Ask things of a Gazebo server, and know when it has handled what was sent.

    Args:
        world: its name.

    Raises:
        AccordError: naming what is missing of the Python bindings.
    """

    def __init__(self, world: str) -> None:
        self.world = world
        self.node = load("gz.transport13").Node()
        topic, passed = barrier_topics(world)
        self._empty = message("Empty")
        self._barrier = self.node.advertise(topic, self._empty)
        # What Gazebo's thread calls must be no Python code: a request holds the interpreter while
        # it waits for that thread, which code could let go of in between. `put` takes the message
        # and its information as item and as the flag that it ignores.
        self._passed: SimpleQueue[bytes] = SimpleQueue()
        options = load("gz.transport13").SubscribeOptions()
        self.node.subscribe_raw(passed, self._passed.put, "gz.msgs.Empty", options)
        self._pending, self._sent_at = 0, -math.inf

    def missing(self) -> str:
        """Return what does not answer yet, or ""; to be asked again and again."""
        topic, passed = barrier_topics(self.world)
        if not self._barrier.has_connections():
            return f"nothing in Gazebo listens to {topic}"
        if time.monotonic() > self._sent_at + LOST:  # the first one can be lost
            self._pending = 0
            self._send()
        while not self._passed.empty():
            self._passed.get()
            self._pending -= 1
        return f"no answer from Gazebo on {passed}" if self._pending else ""

    def wait(self, timeout: float = BARRIER) -> None:
        """Wait until the server has handled all messages of this process.

        Args:
            timeout: [s].

        Raises:
            LockstepError: if no answer comes in time.
        """
        self._send()
        try:
            while self._pending:
                self._passed.get(timeout=timeout)
                self._pending -= 1
        except Empty:
            topic = barrier_topics(self.world)[1]
            raise LockstepError(f"no answer from Gazebo on {topic} within {timeout:g} s") from None

    def _send(self) -> None:
        self._barrier.publish(self._empty())
        self._pending += 1
        self._sent_at = time.monotonic()

    def ask(self, service: str, request: Message, answer: str, timeout: int = PATIENCE) -> Message:
        """Return the answer to a request.

        Args:
            service: name, after that of the world.
            request: message.
            answer: type of the answer, as `message` takes it.
            timeout: [ms].

        Raises:
            LockstepError: if there is none.
        """
        name = f"/world/{self.world}/{service}"
        done, got = self.node.request(name, request, type(request), message(answer), timeout)
        if not done:
            raise LockstepError(f"Gazebo does not answer {name}")
        return got

    def control(self, *, steps: int = 0, state: Message | None = None) -> None:
        """Let the paused world take steps, or set components of it; it stays paused.

        Raises:
            LockstepError: if Gazebo does not take it.
        """
        control = {"pause": True, "multi_step": steps}
        if state is None:
            taken = self.ask("control", message("WorldControl")(**control), "Boolean")
        else:
            both = message("WorldControlState")(world_control=control, state=state)
            taken = self.ask("control/state", both, "Boolean")
        if not taken.data:
            raise LockstepError(f"Gazebo does not take a step of world {self.world}")


@functools.cache
def message(kind: str) -> Message:
    """Return the class of a message of Gazebo, such as `JointTrajectory`."""
    module = "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")
    module = MODULES.get(kind, module)
    return getattr(load(f"gz.msgs10.{module}_pb2"), kind)


def load(module: str) -> ModuleType:
    """Import a module of Gazebo's.

    Raises:
        AccordError: naming the package that is missing, or what does not fit.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        lacks = (
            "google" if str(error.name).startswith("google") else ".".join(module.split(".")[:2])
        )
        reason = f"{PACKAGES[lacks]} is missing"
    except Exception as error:  # noqa: BLE001 - protobuf has errors of its own
        reason = f"{module} cannot be loaded: {(str(error).splitlines() or [''])[0]}"
    needs = "Gazebo needs it in lockstep, for rates at the start, and as an engine"
    raise AccordError(f"{reason}: {needs}")
