"""What a command has besides joint efforts: wrenches and twists of the base, switches, findings.

These are its extras, which most robots lack. A wrench or twist carries the stamp of the state that
it answers. It is sent before the efforts, which are the one message that the simulator always waits
for; it waits for wrenches and twists only if a node publishes them. A switch (a contact that is
turned on or off) is set by a service, which answers before the efforts are sent, so that it acts
with them. Findings, what a controller has detected, go to nodes that record or show them, and
nothing waits for them.

`ExtraInputs` receives all of these in the simulator, `ExtraOutputs` sends them in the controller.
Another vector is added to VECTORS, with a codec in roboaccord.cdr and a field of `Command`.
PATIENCE may be tuned. test_switches compares the order of messages with the direct loop.
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
from roboaccord_ros.graph.peers import unreached_topic
from roboaccord_ros.graph.reading import finite_only
from roboaccord_ros.graph.shell import Shell
from roboaccord_ros.graph.spinning import POLL

# Topics of vectors. WrenchStamped and TwistStamped have one layout: a header and six numbers.
VECTORS = (graph.WRENCH, graph.TWIST)
# s of wall time: longest wait for the answer of a switch's service, as that for Gazebo, which
# confirms switches (gazebo/pauses.py).
PATIENCE = 10.0
Callback = Callable[[], None]


class ExtraInputs:
    """Receives wrenches, twists and requests of switches, by services `/ROBOT/SWITCH/set`.

    Args:
        shell: node of the simulator.
        switches: names of the robot's switches.
        on_vector: called when a wrench or twist has come.
    """

    def __init__(self, shell: Shell, switches: Iterable[str], on_vector: Callback) -> None:
        self._on_any_vector = on_vector
        # Stamp [s] and vector (6,) of the last message on each topic.
        self._vectors: dict[str, tuple[float, Array]] = {}
        self._node = shell.node
        states = f"{shell.robot}/{graph.STATES}"
        self._listeners = partial(shell.node.get_subscriptions_info_by_topic, states)
        read = finite_only(decode_wrench)
        self._sources = {n: shell.subscribe(n, read, partial(self._on_vector, n)) for n in VECTORS}
        self._expected: list[str] = []  # topics on which each state is answered
        self._requested: dict[str, bool] = {}  # values asked of switches since the last command
        for name in switches:
            service = f"{shell.robot}/{name}/set"
            shell.node.create_service(SetBool, service, partial(self._on_switch_request, name))

    def expect_vectors(self) -> None:
        """Expect the vectors that are published by nodes which receive the states.

        Nodes named `controller` count in any case: one in this process has no subscription.
        """
        listeners = {subscriber.node_name for subscriber in self._listeners()}
        answering = listeners | {graph.UNNAMED_NODE, graph.CONTROLLER}
        self._expected = []
        for name, subscription in self._sources.items():
            publishers = self._node.get_publishers_info_by_topic(subscription.topic_name)
            if any(publisher.node_name in answering for publisher in publishers):
                self._expected.append(name)

    def has_vectors(self, time: float) -> bool:
        """Return whether all vectors that answer the state at `time` [s] have come."""
        return all(n in self._vectors and self._vectors[n][0] == time for n in self._expected)

    def command_with(self, effort: Array) -> Command:
        """Return the command of efforts (n,) with wrench, twist and switches."""
        switches = self.pop_switch_requests()
        if not self._expected and not switches:
            return Command(effort)
        vectors = {name: self._vectors[name][1] for name in self._expected if name in self._vectors}
        return Command(effort, switches, vectors.get(graph.WRENCH), vectors.get(graph.TWIST))

    def pop_switch_requests(self) -> Mapping[str, bool]:
        """Return the values that were requested of switches since the last call."""
        if not self._requested:
            return NO_SWITCHES
        requested, self._requested = self._requested, {}
        return requested

    def _on_switch_request(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        """Store the value that is requested of a switch, for the next command."""
        self._requested[name] = bool(request.data)
        response.success = True
        return response

    def _on_vector(self, name: str, vector: tuple[float, Array]) -> None:
        """Store a wrench or twist with its stamp."""
        self._vectors[name] = vector
        self._on_any_vector()


class ExtraOutputs:
    """Sends a controller's wrenches, twists, switches and findings.

    Args:
        shell: node of the controller.
        example: a command of the controller; the fields that it has are advertised.
        inlet: assembles the states; it is told of changed switches.
    """

    def __init__(self, shell: Shell, example: Command, inlet: Inlet) -> None:
        self._vectors = [name for name in VECTORS if getattr(example, name) is not None]
        findings = [graph.FINDINGS] if example.findings is not None else []
        self._senders = {name: shell.advertise(name) for name in (*self._vectors, *findings)}
        self._shell, self._inlet = shell, inlet
        self._clients = dict[str, Client]()  # of the services of switches, by switch
        self._unanswered: set[str] = set()  # switches whose service has not answered
        self._checks = 0  # calls of `check_services` since one was asked
        for name in inlet.switches:
            self._clients[name] = shell.node.create_client(SetBool, f"{shell.robot}/{name}/set")
            shell.subscribe(name + graph.SWITCH, decode_bool, partial(self._set_switch, name))

    def missing(self) -> str:
        """Return the first service or topic that is not connected yet, or ""."""
        services = (c.service_name for c in self._clients.values() if not c.service_is_ready())
        return unreached_topic(self._shell.node, self._senders.values()) or next(services, "")

    def check_services(self) -> None:
        """Check that services answer in time; called every POLL.

        Raises:
            AccordError: that names the service.
        """
        self._checks = self._checks + 1 if self._unanswered else 0
        if self._checks * POLL > PATIENCE:
            service = self._clients[min(self._unanswered)].service_name
            raise AccordError(f"no answer from the service {service} within {PATIENCE:g} s")

    def send(self, time: float, command: Command, on_answered: Callback) -> None:
        """Send what a command has besides efforts.

        Args:
            time: of the state that the command answers [s].
            command: the command.
            on_answered: called once the services of all switches that change have answered.
        """
        if command.findings and graph.FINDINGS in self._senders:
            self._senders[graph.FINDINGS].send(encode_events(command.findings, self._shell.robot))
        for name in self._vectors:
            vector = getattr(command, name)
            self._senders[name].send(encode_wrench(time, np.zeros(6) if vector is None else vector))
        switches = self._inlet.switches
        changes = {
            name: bool(value)
            for name, value in (command.switches or {}).items()
            if switches[name] != bool(value)
        }
        if not changes:
            on_answered()
            return
        self._unanswered = set(changes)
        for name, value in changes.items():
            future = self._clients[name].call_async(SetBool.Request(data=value))
            on_answer = partial(self._on_answer, name, value, on_answered)
            future.add_done_callback(self._shell.run.guard(on_answer))

    def _on_answer(self, name: str, value: bool, on_answered: Callback, future: Future) -> None:
        """Act on the answer of a switch's service; after the last one call `on_answered`.

        Raises:
            AccordError: if it refuses.
        """
        answer = future.result()
        if not answer.success:
            service = self._clients[name].service_name
            raise AccordError(f"the service {service} refuses {value}: {answer.message}")
        self._set_switch(name, value)
        self._unanswered.discard(name)
        if not self._unanswered:
            on_answered()

    def _set_switch(self, name: str, value: bool) -> None:
        """Take the value of a switch into the states to come; earlier ones keep their mapping."""
        self._inlet.switches = {**self._inlet.switches, name: value}
