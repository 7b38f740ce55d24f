"""Gazebo's window: it is served while nothing steps, and its camera moves along with the robot.

PERIOD, SMOOTH, OPENING and COMING may be tuned: how often the camera moves, how slowly it follows,
how long a window may take to its first picture, and how long a run waits for it. Where the camera
starts is set by gazebo/window.py of the core, as is ANCHOR. TOPIC is Gazebo's. Nothing here changes
a simulation.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from roboaccord.contract import Array, Observer, RobotState, read_xml
from roboaccord.gazebo import ANCHOR, CAMERA, base_in_gazebo
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.transport import load, message

if TYPE_CHECKING:
    from roboaccord_ros.gazebo.simulator import GazeboSimulator

TOPIC = "/gui/track"
PERIOD = 0.05  # s of wall time between two messages
SMOOTH = 0.6  # time constant of the camera [s of wall time]
COMING = 45.0  # s of wall time that a run waits for its window
OPENING = 15.0  # s of wall time that a window may take from its connection to its first picture


class Window(Observer):
    """Keep the camera where it is relative to the robot, until a person presses Esc in the window.

    Gazebo follows a body in axes that turn with it, which a rolling ball makes useless. So the
    camera is tied to a body that stands still, and its place relative to that is sent.

    Args:
        setup: robot and scenario.
        simulator: runs it.
    """

    def __init__(self, setup: Setup, simulator: GazeboSimulator) -> None:
        self._setup, self._moved, self._simulator = setup, np.zeros(3), simulator
        self._start = self._centre(setup.initial)
        self._seen, self._opened, self._stepped = time.monotonic(), math.inf, 0.0
        self._node = load("gz.transport13").Node()
        self._kind = message("CameraTrack")
        self._publisher = self._node.advertise(TOPIC, self._kind)
        free = base_in_gazebo(setup.scenario) == "free"
        self._place = _place(simulator.world.path) if free else None

    def missing(self) -> str:
        """Return that the window is still to come, or "" where that takes too long."""
        if self._publisher.has_connections() or time.monotonic() > self._seen + COMING:
            return ""
        return "Gazebo's window is not open yet"

    def look(self) -> None:
        """Serve a window where nothing steps; to be called again and again."""
        if time.monotonic() > self._stepped + PERIOD and self._publisher.has_connections():
            self._simulator.serve_window()

    def on_state(self, state: RobotState) -> None:
        """Move the camera after a state of the robot, as soon as that is due."""
        self._stepped = now = time.monotonic()
        passed = now - self._seen
        if self._place is None or passed < PERIOD or not self._publisher.has_connections():
            return
        self._seen, self._opened = now, min(self._opened, now)
        share = 1.0 - math.exp(-passed / SMOOTH)
        self._moved += share * (self._centre(state) - self._start - self._moved)
        offset = dict(zip("xyz", (self._place + self._moved).tolist(), strict=True))
        if now < self._opened + OPENING:
            kind = {"track_mode": "FOLLOW_FREE_LOOK", "follow_target": {"name": ANCHOR}}
        else:
            kind = {"track_mode": "USE_LAST"}  # which leaves a camera alone that Esc has set free
        self._publisher.publish(self._kind(**kind, follow_offset=offset))

    def _centre(self, state: RobotState) -> Array:
        """Return the robot's centre of mass (3,) [m]."""
        tree, pose = self._setup.tree, (state.q, state.position, state.orientation)
        return tree.centres(*tree.forward(self._setup.joints, *pose))


def _place(world: Path) -> Array | None:
    """Return the place of the camera (3,) [m], None where the world has none to be followed by."""
    scene = read_xml(world).find("world")
    if scene is None or scene.find(f"model[@name='{ANCHOR}']") is None:
        return None
    return np.array([float(word) for word in (scene.findtext(CAMERA) or "").split()[:3]])
