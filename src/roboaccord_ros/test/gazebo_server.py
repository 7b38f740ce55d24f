"""A real Gazebo server for tests, and a relay that does in Python what ros_gz_bridge does.

The relay reads the bridge file that ships, so that its topics and types are tried as they are.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from shutil import which
from typing import Any

import pytest
import yaml
from roboaccord.bag.reader import BagRun, read_run
from roboaccord.description.resources import share
from roboaccord.gazebo.form import expand_for_gazebo
from roboaccord.scenario.scenario import Scenario
from roboaccord.scenario.setup import Setup

pytest.importorskip("gz.transport13", reason="Gazebo Harmonic is not installed, or not for Python")
pytest.importorskip("rclpy", reason="rclpy is not installed")
if which("gz") is None:
    pytest.skip("the command gz is not installed (Gazebo Harmonic)", allow_module_level=True)

from roboaccord_ros.gazebo.bridge import World
from roboaccord_ros.gazebo.transport import message
from roboaccord_ros.run.domain import private_domain
from roboaccord_ros.run.processes import GOOD

ROOT = Path(__file__).resolve().parents[3]
START = 60.0  # s


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep worlds and terrains in a folder of each test, where a module imports this."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def nanoseconds(msg: Any) -> int:
    """Return the stamp of a message."""
    return int(msg.header.stamp.sec * 1_000_000_000 + msg.header.stamp.nsec)


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "Gazebo is silent"
        time.sleep(0.01)


@contextmanager
def gazebo(world: Path, models: Sequence[Path] = (ROOT / "models",)) -> Iterator[Any]:
    """Run a server with a paused world, in a partition of its own; give a transport node."""
    from gz.transport13 import Node

    # The node and the command line tool both read it from the environment.
    os.environ["GZ_PARTITION"] = uuid.uuid4().hex
    os.environ["GZ_SIM_RESOURCE_PATH"] = os.pathsep.join(str(folder) for folder in models)
    server = subprocess.Popen(["gz", "sim", "-s", "-v", "1", str(world)], start_new_session=True)
    try:
        node = Node()
        end = time.monotonic() + START
        while not any(name.endswith("/control") for name in node.service_list()):
            assert server.poll() is None, "the server ended"
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.1)
        yield node
    finally:
        os.killpg(server.pid, 15)
        server.wait(60)


def step(world: str, count: int) -> None:
    """Step a paused world."""
    # By the command line tool: the Python bindings hold the interpreter while they wait for an
    # answer, and a process that has subscriptions can then wait in vain.
    command = ["gz", "service", "-s", f"/world/{world}/control", "--timeout", "60000"]
    command += ["--reqtype", "gz.msgs.WorldControl", "--reptype", "gz.msgs.Boolean"]
    subprocess.run([*command, "--req", f"pause: true, multi_step: {count}"], check=True)


def put_in(node: Any, world: str, setup: Setup, contacts: str = "") -> None:
    """Put a robot where it starts; the node must not have subscriptions yet."""
    factory, boolean = message("EntityFactory"), message("Boolean")
    start, urdf = setup.initial, expand_for_gazebo(setup, contacts)
    pose = {
        "position": dict(zip("xyz", start.position.tolist(), strict=True)),
        "orientation": dict(zip("xyzw", start.orientation.tolist(), strict=True)),
    }
    ask = factory(sdf=urdf, name=setup.robot.name, pose=pose)
    done, answer = node.request(f"/world/{world}/create", ask, factory, boolean, 60000)
    assert done and answer.data


def crawl(scenario: Scenario, folder: Path, lockstep: str = "true", contacts: str = "") -> BagRun:
    """Let a robot run in its world with the nodes of a launch, each a process; return its bag."""
    folder.mkdir(exist_ok=True)
    setup = Setup.of(scenario)
    world = World.of(setup, lockstep=lockstep == "true")
    file, bag = folder / "scenario.yaml", folder / "bag"
    file.write_text(yaml.safe_dump(json.loads(json.dumps(scenario.data()))), encoding="utf-8")
    run = ["-p", f"robot:={scenario.robot}", "-p", f"scenario:={file}"]
    run += ["-p", f"lockstep:={lockstep}"]
    parameters = {
        "nodes.recorder": ["-p", f"robot:={scenario.robot}", "-p", f"bag:={bag}"],
        "nodes.controller": [*run, "-p", "peers:=[recorder, gz_adapter]"],
        "gazebo.gz_adapter": [
            *run, "-p", f"world:={world.path}",
            *(["-p", f"contacts:={contacts}"] if contacts else []),
            "-p", "max_delay:=10000",  # of a run that is free, on a loaded machine
            "-p", "peers:=[recorder, controller]",
        ],
    }  # fmt: skip
    with private_domain() as domain, gazebo(world.path, world.models) as node, ExitStack() as stack:
        put_in(node, world.name, setup, contacts)
        stack.enter_context(relayed(domain, setup, node))
        processes = [
            subprocess.Popen(
                [sys.executable, "-m", f"roboaccord_ros.{name}", "--ros-args", *given],
                stdout=subprocess.DEVNULL,
            )
            for name, given in parameters.items()
        ]
        try:
            end = time.monotonic() + 600.0
            codes = [None]
            while None in codes:
                time.sleep(0.05)
                codes = [process.poll() for process in processes]
                assert {*codes} <= {None, *GOOD}, f"status of {', '.join(parameters)}: {codes}"
                assert time.monotonic() < end, "the nodes do not end"
        finally:
            for process in processes:
                process.kill()
    return read_run(bag)


@contextmanager
def relayed(domain: int, setup: Setup, gz_node: Any) -> Iterator[None]:
    """Run the relay of a robot's bridge file in a thread."""
    from rclpy.context import Context
    from rclpy.node import Node
    from roboaccord_ros.graph.shell import Run, session, spin

    run, context = Run(), Context()
    with session(context, domain_id=domain) as nodes:
        nodes.append(Node("bridge", context=context))
        nodes[0].create_timer(0.05, lambda: None)  # so that it notices the end
        relay = Relay(share(setup.robot.package) / "config" / "bridge.yaml", gz_node, nodes[0])
        thread = threading.Thread(target=spin, args=(context, nodes, run))
        thread.start()
        try:
            yield
        finally:
            relay.close()
            run.stop()
            thread.join()


class Relay:
    """Pass on what a bridge file names, between Gazebo's topics and those of a ROS node."""

    def __init__(self, bridge: Path, gz_node: Any, ros_node: Any) -> None:
        self._keep: list[Any] = []
        self._gz_node, self._gz_topics = gz_node, []
        for entry in yaml.safe_load(bridge.read_text(encoding="utf-8")):
            package, _, kind = entry["ros_type_name"].split("/")
            ros_type = getattr(import_module(f"{package}.msg"), kind)
            gz_type = message(entry["gz_type_name"].removeprefix("gz.msgs."))
            ros_topic, gz_topic = entry["ros_topic_name"], entry["gz_topic_name"]
            if entry["direction"] == "GZ_TO_ROS":
                publisher = ros_node.create_publisher(ros_type, ros_topic, 1000)

                def to_ros(msg: Any, publisher: Any = publisher, kind: str = kind) -> None:
                    publisher.publish(TO_ROS[kind](msg))

                assert gz_node.subscribe(gz_type, gz_topic, to_ros)
                self._gz_topics.append(gz_topic)
            else:
                gz_publisher = gz_node.advertise(gz_topic, gz_type)

                def to_gz(msg: Any, publisher: Any = gz_publisher, kind: str = kind) -> None:
                    publisher.publish(TO_GZ[kind](msg))

                self._keep.append(ros_node.create_subscription(ros_type, ros_topic, to_gz, 100))

    def close(self) -> None:
        """Hear nothing more from Gazebo."""
        for topic in self._gz_topics:
            self._gz_node.unsubscribe(topic)


def _stamp(header: Any, msg: Any) -> None:
    header.stamp.sec, header.stamp.nanosec = msg.header.stamp.sec, msg.header.stamp.nsec


def _joint_state(msg: Any) -> Any:
    from sensor_msgs.msg import JointState

    state = JointState()
    _stamp(state.header, msg)
    state.name = [joint.name for joint in msg.joint]
    state.position = [joint.axis1.position for joint in msg.joint]
    state.velocity = [joint.axis1.velocity for joint in msg.joint]
    state.effort = [joint.axis1.force for joint in msg.joint]
    return state


def _odometry(msg: Any) -> Any:
    from nav_msgs.msg import Odometry

    odometry = Odometry()
    _stamp(odometry.header, msg)
    pairs = [
        (odometry.pose.pose.position, msg.pose.position),
        (odometry.pose.pose.orientation, msg.pose.orientation),
        (odometry.twist.twist.linear, msg.twist.linear),
        (odometry.twist.twist.angular, msg.twist.angular),
    ]
    for to, source in pairs:
        to.x, to.y, to.z = source.x, source.y, source.z
    odometry.pose.pose.orientation.w = msg.pose.orientation.w
    return odometry


def _joint_trajectory(msg: Any) -> Any:
    points = [{"effort": list(point.effort)} for point in msg.points]
    return message("JointTrajectory")(joint_names=msg.joint_names, points=points)


def _string(msg: Any) -> Any:
    from std_msgs.msg import String

    return String(data=msg.data)


TO_ROS = {"JointState": _joint_state, "Odometry": _odometry, "String": _string}
TO_GZ = {"JointTrajectory": _joint_trajectory, "Empty": lambda _: message("Empty")()}
