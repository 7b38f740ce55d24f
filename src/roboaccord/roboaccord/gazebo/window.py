"""Gazebo's window on a robot: the camera at its start, the panels, and a body to follow it by.

PANELS and their places may be changed: run `make shared` after that, for worlds/ has the result,
and test_shared compares. A name must be in systems.yaml; further ones are in the window's own menu.
LEFT_OUT are parts that a scene needs and shows no panel of. HALF is fixed by Gazebo; CAMERA and
ANCHOR are read by roboaccord_ros, which moves the camera.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Collection

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.scenario.camera import View

HALF = math.radians(45.0)  # of the horizontal field of view of Gazebo's window
SCENE = "3D View"
CONTROL = "WorldControl"  # its play button means nothing where a run steps a paused world
# Gazebo's window has nothing but what a world lists: title, size and corner of what floats in it.
LEFT_OUT = (
    "EntityContextMenuPlugin", "GzSceneManager", "InteractiveViewControl", "CameraTracking",
    "MarkerManager", "SelectEntities", "VisualizationCapabilities",
)  # fmt: skip
PANELS = {
    CONTROL: (72, 160, "left", ("play_pause", "step", "start_paused", "use_event")),
    "WorldStats": (
        110, 290, "right", ("sim_time", "real_time", "real_time_factor", "iterations")
    ),
}  # fmt: skip
FRONT = 1  # z of what is before the scene
CAMERA = f"gui/plugin[@name='{SCENE}']/camera_pose"
ANCHOR = "view_anchor"  # name of a body without shape that stands still in the origin


def add_window(world: ET.Element, view: View, *, control: bool = False) -> None:
    """Add the element `gui` to a world, in place of one of ours; a person's own is kept.

    Args:
        world: element of SDF.
        view: camera at the start.
        control: whether it has the buttons; a run steps the world, which is paused in between.

    The window follows nothing by itself: it can keep its place relative to a body, in axes that
    turn with that. So there is a body that never moves, relative to which a run moves the camera.
    """
    ours = world.find(f"model[@name='{ANCHOR}']")
    there = world.find("gui")
    if there is not None and ours is None:
        return
    for element in (ours, there):
        if element is not None:
            world.remove(element)
    anchor = ET.SubElement(world, "model", name=ANCHOR)
    ET.SubElement(anchor, "static").text = "true"
    ET.SubElement(anchor, "link", name=f"{ANCHOR}_link")
    world.append(_window(camera_pose(view), [] if control else [CONTROL]))


def camera_pose(view: View) -> Array:
    """Return place [m], roll, pitch and yaw [rad] of a camera (6,)."""
    turn = math.remainder(view.azimuth + math.pi, 2 * math.pi)
    return np.array([*view.eye, 0.0, view.elevation, turn])


def numbers_text(values: Array) -> str:
    """Return numbers as SDF has them, to a millionth."""
    return " ".join(f"{value + 0.0:.6g}" for value in np.round(values, 6).tolist())


def _window(camera: Array, without: Collection[str]) -> ET.Element:
    gui = ET.Element("gui", fullscreen="false")
    scene, card = _plugin(gui, "MinimalScene", state="docked", title=SCENE)
    title = ET.Element("title")  # by which anchors find it
    title.text = SCENE
    card.insert(0, title)
    light = {"ambient_light": "0.4 0.4 0.4", "background_color": "0.8 0.85 0.9"}
    keys = {"engine": "ogre2", "scene": "scene", **light, "camera_pose": numbers_text(camera)}
    for key, value in keys.items():
        ET.SubElement(scene, key).text = value
    for name in LEFT_OUT:
        _plugin(gui, name, state="floating", height=5, width=5)
    for name, (height, width, side, shown) in PANELS.items():
        if name in without:
            continue
        plugin, card = _plugin(gui, name, state="floating", height=height, width=width, z=FRONT)
        anchors = ET.SubElement(card, "anchors", target=SCENE)
        for own in (side, "bottom"):
            ET.SubElement(anchors, "line", own=own, target=own)
        for key in shown:
            ET.SubElement(plugin, key).text = "true"
    return gui


def _plugin(
    gui: ET.Element, name: str, *, state: str, title: str = "", **size: int
) -> tuple[ET.Element, ET.Element]:
    """Add a part of the window; return it, and the element that places it."""
    plugin = ET.SubElement(gui, "plugin", filename=name, name=title or name)
    card = ET.SubElement(plugin, "gz-gui")
    ET.SubElement(card, "property", type="bool", key="showTitleBar").text = "false"
    ET.SubElement(card, "property", type="string", key="state").text = state
    for key, value in size.items():
        ET.SubElement(card, "property", type="double", key=key).text = str(value)
    return plugin, card
