"""The surroundings of a robot, for recorders, nodes, viewers and films to draw.

`Robot.surroundings` returns the solids, terrain and wall around a robot; `surfaces_around` makes
coloured surfaces of them, and adds level ground where there is neither terrain nor a wall
(test_surroundings compares the result with Gazebo's models). Viewers recognise these three by their
names, BACKDROPS of description/solids.py. Free bodies follow, each in its own frame, which moves.
"""

from __future__ import annotations

import logging

import numpy as np

from roboaccord.contract import AccordError, CylinderFixture, Fixture, FreeBody
from roboaccord.description.solids import GROUND, TERRAIN, WALL, Surface, box, cylinder, facets
from roboaccord.scenario.setup import Setup

# Colours (red, green, blue), chosen by eye: of terrain and solids, of level ground and walls, and
# of free bodies, which stand out from both, from links and from the red of what has failed.
EARTH = np.array([0.72, 0.70, 0.64])
PLAIN = np.array([0.91, 0.925, 0.94])
TEAL = np.array([0.10, 0.58, 0.58])
# m: side of the square that represents level ground: more than a camera at a robot of 1 m shows.
SIDE = 20.0
_log = logging.getLogger(__name__)


def surfaces_around(setup: Setup) -> list[Surface]:
    """Return the surfaces around the robot of a setup: ground, wall or terrain, solids, bodies.

    Terrain that cannot be drawn is left out, and the log states why.
    """
    try:
        solids = setup.robot.surroundings(setup)
    except AccordError as error:
        _log.warning("the surroundings are not drawn: %s", error)
        return []
    colours = {WALL: PLAIN}
    surfaces = [Surface(name, *solids[name], colours.get(name, EARTH)) for name in solids]
    if not {TERRAIN, WALL} & solids.keys():
        corners, faces = box(np.array([SIDE, SIDE, 0.0]))
        surfaces.insert(0, Surface(GROUND, corners, faces[-1:], PLAIN))
    return [*surfaces, *map(_surface_of, setup.bodies)]


def _surface_of(body: FreeBody) -> Surface:
    """Return the surface of a free body, in its frame."""
    match body.shape:
        case Fixture(size=size):
            vertices, faces = box(size)
        case CylinderFixture(radius=radius, height=height):
            vertices, faces = cylinder(radius, height)
        case mesh:
            vertices, faces = mesh.vertices, facets(mesh.vertices, mesh.faces)
    return Surface(body.name, vertices + body.shape.position, faces, TEAL, body.name)
