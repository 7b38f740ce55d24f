"""simulate.launch.py: the processes that the real `launch` makes of decisions of the planner."""

from __future__ import annotations

import json
from collections import ChainMap

import pytest
from launch_files import SIMULATE, declared

pytest.importorskip("launch_ros", reason="launch and launch_ros are not on PyPI")

from launch import LaunchContext
from launch.actions import OpaqueFunction
from launch.launch_description_sources import get_launch_description_from_python_launch_file
from launch.utilities import perform_substitutions
from launch_ros.utilities import evaluate_parameters
from roboaccord_ros.launch.processes import Tied

NO = dict.fromkeys(
    ("gazebo_window", "separate", "record", "crosscheck", "judge", "rviz", "view"), "false"
)
DECIDED = {
    **declared(), **NO, "robot": "snake", "scenario": "serpenoid", "name": "snake", "sim": "dart",
    "set": '["seed=3", "controller={name: none}"]', "files": '[""]', "duration": "inf",
    "pace": "0.0", "composed": "true", "transport": "ros", "peers": '["controller", "recorder"]',
    "controller_peers": '["simulator"]', "bag": "1e3",
}  # fmt: skip


def started(**decided):
    """Return the processes that would start, by name, and those that follow them."""
    context, processes = LaunchContext(), {}
    context.launch_configurations.update({**DECIDED, **decided})
    *_, group = get_launch_description_from_python_launch_file(str(SIMULATE)).entities
    entities = group.get_sub_entities()
    while entities:
        entity, *entities = entities
        if entity.condition is not None and not entity.condition.evaluate(context):
            continue
        if isinstance(entity, OpaqueFunction) and entity.condition:  # the other one plans
            entities = [*entity.execute(context), *entities]
        elif isinstance(entity, Tied):
            processes[entity.label] = (entity, context)
    return processes


def ends(processes):
    """Return what the end of each process means, by its name."""
    return {n: perform_substitutions(c, process._ends) for n, (process, c) in processes.items()}


def parameters(processes, name):
    node, context = processes[name]
    given = evaluate_parameters(context, node._Node__parameters)
    return dict(ChainMap(*map(dict, given[::-1])))


def test_a_plain_run_is_a_simulator_with_its_controller():
    """Texts stay texts, whatever YAML makes of them; numbers are numbers."""
    processes = started(record="true")
    assert ends(processes) == {"simulator": "ends", "recorder": "part"}
    assert parameters(processes, "simulator") == {
        "robot": "snake", "scenario": "serpenoid", "set": ["seed=3", "controller={name: none}"],
        "duration": float("inf"), "lockstep": True, "log": "warning", "controller": "",
        "inputs": "", "pace": 0.0, "peers": ["controller", "recorder"], "transport": "ros",
        "composed": True, "engine": "dart", "window": False,
    }  # fmt: skip
    given = {"robot": "snake", "set": [""], "log": "warning", "bag": "1e3"}
    assert parameters(processes, "recorder") == given


def test_parameters_are_those_that_nodes_declare():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    from roboaccord_ros.graph.parameters import PARAMETERS

    processes = started(separate="true", record="true", crosscheck="true", view="true",
                    view_ends="window", view_node="m", open_page="true")  # fmt: skip
    ours = ("simulator", "controller", "recorder", "crosscheck", "view")
    for values in (parameters(processes, name) for name in ours):
        for name, value in values.items():
            default = PARAMETERS[name][0]
            assert isinstance(value, type(default)), name


def test_running_free_the_controller_is_a_process():
    processes = started(composed="false", separate="true", lockstep="false")
    assert ends(processes) == {"simulator": "ends", "controller": "part"}


@pytest.mark.parametrize("choice", ["gazebo_window", "rviz", "view", "foxglove"])
def test_who_looks_has_a_process_more(choice):
    meaning = {"gazebo_window": "window_ends", "rviz": "window", "view": "view"}
    name = {"rviz": "rviz2", "foxglove": "foxglove_bridge"}.get(choice, choice)
    decided = {choice: "true", "rviz_layout": "", "rviz_topics": "snake/odom clock"}
    processes = ends(started(**decided, view_ends="view", view_node="m", open_page="false"))
    assert processes == {"simulator": "ends", name: meaning.get(choice, "helper")}


def test_every_decision_of_the_planner_is_of_use():
    """Each name is in the launch file, or in what it imports."""
    pytest.importorskip("snake", reason="the snake is not installed")
    from roboaccord_ros.plan.plan import make_plan
    from roboaccord_ros.plan.request import Request

    given = {**declared(), "robot": "snake", "scenario": "serpenoid", "sim": "reference"}
    plan = make_plan(Request.parse([f"{name}:={value}" for name, value in given.items()]))
    folder = SIMULATE.parents[1] / "src/roboaccord_ros/roboaccord_ros/launch"
    text = "".join(path.read_text("utf-8") for path in [SIMULATE, *folder.glob("*.py")])
    assert not [name for name in plan if json.dumps(name) not in text]
