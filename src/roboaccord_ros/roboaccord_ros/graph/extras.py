"""Command channels beside joint efforts: wrenches, twists, switches and findings.

To send another vector beside efforts, add it to VECTORS, a codec to roboaccord.cdr and a field to
`Command`. PATIENCE may be tuned. Fixed: vectors and switches are sent before the efforts that
answer the same state, and a simulator waits only for what somebody publishes; test_switches
compares with the direct loop.

A wrench or twist carries the stamp of the state it answers and is sent before the efforts, which
stay the one message the simulator waits for; it waits for the others only where they have a
publisher. A switch is a service, answered before the efforts are sent, so that it acts with them.
Findings of the controller go to nodes that record or show them; none waits for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
from rclpy.client import Client
from rclpy.task import Future
from roboaccord.cdr import decode_bool, decode_wrench, encode_events, encode_wrench
from roboaccord.contract import NO_SWITCHES, AccordError, Array, Command
from std_srvs.srv import SetBool

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.inlet import Inlet
from roboaccord_ros.graph.reading import finite
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL

# WrenchStamped and TwistStamped are alike on the wire: a header and six numbers.
VECTORS = (graph.WRENCH, graph.TWIST)
PATIENCE = 10.0  # s of wall time that a service of a switch may take


class ExtraInputs:
    """Take wrench, twist and switches in the simulator; the latter by services `/R/SWITCH/set`.

    Args:
        shell: that hosts it.
        switches: their names.
        on_complete: called when a wrench or twist came.
    """

    def __init__(
        self, shell: Shell, switches: Iterable[str], on_complete: Callable[[], None]
    ) -> None:
        self._on_complete = on_complete
        self._got: dict[str, tuple[float, Array]] = {}
        self._node, states = shell.node, f"{shell.robot}/{graph.STATES}"
        self._listeners = partial(shell.node.get_subscriptions_info_by_topic, states)
        read = finite(decode_wrench)
        self._subscriptions = {n: shell.subscribe(n, read, partial(self._take, n)) for n in VECTORS}
        self._expected: list[str] = []
        self._asked: dict[str, bool] = {}
        for name in switches:
            service = f"{shell.robot}/{name}/set"
            shell.node.create_service(SetBool, service, partial(self._ask, name))

    def start(self) -> None:
        """Look which of them a node publishes that hears the states, as one must to answer them.

        The controller of this process is given them.
        """
        expected = {publisher.node_name for publisher in self._listeners()} | {
            graph.UNKNOWN,
            graph.CONTROLLER,
        }
        self._expected = [
            name
            for name, subscription in self._subscriptions.items()
            for publisher in self._node.get_publishers_info_by_topic(subscription.topic_name)
            if publisher.node_name in expected
        ]

    def ready(self, time: float) -> bool:
        """Return whether everything that answers the state of `time` [s] is there."""
        if not self._expected:
            return True
        return all(n in self._got and self._got[n][0] == time for n in self._expected)

    def complete(self, effort: Array) -> Command:
        """Return the command completed by wrench, twist and switches."""
        switches = self.take_switches()
        if not self._expected and not switches:
            return Command(effort)
        vectors = {name: self._got[name][1] for name in self._expected if name in self._got}
        return Command(effort, switches, vectors.get(graph.WRENCH), vectors.get(graph.TWIST))

    def take_switches(self) -> Mapping[str, bool]:
        """Return what was asked of the switches since the last call."""
        if not self._asked:
            return NO_SWITCHES
        asked, self._asked = self._asked, {}
        return asked

    def _ask(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        self._asked[name], response.success = bool(request.data), True
        return response

    def _take(self, name: str, vector: tuple[float, Array]) -> None:
        self._got[name] = vector
        self._on_complete()


class ExtraOutputs:
    """Send wrench, twist, switches and findings from the controller.

    Args:
        shell: that hosts it.
        example: a command of the controller, which shows what it gives.
        inlet: makes the states; knows the switches, and is notified of their changes.
    """

    def __init__(self, shell: Shell, example: Command, inlet: Inlet) -> None:
        self._given = [n for n in VECTORS if getattr(example, n) is not None]
        finds = [graph.FINDINGS] if example.findings is not None else []
        self._senders = {name: shell.advertise(name) for name in (*self._given, *finds)}
        self._shell, self._inlet, self._clients = shell, inlet, dict[str, Client]()
        self._waiting: set[str] = set()
        self._looks = 0
        for name in inlet.switches:
            service = f"{shell.robot}/{name}/set"
            self._clients[name] = shell.node.create_client(SetBool, service)
            shell.subscribe(name + graph.SWITCH, decode_bool, partial(self._note, name))

    def missing(self) -> str:
        """Return the first service or topic that is not connected yet, or ""."""
        away = (c.service_name for c in self._clients.values() if not c.service_is_ready())
        return graph.unreached(self._shell.node, self._senders.values()) or next(away, "")

    def look(self) -> None:
        """Notice a service that does not answer; call it every `POLL` seconds.

        Raises:
            AccordError: naming the service.
        """
        self._looks = self._looks + 1 if self._waiting else 0
        if self._looks * POLL > PATIENCE:
            service = self._clients[min(self._waiting)].service_name
            raise AccordError(f"no answer from the service {service} within {PATIENCE:g} s")

    def send(self, time: float, command: Command, then: Callable[[], None]) -> None:
        """Send all of it, and call `then` once every switch is answered."""
        if command.findings and graph.FINDINGS in self._senders:
            self._senders[graph.FINDINGS].send(encode_events(command.findings, self._shell.robot))
        for name in self._given:
            vector = getattr(command, name)
            self._senders[name].send(encode_wrench(time, np.zeros(6) if vector is None else vector))
        now, asked = self._inlet.switches, command.switches
        changes = {n: bool(v) for n, v in asked.items() if now[n] != bool(v)} if asked else {}
        if not changes:
            then()
            return
        self._waiting = set(changes)
        for name, value in changes.items():
            future = self._clients[name].call_async(SetBool.Request(data=value))
            answered = partial(self._answered, name, value, then)
            future.add_done_callback(self._shell.run.guard(answered))

    def _answered(self, name: str, value: bool, then: Callable[[], None], future: Future) -> None:
        answer = future.result()
        if not answer.success:
            service = self._clients[name].service_name
            raise AccordError(f"the service {service} refuses {value}: {answer.message}")
        self._note(name, value)
        self._waiting.discard(name)
        if not self._waiting:
            then()

    def _note(self, name: str, value: bool) -> None:
        # A new mapping: states that were given away keep theirs.
        self._inlet.switches = {**self._inlet.switches, name: value}
