"""ros2_control: the node behind it, the order of its launch, and names that must be the same."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET

import numpy as np
import pytest
import yaml
from launch_files import ROOT
from roboaccord.contract.state import RobotState
from roboaccord.gazebo.tool import print_sdf, sdformat_tool
from roboaccord.run.answer import reset_controller
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario
from roboaccord.scenario.setup import Setup

pytest.importorskip("rclpy", reason="rclpy is not installed")

from rclpy.time import Time
from roboaccord_ros.graph.parameters import Options
from roboaccord_ros.nodes.inputs import subscribed_inputs
from roboaccord_ros.nodes.ros2_control import COMMANDS, Ros2ControlShell
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

LAUNCH = ROOT / "launch/ros2_control.launch.py"
CONTROLLERS = ROOT / "src/packbot/config/ros2_control.yaml"
MODEL = ROOT / "models/packbot/ros2_control.urdf.xacro"
FIRST, HELD = 3.217, 4  # s, stamp of the first state; number of states before the start
needs_launch = pytest.mark.skipif(
    not importlib.util.find_spec("launch_ros"), reason="launch and launch_ros are not on PyPI"
)


def test_the_node_holds_the_start_and_then_answers_by_the_time_since_then(graph, setup_for):
    """Each answer is that of the controller, for states without efforts and in another order."""
    setup = setup_for(duration=0.01)
    joints, period = setup.joints, setup.scenario.control_period
    rng, states, answers = np.random.default_rng(1), [], []
    manager = graph.node("manager")
    inputs = subscribed_inputs(graph.node("input"), setup, graph.run)
    Ros2ControlShell(graph.node("controller"), setup, graph.run, Options(), inputs)
    publisher = manager.create_publisher(JointState, "/joint_states", 10)
    start = manager.create_client(Trigger, f"/{setup.robot.name}/start")

    def publish(*_):
        q, qd = rng.uniform(-0.1, 0.1, (2, len(joints)))
        stamp = FIRST + period * len(states)
        states.append((stamp, q, qd))
        nothing = np.full(len(joints), np.nan)
        message = JointState(name=joints[::-1])
        message.header.stamp = Time(nanoseconds=round(stamp * 1e9)).to_msg()
        message.position, message.velocity, message.effort = (
            part[::-1].tolist() for part in (q, qd, nothing)
        )
        publisher.publish(message)

    def take(message):
        answers.append(message.data)
        if len(answers) == HELD:
            start.call_async(Trigger.Request()).add_done_callback(publish)
        else:
            publish()

    manager.create_subscription(Float64MultiArray, f"/{COMMANDS}", take, 10)
    first = manager.create_timer(0.1, lambda: publish() if start.service_is_ready() and not states
                                 and publisher.get_subscription_count() else None)  # fmt: skip
    graph.spin()
    first.cancel()
    assert len(answers) == HELD + round(setup.scenario.duration / period)
    controller = make_controller(setup)
    reset_controller(controller, setup.scenario.seed)
    for (stamp, q, qd), answer in zip(states, answers):
        time = round(max(stamp - states[HELD][0], 0.0), 9)
        expected = controller.update(RobotState(time, q, qd, np.zeros(len(q))), None).effort
        np.testing.assert_allclose(answer, expected, rtol=1e-9)


def test_controllers_model_and_scenario_have_the_same_joints_start_and_rate():
    setup = Setup.of(load_scenario("packbot", "packbot", "reach"))
    given = {k: v["ros__parameters"] for k, v in yaml.safe_load(CONTROLLERS.read_text()).items()}
    manager = given.pop("controller_manager")
    assert manager["update_rate"] * setup.scenario.control_period == 1.0
    assert {k for k, v in manager.items() if isinstance(v, dict)} == given.keys()
    assert all(parameters["joints"] == [*setup.joints] for parameters in given.values())
    assert [*given["joint_trajectory_controller"]["gains"]] == [*setup.joints]
    effort = COMMANDS.partition("/")[0]
    assert given[effort]["interface_name"] == "effort"
    assert manager[effort]["type"] == "forward_command_controller/ForwardCommandController"
    system = ET.parse(MODEL).getroot().findall("ros2_control/joint")
    assert [joint.get("name") for joint in system] == [*setup.joints]
    starts = [float(joint.findtext("state_interface/param")) for joint in system]
    np.testing.assert_array_equal(starts, setup.initial.q)


@pytest.mark.skipif(not sdformat_tool(), reason="sdformat's reader is not installed")
def test_sdformat_reads_the_model_with_its_plugin():
    """It moves by the same masses and joints as the model of a launch without ros2_control."""
    text = MODEL.read_text(encoding="utf-8").replace("$(find packbot)", "/packbot")
    sdf, model = (
        print_sdf(text, str(MODEL.parents[1])).find("model")
        for text in (text, MODEL.with_name("model.urdf").read_text(encoding="utf-8"))
    )
    (plugin,) = sdf.findall("plugin")
    assert plugin.get("filename") == "gz_ros2_control-system"
    assert plugin.findtext("parameters") == "/packbot/config/ros2_control.yaml"
    for path in ("link/inertial/mass", "joint/axis/dynamics/damping", "joint/axis/limit/effort"):
        assert [e.text for e in sdf.findall(path)] == [e.text for e in model.findall(path)]


@needs_launch
def test_each_step_of_the_launch_waits_for_the_one_before():
    """A step that fails ends the launch, and one that ends with the launch starts nothing."""
    from launch import LaunchContext
    from launch.actions import DeclareLaunchArgument
    from launch.events.process import ProcessExited
    from launch.launch_description_sources import get_launch_description_from_python_launch_file
    from launch.utilities import perform_substitutions
    from launch_ros.actions import Node

    context = LaunchContext()
    context.launch_configurations.update(robot="packbot", scenario="reach")
    entities = get_launch_description_from_python_launch_file(str(LAUNCH)).entities
    for entity in entities:
        if isinstance(entity, DeclareLaunchArgument):
            entity.execute(context)
    lines, following = [], [entities[-1]]
    while following:
        words = [step.cmd[1:-1] if isinstance(step, Node) else step.cmd[1:] for step in following]
        lines += [" ".join(perform_substitutions(context, w) for w in each) for each in words]
        go_on = following[-1]._ExecuteLocal__on_exit
        ended = {"action": following[-1], "name": "step", "cmd": [], "cwd": None, "env": None}
        with pytest.raises(RuntimeError, match="step ended with status 1"):
            go_on(ProcessExited(**ended, pid=1, returncode=1), context)
        following = go_on(ProcessExited(**ended, pid=1, returncode=0), context)
    assert [line.partition(" --param-file")[0] for line in lines if "bag record" not in line] == [
        "joint_state_broadcaster",
        "effort_controller joint_trajectory_controller --inactive",
        f"topic echo --once /{COMMANDS} std_msgs/msg/Float64MultiArray",
        "control switch_controllers --strict --activate effort_controller",
        "service call /packbot/start std_srvs/srv/Trigger",
    ]
    assert lines[-2].endswith(f"--topics /joint_states /{COMMANDS}")
