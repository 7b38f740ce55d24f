"""The camera of Gazebo's window, moved along with the robot.

PERIOD, SMOOTH and OPENING may be tuned: how often the camera moves, how slowly it follows, how long
a window may take to open. Where it starts is set by gazebo/window.py of the core, as is ANCHOR.
TOPIC is Gazebo's. Nothing here changes a simulation.
"""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array, RobotState, read_xml
from roboaccord.gazebo import ANCHOR, CAMERA, base_in_gazebo
from roboaccord.scenario import Setup

from roboaccord_ros.gazebo.transport import load, message

TOPIC = "/gui/track"
PERIOD = 0.05  # s of wall time between two messages
SMOOTH = 0.6  # time constant of the camera [s of wall time]
OPENING = 15.0  # s of wall time that a window may take from its connection to its first picture


class Camera:
    """Keep the camera where it is relative to the robot, until a person presses Esc in the window.

    Gazebo follows a body in axes that turn with it, which a rolling ball makes useless. So the
    camera is tied to a body that stands still, and its place relative to that is sent.

    Args:
        setup: robot and scenario.
        world: SDF file of the run's world.
    """

    def __init__(self, setup: Setup, world: Path) -> None:
        self._setup, self._moved = setup, np.zeros(3)
        self._start = self._centre(setup.initial)
        self._seen, self._opened = time.monotonic(), math.inf
        self._publisher: Any = None
        place = _place(world)
        if place is None or base_in_gazebo(setup.scenario) != "free":
            return
        self._place = place
        try:
            self._node = load("gz.transport13").Node()
            self._kind = message("CameraTrack")
        except AccordError:  # without bindings a run that is free goes on, too
            return
        self._publisher = self._node.advertise(TOPIC, self._kind)

    def on_state(self, state: RobotState) -> None:
        """Move the camera after a state of the robot, as soon as that is due."""
        now = time.monotonic()
        passed = now - self._seen
        if self._publisher is None or passed < PERIOD or not self._publisher.has_connections():
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
    found = read_xml(world).find("world")
    if found is None or found.find(f"model[@name='{ANCHOR}']") is None:
        return None
    return np.array([float(word) for word in (found.findtext(CAMERA) or "").split()[:3]])
