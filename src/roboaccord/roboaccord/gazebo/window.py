"""Gazebo's window on a robot: the camera at the start, panels, and a body that the camera follows.

`add_window` adds the window's description to a world (an SDF file) before Gazebo loads it. Gazebo's
camera can follow a body only in axes that turn with it. So a run moves the camera itself
(roboaccord_ros), relative to the body ANCHOR, which never moves. Panels are in
templates/window.sdf; after a change run `make shared`, for worlds/ has the result (test_shared). A
panel must be in the systems.yaml of `accord check`.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from importlib.resources import files

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.scenario.camera import View

# Half of the horizontal field of view of Gazebo's window [rad]: the default of gz-gui's
# MinimalScene.hh, which the template keeps.
HALF = math.radians(45.0)
WINDOW = files(__package__).joinpath("templates", "window.sdf").read_text(encoding="utf-8")
CONTROL = "WorldControl"  # panel with a play button, useless where a run steps a paused world
CAMERA = "gui/plugin[@name='3D View']/camera_pose"  # path of the camera's pose in a world
ANCHOR = "view_anchor"  # name of a body without shape, fixed at the origin


def add_window(world: ET.Element, view: View, *, control: bool = False) -> None:
    """Add the element `gui` to a world, in place of one that we added; a user's own is kept.

    Args:
        world: element `world` of SDF, changed in place.
        view: camera at the start.
        control: whether there is a play button.
    """
    old_anchor = world.find(f"model[@name='{ANCHOR}']")
    old_gui = world.find("gui")
    if old_gui is not None and old_anchor is None:
        return
    for element in (old_anchor, old_gui):
        if element is not None:
            world.remove(element)
    anchor = ET.SubElement(world, "model", name=ANCHOR)
    ET.SubElement(anchor, "static").text = "true"
    ET.SubElement(anchor, "link", name=f"{ANCHOR}_link")
    window = ET.fromstring(WINDOW)
    if not control:
        window[:] = [panel for panel in window if panel.get("name") != CONTROL]
    world.append(window)
    next(world.iterfind(CAMERA)).text = numbers_text(camera_pose(view))


def camera_pose(view: View) -> Array:
    """Return position [m], roll, pitch and yaw [rad] of the camera of a view (6,)."""
    yaw = math.remainder(view.azimuth + math.pi, 2 * math.pi)
    return np.array([*view.eye, 0.0, view.elevation, yaw])


def numbers_text(values: Array) -> str:
    """Return numbers as a text of SDF, rounded to a millionth."""
    return " ".join(f"{value + 0.0:.6g}" for value in np.round(values, 6).tolist())
