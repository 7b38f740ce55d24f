"""Gazebo's window on a robot: the camera at the start, panels, and a body that it follows.

Panels and their places are in templates/window.sdf and may be changed: run `make shared` after
that, for worlds/ has the result, and test_shared compares. A name must be in the systems.yaml of
`accord check`; further ones are in the window's own menu. HALF is fixed by Gazebo; CAMERA and
ANCHOR are read by roboaccord_ros, which moves the camera.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from importlib.resources import files

import numpy as np

from roboaccord.contract.state import Array
from roboaccord.scenario.camera import View

HALF = math.radians(45.0)  # of the horizontal field of view of Gazebo's window
WINDOW = files(__package__).joinpath("templates", "window.sdf").read_text(encoding="utf-8")
CONTROL = "WorldControl"  # its play button means nothing where a run steps a paused world
CAMERA = "gui/plugin[@name='3D View']/camera_pose"
ANCHOR = "view_anchor"  # name of a body without shape that stands still at the origin


def add_window(world: ET.Element, view: View, *, control: bool = False) -> None:
    """Add the element `gui` to a world, in place of an earlier one of ours; a user's own is kept.

    Args:
        world: element of SDF.
        view: camera at the start.
        control: whether it has the play button; a run steps the world, which is paused in between.

    Gazebo's camera can follow a body only in axes that turn with it. So a run moves the camera
    itself, relative to a body that never moves.
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
    window = ET.fromstring(WINDOW)
    if not control:
        window[:] = [panel for panel in window if panel.get("name") != CONTROL]
    world.append(window)
    next(world.iterfind(CAMERA)).text = numbers_text(camera_pose(view))


def camera_pose(view: View) -> Array:
    """Return position [m], roll, pitch and yaw [rad] of a camera (6,)."""
    turn = math.remainder(view.azimuth + math.pi, 2 * math.pi)
    return np.array([*view.eye, 0.0, view.elevation, turn])


def numbers_text(values: Array) -> str:
    """Return numbers as SDF writes them, to a millionth."""
    return " ".join(f"{value + 0.0:.6g}" for value in np.round(values, 6).tolist())
