"""Work between two steps of Gazebo, while it is paused: switches, rates of a base, its window.

A server that is run from a pause iterates without a step until somebody asks it to go on. So
`Pauses.iterate`, which in_process.py calls in each iteration, does the work in iterations before a
step, and the last iteration asks for the step. Each piece of work is a Python generator: `next`
runs it to its first `yield`, and in each iteration `send` resumes it with the world's components,
until it returns.

A switch is a contact that a robot turns on and off, such as a magnet. In Gazebo it is a
DetachableJoint of the world, which attaches at the start (gz-sim#3021). A joint that is detached is
gone at the end of an iteration; one that is attached exists from the middle of an iteration on. If
both were asked for in one iteration, both joints would hold during a step and stop all motion. So
switches are turned off first, and others on after that.

A free base or body takes its rates by commands, which are components of its link. Gazebo sets the
values to 0 after each iteration but keeps the components, which would stop it, so they are removed
as the step is asked for.

The order of switches is fixed, and so is that the step follows in the iteration after the last
piece of work: that makes a run independent of how busy the machine is. PATIENCE and WINDOW_PERIOD
may be tuned.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any

from roboaccord.contract import Array, LockstepError

from roboaccord_ros.gazebo.transport import gazebo_module, message_class

# s of wall time: longest wait for Gazebo to confirm a switch. That takes two iterations, so without
# an answer by then it hangs.
PATIENCE = 10.0
WINDOW_PERIOD = 0.05  # s of wall time between iterations that serve a window: 20 pictures a second
# ms: longest wait for an answer of the server in this process, which is late only if it hangs: a
# tenth of PATIENCE, by choice.
REQUEST_TIMEOUT = 1000
RATES = ("AngularVelocityCmd", "LinearVelocityCmd")  # components that command a link's rates
# A piece of work: a generator that each iteration resumes with the components of the world.
Work = Generator[None, Any, None]


class Pauses:
    """Does work in the iterations of a paused server, then lets it take its steps.

    Args:
        server: of a world, paused.
        world, robot: their names.
        switches: names of the robot's switches.

    Attributes:
        is_on: whether each switch is on, by name.
    """

    def __init__(self, server: Any, world: str, robot: str, switches: Iterable[str]) -> None:
        self._server, self._world, self._robot = server, world, robot
        self._node = gazebo_module("transport").Node()
        self._step_wanted = threading.Event()
        self._thread: threading.Thread | None = None  # runs the server while it serves a window
        self._work: list[Work] = []  # to be done before the next step, in order
        self._commanded: list[int] = []  # entities of links whose rates are commanded
        self.is_on = dict.fromkeys(switches, False)
        # States that Gazebo reports of each switch, and what asks it to turn one on or off.
        self._reports: dict[str, SimpleQueue[bytes]] = {name: SimpleQueue() for name in self.is_on}
        self._request_switch: dict[tuple[str, bool], Callable[[], None]] = {}
        for name, reports in self._reports.items():
            options = gazebo_module("transport").SubscribeOptions()
            # `put` is called with the message and its information; it ignores its second argument.
            topic = self._topic(name, "state")
            self._node.subscribe_raw(topic, reports.put, "gz.msgs.StringMsg", options)
            empty = message_class("Empty")
            for value, verb in ((True, "attach"), (False, "detach")):
                publisher = self._node.advertise(self._topic(name, verb), empty)
                self._request_switch[name, value] = partial(publisher.publish, empty())

    def add(self, work: Work) -> None:
        """Add a piece of work to be done before the next step, and run it to its first `yield`."""
        next(work)
        self._work.append(work)

    def run(self, count: int) -> None:
        """Do the work that was added, then take physics steps."""
        self._step_wanted.set()
        if self._thread is not None:  # the thread's server takes the first step, and ends
            self._thread.join()
            self._thread, count = None, count - 1
        if count:
            self._server.run(True, count, bool(self._work))
        self._step_wanted.clear()

    def serve_window(self) -> None:
        """Serve a window in a thread until the next step."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._server.run, args=(True, 1, True))
            self._thread.start()

    def wait_for_run(self) -> None:
        """Wait until `run` asks for a step; a person can press play in the window earlier."""
        self._step_wanted.wait()

    def iterate(self, ecm: Any) -> None:
        """Go on with the work in an iteration; when all is done, let the server take its steps.

        Raises:
            LockstepError: if Gazebo does not confirm a switch in time.
        """
        if not self._step_wanted.wait(WINDOW_PERIOD):
            return
        while self._work:
            with suppress(StopIteration):  # raised by a piece of work that is done
                self._work[0].send(ecm)
                return  # it goes on in the next iteration
            self._work.pop(0)
        self.request_step()

    def request_step(self) -> None:
        """Ask the server to take a step in the next iteration, and remove the commands of rates."""
        # Gazebo skips a component without content, even one to be removed.
        removed = {"component": b"0 0 0", "remove": True}
        kinds = [{"type": component_type(kind), **removed} for kind in RATES]
        content: dict[str, Any] = {"world_control": {"pause": False}}
        if self._commanded:
            links = [{"id": link, "components": kinds} for link in self._commanded]
            content["state"] = {"entities": links}
            self._commanded = []
        request, service = message_class("WorldControlState"), f"/world/{self._world}/control/state"
        answer = message_class("Boolean")
        self._node.request(service, request(**content), request, answer, REQUEST_TIMEOUT)

    def set_switches(self, values: Mapping[str, bool]) -> Work:
        """Turn switches off and on, in this order, and wait until Gazebo confirms each."""
        yield
        for value in (False, True):
            wanted = [name for name in values if values[name] is value]
            names = [name for name in wanted if self.is_on[name] is not value]
            for name in names:
                self._request_switch[name, value]()
            yield from self._confirm(names, value)

    def turn_all_off(self) -> Work:
        """Turn off all switches, whose joints Gazebo has attached at the start."""
        yield
        yield from self._confirm([*self.is_on], True)
        yield from self.set_switches(dict.fromkeys(self.is_on, False))
        yield  # the iteration in which the joints are removed

    def set_twists(self, find: Callable[[], Sequence[Any]], twists: Array) -> Work:
        """Command the twists of a free base and of free bodies, where they are not 0.

        Args:
            find: returns the l links, once the world has them.
            twists: linear and angular velocity in each link's axes (l, 6) [m/s, rad/s].
        """
        ecm = yield
        vector = gazebo_module("math").Vector3d
        for link, twist in zip(find(), twists.tolist(), strict=True):
            if any(twist):
                link.set_linear_velocity(ecm, vector(*twist[:3]))
                link.set_angular_velocity(ecm, vector(*twist[3:]))
                self._commanded.append(link.entity())

    def close(self) -> None:
        """End the thread that serves a window, by an extra step."""
        if self._thread is not None:
            self._work.clear()
            self.run(1)

    def _confirm(self, names: Iterable[str], value: bool) -> Work:
        """Wait until switches have a value.

        Raises:
            LockstepError: if one does not have it within PATIENCE.
        """
        deadline = time.monotonic() + PATIENCE
        for name in names:
            while self.is_on[name] is not value:
                if self._take_report(name):
                    continue
                if time.monotonic() > deadline:
                    topic = self._topic(name, "state")
                    raise LockstepError(f"no answer from Gazebo on {topic} within {PATIENCE:g} s")
                yield

    def _take_report(self, name: str) -> bool:
        """Take the next report on a switch into `is_on`; return whether there was one."""
        if self._reports[name].empty():
            return False
        report = message_class("StringMsg").FromString(self._reports[name].get())
        self.is_on[name] = report.data == "attached"
        return True

    def _topic(self, switch: str, name: str) -> str:
        """Return a topic of a switch: its state, or by which it is attached or detached."""
        return f"/model/{self._robot}/{switch}/{name}"


def component_type(name: str) -> int:
    """Return the number of a type of component: FNV-1a of its name, 64 bits."""
    number = 0xCBF29CE484222325
    for byte in f"gz_sim_components.{name}".encode():
        number = ((number ^ byte) * 0x100000001B3) % 2**64
    return number
