"""Layouts of RViz, Foxglove and PlotJuggler for a robot.

What all robots have is in robot.rviz and robot.foxglove.json, with ROBOT for the name; panels that
depend on joints or topics, and the camera, are made here. test/test_shared.py holds that each topic
is one of the robot's.
"""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from roboaccord.contract import Json
from roboaccord.scenario import Setup, View, start_view
from roboaccord_ros.graph import names

# Half of the vertical field of view of RViz and of Foxglove: both have 45 degrees by default.
HALF = math.radians(22.5)
WIDE = math.atan(math.tan(HALF) * 16 / 9)  # half of the horizontal one, in a wide window (16 to 9)
BASE = "base_link"  # the frame that both follow
QUANTITIES = ("position", "velocity", "effort")
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf", "#bcbd22", "#8c564b")


def _template(name: str, setup: Setup) -> str:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return text.replace("ROBOT", setup.robot.name)


def rviz(setup: Setup) -> str:
    """Return the configuration of RViz: robot, path, contacts and surroundings, in odom."""
    data, view = yaml.safe_load(_template("robot.rviz", setup)), start_view(setup, WIDE)
    data["Visualization Manager"]["Views"]["Current"] = {
        "Class": "rviz_default_plugins/Orbit",
        "Name": "Current View",
        "Target Frame": BASE,
        "Distance": view.distance,
        "Focal Point": dict(zip("XYZ", _from_base(setup, view), strict=True)),
        "Yaw": round(view.azimuth % (2 * math.pi), 4),
        "Pitch": round(view.elevation, 4),
        "Field of View": round(2 * HALF, 4),
        "Near Clip Distance": 0.01,
        "Value": "Orbit (rviz)",
    }
    return yaml.safe_dump(data, sort_keys=False)


def _from_base(setup: Setup, view: View) -> list[float]:
    """Return what a camera looks at, from the robot's base at the start (3,) [m]."""
    found: list[float] = np.round(view.target - setup.initial.position, 4).tolist()
    return found


def foxglove(setup: Setup) -> str:
    """Return the layout of Foxglove: 3D, joints, efforts, cross-check, diagnostics, driving."""
    view = start_view(setup, WIDE)
    turn = math.atan2(-math.cos(view.azimuth), -math.sin(view.azimuth))
    camera: dict[str, Json] = {
        "distance": view.distance,
        "phi": round(90 - math.degrees(view.elevation), 2),
        "thetaOffset": round(math.degrees(turn), 2),
        "targetOffset": _from_base(setup, view),
        "perspective": True,
        "fovy": math.degrees(2 * HALF),
        "near": 0.01,
        "far": 500,
    }
    panels: dict[str, Any] = json.loads(_template("robot.foxglove.json", setup))
    panels["3D!scene"]["cameraState"] = camera
    diagnostics = panels.pop("RawMessages!diagnostics")
    if setup.joints:
        plots = ((names.STATES, "position"), (names.STATES, "effort"), (names.ERROR, "velocity"))
        panels |= {f"Plot!{topic}.{name}": _plot(setup, topic, name) for topic, name in plots}
    panels["RawMessages!diagnostics"] = diagnostics
    panels |= _driving(setup)
    first, *others = panels
    layout = {"direction": "row", "first": first, "second": _column(others), "splitPercentage": 60}
    data = {"configById": panels, "globalVariables": {}, "userNodes": {}, "layout": layout}
    return json.dumps({**data, "playbackConfig": {"speed": 1}}, indent=2) + "\n"


def _plot(setup: Setup, topic: str, quantity: str) -> Json:
    always: dict[str, Json] = {"enabled": True, "timestampMethod": "headerStamp"}
    values = f"/{setup.robot.name}/{topic}.{quantity}"
    paths: list[Json] = [
        {"value": f"{values}[{i}]", "label": joint, **always}
        for i, joint in enumerate(setup.joints)
    ]
    return {"title": f"{topic} {quantity}", "paths": paths, "xAxisVal": "timestamp"}


def _driving(setup: Setup) -> dict[str, Json]:
    """Return the panel by which a person drives a robot: buttons for a twist, or a message."""
    robot, topics = setup.robot, setup.robot.input_topics
    if topics.velocity:
        message: Json = {"name": [setup.joints[0]], "velocity": [0.2]}
        return _publish(setup, topics.velocity, "sensor_msgs/msg/JointState", message)
    for topic in topics.efforts:
        return _publish(setup, topic, "std_msgs/msg/Float64", {"data": 1.0})
    keys = {"up": ("linear-x", 0.3), "down": ("linear-x", -0.3)}
    keys |= {"left": ("angular-z", 0.3), "right": ("angular-z", -0.3)}
    buttons: dict[str, Json] = {
        f"{key}Button": {"field": f, "value": v} for key, (f, v) in keys.items()
    }
    return {
        "Teleop!drive": {
            "topic": f"/{robot.name}/{names.CMD_VEL}",
            "publishRate": 10,
            **buttons,
        }
    }


def _publish(setup: Setup, topic: str, kind: str, message: Json) -> dict[str, Json]:
    given: dict[str, Json] = {
        "topicName": f"/{setup.robot.name}/{topic}",
        "datatype": kind,
        "advancedView": True,
    }
    return {"Publish!drive": {**given, "value": json.dumps(message)}}


def _column(panels: Sequence[str]) -> Json:
    """Return panels one above the other, all of the same height."""
    first, *others = panels
    if not others:
        return first
    part = round(100 / len(panels), 2)
    return {
        "direction": "column", "first": first, "second": _column(others), "splitPercentage": part
    }  # fmt: skip


def plotjuggler(setup: Setup) -> str:
    """Return the layout of PlotJuggler: joints, errors of the cross-check, and the base."""
    robot = f"/{setup.robot.name}"
    axes = {"position": "pose/pose/position", "velocity": "twist/twist/linear"}
    pages = {
        topic: {
            quantity: [f"{robot}/{topic}/{joint}/{quantity}" for joint in setup.joints]
            for quantity in quantities
        }
        for topic, quantities in ((names.STATES, QUANTITIES), (names.ERROR, QUANTITIES[:2]))
        if setup.joints
    }
    pages[names.ODOMETRY] = {
        title: [f"{robot}/{names.ODOMETRY}/{path}/{axis}" for axis in "xyz"]
        for title, path in axes.items()
    }
    root = ET.Element("root")
    tabs = ET.SubElement(root, "tabbed_widget", {"parent": "main_window", "name": "Main Window"})
    for title, plots in pages.items():
        tab = ET.SubElement(tabs, "Tab", tab_name=title, containers="1")
        count, sizes = str(len(plots)), ";".join([f"{1 / len(plots):.4f}"] * len(plots))
        rows = {"orientation": "-", "count": count, "sizes": sizes}
        splitter = ET.SubElement(ET.SubElement(tab, "Container"), "DockSplitter", rows)
        for name, curves in plots.items():
            area = ET.SubElement(splitter, "DockArea", name=name)
            plot = ET.SubElement(area, "plot", mode="TimeSeries", style="Lines")
            for i, curve in enumerate(curves):
                ET.SubElement(plot, "curve", name=curve, color=COLOURS[i % len(COLOURS)])
    ET.SubElement(tabs, "currentTabIndex", index="0")
    ET.SubElement(root, "use_relative_time_offset", enabled="1")
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"
