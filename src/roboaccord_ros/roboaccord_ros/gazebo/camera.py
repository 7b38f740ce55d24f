"""Gazebo's window during a run: it is served while nothing steps, and its camera follows the robot.

Gazebo can follow a body, but in axes that turn with it, which is of no use for a ball that rolls.
So the camera is tied to a body at rest (ANCHOR), and as the robot moves its offset from that body
is sent, smoothed by a first-order lag. gazebo/window.py of the core sets where the camera starts.

Nothing here changes a simulation. TOPIC is Gazebo's; PERIOD, LAG, PATIENCE and OPENING may be
tuned.
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

from roboaccord_ros.gazebo.transport import gazebo_module, message_class

if TYPE_CHECKING:
    from roboaccord_ros.gazebo.simulator import GazeboSimulator

TOPIC = "/gui/track"
# All in s of wall time.
PERIOD = 0.05  # between two messages: 20 pictures a second look smooth
# Time constant of the camera's lag, so that a gait does not shake it: above 0.3, since the periods
# of gaits are up to 2; below 1, lest the robot leaves the picture.
LAG = 0.6
# Longest time that a run waits for its window. A window that takes longer, even on a busy machine
# without a GPU, is taken for none, and the run goes on.
PATIENCE = 45.0
# Longest time from a window's connection to its first picture; until then messages repeat the tie,
# which does no harm if longer.
OPENING = 15.0


class Window(Observer):
    """The camera of Gazebo's window, which moves with the robot until Esc is pressed there.

    Args:
        setup: robot and scenario.
        simulator: runs it.
    """

    def __init__(self, setup: Setup, simulator: GazeboSimulator) -> None:
        self._setup, self._simulator = setup, simulator
        self._start = self._centre(setup.initial)  # centre of mass at the start (3,) [m]
        self._displacement = np.zeros(3)  # of the camera from where it was placed [m]
        # Times of the steady clock [s].
        self._send_time = time.monotonic()  # of the last message, or of the start
        self._open_time = math.inf  # of the first message to a window
        self._state_time = 0.0  # of the last state
        self._node = gazebo_module("transport").Node()
        self._message = message_class("CameraTrack")
        self._publisher = self._node.advertise(TOPIC, self._message)
        is_free = base_in_gazebo(setup.scenario) == "free"  # else the camera stays
        self._position = _camera_position(simulator.world.path) if is_free else None

    def missing(self) -> str:
        """Return a line while the run must wait for the window; "" once it is open or too late."""
        if self._publisher.has_connections() or time.monotonic() > self._send_time + PATIENCE:
            return ""
        return "Gazebo's window is not open yet"

    def serve_idle_window(self) -> None:
        """Serve the window if nothing has stepped for PERIOD; called every PERIOD."""
        if time.monotonic() > self._state_time + PERIOD and self._publisher.has_connections():
            self._simulator.serve_window()

    def on_state(self, state: RobotState) -> None:
        """Move the camera after the robot, at most every PERIOD."""
        self._state_time = now = time.monotonic()
        passed = now - self._send_time
        if self._position is None or passed < PERIOD or not self._publisher.has_connections():
            return
        self._send_time, self._open_time = now, min(self._open_time, now)
        # First-order lag: the camera covers this fraction of the way to its target.
        fraction = 1.0 - math.exp(-passed / LAG)
        target = self._centre(state) - self._start
        self._displacement += fraction * (target - self._displacement)
        offset = dict(zip("xyz", (self._position + self._displacement).tolist(), strict=True))
        # Until the window certainly shows pictures, tie the camera to ANCHOR with each message.
        if now < self._open_time + OPENING:
            track = {"track_mode": "FOLLOW_FREE_LOOK", "follow_target": {"name": ANCHOR}}
        else:
            track = {"track_mode": "USE_LAST"}  # a camera that Esc has set free stays free
        self._publisher.publish(self._message(**track, follow_offset=offset))

    def _centre(self, state: RobotState) -> Array:
        """Return the robot's centre of mass (3,) [m]."""
        tree, joints = self._setup.tree, self._setup.joints
        return tree.centres(*tree.forward(joints, state.q, state.position, state.orientation))


def _camera_position(world: Path) -> Array | None:
    """Return the position of the camera (3,) [m]; None if the world has no body to tie it to."""
    scene = read_xml(world).find("world")
    if scene is None or scene.find(f"model[@name='{ANCHOR}']") is None:
        return None
    return np.array([float(word) for word in (scene.findtext(CAMERA) or "").split()[:3]])
