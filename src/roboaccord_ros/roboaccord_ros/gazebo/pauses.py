"""What Gazebo does between two steps, while it is paused: switches, rates of a base, its window.

PATIENCE and PICTURE may be tuned: how long Gazebo may take to switch, and how often a window is
served while nothing steps. Fixed: the order in which switches act, and that a step is taken in the
iteration after the one that lets go, which makes a run independent of how busy the machine is.

A server that is run from a pause iterates, without a step, until somebody asks it to go on. So what
is asked for is done in iterations before a step, and the last of them asks for it.

A switch is a DetachableJoint of the world, which attaches at the start (gz-sim#3021). A joint that
is let go goes at the end of an iteration, one that is made comes in its middle: together, both
would hold for a step, which stops all motion. So what is switched off comes first.

A free base takes its rates by commands, which Gazebo sets to 0 after each iteration and leaves in
place, where they would stop the base: they are taken away as the step is asked for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from roboaccord.contract import Array, LockstepError

from roboaccord_ros.gazebo.transport import load, message

PATIENCE = 10.0  # s that Gazebo may take to confirm a switch
PICTURE = 0.05  # s between iterations that serve a window
WAITING = 1000  # ms for an answer from this very process
RATES = ("AngularVelocityCmd", "LinearVelocityCmd")  # components
Work = Generator[None, Any, None]  # is given the components of the world, in each iteration


class Pauses:
    """Have work done in the iterations of a paused server, then let it go on.

    Args:
        server: of a world, paused.
        world, robot: their names.
        switches: names of the robot's switches.

    Attributes:
        on: what holds, by name.
    """

    def __init__(self, server: Any, world: str, robot: str, switches: Iterable[str]) -> None:
        self._server, self._world, self._robot = server, world, robot
        self._node = load("gz.transport13").Node()
        self._asked = threading.Event()
        self._thread: threading.Thread | None = None
        self._work: list[Work] = []
        self._thrown: list[int] = []  # links whose rates have been set
        self.on = dict.fromkeys(switches, False)
        self._answers: dict[str, SimpleQueue[bytes]] = {name: SimpleQueue() for name in self.on}
        self._send: dict[tuple[str, bool], Callable[[], None]] = {}
        for name, answers in self._answers.items():
            options = load("gz.transport13").SubscribeOptions()
            # `put` takes the message and its information as item and as a flag that it ignores.
            self._node.subscribe_raw(
                self._topic(name, "state"), answers.put, "gz.msgs.StringMsg", options
            )
            for value, verb in ((True, "attach"), (False, "detach")):
                publisher = self._node.advertise(self._topic(name, verb), message("Empty"))
                self._send[name, value] = partial(publisher.publish, message("Empty")())

    def _topic(self, switch: str, what: str) -> str:
        return f"/model/{self._robot}/{switch}/{what}"

    def add(self, work: Work) -> None:
        """Have work done before the next step."""
        next(work)
        self._work.append(work)

    def run(self, count: int) -> None:
        """Take physics steps, after the work that is to be done."""
        self._asked.set()
        if self._thread is not None:  # which takes the first step
            self._thread.join()
            self._thread, count = None, count - 1
        if count:
            self._server.run(True, count, bool(self._work))
        self._asked.clear()

    def serve(self) -> None:
        """Serve a window, until the next step."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._server.run, args=(True, 1, True))
            self._thread.start()

    def wait(self) -> None:
        """Wait until a step is asked for, not only by a person in the window."""
        self._asked.wait()

    def iterate(self, ecm: Any) -> None:
        """Go on with the work; let the server take its steps when all is done.

        Raises:
            LockstepError: if Gazebo does not do something.
        """
        if not self._asked.wait(PICTURE):
            return
        while self._work:
            with suppress(StopIteration):
                self._work[0].send(ecm)
                return
            self._work.pop(0)
        self.go_on()

    def go_on(self) -> None:
        """Let the next iteration be a step, without the commands of rates."""
        # Gazebo passes over a component without content, even where it is to go.
        gone = {"component": b"0 0 0", "remove": True}
        kinds = [{"type": component_type(kind), **gone} for kind in RATES]
        asked: dict[str, Any] = {"world_control": {"pause": False}}
        if self._thrown:
            asked["state"] = {
                "entities": [{"id": each, "components": kinds} for each in self._thrown]
            }
            self._thrown = []
        request, service = message("WorldControlState"), f"/world/{self._world}/control/state"
        self._node.request(service, request(**asked), request, message("Boolean"), WAITING)

    def switch(self, wanted: Mapping[str, bool]) -> Work:
        """Switch, off before on, and wait until Gazebo has done it."""
        yield
        for value in (False, True):
            names = [n for n, on in wanted.items() if on is value and self.on[n] is not value]
            for name in names:
                self._send[name, value]()
            yield from self._confirm(names, value)

    def settle(self) -> Work:
        """Switch off what Gazebo has switched on by itself."""
        yield
        yield from self._confirm([*self.on], True)
        yield from self.switch(dict.fromkeys(self.on, False))
        yield  # in which the joints go

    def throw(self, find: Callable[[], Any], twist: Array) -> Work:
        """Give a link of a free base its twist (6,), in its own axes."""
        ecm = yield
        link = find()
        vector = load("gz.math7").Vector3d
        link.set_linear_velocity(ecm, vector(*twist[:3].tolist()))
        link.set_angular_velocity(ecm, vector(*twist[3:].tolist()))
        self._thrown.append(link.entity())

    def _confirm(self, names: Iterable[str], value: bool) -> Work:
        end = time.monotonic() + PATIENCE
        for name in names:
            while self.on[name] is not value:
                with suppress(Empty):
                    text = message("StringMsg").FromString(self._answers[name].get_nowait()).data
                    self.on[name] = text == "attached"
                    continue
                if time.monotonic() > end:
                    where = self._topic(name, "state")
                    raise LockstepError(f"no answer from Gazebo on {where} within {PATIENCE:g} s")
                yield

    def end(self) -> None:
        """End the thread that serves a window, by a step that nobody needs."""
        if self._thread is not None:
            self._work.clear()
            self.run(1)


def component_type(name: str) -> int:
    """Return the number of a type of component: FNV-1a of its name, 64 bits."""
    number = 0xCBF29CE484222325
    for byte in f"gz_sim_components.{name}".encode():
        number = ((number ^ byte) * 0x100000001B3) % 2**64
    return number
