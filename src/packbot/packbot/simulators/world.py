"""World file of Gazebo for a scenario: its ground, boxes and hulls as fixed models.

The file and its meshes are written to the cache, in a folder whose name is a hash of their content.

GROUND_MASK and OBSTACLE_MASK must fit the masks in urdf/gazebo.xacro: test_packbot_gazebo compares
the pairs that can touch with those of the engine `reference`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from roboaccord import gazebo
from roboaccord.contract import AccordError, Fixture, MeshFixture
from roboaccord.run import make_folder, write_text
from roboaccord.scenario import Setup

from packbot.contact.collisions import Fixtures
from packbot.simulators.engines import refuse_bad_start

NAME = "packbot"  # name of the world
# Collision masks of the ground and of other obstacles; urdf/gazebo.xacro has those of the links.
GROUND_MASK, OBSTACLE_MASK = 0x00F, 0x10F
COMMENT = """What stands around the Packbot in a scenario: physics alone, without sensors.

     gz sim -s -r worlds/{name}.sdf

     Physics: DART, steps of the scenario, at most real time."""


def make_world(setup: Setup) -> Path:
    """Write the world of a scenario with its meshes, and return its file.

    Raises:
        AccordError: if Gazebo does not have the scenario's contact law or drives, the arm cannot
            start so, or nothing can be written.
    """
    law = setup.scenario.friction.get("law", "none")
    if law not in ("normal", "none"):
        raise AccordError(f"Gazebo has no contact law {law}; try friction.law=normal")
    if setup.parameters.of_joints("reflected_inertia").any():
        raise AccordError("gz: no reflected inertia; use the reference or mujoco")
    refuse_bad_start(setup)
    fixtures: Fixtures = setup.terrain
    models = "".join(_model(fixture) for fixture in fixtures)
    step, gravity = setup.scenario.physics_step, setup.parameters.gravity
    text = gazebo.world_text(NAME, COMMENT.format(name=NAME), models, step=step, gravity=gravity)
    digest = hashlib.sha256(text.encode())
    hulls = [fixture for fixture in fixtures if isinstance(fixture, MeshFixture)]
    for hull in hulls:
        digest.update(hull.vertices.tobytes() + hull.faces.tobytes())
    folder = gazebo.cache("packbot") / digest.hexdigest()[:12]
    world = make_folder(folder, "worlds") / f"{NAME}.sdf"
    meshes = make_folder(folder, "meshes")
    for hull in hulls:
        gazebo.write_faceted(meshes / f"{hull.name}.obj", hull.vertices, hull.faces)
    write_text(world, text)
    return world


def _model(fixture: Fixture | MeshFixture) -> str:
    """Return a fixed obstacle as a model of a world."""
    if isinstance(fixture, MeshFixture):
        geometry = f"<mesh><uri>../meshes/{fixture.name}.obj</uri></mesh>"
        return gazebo.static_model(fixture.name, fixture.position, geometry, mask=OBSTACLE_MASK)
    name, position, geometry = fixture.name, fixture.position, gazebo.box(fixture.size)
    if name != "ground":
        return gazebo.static_model(name, position, geometry, mask=OBSTACLE_MASK)
    squares = gazebo.squares(0.5 * fixture.size[2])
    return gazebo.static_model(name, position, geometry, mask=GROUND_MASK, visual=squares)
