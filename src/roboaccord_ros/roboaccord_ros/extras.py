"""What a few robots have beside joint efforts: wrenches, twists and switches.

A wrench or twist carries the stamp of the state it answers and is sent before the efforts, which
stay the one message the simulator waits for; it waits for the others only where they have a
publisher. A switch is a service, answered before the efforts are sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from rclpy.node import Node
from roboaccord.cdr import decode_bool, decode_wrench, encode_wrench
from roboaccord.state import NO_SWITCHES, Array, Command
from std_srvs.srv import SetBool

from roboaccord_ros import graph
from roboaccord_ros.shell import Run

# WrenchStamped and TwistStamped are alike on the wire: a header and six numbers.
VECTORS = (graph.WRENCH, graph.TWIST)


class ExtraInputs:
    """Take wrench, twist and switches in the simulator.

    Args:
        node, robot, run: where it lives.
        switches: of the initial state.
        on_complete: called when a wrench or twist came.
    """

    def __init__(
        self,
        node: Node,
        robot: str,
        run: Run,
        switches: Mapping[str, bool],
        on_complete: Callable[[], None],
    ) -> None:
        self._on_complete = on_complete
        self._got: dict[str, tuple[float, Array]] = {}
        self._subscriptions = {
            name: graph.subscribe(node, robot, name, run.guard(partial(self._take, name)))
            for name in VECTORS
        }
        self._expected: list[str] = []
        self._pending: dict[str, bool] = {}
        for name in switches:
            node.create_service(SetBool, f"/{robot}/{name}/set", partial(self._set, name))

    def start(self) -> None:
        """Look which of them have a publisher."""
        self._expected = [n for n, s in self._subscriptions.items() if s.get_publisher_count()]

    def ready(self, time: float) -> bool:
        """Return whether everything that answers the state of `time` [s] is there."""
        return all(n in self._got and self._got[n][0] == time for n in self._expected)

    def complete(self, effort: Array) -> Command:
        """Return the command with what came beside the efforts."""
        if not self._expected and not self._pending:
            return Command(effort)
        switches, self._pending = self._pending or NO_SWITCHES, {}
        vectors = {name: self._got[name][1] for name in self._expected}
        return Command(effort, switches, vectors.get(graph.WRENCH), vectors.get(graph.TWIST))

    def _take(self, name: str, data: bytes) -> None:
        self._got[name] = decode_wrench(data)
        self._on_complete()

    def _set(self, name: str, request: Any, response: Any) -> Any:
        self._pending[name] = bool(request.data)
        response.success = True
        return response


class ExtraOutputs:
    """Send wrench, twist and switches from the controller.

    Args:
        node, robot, run: where it lives.
        example: a command of the controller, which shows what it gives.
        switches: of the initial state.
    """

    def __init__(
        self, node: Node, robot: str, run: Run, example: Command, switches: Mapping[str, bool]
    ) -> None:
        self._given = [n for n in VECTORS if getattr(example, n) is not None]
        self._send = {name: graph.advertise(node, robot, name)[1] for name in self._given}
        self.switches = dict(switches)
        self._clients = {
            name: node.create_client(SetBool, f"/{robot}/{name}/set") for name in switches
        }
        for name in switches:
            graph.subscribe_switch(node, robot, name, run.guard(partial(self._take, name)))

    def send(self, time: float, command: Command, then: Callable[[], None]) -> None:
        """Send what goes beside the efforts, and call `then` once every switch is answered."""
        for name in self._given:
            vector = getattr(command, name)
            self._send[name](encode_wrench(time, np.zeros(6) if vector is None else vector))
        changes = {n: v for n, v in command.switches.items() if self.switches.get(n) is not v}
        if not changes:
            then()
            return
        waiting = set(changes)

        def answered(name: str, _: Any) -> None:
            waiting.discard(name)
            if not waiting:
                then()

        for name, value in changes.items():
            future = self._clients[name].call_async(SetBool.Request(data=value))
            future.add_done_callback(partial(answered, name))

    def _take(self, name: str, data: bytes) -> None:
        self.switches[name] = decode_bool(data)
