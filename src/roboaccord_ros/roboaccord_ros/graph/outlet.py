"""Publishers of the simulator node: description, scenario, states, events and result.

Two rules of order hold, and other nodes rely on them: of the messages of a state the joint states
come last, and the result comes after everything else and states the number of events. The result's
keys that recorder, cross-check and run/processes.py read stay; others may be added. BATCH may be
tuned.
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
from roboaccord_ros.graph.peers import deliver, missing_peers, unreached_topic
from roboaccord_ros.graph.reading import seal_of

BATCH = 500  # events in a message: some 70 kB, which the middleware sends without splitting


class Outlet:
    """Publishes the simulator's messages, as bytes.

    Args:
        node: node of the publishers.
        setup: robot and scenario.
        engine, version, transport, controller: facts of the run that are announced with the
            scenario.
        recorded: whether a recorder takes part, which must receive also what people send.
    """

    def __init__(
        self, node: Node, setup: Setup, engine: str, version: str, transport: str,
        controller: str = "", *, recorded: bool = False,
    ) -> None:  # fmt: skip
        self._node = node
        self._robot = robot = setup.robot.name
        # The key is announced as a hash (the seal), and published with the result, so that nobody
        # else can send a result.
        self._key = secrets.token_hex()
        announced = json.loads(bag.facts(setup, engine, version, transport, controller))
        announced |= {"seal": seal_of(self._key), "recorded": recorded}
        text = json.dumps(announced, sort_keys=True)
        advertise = partial(graph.advertise, node, robot)
        for name, data in bag.first_messages(setup, text).items():
            advertise(name).send(data)
        self._result_sender, self._event_sender = advertise(graph.RESULT), advertise(graph.EVENTS)
        self._event_count = 0  # events published so far
        clock = graph.make_sender(node, graph.CLOCK, Clock, graph.DEEP)
        self._send_clock = clock.if_subscribed(cdr.encode_clock)
        odometry, states = advertise(graph.ODOMETRY), advertise(graph.STATES)
        self._encode_bodies = cdr.BodiesCodec(setup.body_names).encode
        self._body_senders = [advertise(graph.BODIES)] if setup.bodies else []
        # In the order in which a state is published.
        self._state_senders = odometry, *self._body_senders, states
        self._send_odometry = odometry.if_subscribed(cdr.OdometryCodec().encode)
        self._send_states = states.if_subscribed(cdr.JointStateCodec(setup.joints).encode)
        self._switch_values: dict[str, bool] = {}  # last published value of each switch
        self._transforms = TransformOutlet(node, setup)
        self._switch_senders = {n: advertise(n + graph.SWITCH) for n in setup.initial.switches}

    def missing(self, peers: Sequence[str], *, answered: bool = False) -> str:
        """Return the first node that may still miss a message, or "".

        Args:
            peers: names of the nodes that must receive each state.
            answered: whether the controller is in this process; if not, at least one node must
                subscribe to the joint states.
        """
        # A late subscriber of a switch would get an old value, one of events would miss the first.
        early_senders = (*self._switch_senders.values(), self._event_sender)
        if topic := unreached_topic(self._node, early_senders):
            return f"a subscriber of {topic} is not connected"
        for publisher in self._state_senders:
            # Somebody must receive the joint states; the odometry may have no subscriber.
            needed = publisher is self._state_senders[-1] and not answered
            if missing := missing_peers(self._node, publisher, peers, needs_one=needed):
                return f"{missing[0]} has not subscribed to {publisher.topic_name}"
        # The cross-check subscribes to the result once it has found all other publishers.
        check = [name for name in peers if name == graph.CROSSCHECK]
        if check and missing_peers(self._node, self._result_sender, check, needs_one=False):
            return f"{graph.CROSSCHECK} is not connected to every topic"
        return ""

    def publish_state(self, state: RobotState) -> None:
        """Publish a state; of the messages that peers wait for, the joint states come last."""
        self._send_clock(state.time)
        self._send_odometry(state)
        for sender in self._body_senders:
            for data in self._encode_bodies(state):
                sender.send(data)
        for name, value in state.switches.items():
            if self._switch_values.get(name) is not value:
                self._switch_senders[name].send(cdr.encode_bool(value))
                self._switch_values[name] = value
        self._send_states(state)
        self._transforms.publish(state)

    def publish_events(self, events: Sequence[Event]) -> None:
        """Publish the events of a step, BATCH in a message: there can be thousands."""
        for start in range(0, len(events), BATCH):
            self._event_sender.send(cdr.encode_events(events[start : start + BATCH], self._robot))
        self._event_count += len(events)

    def publish_result(self, result: Mapping[str, Json]) -> None:
        """Publish the result of the run, with the number of events that a recorder must have."""
        text = json.dumps({**result, "events": self._event_count, "key": self._key})
        self._result_sender.send(cdr.encode_string(text))

    def is_recorded(self) -> bool:
        """Return whether the first state is on disk: the recorder then subscribes to the result."""
        return not missing_peers(self._node, self._result_sender, [graph.RECORDER])

    def deliver(self) -> None:
        """Wait until all is delivered, above all the last states."""
        deliver(*self._state_senders, self._event_sender, self._result_sender)


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
    listeners = sender.get_subscription_count
    return [bag.ContactMarkers(find, lambda _, data: sender.send(data), listeners)]


class TransformOutlet:
    """Publishes the transforms (poses of links) at 50 Hz of simulated time, if tf2 is installed.

    Args:
        node: node of the publishers.
        setup: robot and scenario.
        prefix: prefix of the names of the robot's frames.
    """

    def __init__(self, node: Node, setup: Setup, prefix: str = "") -> None:
        # Simulated time of the next transforms [s]; infinite without tf2.
        self._next_time = math.inf
        try:
            from tf2_msgs.msg import TFMessage
        except ImportError:
            return
        self._transforms = bag.RobotTransforms(setup.tree, setup.joints, prefix, setup.body_names)
        self._sender = graph.make_sender(node, bag.TF.strip("/"), TFMessage, graph.DEEP)
        static = graph.make_sender(node, bag.TF_STATIC.strip("/"), TFMessage, graph.LATCHED)
        static.send(self._transforms.static())
        self._next_time = 0.0

    def publish(self, state: RobotState) -> None:
        """Publish the transforms of a state if they are due, or a run begins again (time 0)."""
        if state.time >= self._next_time or (state.time == 0.0 and self._next_time < math.inf):
            self._next_time = state.time + bag.TF_PERIOD
            self._sender.send(self._transforms.encode(state))
