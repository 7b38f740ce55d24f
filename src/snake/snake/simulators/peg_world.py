"""World file of Gazebo for a scenario with pegs: the ground, and each peg as a fixed model.

The file is written to the cache, in a folder whose name is a hash of its content. In Gazebo a
contact has the smaller coefficient of the two surfaces, which is that of the peg.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
from roboaccord import gazebo
from roboaccord.contract import CylinderFixture
from roboaccord.run import make_folder, write_text
from roboaccord.scenario import Setup

NAME = "snake_pegs"  # name of the world
GROUND_SIZE, GROUND_CENTRE = np.array([40.0, 20.0, 1.0]), np.array([0.0, 0.0, -0.5])  # m
COMMENT = """The pegs around the snake in a scenario: physics alone, without sensors.

     Physics: DART, steps of the scenario, at most real time."""


def make_world(setup: Setup) -> Path | None:
    """Write the world of a scenario with pegs, and return its file; None without pegs."""
    contact = setup.contact
    if contact is None:
        return None
    box, squares = gazebo.box(GROUND_SIZE), gazebo.squares(0.5 * GROUND_SIZE[2])
    models = gazebo.static_model("ground", GROUND_CENTRE, box, visual=squares)
    for peg in contact.fixtures:
        if isinstance(peg, CylinderFixture):
            mu, shape = contact.friction[peg.name], gazebo.cylinder(peg.radius, peg.height)
            models += gazebo.static_model(peg.name, peg.position, shape, mu=mu, mu2=mu)
    step, gravity = setup.scenario.physics_step, setup.parameters.gravity
    text = gazebo.world_text(NAME, COMMENT, models, step=step, gravity=gravity)
    folder = gazebo.cache("snake") / hashlib.sha256(text.encode()).hexdigest()[:12]
    world = make_folder(folder, "worlds") / f"{NAME}.sdf"
    write_text(world, text)
    return world
