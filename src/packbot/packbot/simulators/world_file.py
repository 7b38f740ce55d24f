"""Gazebo world with the obstacles of a scenario, kept in a cache folder."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from roboaccord.contract.contact import Fixture, MeshFixture
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.gazebo.meshes import cache, write_faceted
from roboaccord.gazebo.world import world_text
from roboaccord.run.output import make_folder
from roboaccord.scenario.setup import Setup

from packbot.hulls.environment import Environment
from packbot.simulators.start import refuse_bad_start

NAME = "packbot"  # of the world
# Which links can touch the ground, and everything else: urdf/gazebo.xacro has the links' masks.
GROUND_MASK, MASK = 0x00F, 0x10F
# Gazebo takes the smaller friction of two surfaces: the links' own is the one that counts.
FRICTION = 100.0
COMMENT = """What stands around the Packbot in a scenario: physics alone, without sensors.

     export GZ_SIM_RESOURCE_PATH=$PWD/models
     gz sim -s -r worlds/{name}.sdf

     Physics: DART, steps of the scenario, at most real time."""
CONTENTS = """
    <include>
      <uri>model://{name}</uri>
    </include>
"""
CONFIG = """<?xml version="1.0"?>
<model>
  <name>{name}</name>
  <version>1.0</version>
  <sdf version="1.9">model.sdf</sdf>
  <author>
    <name>The roboaccord authors</name>
  </author>
  <description>What stands around the Packbot in a scenario.</description>
</model>
"""
MODEL = """<?xml version="1.0"?>
<!-- What stands around the Packbot in a scenario. -->
<sdf version="1.9">
  <model name="{name}">
    <static>true</static>
{links}  </model>
</sdf>
"""
LINK = """\
    <link name="{name}_link">
      <pose>{place} 0 0 0</pose>
      <collision name="collision">
        <geometry>{geometry}</geometry>
        <surface>
          <contact>
            <collide_bitmask>{mask}</collide_bitmask>
          </contact>
          <friction>
            <ode>
              <mu>{friction:g}</mu>
              <mu2>{friction:g}</mu2>
            </ode>
          </friction>
        </surface>
      </collision>
      <visual name="visual">
        <geometry>{geometry}</geometry>
        <material>
          <ambient>{colour}</ambient>
          <diffuse>{colour}</diffuse>
        </material>
      </visual>
    </link>
"""
EARTH, WOOD = "0.55 0.53 0.48 1", "0.72 0.58 0.40 1"


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
    name = re.sub(r"\W+", "_", setup.scenario.name, flags=re.ASCII)
    model = MODEL.format(name=name, links="".join(map(_link, environment.fixtures)))
    step, gravity = setup.scenario.physics_step, setup.parameters.gravity
    comment = COMMENT.format(name=NAME)
    contents = CONTENTS.format(name=name)
    text = world_text(NAME, comment, contents, step=step, gravity=gravity)
    digest = hashlib.sha256((text + model).encode())
    hulls = [fixture for fixture in environment.fixtures if isinstance(fixture, MeshFixture)]
    for hull in hulls:
        digest.update(hull.vertices.tobytes() + hull.faces.tobytes())
    folder = cache("packbot") / digest.hexdigest()[:12]
    world = make_folder(folder / "worlds") / f"{NAME}.sdf"
    place = make_folder(folder / "models" / name)
    for hull in hulls:
        write_faceted(make_folder(place / "meshes") / f"{hull.name}.obj", hull.vertices, hull.faces)
    (place / "model.config").write_text(CONFIG.format(name=name), encoding="utf-8")
    (place / "model.sdf").write_text(model, encoding="utf-8")
    world.write_text(text, encoding="utf-8")
    return world


def _link(fixture: Fixture | MeshFixture) -> str:
    """Return a fixed obstacle as a link."""
    geometry = f"<mesh><uri>meshes/{fixture.name}.obj</uri></mesh>"
    if isinstance(fixture, Fixture):
        geometry = f"<box><size>{_text(fixture.size)}</size></box>"
    return LINK.format(
        name=fixture.name,
        place=_text(fixture.position),
        geometry=geometry,
        mask=GROUND_MASK if fixture.name == "ground" else MASK,
        friction=FRICTION,
        colour=EARTH if fixture.name == "ground" else WOOD,
    )


def _text(numbers: Array) -> str:
    return " ".join(repr(number) for number in numbers.tolist())
