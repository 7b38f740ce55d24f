"""Nodes survive strangers: what they cannot read is one line, and the run goes on unchanged.

A stranger in the same ROS domain sends to every topic that any of our nodes hears, messages of the
right type with a content that is none.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
from array import array

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.cdr import JointStateCodec, encode_string
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import RobotState
from roboaccord.run.runner import RunRequest, run_direct

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.serialization import serialize_message
from roboaccord_ros.graph import names, reading
from roboaccord_ros.graph.reading import MAX_BYTES, read_facts, read_result, readable, seal_of
from roboaccord_ros.nodes import recorder
from roboaccord_ros.nodes.crosscheck import CrosscheckShell
from roboaccord_ros.nodes.recorder import RecorderShell
from sensor_msgs.msg import JointState

pytestmark = pytest.mark.thorough

TEXTS = (
    "", "no JSON", "[]", "3", "null", '"text"', "{}", "\x1b[31mred\n" * 50, "[" * 100_000,
    '{"steps": 3, "trajectory_sha256": "0", "events": 0, "key": "0"}', '{"steps": {}, "key": 1}',
    '{"scenario": {"robot": "snail"}, "engine": "", "engine_version": "", "transport": ""}',
    '{"scenario": 1, "engine": [], "engine_version": 1, "transport": {}}', "x" * (MAX_BYTES + 1),
)  # fmt: skip
NAMES = [f"joint_{i:02}" for i in range(1, 22)]
WRONG = math.nan


def filled(message, value):
    """Fill every number of a message with one that is not finite, as far as its type has such."""
    for name, kind in message.get_fields_and_field_types().items():
        now = getattr(message, name)
        if kind.startswith(("double", "float")):
            many = np.full(len(now), value) if not isinstance(now, float) else value
            setattr(message, name, many)
        elif hasattr(now, "get_fields_and_field_types"):
            filled(now, value)
    return message


def hostile(kind):
    """Yield messages of a type whose content is none, or none of the snake's."""
    new = names.message_class(kind)
    match kind.rpartition("/")[2]:
        case "String":
            yield from (new(data=text) for text in TEXTS)
        case "JointState":
            yield new()
            early = new(name=NAMES, position=[0.0] * 21, velocity=[0.0] * 21, effort=[0.0] * 21)
            early.header.stamp.sec = -1
            yield early
            yield new(name=NAMES, position=[0.0] * 20, velocity=[0.0] * 21, effort=[0.0] * 21)
            yield new(name=NAMES, position=[WRONG] * 21, velocity=[0.0] * 21, effort=[0.0] * 21)
            yield new(name=["nobody\n" * 99], position=[math.inf], velocity=[0.0], effort=[0.0])
            huge = array("d", bytes(MAX_BYTES // 2))
            yield new(name=NAMES, position=huge, velocity=huge, effort=huge)
        case "JointTrajectory":
            point = names.message_class("trajectory_msgs/msg/JointTrajectoryPoint")
            yield new()
            for efforts in ([0.0] * 20, [WRONG] * 21, [math.inf] * 22):
                yield new(joint_names=NAMES, points=[point(effort=efforts)])
            yield new(joint_names=[*NAMES[1:], "nobody"], points=[point(effort=[0.0] * 21)])
        case "DiagnosticArray":
            yield new()
            values = [KeyValue(key="kind\x07", value="no number")]
            yield DiagnosticArray(status=[DiagnosticStatus(name="x" * 500, values=values)])
        case "MarkerArray":
            yield new()
            early = new(markers=[names.message_class("visualization_msgs/msg/Marker")()])
            early.markers[0].header.stamp.sec = -1
            yield early
        case "Bool":  # there is no wrong one
            return
        case _:
            yield filled(new(), WRONG)


@pytest.fixture
def strange(graph):
    """Let a stranger send what is no message to every topic that a node of the graph hears."""
    return make_stranger(graph, lambda topic, kind: hostile(kind))


def make_stranger(graph, drawn):
    """Let a stranger send what is drawn for a topic and its type; return who hears which topics."""
    node, senders, hearers = graph.node("stranger"), {}, {}

    def all_hear(topic):
        infos = node.get_subscriptions_info_by_topic(topic)
        return senders[topic].get_subscription_count() == len(infos)

    def look():
        """Send everything once to a topic that is new, as soon as it is connected."""
        for topic, kinds in node.get_topic_names_and_types():
            infos = node.get_subscriptions_info_by_topic(topic)
            heard = {info.node_name for info in infos} - {"stranger"}
            if heard and topic not in senders:
                latched = any(topic.endswith(f"/{name}") for name in names.ALL_LATCHED)
                qos = names.LATCHED if latched else names.HAND
                senders[topic] = node.create_publisher(names.message_class(kinds[0]), topic, qos)
            elif heard - hearers.get(topic, set()) and all_hear(topic):
                hearers[topic] = heard
                for message in drawn(topic, kinds[0]):
                    senders[topic].publish(message)

    node.create_timer(0.02, look)
    return hearers


def test_every_topic_of_every_node_may_hear_what_it_cannot_read(
    graph, setup_for, strange, tmp_path, caplog, monkeypatch
):
    """The motion has the same hash, the bag holds it, and each node has few lines a topic."""
    monkeypatch.setattr(recorder, "CROSSCHECK_PATIENCE", 0.2)  # the stranger seems to check, too
    setup = setup_for(duration=0.3)
    shell = graph.simulator(setup, peers=("controller", "recorder", "crosscheck"))
    graph.controller(setup)
    for _ in range(2):
        graph.run.expect()
    written = RecorderShell(graph.node("recorder"), "snake", tmp_path / "bag", graph.run)
    check = CrosscheckShell(graph.node("crosscheck"), "snake", 0.0, graph.run, reference=True)
    with caplog.at_level(logging.WARNING):
        graph.spin()
    written.close()
    direct = run_direct(RunRequest(setup=setup, engine="reference", bag=tmp_path / "direct"))
    assert shell.result["trajectory_sha256"] == direct.trajectory.sha256()
    run = read_run(tmp_path / "bag")
    assert run.sha256 == run.trajectory.sha256() == direct.trajectory.sha256()
    assert check.verdict.ok
    lines = [record.getMessage() for record in caplog.records]
    ignored = [line for line in lines if " is ignored: " in line]
    for topic in ("scenario", "result", "joint_states", "odom", "joint_trajectory", "wrench"):
        assert f"/snake/{topic}" in strange
        most = reading.MAX_LINES * len(strange[f"/snake/{topic}"])
        assert 1 <= sum(f"/snake/{topic} is" in line for line in ignored) <= most, (topic, ignored)
    assert {"simulator", "controller", "recorder", "crosscheck", "input"} <= set.union(
        *strange.values()
    )
    assert all("\n" not in line and len(line) < 400 for line in lines)


def test_a_wrong_answer_of_the_only_controller_still_ends_the_run(graph, setup_for):
    """It would else be waited for in vain."""
    graph.simulator(setup_for(), peers=())
    foreign = graph.node("foreign")
    send = names.advertise(foreign, "snake", names.EFFORTS).send
    names.subscribe(foreign, "snake", names.STATES, lambda data: send(encode_string("efforts")))
    with pytest.raises(AccordError, match="JointTrajectory"):
        graph.spin()


def test_only_the_simulator_that_announced_a_run_has_its_result() -> None:
    facts = {
        "seal": seal_of("key"),
        "engine": "reference",
        "engine_version": "1",
        "transport": "ros",
    }
    result = {"steps": 7, "trajectory_sha256": "ab", "events": 2, "key": "key"}
    assert read_facts(encode_string(json.dumps(facts))) == facts
    assert read_result(facts, encode_string(json.dumps(result))) == result
    assert facts["seal"] == hashlib.sha256(b"key").hexdigest()
    for other in ({**result, "key": "kez"}, {k: v for k, v in result.items() if k != "key"}, [], 3):
        with pytest.raises((AccordError, LookupError, TypeError)):
            read_result(facts, encode_string(json.dumps(other)))


def test_what_the_content_makes_fail_is_no_unreadable_message(caplog) -> None:
    """An error of whoever takes it ends the run; of unreadable ones, few are a line."""
    read = readable("topic", int, lambda number: 1 / number)
    texts = ("one\n\x1b", "two", "two", *map("x{}".format, range(9)), "4")
    assert [read(text) for text in texts] == [None] * 12 + [0.25]
    assert len(caplog.records) == reading.MAX_LINES and caplog.text.count("\n") == reading.MAX_LINES
    assert "\x1b" not in caplog.text and caplog.text.count("two") == 1
    with pytest.raises(ZeroDivisionError):
        read("0")
    with pytest.raises(ValueError, match="invalid literal"):
        readable("topic", int, print, lambda: True)("one")


def test_a_wrong_state_does_not_spoil_the_order_of_the_joints() -> None:
    """Names of another order are kept for the next message, those of a wrong one are not."""
    codec, other = JointStateCodec(["a", "b"]), JointStateCodec(["b", "a"])
    state = RobotState(0.0, np.array([1.0, 2.0]), np.zeros(2), np.zeros(2))
    assert codec.decode(other.encode(state))[1].tolist() == [2.0, 1.0]
    wrong = JointState(name=["c", "a", "b"], position=[0.0] * 3, velocity=[0.0] * 3, effort=[0.0])
    with pytest.raises(AccordError, match="no effort"):
        codec.decode(serialize_message(wrong))
    assert codec.decode(other.encode(state))[1].tolist() == [2.0, 1.0]
