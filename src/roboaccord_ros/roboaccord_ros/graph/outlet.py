"""Publishers of the simulator node: description, scenario, states, events and result.

BATCH may be tuned. Keys may be added to the result, by the node that makes it; recorder,
cross-check and run/processes.py read those that are there. Fixed, since other nodes rely on it: of
a state the joint states come last, and the result comes after everything, with the number of
events.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Mapping, Sequence
from functools import partial

from rclpy.node import Node
from roboaccord import bag, cdr
from roboaccord.contract import AccordError, Event, Json, RobotState, visible
from roboaccord.scenario import Setup
from roboaccord.simulators import Simulator
from rosgraph_msgs.msg import Clock

from roboaccord_ros.graph import names as graph
from roboaccord_ros.graph.reading import seal_of

BATCH = 500  # events in a message, some 70 kB


class Outlet:
    """Publish the simulator's messages as bytes.

    Args:
        node: that hosts it.
        setup: robot and scenario.
        engine, version, transport: as `/R/scenario` states them.
        recorded: whether the run waits for a recorder, for which a person's commands wait, too.
    """

    def __init__(self, node: Node, setup: Setup, *made_by: str, recorded: bool = False) -> None:
        self._robot = robot = setup.robot.name
        self._key = secrets.token_hex()
        announced = json.loads(bag.facts(setup, *made_by))
        announced |= {"seal": seal_of(self._key), "recorded": recorded}
        text = json.dumps(announced, sort_keys=True)
        advertise = partial(graph.advertise, node, robot)
        for name, data in bag.first_messages(setup, text).items():
            advertise(name).send(data)
        self._result, self._events = advertise(graph.RESULT), advertise(graph.EVENTS)
        self._count = 0
        clock = graph.make_sender(node, graph.CLOCK, Clock, graph.DEEP)
        self._send_clock = clock.where_heard(cdr.encode_clock)
        self._states = odometry, states = advertise(graph.ODOMETRY), advertise(graph.STATES)
        self._send_odometry = odometry.where_heard(cdr.OdometryCodec().encode)
        self._send_states = states.where_heard(cdr.JointStateCodec(setup.joints).encode)
        self._sent: dict[str, bool] = {}
        self._transforms = TransformOutlet(node, setup)
        self._switches = {n: advertise(n + graph.SWITCH) for n in setup.initial.switches}
        self._node = node

    def missing(self, peers: Sequence[str], *, answered: bool = False) -> str:
        """Return the first node that is not yet certain to receive every state, or "".

        Somebody must take the joint states, unless they are `answered` in this process.
        """
        # A subscriber of switches must not get them late: a latched state would be an old one.
        # Nor may an event of the first step pass a recorder by.
        if unsure := graph.unreached(self._node, (*self._switches.values(), self._events)):
            return f"a subscriber of {unsure} is not connected"
        for publisher in self._states:
            # A node of one's own may do without the base.
            states = publisher is self._states[-1] and not answered
            if missing := graph.missing_peers(self._node, publisher, peers, somebody=states):
                return f"{missing[0]} has not subscribed to {publisher.topic_name}"
        # A known peer may not yet know of these publishers; the cross-check reports when it does.
        check = [name for name in peers if name == graph.CROSSCHECK]
        if check and graph.missing_peers(self._node, self._result, check, somebody=False):
            return f"{graph.CROSSCHECK} is not connected to every topic"
        return ""

    def state(self, state: RobotState) -> None:
        """Publish a state; the joint states come last of what peers wait for."""
        self._send_clock(state.time)
        self._send_odometry(state)
        for name, value in state.switches.items():
            if self._sent.get(name) is not value:
                self._switches[name].send(cdr.encode_bool(value))
                self._sent[name] = value
        self._send_states(state)
        self._transforms.publish(state)

    def events(self, events: Sequence[Event]) -> None:
        """Publish the events of a step, which can be thousands, in as few messages as will do."""
        for start in range(0, len(events), BATCH):
            self._events.send(cdr.encode_events(events[start : start + BATCH], self._robot))
        self._count += len(events)

    def result(self, result: Mapping[str, Json]) -> None:
        """Publish how the run ended, and how many events there were for a recorder to have."""
        text = json.dumps({**result, "events": self._count, "key": self._key})
        self._result.send(cdr.encode_string(text))

    def recorded(self) -> bool:
        """Return whether the recorder, which a run waits for, has the first state on disk."""
        return not graph.missing_peers(self._node, self._result, [graph.RECORDER])

    def deliver(self) -> None:
        """See everything delivered, above all the last states."""
        graph.deliver(*self._states, self._events, self._result)


def contact_markers(
    node: Node, setup: Setup, simulator: Simulator | None = None
) -> list[bag.ContactMarkers]:
    """Return the observer that publishes contacts, where the simulator reports them."""
    try:
        find = bag.contact_finder(setup, simulator)
    except AccordError as error:
        node.get_logger().warning(visible(f"no contacts are shown: {error}"))
        return []
    if find is None:
        return []
    sender = graph.advertise(node, setup.robot.name, graph.CONTACTS)
    return [
        bag.ContactMarkers(find, lambda _, data: sender.send(data), sender.get_subscription_count)
    ]


class TransformOutlet:
    """Publish the transforms of a robot at 50 Hz of simulated time.

    Args:
        node: that hosts it.
        setup: robot and scenario.
        prefix: of the names of the robot's frames.
    """

    def __init__(self, node: Node, setup: Setup, prefix: str = "") -> None:
        self._next = math.inf
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return
        self._transforms = bag.RobotTransforms(setup.tree, setup.joints, prefix)
        self._sender = graph.make_sender(node, bag.TF.strip("/"), TFMessage, graph.DEEP)
        static = graph.make_sender(node, bag.TF_STATIC.strip("/"), TFMessage, graph.LATCHED)
        static.send(self._transforms.static())
        self._next = 0.0

    def publish(self, state: RobotState) -> None:
        """Publish the transforms of a state if they are due."""
        if state.time >= self._next or (state.time == 0.0 and self._next < math.inf):
            self._next = state.time + bag.TF_PERIOD
            self._sender.send(self._transforms.encode(state))
