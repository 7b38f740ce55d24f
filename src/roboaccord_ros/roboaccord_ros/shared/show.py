"""Scenario that shows a robot, and a camera that sees all of its motion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.description.resources import share
from roboaccord.description.yaml_files import read_yaml
from roboaccord.run.factory import make_simulator
from roboaccord.run.loop import simulate
from roboaccord.scenario.controllers import make_controller
from roboaccord.scenario.files import load_scenario, scenario_names
from roboaccord.scenario.setup import Setup, find_robot
from roboaccord.view.camera import Camera
from roboaccord.view.motion import resample
from roboaccord.view.scene import Scene
from roboaccord.view.stance import moves_on_wall

PICTURES = 40  # of the motion, that the camera is placed by
ASPECT = 16 / 9  # of the widest window
MARGIN = 0.75  # of the picture that is filled
AZIMUTH, ELEVATION = -62.0, 35.0  # degrees; of a camera over ground, seen from what it looks at
ASIDE, ABOVE = -15.0, 5.0  # degrees; of one before a wall, which is the y-z plane


@dataclass(frozen=True)
class View:
    """Hold a camera: what it looks at [m], and from where [m, rad]."""

    target: Array
    distance: float
    azimuth: float
    elevation: float

    @property
    def eye(self) -> Array:
        """Place of the camera (3,) [m]."""
        return self.target + self.distance * _direction(self.azimuth, self.elevation)


@dataclass(frozen=True)
class Show:
    """Hold a robot in the scenario that shows it, and others whose terrain is a model."""

    setup: Setup
    terrains: tuple[Setup, ...]

    @classmethod
    def of(cls, name: str) -> Show:
        """Read `config/show.yaml` of a robot's package; without it, the first scenario is shown.

        Raises:
            AccordError: if a scenario is broken.
        """
        package = find_robot(name).package
        path = share(package) / "config" / "show.yaml"
        given = read_yaml(path) if path.is_file() else {}
        names = [given.get("scenario") or scenario_names(package)[0], *given.get("terrains", [])]
        changes = given.get("set", [])
        setups = [Setup.of(load_scenario(package, name, each, changes)) for each in names]
        return cls(setups[0], tuple(setups[1:]))

    @cached_property
    def bodies(self) -> list[Array]:
        """Vertices of each shape during the motion of the reference (t, v, 3) [m]."""
        setup, scenario = self.setup, self.setup.scenario
        trajectory = simulate(
            simulator=make_simulator(setup, "reference"),
            controller=make_controller(setup),
            initial=setup.initial,
            duration=scenario.duration,
            control_period=scenario.control_period,
            seed=scenario.seed,
        )
        scene = Scene.parse(setup.urdf())
        origins, turns = scene.motion(resample(trajectory, scenario.duration / PICTURES))
        return [
            origins[:, s.link, None] + s.vertices @ turns[:, s.link].swapaxes(-1, -2)
            for s in scene.shapes
        ]

    def view(self, half: float) -> View:
        """Return a camera that sees the whole motion.

        Args:
            half: half of its vertical field of view, in a window as wide as `ASPECT` says [rad].
        """
        points = np.concatenate([body.reshape(-1, 3) for body in self.bodies])
        low, high = points.min(axis=0), points.max(axis=0)
        target, size = np.round(0.5 * (low + high), 2), float(np.linalg.norm(high - low))
        on_wall = moves_on_wall(self.bodies, 0.5 * size)
        angles = (ASIDE, ABOVE) if on_wall else (AZIMUTH, ELEVATION)
        azimuth, elevation = np.radians(angles).round(4).tolist()
        eye = Camera.aim(target, _direction(azimuth, elevation), size, 1.0, (1, 1))
        right, down, depth = eye.local(points).T
        tangent = MARGIN * math.tan(half)
        back = np.maximum(np.abs(right) / ASPECT, np.abs(down)) / tangent - depth
        return View(target, math.ceil(100 * (size + float(back.max()))) / 100, azimuth, elevation)


def _direction(azimuth: float, elevation: float) -> Array:
    """Return the unit vector (3,) at two angles [rad]."""
    level = math.cos(elevation)
    return np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
