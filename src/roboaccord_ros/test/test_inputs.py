"""What people send over ROS: it reaches the controller, ends with them, and can be repeated."""

from __future__ import annotations

import math
import time
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("snake", reason="the snake, by which the graph is tested, is not installed")

from geometry_msgs.msg import Twist, Vector3
from roboaccord.bag.content import Content
from roboaccord.bag.reader import read_run
from roboaccord.bag.targets import read_targets
from roboaccord.contract.state import Command
from roboaccord.run.inputs import RecordedInputs
from roboaccord.run.runner import run_direct
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.registration import InputTopics
from roboaccord.scenario.setup import Setup
from roboaccord_ros.nodes.recorder import RecorderShell
from roboaccord_ros.run.processes import run_ros_processes
from roboaccord_ros.run.runner import run_ros
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64
from std_srvs.srv import SetBool

TOPIC = "joint_velocity_command"
SILENCE = 0.5  # s of wall time, as docs/teleoperation.md has it


class Listener:
    """Do nothing, and write down what is asked, with the wall time."""

    def __init__(self, setup):
        self.asked, self.sent, self.joints = [], [], setup.joints

    def reset(self, seed):
        self.asked.clear()

    def update(self, state, target):
        velocity = None if target is None else target.velocity
        self.asked.append((time.monotonic(), velocity))
        return Command(np.zeros(len(self.joints)))

    def of(self, joint):
        """Return wall times (k,) [s] and velocities (k,) of a joint since somebody has asked."""
        column = self.joints.index(joint)
        return np.array([(t, v[column]) for t, v in self.asked if v is not None]).T


@pytest.fixture
def played(graph, setup_for):
    """Play messages, each at a time [s], to nodes in real time; return what was asked."""

    def play(*messages, duration=1.6):
        listeners = []

        def make(setup):
            listeners.append(Listener(setup))
            return listeners[-1]

        given = setup_for(
            "controller={name: listen}", "control_period=0.01", duration=duration
        )  # fmt: skip
        robot = copy(given.robot)
        robot.input_topics, robot.controllers = InputTopics(velocity=TOPIC), {"listen": make}
        setup = Setup(robot, given.scenario)
        shell = graph.simulator(setup, lockstep=False)
        graph.controller(setup)
        teleop = graph.node("teleop")
        publisher = teleop.create_publisher(JointState, f"/snake/{TOPIC}", 20)
        to_come = list(messages)

        def send():
            while to_come and shell.stepper.state.time >= to_come[0][0]:
                _, names, velocity = to_come.pop(0)
                listeners[-1].sent.append(time.monotonic())
                publisher.publish(JointState(name=names, velocity=velocity))

        teleop.create_timer(0.001, send)
        graph.spin()
        assert not to_come
        return listeners[-1]

    return play


def test_each_joint_moves_until_nobody_has_told_it_for_half_a_second(played):
    """Joint 5 is commanded again at 0.4 s, joint 3 only once; the time is that of the wall."""
    listener = played((0.1, ["joint_05", "joint_03"], [-0.4, 0.2]), (0.4, ["joint_05"], [0.7]))
    assert listener.asked[0][1] is None
    wall, third = listener.of("joint_03")
    _, fifth = listener.of("joint_05")
    for velocities, asked, sent in zip((third, fifth), (0.2, 0.7), listener.sent):
        moving = wall[velocities == asked]
        stopped = wall[(wall > moving[0]) & (velocities != asked)]
        assert stopped[0] - sent > SILENCE - 0.05
        late = velocities[wall > moving[0] + SILENCE]
        assert np.count_nonzero(late) <= 1  # for which the time was up in between
        assert not velocities[wall > moving[-1]].any()
    assert set(fifth[wall < wall[fifth == 0.7][0]]) == {-0.4}


@pytest.mark.parametrize(
    ("names", "velocity", "reason"),
    [
        (["joint_03", "joint_33"], [1.0, 1.0], "unknown joint joint_33; did you mean joint_"),
        (["joint_03", "joint_07"], [1.0, math.nan], "joint_07: nan is not a velocity"),
        (["joint_03", "joint_07"], [1.0], "joint_07: 2 names have 1 velocity values"),
    ],
)
def test_a_wrong_message_is_left_out_with_one_line(names, velocity, reason, played, caplog):
    wrong = [(0.05 + 0.02 * i, names, velocity) for i in range(3)]
    listener = played((0.02, ["joint_04"], [0.3]), *wrong, duration=0.15)
    assert set(listener.of("joint_03")[1]) == {0.0}
    assert set(listener.of("joint_04")[1]) == {0.3}
    lines = [record.message for record in caplog.records]
    assert len(lines) == 1
    assert reason in lines[0]


def twist(x, z=0.0):
    return Twist(linear=Vector3(x=x), angular=Vector3(z=z))


MESSAGES = {
    "snake": ("cmd_vel", [twist(0.8), twist(0.8, 0.3)]),
    "roller_sphere": ("cmd_vel", [twist(0.3), twist(-0.1)]),
    "voxel_sphere": ("cmd_vel", [twist(-0.2), twist(0.1)]),
    "monkeybot": ("elbow_effort", [Float64(data=2.0), Float64(data=-1.0)]),
    "packbot": (
        TOPIC,
        [
            JointState(name=["shoulder", "wrist"], velocity=[-0.2, 0.5]),
            JointState(name=["wrist"], velocity=[0.1]),
        ],
    ),
    "packbot by position": (
        "joint_position_command",
        [
            JointState(name=["wrist"], position=[0.1]),
            JointState(name=["wrist", "turret"], position=[0.0, 0.02]),
        ],
    ),
}


@pytest.mark.thorough
@pytest.mark.parametrize(
    "drive", [pytest.param(x, marks=[] if x == "snake" else pytest.mark.slow) for x in MESSAGES]
)
def test_a_drive_by_topics_is_repeated_from_its_bag(drive, graph, request_for, tmp_path):
    """Two messages at a quarter and at half of the run, a magnet between them; then the bag."""
    name, (topic, messages) = drive.partition(" ")[0], MESSAGES[drive]
    pytest.importorskip(name)
    setup = Setup.of(load_scenario(name, name, "teleop", ["duration=0.8"]))
    shell = graph.simulator(setup, peers=("controller", "recorder"))
    graph.controller(setup)
    graph.run.expect()
    bag = tmp_path / "driven"
    recorder = RecorderShell(graph.node("recorder"), name, bag, graph.run)
    person = graph.node("person")
    publisher = person.create_publisher(type(messages[0]), f"/{name}/{topic}", 5)
    grip = person.create_client(SetBool, f"/{name}/magnet_b/set")
    to_come = [
        (0.2, lambda: publisher.publish(messages[0])),
        (0.3, lambda: name == "monkeybot" and grip.call_async(SetBool.Request(data=True))),
        (0.4, lambda: publisher.publish(messages[1])),
    ]

    def act():
        while to_come and shell.stepper.state.time >= to_come[0][0]:
            to_come.pop(0)[1]()

    person.create_timer(0.001, act)
    graph.spin()
    recorder.close()
    driven = graph.motion.trajectory
    assert not to_come
    assert f"/{name}/{topic}" in Content.of(bag).kinds
    targets = read_targets(Content.of(bag), setup.joints)
    assert 2 <= len(targets) <= 4  # the two, and what 0.5 s of wall time of a slow machine add
    assert 0.2 <= targets[0][0] < targets[1][0] < 0.8
    events = [(e.kind, e.subject) for e in driven.events]
    assert events == ([("magnet_on", "magnet_b")] if name == "monkeybot" else [])
    rested = run_direct(request_for(setup)).trajectory
    assert rested.sha256() != driven.sha256()
    for run in (run_direct, run_ros, *([run_ros_processes] if events else [])):
        again = run(replace(request_for(setup), inputs=RecordedInputs(bag)))
        assert again.trajectory.sha256() == driven.sha256()
        assert again.trajectory.events == driven.events
        back = read_targets(Content.of(again.request.bag), setup.joints)
        assert [time for time, _ in back] == [time for time, _ in targets]
        assert read_run(again.request.bag).sha256 == driven.sha256()
