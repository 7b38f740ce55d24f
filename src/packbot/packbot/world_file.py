"""The surroundings of a scenario as a world for Gazebo, kept in a cache folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from roboaccord.assembly import Setup
from roboaccord.contact import Fixture, MeshFixture
from roboaccord.errors import AccordError
from roboaccord.output import make_folder
from roboaccord.state import Array

from packbot.environment import Environment
from packbot.solids import Hull, write_obj

NAME = "packbot"  # of the world
# Which links can touch the ground, and everything else: urdf/gazebo.xacro has the links' masks.
GROUND_MASK, MASK = 0x00F, 0x10F
# Gazebo takes the smaller friction of two surfaces: the links' own is the one that counts.
FRICTION = 100.0
WORLD = """<?xml version="1.0"?>
<!-- What stands around the Packbot in a scenario: physics alone, without sensors.

     gz sim -s -r worlds/{name}.sdf

     Physics: DART, steps of the scenario, at most real time. -->
<sdf version="1.9">
  <world name="{name}">
    <physics name="scenario" type="dart">
      <max_step_size>{step!r}</max_step_size>
      <real_time_factor>1</real_time_factor>
    </physics>
    <gravity>0 0 -9.81</gravity>

    <plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"/>
    <plugin filename="gz-sim-user-commands-system" name="gz::sim::systems::UserCommands"/>
    <plugin filename="gz-sim-scene-broadcaster-system" name="gz::sim::systems::SceneBroadcaster"/>

    <light type="directional" name="sun">
      <pose>0 0 10 0 0 0</pose>
      <direction>-0.4 0.2 -0.9</direction>
      <diffuse>0.9 0.9 0.9 1</diffuse>
      <specular>0.1 0.1 0.1 1</specular>
      <cast_shadows>true</cast_shadows>
    </light>
{models}  </world>
</sdf>
"""
MODEL = """
    <model name="{name}">
      <static>true</static>
      <pose>{place} 0 0 0</pose>
      <link name="{name}_link">
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
        </visual>
      </link>
    </model>
"""


def make_world(setup: Setup) -> Path:
    """Return the file of the world of a scenario; what it names lies beside it.

    Raises:
        AccordError: if Gazebo does not have the scenario's contact law, or nothing can be written.
    """
    law = setup.scenario.friction.get("law", "none")
    if law not in ("normal", "none"):
        raise AccordError(f"Gazebo has no contact law {law}; try friction.law=normal")
    environment: Environment = setup.terrain
    draft = [_files_of(fixture) for fixture in environment.fixtures]
    models = "".join(text for text, _ in draft)
    text = WORLD.format(name=NAME, step=setup.scenario.physics_step, models=models)
    digest = hashlib.sha256(text.encode())
    for _, hull in draft:
        if hull is not None:
            digest.update(hull.vertices.tobytes() + hull.faces.tobytes())
    folder = _cache() / digest.hexdigest()[:12]
    world = make_folder(folder / "worlds") / f"{NAME}.sdf"
    for fixture, (_, hull) in zip(environment.fixtures, draft, strict=True):
        if hull is not None:
            meshes = make_folder(folder / "meshes")
            write_obj(hull, meshes / f"{fixture.name}.obj", f"{fixture.name}, as a scenario has it")
    world.write_text(text, encoding="utf-8")
    return world


def _files_of(fixture: Fixture | MeshFixture) -> tuple[str, Hull | None]:
    """Return the model of a thing that stands still, and the hull that it names."""
    hull = None
    if isinstance(fixture, Fixture):
        geometry = f"<box><size>{_text(fixture.size)}</size></box>"
    else:
        hull = Hull(fixture.vertices, fixture.faces)
        geometry = f"<mesh><uri>../meshes/{fixture.name}.obj</uri></mesh>"
    mask = GROUND_MASK if fixture.name == "ground" else MASK
    text = MODEL.format(
        name=fixture.name, place=_text(fixture.position), geometry=geometry, mask=mask,
        friction=FRICTION,
    )  # fmt: skip
    return text, hull


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "roboaccord" / "packbot"


def _text(numbers: Array) -> str:
    return " ".join(repr(number) for number in numbers.tolist())
