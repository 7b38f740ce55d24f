"""Layouts of RViz, Foxglove and PlotJuggler for a robot."""

from __future__ import annotations

import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence

import numpy as np
import yaml
from roboaccord.bag import REFERENCE
from roboaccord.contract import Json
from roboaccord.scenario import Setup, View, start_view

from roboaccord_ros.graph import names

HALF = math.radians(22.5)  # half of the vertical field of view of RViz and of Foxglove
WIDE = math.atan(math.tan(HALF) * 16 / 9)  # half of the horizontal one, in a wide window
BASE = "base_link"  # the frame that both follow
QUANTITIES = ("position", "velocity", "effort")
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#ff7f0e", "#9467bd", "#17becf", "#bcbd22", "#8c564b")
POLICIES = "History Policy: Keep Last, Reliability Policy: Reliable"
RVIZ = f"""
Panels:
- {{Class: rviz_common/Displays, Name: Displays}}
Visualization Manager:
  Class: ""
  Displays:
  - {{Class: rviz_default_plugins/Grid, Name: Grid, Enabled: true, Value: true,
     Reference Frame: <Fixed Frame>, Cell Size: 0.5, Plane Cell Count: 20}}
  - {{Class: rviz_default_plugins/RobotModel, Name: RobotModel, Enabled: true, Value: true,
     Description Source: Topic, TF Prefix: "", Visual Enabled: true, Collision Enabled: false,
     Description Topic: {{Value: /ROBOT/{names.DESCRIPTION}, Depth: 1,
                         Durability Policy: Transient Local, {POLICIES}}}}}
  - {{Class: rviz_default_plugins/RobotModel, Name: Reference, Enabled: true, Value: true,
     Description Source: Topic, TF Prefix: {REFERENCE}, Visual Enabled: true,
     Collision Enabled: false,
     Description Topic: {{Value: /ROBOT/{names.REFERENCE_DESCRIPTION}, Depth: 1,
                         Durability Policy: Transient Local, {POLICIES}}}}}
  - {{Class: rviz_default_plugins/Odometry, Name: Path, Enabled: true, Value: true, Keep: 1000,
     Position Tolerance: 0.02, Angle Tolerance: 0.1, Covariance: {{Value: false}},
     Shape: {{Value: Arrow, Color: 214; 106; 60, Alpha: 1, Shaft Length: 0.02, Shaft Radius: 0.004,
             Head Length: 0.01, Head Radius: 0.008}},
     Topic: {{Value: /ROBOT/{names.ODOMETRY}, Depth: 5, Durability Policy: Volatile, {POLICIES}}}}}
  - {{Class: rviz_default_plugins/MarkerArray, Name: Contacts, Enabled: true, Value: true,
     Topic: {{Value: /ROBOT/{names.CONTACTS}, Depth: 5, Durability Policy: Volatile, {POLICIES}}}}}
  - {{Class: rviz_default_plugins/MarkerArray, Name: Surroundings, Enabled: true, Value: true,
     Topic: {{Value: /ROBOT/{names.SURROUNDINGS}, Depth: 1,
             Durability Policy: Transient Local, {POLICIES}}}}}
  - {{Class: rviz_default_plugins/TF, Name: TF, Enabled: false, Value: false}}
  Enabled: true
  Global Options: {{Background Color: 48; 48; 48, Fixed Frame: odom, Frame Rate: 30}}
  Name: root
  Tools:
  - {{Class: rviz_default_plugins/Interact}}
  - {{Class: rviz_default_plugins/MoveCamera}}
  - {{Class: rviz_default_plugins/Select}}
  - {{Class: rviz_default_plugins/FocusCamera}}
  - {{Class: rviz_default_plugins/Measure}}
  Value: true
  Views: {{}}
Window Geometry: {{Width: 1400, Height: 900, Hide Left Dock: false, Hide Right Dock: false}}
"""  # in the YAML that RViz writes; a second panel would leave little of the 3D view


def rviz(setup: Setup) -> str:
    """Return the configuration of RViz: robot, path, contacts and surroundings, in odom."""
    data, view = yaml.safe_load(RVIZ.replace("ROBOT", setup.robot.name)), start_view(setup, WIDE)
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
    robot = f"/{setup.robot.name}"
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
    urdf: dict[str, Json] = {"layerId": "foxglove.Urdf", "sourceType": "topic", "visible": True}
    layers: dict[str, dict[str, Json]] = {
        "grid": {"layerId": "foxglove.Grid", "frameId": "odom", "size": 10, "visible": True},
        "robot": {**urdf, "topic": f"{robot}/{names.DESCRIPTION}"},
        REFERENCE: {
            **urdf,
            "topic": f"{robot}/{names.REFERENCE_DESCRIPTION}",
            "framePrefix": f"{REFERENCE}/",
        },
    }
    shown = (names.CONTACTS, names.SURROUNDINGS, names.ODOMETRY)
    panels: dict[str, Json] = {
        "3D!scene": {
            "followMode": "follow-position",
            "followTf": BASE,
            "cameraState": camera,
            "layers": {key: {"instanceId": key, **layer} for key, layer in layers.items()},
            "topics": {f"{robot}/{name}": {"visible": True} for name in shown},
        }
    }
    if setup.joints:
        plots = ((names.STATES, "position"), (names.STATES, "effort"), (names.ERROR, "velocity"))
        panels |= {f"Plot!{topic}.{name}": _plot(setup, topic, name) for topic, name in plots}
    panels["RawMessages!diagnostics"] = {"topicPath": "/diagnostics"}
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
    robot = setup.robot
    if robot.velocity_topic:
        message: Json = {"name": [setup.joints[0]], "velocity": [0.2]}
        return _publish(setup, robot.velocity_topic, "sensor_msgs/msg/JointState", message)
    for topic in robot.effort_topics:
        return _publish(setup, topic, "std_msgs/msg/Float64", {"data": 1.0})
    keys = {"up": ("linear-x", 0.3), "down": ("linear-x", -0.3)}
    keys |= {"left": ("angular-z", 0.3), "right": ("angular-z", -0.3)}
    buttons: dict[str, Json] = {
        f"{key}Button": {"field": f, "value": v} for key, (f, v) in keys.items()
    }
    return {
        "Teleop!drive": {"topic": f"/{robot.name}/{names.CMD_VEL}", "publishRate": 10, **buttons}
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
