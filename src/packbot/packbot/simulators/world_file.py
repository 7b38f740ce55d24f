"""Gazebo world with the obstacles of a scenario, kept in a cache folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from roboaccord.contract.contact import Fixture, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.gazebo.meshes import cache, write_faceted
from roboaccord.gazebo.world import box, squares, static_model, world_text
from roboaccord.run.output import make_folder, write_text
from roboaccord.scenario.setup import Setup

from packbot.hulls.environment import Environment
from packbot.simulators.start import refuse_bad_start

NAME = "packbot"  # of the world
# Which links can touch the ground, and everything else: urdf/gazebo.xacro has the links' masks.
GROUND_MASK, MASK = 0x00F, 0x10F
COMMENT = """What stands around the Packbot in a scenario: physics alone, without sensors.

     gz sim -s -r worlds/{name}.sdf

     Physics: DART, steps of the scenario, at most real time."""


def make_world(setup: Setup) -> Path:
    """Return the file of the world of a scenario; what it names lies beside it.

    Raises:
        AccordError: if Gazebo does not have the scenario's contact law, the arm cannot start so, or
            nothing can be written.
    """
    law = setup.scenario.friction.get("law", "none")
    if law not in ("normal", "none"):
        raise AccordError(f"Gazebo has no contact law {law}; try friction.law=normal")
    refuse_bad_start(setup)
    environment: Environment = setup.terrain
    models = "".join(_model(fixture) for fixture in environment.fixtures)
    step, gravity = setup.scenario.physics_step, setup.parameters.gravity
    comment = COMMENT.format(name=NAME)
    text = world_text(NAME, comment, models, step=step, gravity=gravity)
    digest = hashlib.sha256(text.encode())
    hulls = [fixture for fixture in environment.fixtures if isinstance(fixture, MeshFixture)]
    for hull in hulls:
        digest.update(hull.vertices.tobytes() + hull.faces.tobytes())
    folder = cache("packbot") / digest.hexdigest()[:12]
    world = make_folder(folder, "worlds") / f"{NAME}.sdf"
    meshes = make_folder(folder, "meshes")
    for hull in hulls:
        write_faceted(meshes / f"{hull.name}.obj", hull.vertices, hull.faces)
    write_text(world, text)
    return world


def _model(fixture: Fixture | MeshFixture) -> str:
    """Return a fixed obstacle as a model of a world."""
    if isinstance(fixture, MeshFixture):
        geometry = f"<mesh><uri>../meshes/{fixture.name}.obj</uri></mesh>"
        return static_model(fixture.name, fixture.position, geometry, mask=MASK)
    shape = fixture.name, fixture.position, box(fixture.size)
    if fixture.name != "ground":
        return static_model(*shape, mask=MASK)
    return static_model(*shape, mask=GROUND_MASK, visual=squares(0.5 * fixture.size[2]))
