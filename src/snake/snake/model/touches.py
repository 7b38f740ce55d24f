"""Contacts of the snake with pegs, as reports and pictures need them."""

from typing import TypeAlias

import numpy as np
from roboaccord.contract import Array, Contact, ContactPoint, CylinderFixture, Index, RobotState
from roboaccord.description import Faces, cylinder
from roboaccord.scenario import Setup

from snake.model.coordinates import PlanarSnake, headings
from snake.model.pegs import PegField, touching

Points: TypeAlias = list[ContactPoint]


def contacts_of(
    chain: PlanarSnake, field: PegField, state: RobotState, gap: float
) -> tuple[Index, Array]:
    """Return the pairs of link and peg that are within a gap [m] in a state, as `touching` does."""
    y = chain.pack(state)
    th = headings(y)
    pairs, rows = touching(chain.body, field, np.cos(th), np.sin(th), y[0], y[1], gap)
    return pairs, rows


def points_of(setup: Setup, pairs: Index, rows: Array, forces: Array) -> Points:
    """Return contacts of links with pegs.

    Args:
        setup: robot and scenario, with pegs.
        pairs, rows: of `touching` (k, 2), (k, 5).
        forces: normal forces (k,) [N].
    """
    contact, links, points = setup.contact, setup.parameters.link_names, Points()
    assert contact
    half_height = 0.5 * setup.parameters.link_height
    for i, (link, number) in enumerate(pairs.tolist()):
        peg, (gap, nx, ny) = contact.fixtures[number], rows[i, :3].tolist()
        assert isinstance(peg, CylinderFixture)
        normal = np.array([-nx, -ny, 0.0])  # from the link into the peg
        point = np.array([*peg.position[:2], half_height]) - peg.radius * normal
        names = links[link], peg.name
        points.append(ContactPoint(names, point, normal, float(forces[i]), -gap))
    return points


def solids_of(contact: Contact | None) -> dict[str, tuple[Array, Faces]]:
    """Return the pegs as solids, for drawing: vertices [m] and faces by name."""
    solids = dict[str, tuple[Array, Faces]]()
    for peg in contact.fixtures if contact else ():
        if isinstance(peg, CylinderFixture):
            vertices, faces = cylinder(peg.radius, peg.height)
            solids[peg.name] = vertices + peg.position, faces
    return solids
