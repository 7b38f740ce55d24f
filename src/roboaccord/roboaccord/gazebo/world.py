"""Worlds for Gazebo that a robot makes of its terrain: physics, systems and light."""

from __future__ import annotations

from collections.abc import Mapping

WORLD = """<?xml version="1.0"?>
<!-- {comment} -->
<sdf version="1.9">
  <world name="{name}">
    <physics name="scenario" type="dart">
      <max_step_size>{step!r}</max_step_size>
      <real_time_factor>1</real_time_factor>{detector}
    </physics>
    <gravity>0 0 {fall!r}</gravity>

{plugins}
    <light type="directional" name="sun">
      <pose>0 0 10 0 0 0</pose>
      <direction>-0.4 0.2 -0.9</direction>
      <diffuse>0.9 0.9 0.9 1</diffuse>
      <specular>0.1 0.1 0.1 1</specular>
      <cast_shadows>true</cast_shadows>
    </light>
{contents}  </world>
</sdf>
"""
DETECTOR = """
      <dart>
        <collision_detector>{}</collision_detector>
      </dart>"""
PLUGIN = '    <plugin filename="gz-sim-{}-system" name="gz::sim::systems::{}"/>\n'
SYSTEMS: Mapping[str, str] = {
    "physics": "Physics",
    "user-commands": "UserCommands",
    "scene-broadcaster": "SceneBroadcaster",
}


def world_text(
    name: str,
    comment: str,
    contents: str,
    *,
    step: float = 1e-3,
    gravity: float = 9.81,
    detector: str = "",
    systems: Mapping[str, str] | None = None,
) -> str:
    """Return a world as SDF 1.9: DART, at most real time, without sensors, so without a GPU.

    Args:
        name: of the world.
        comment: that stands at its top.
        contents: models and includes, in lines that end.
        step: of the physics [s].
        gravity: downwards [m/s^2].
        detector: of contacts; DART's default if empty.
        systems: beside physics, user commands and the scene: library and class by name.
    """
    plugins = "".join(PLUGIN.format(*item) for item in {**SYSTEMS, **(systems or {})}.items())
    return WORLD.format(
        name=name,
        comment=comment,
        step=float(step),
        fall=-float(gravity),
        detector=DETECTOR.format(detector) if detector else "",
        plugins=plugins,
        contents=contents,
    )
