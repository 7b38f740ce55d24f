"""The surroundings of a robot, for recorders, nodes, viewers and films to draw.

`Robot.surroundings` says what stands around a robot; here it gets its colours, and level ground is
added where there is neither terrain nor a wall (test_surroundings compares the result with Gazebo's
models). Viewers recognise backdrops by the names in BACKDROPS of description/solids.py.
"""

from __future__ import annotations

import logging

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.description.solids import GROUND, TERRAIN, WALL, Surface, box
from roboaccord.scenario.setup import Setup

EARTH = np.array([0.72, 0.70, 0.64])  # red, green, blue of terrain and of solids on it: by eye
PLAIN = np.array([0.91, 0.925, 0.94])  # red, green, blue of level ground and of a wall: by eye
# m: side of the square that represents level ground: beyond what a camera at a robot of 1 m shows
SIDE = 20.0
_log = logging.getLogger(__name__)


def surfaces_around(setup: Setup) -> list[Surface]:
    """Return the surfaces around the robot of a setup: ground, wall or terrain, and solids.

    Terrain that cannot be drawn is left out, and the log states why.
    """
    try:
        around = setup.robot.surroundings(setup)
    except AccordError as error:
        _log.warning("the surroundings are not drawn: %s", error)
        return []
    surfaces = [
        Surface(name, *solid, PLAIN if name == WALL else EARTH) for name, solid in around.items()
    ]
    if not {TERRAIN, WALL} & around.keys():
        corners, faces = box(np.array([SIDE, SIDE, 0.0]))
        surfaces.insert(0, Surface(GROUND, corners, faces[-1:], PLAIN))
    return surfaces
