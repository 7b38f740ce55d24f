"""Nodes, parameters, topics and services of each robot are those of the tables in docs/ros.md."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from roboaccord.contract import plugins
from roboaccord.scenario.catalogue import read_catalogue
from slow_cases import late

pytest.importorskip("rclpy", reason="rclpy is not installed")

from rclpy.action import get_action_names_and_types
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from roboaccord_ros.graph.names import DEEP, HAND, LATCHED, LIVE, RELIABLE
from roboaccord_ros.graph.parameters import setup_of
from roboaccord_ros.nodes.controller import ControllerShell
from roboaccord_ros.nodes.crosscheck import CrosscheckShell
from roboaccord_ros.nodes.recorder import RecorderShell
from roboaccord_ros.nodes.simulator import SimulatorShell

pytestmark = pytest.mark.thorough
PAGE = Path(__file__).resolve().parents[3] / "docs" / "ros.md"
PAGE_NODE = plugins.entries("displays").get("browser.node")
BROWSER = [PAGE_NODE.load()] if PAGE_NODE and importlib.util.find_spec("viser") else []
SHELLS = (SimulatorShell, ControllerShell, RecorderShell, CrosscheckShell, *BROWSER)
BUILD = {shell.name: shell.build for shell in SHELLS}
# Qualities of service, as the page writes them.
QUALITIES = {"all": RELIABLE, "latched": LATCHED, "5000": DEEP, "20": HAND}
QUALITIES |= {"20, best effort": LIVE, "10": QoSProfile(depth=10)}
# What rclpy and this test add.
OF_ROS = {"/rosout", "/parameter_events"}
OF_EVERY_NODE = re.compile(r"/((describe|get|list|set)_param\w+|get_type_description)$")
OF_ACTIONS = "/_action/"
OWN = {"use_sim_time", "start_type_description_service"}
# One scenario a robot; those of teleoperation have most topics.
CATALOGUE = read_catalogue().scenarios
SCENARIOS = {row.robot: row.scenario for row in CATALOGUE}
SCENARIOS |= {row.robot: row.scenario for row in CATALOGUE if row.scenario == "teleop"}


def table(head):
    """Return the rows of a table of the page, by the text that its first line begins with."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {head} |"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[0], rows[2:]


def qualities(nodes, ends):
    """Return topic and quality of service of each of the publishers or subscriptions of nodes."""
    return [(end.topic_name, end.qos_profile) for node in nodes for end in getattr(node, ends)]


def names_of(head, robot, switches):
    """Return name, type and quality of service (of topics) of what a robot has by a table."""
    found = {}
    for names, types, quality, *_ in table(head)[1]:
        names, kinds = re.findall(r"`(/[^`]*)`", names), re.findall(r"\w+/\w+", types)
        kinds *= len(names) if len(kinds) == 1 else 1
        each = quality.split("/") if head == "topic" else [""]
        each *= len(names) // len(each)
        for name, kind, quality in zip(names, kinds, each, strict=True):
            package, kind = kind.split("/")
            first = name.split("/")[1]
            if importlib.util.find_spec(package) is None or first in set(SCENARIOS) - {robot}:
                continue
            if name.endswith("/bodies"):  # of scenarios with bodies (test_ros_bodies)
                continue
            name = name.replace("/R/", f"/{robot}/")
            for switch in switches if "SWITCH" in name else [""]:
                sort = "msg" if head == "topic" else "srv"
                found[name.replace("SWITCH", switch)] = [f"{package}/{sort}/{kind}"], quality
    return found


@pytest.fixture(
    params=["monkeybot", "snake", *late(*sorted({*SCENARIOS} - {"monkeybot", "snake"}))]
)
def running(request, graph, tmp_path, monkeypatch):
    """Start the nodes of a robot, and let them run for a moment."""
    monkeypatch.chdir(tmp_path)
    robot = request.param
    values = {"robot": robot, "scenario": SCENARIOS[robot], "bag": str(tmp_path / "bag")}
    setup = setup_of({**values, "set": [], "duration": 0.0})
    duration = 5 * setup.scenario.control_period
    values |= {"duration": duration, "peers": ["controller", "recorder"]}
    shells = {}
    pages = [shell.name for shell in BROWSER]
    for name in (*pages, "simulator", "recorder", "crosscheck", "controller"):
        peers = ["simulator", "recorder"] if name == "controller" else values["peers"]
        given = [Parameter(key, value=value) for key, value in {**values, "peers": peers}.items()]
        node = Node(name, context=graph.context, parameter_overrides=given, enable_rosout=False)
        graph.nodes.append(node)
        if name != "browser":  # it goes on
            graph.run.expect()
        shells[name] = BUILD[name](node, graph.run)
    graph.run.done()  # the run begins with one
    early = qualities(graph.nodes, "publishers")
    graph.spin()
    yield robot, setup, early, {node.get_name(): node for node in graph.nodes}
    for shell in shells.values():
        shell.close()


def test_a_robot_has_the_nodes_parameters_topics_and_services_of_the_tables(running, graph):
    robot, setup, early, nodes = running
    node = nodes["simulator"]
    topics = {n: t for n, t in node.get_topic_names_and_types() if n not in OF_ROS}
    topics = {n: t for n, t in topics.items() if OF_ACTIONS not in n}
    listed = names_of("topic", robot, setup.initial.switches)
    assert topics == {name: kind for name, (kind, _) in listed.items()}
    used = early + qualities(graph.nodes, "publishers")
    used += [q for q in qualities(graph.nodes, "subscriptions") if q[0] not in dict(used)]
    for name, (_, quality) in listed.items():
        assert (name, QUALITIES[quality]) in used, name
    services = {n: t for n, t in node.get_service_names_and_types() if not OF_EVERY_NODE.search(n)}
    services = {n: t for n, t in services.items() if OF_ACTIONS not in n}
    listed = names_of("service", robot, setup.initial.switches)
    assert services == {name: kind for name, (kind, _) in listed.items()}
    page = PAGE.read_text(encoding="utf-8")
    assert page.count("controller:=none") == 2  # for a node of one's own, with ros2 or without
    for name, (kind,) in get_action_names_and_types(node):
        assert f"send_goal -f {name} {kind} " in page
    assert {name for name in node.get_node_names() if not name.startswith("_")} == {*nodes}
    assert {*nodes} == {*BUILD, "input"}
    assert set(nodes.pop("input")._parameters) - OWN == set()
    rows = table("parameter")[1]
    for name, node in nodes.items():
        listed = {
            row[0].strip("`") for row in rows if row[2] == "all" or name in row[2].split(", ")
        }
        hinges = [joint for joint in setup.joints if joint in setup.tree.hinges]
        documented = {
            name.replace("JOINT", joint)
            for name in listed
            for joint in (hinges if "JOINT" in name else [""])
        }
        assert set(node._parameters) - OWN == documented, name
