"""A bag is on disk before the first step, and no event is lost in silence."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from time import sleep

import numpy as np
import pytest
from roboaccord.bag.reader import read_run
from roboaccord.bag.topics import FREE
from roboaccord.cdr import CdrReader, EffortCodec
from roboaccord.contract.errors import AccordError
from roboaccord.run.runner import RunRequest, run_direct
from rosbags.rosbag2 import Reader

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

import bursting_simulator
from bursting_simulator import BURST, BURST_AT, ON_DISK
from geometry_msgs.msg import Twist
from roboaccord_ros.graph import outlet
from roboaccord_ros.graph.names import EFFORTS, ODOMETRY, advertise
from roboaccord_ros.nodes import recorder
from roboaccord_ros.nodes.crosscheck import CrosscheckShell
from roboaccord_ros.run.domain import private_domain
from roboaccord_ros.run.processes import NODES, run_commands
from roboaccord_ros.run.runner import run_nodes, run_ros

pytestmark = pytest.mark.thorough

COMMANDS = {name: [sys.executable, "-m", f"roboaccord_ros.nodes.{name}"] for name in NODES}


class FirstLook:
    """See what a bag holds when the first step is about to be taken."""

    def __init__(self, bag: Path) -> None:
        self._bag, self.states = bag, -1

    def on_state(self, state):
        pass

    def on_event(self, event):
        pass

    def on_command(self, state, command):
        if self.states < 0:
            self.states = len(read_run(self._bag).trajectory)


@pytest.mark.parametrize("runner", [run_direct, run_ros])
def test_the_first_state_is_on_disk_before_the_first_step(runner, request_for, setup_for):
    request = request_for(setup_for(duration=0.02))
    look = FirstLook(request.bag)
    runner(RunRequest(setup=request.setup, engine="reference", bag=request.bag, observers=(look,)))
    assert look.states == 1


@pytest.mark.slow
def test_no_event_of_a_burst_is_lost_between_processes(request_for, setup_for, monkeypatch):
    """More events in one step than a queue of 5,000 messages holds; also, the bag is there."""
    request = request_for(setup_for(duration=0.1))
    folder = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", folder, prepend=os.pathsep)
    monkeypatch.setenv("BURSTING_BAG", str(request.bag))
    command = [sys.executable, "-m", "bursting_simulator"]
    result = run_commands(request, {**COMMANDS, "simulator": command})
    first, *events = result.trajectory.events
    assert (first.kind, first.impulse) == (ON_DISK, 1.0)
    assert len(events) == 99 + BURST
    burst = [e for e in events if BURST_AT - 1 <= e.time * 1000 < BURST_AT - 1e-6]
    assert [e.impulse for e in burst] == [0.5 * i for i in range(BURST)]
    assert [e.time for e in burst] == [
        round(0.001 * (BURST_AT - 1) + 0.001 * i / BURST, 9) for i in range(BURST)
    ]


def test_lost_events_end_the_run_with_a_line(request_for, setup_for, monkeypatch, caplog):
    """Lose a message of the burst in transit; run and readers report it."""
    encode, sent = outlet.cdr.encode_events, []

    def lose_third(events, robot):
        sent.append(len(events))
        return encode(events[:1] if len(sent) == BURST_AT + 2 else events, robot)

    monkeypatch.setattr(outlet.cdr, "encode_events", lose_third)
    monkeypatch.setattr(recorder, "PATIENCE", 0.3)
    request = request_for(setup_for(duration=0.1))
    lost = outlet.BATCH - 1
    message = rf"^{lost} of {99 + BURST} events were lost before"
    with pytest.raises(AccordError, match=message):
        run_nodes(request, bursting_simulator.make(request.setup))
    assert read_run(request.bag).complete
    assert f"{request.bag} lacks {lost} events" in caplog.text


def test_a_last_message_that_never_comes_is_told(request_for, setup_for, monkeypatch):
    """Lose the last odometry, which no later one shows; the run ends nevertheless, and fails."""
    write, topics = recorder.RecorderShell._write_stamped, []

    def lose(shell, message):
        topics.append(message[0])
        if message[0] != ODOMETRY or topics.count(ODOMETRY) <= 20:
            write(shell, message)

    monkeypatch.setattr(recorder.RecorderShell, "_write_stamped", lose)
    monkeypatch.setattr(recorder, "PATIENCE", 0.3)
    request = request_for(setup_for(duration=0.02))
    with pytest.raises(AccordError, match=f"messages in transit to {request.bag.name}: 1 lost"):
        run_ros(request)
    assert topics.count(ODOMETRY) == 21  # at the start, and after every millisecond


def test_a_domain_is_kept_until_its_run_is_over(monkeypatch):
    with private_domain() as one:
        monkeypatch.setattr(os, "getpid", lambda: one - 1 + 101)  # where the search starts
        with private_domain() as other:
            assert other == 1 + one % 101
    with private_domain() as again:
        assert again == one


def test_where_all_domains_are_taken_a_run_is_refused(monkeypatch):
    monkeypatch.setattr("roboaccord_ros.run.domain.claim", lambda _: None)
    with pytest.raises(AccordError, match="all 101 ROS domains"), private_domain():
        pass


def test_without_a_home_logs_are_in_a_temporary_folder(tmp_path, monkeypatch):
    """Not even root makes a folder where a file is."""
    (tmp_path / "file").touch()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "file"))
    monkeypatch.setenv("ROS_LOG_DIR", "")
    with private_domain():
        logs = tmp_path / f"roboaccord-{os.getuid()}" / "log"
        assert os.environ["ROS_LOG_DIR"] == str(logs)


class Listener:
    """Record a graph's run, and see the topics and messages of its bag."""

    def __init__(self, graph, robot, bag):
        graph.run.expect()
        self._shell = recorder.RecorderShell(graph.node("recorder"), robot, bag, graph.run)
        self._bag = bag

    def messages(self):
        self._shell.close()
        found: dict[str, list[tuple[float, bytes]]] = {}
        with Reader(self._bag) as reader:
            for connection, time_ns, data in reader.messages():
                found.setdefault(connection.topic, []).append((1e-9 * time_ns, bytes(data)))
        return found


@pytest.mark.parametrize("namespace", ["", "/lab"])
def test_inputs_diagnostics_and_errors_are_in_the_bag(graph, setup_for, tmp_path, namespace):
    """A person's messages get the time of the state at which they came, and no namespace."""
    graph.namespace = namespace
    setup = setup_for(duration=0.6)
    listener = Listener(graph, "snake", tmp_path / "bag")
    graph.run.expect()
    check = CrosscheckShell(graph.node("crosscheck"), "snake", 0.0, graph.run)
    shell = graph.simulator(setup, peers=("controller", "recorder", "crosscheck"))
    graph.controller(setup)
    person, sent = graph.node("person"), []
    publisher = person.create_publisher(Twist, "snake/cmd_vel", 5)

    def drive():
        if shell.stepper.state.time > 0.1 and len(sent) < 3:
            twist = Twist()
            twist.linear.x = 0.1 * (1 + len(sent))
            publisher.publish(twist)
            sent.append(shell.stepper.state.time)

    person.create_timer(0.02, drive)
    graph.spin()
    found = listener.messages()
    inputs = found["/snake/cmd_vel"]
    assert [CdrReader(data, "Twist").doubles(6)[0] for _, data in inputs] == pytest.approx(
        [0.1, 0.2, 0.3]
    )
    for (at, _), stamp in zip(inputs, sent):
        assert stamp - 0.05 < at < stamp + 0.3  # of the last state that the recorder had
    errors = found["/snake/crosscheck/error"]
    assert len(errors) == check.verdict.step.compared == 600
    assert [at for at, _ in errors] == pytest.approx(0.001 * np.arange(1, 601), abs=1e-9)
    assert "/diagnostics" in found and not any(topic.startswith("/lab") for topic in found)
    assert read_run(tmp_path / "bag").robot == "snake"


def publish_and_go(graph, outlet_of, publish, *others):
    """Let a simulator send once all receive it, and be gone, as if it was killed."""
    started = []

    def look():
        if started:
            for publisher in outlet_of._state_senders:
                node.destroy_publisher(publisher)
            timer.cancel()
        elif all(p.get_subscription_count() for p in others) and not outlet_of.missing(
            ["recorder"]
        ):
            publish()
            started.append(True)

    node = outlet_of._node
    timer = node.create_timer(0.05, look)
    graph.spin()


def test_a_recorder_ends_by_itself_when_its_simulator_goes(
    graph, setup_for, tmp_path, caplog, monkeypatch
):
    """No result comes from a killed simulator; the bag is closed, and the log states it."""
    monkeypatch.setattr(recorder, "PATIENCE", 0.5)
    setup = setup_for(duration=60.0)
    listener = Listener(graph, "snake", tmp_path / "bag")
    outlet_of = outlet.Outlet(graph.node("simulator"), setup, "reference", "1", "ros")
    publish_and_go(graph, outlet_of, lambda: outlet_of.publish_state(setup.initial))
    listener.messages()
    assert "the simulator ended without a result" in caplog.text
    run = read_run(tmp_path / "bag")
    assert run.complete and len(run.trajectory) == 1


@pytest.mark.parametrize(("transport", "lost"), [("ros", True), (f"ros{FREE}", False)])
def test_efforts_are_lost_only_where_each_state_is_answered(
    graph, setup_for, tmp_path, monkeypatch, transport, lost
):
    """A simulator that waits for no command is ahead of a controller that skips states."""
    monkeypatch.setattr(recorder, "PATIENCE", 0.5)
    setup = setup_for(duration=60.0)
    listener, codec = Listener(graph, "snake", tmp_path / "bag"), EffortCodec(setup.joints)
    node = graph.node("simulator")
    outlet_of = outlet.Outlet(node, setup, "reference", "1", transport)
    sender = advertise(node, "snake", EFFORTS)

    def publish():
        for tick in range(5):
            outlet_of.publish_state(replace(setup.initial, time=0.001 * tick))
        for tick in (0, 4):
            sender.send(codec.encode(0.001 * tick, np.zeros(len(setup.joints))))

    publish_and_go(graph, outlet_of, publish, sender)
    assert len(listener.messages()["/snake/joint_trajectory"]) == 2
    assert (str(graph.run.error) == "messages in transit to bag: 3 lost") is lost


def test_a_recorder_that_is_told_to_end_does_though_messages_keep_coming(
    graph, setup_for, tmp_path, monkeypatch
):
    monkeypatch.setattr(recorder, "PATIENCE", 0.5)
    setup = setup_for(duration=60.0)
    listener = Listener(graph, "snake", tmp_path / "bag")
    shell = graph.simulator(setup, peers=("controller", "recorder"))
    graph.controller(setup)
    stamp = []

    def tell():
        if shell.stepper.tick > 50 and not stamp:
            stamp.append(True)
            graph.run.interrupt()

    graph.node("person").create_timer(0.02, tell)
    graph.spin()
    assert not shell.is_over
    assert listener.messages()


def test_a_message_that_cannot_be_read_does_not_end_the_last_ones(graph, setup_for, tmp_path):
    """What came before a recorder is closed is in its bag, but for that message."""
    setup = setup_for(duration=60.0)
    listener, seen = Listener(graph, "snake", tmp_path / "bag"), []
    person, codec = graph.node("person"), EffortCodec(setup.joints)
    shell = graph.simulator(setup, peers=("recorder",))
    sender = advertise(person, "snake", EFFORTS)

    def tell():
        """Send while nobody spins, and end."""
        if sender.get_subscription_count() < 2 or seen:
            return
        seen.append(True)
        for time in (0.0, None, 0.001):
            sender.send(
                b"none" if time is None else codec.encode(time, np.zeros(len(setup.joints)))
            )
        sleep(0.5)
        graph.run.stop()

    person.create_timer(0.02, tell)
    graph.spin()
    assert not shell.is_over
    assert len(listener.messages()["/snake/joint_trajectory"]) == 2
