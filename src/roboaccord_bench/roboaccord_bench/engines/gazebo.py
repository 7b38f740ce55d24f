"""Gazebo's server in this process with dartsim, from SDF; as in DART, friction is the smaller.

An impulse in the first step makes velocities and spins of the start, exactly so by a scheme that
computes rates before positions; in that step gyroscopic torques lack. Gazebo updates the pose of
a link only when it has moved by 1e-6 m, and its rates then too; those of a shape on it are updated
in each step. Contact forces are not read.
"""

import os
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.numerics import quaternion_matrix

from roboaccord_bench.engine import Engine, Forces, World
from roboaccord_bench.scene import Motion, Scene, sdf

try:  # gz-math comes first: functions of gz-sim return its types
    from gz import sim
    from gz.math import Vector3d
except ImportError:
    from gz import sim8 as sim
    from gz.math7 import Vector3d

PLUGIN = (
    '<plugin filename="gz-sim-physics-system" name="gz::sim::systems::Physics"><engine>'
    "<filename>gz-physics-{}-plugin</filename></engine></plugin>"
)


class GazeboWorld(World):
    """A scene in Gazebo with one of its physics engines, `physics`."""

    def __init__(self, scene: Scene, step: float, *, physics: str) -> None:
        if "bullet" in physics and any(body.slide for body in scene.bodies):
            raise AccordError("bullet-featherstone has no joint to the world but a fixed one")
        # Servers of one partition slow each other down.
        os.environ["GZ_PARTITION"] = f"bench_{os.getpid()}_{id(self)}"
        with NamedTemporaryFile("w", suffix=".sdf") as file:
            file.write(sdf(scene, step, PLUGIN.format(physics)))
            file.flush()
            self.fixture = sim.TestFixture(file.name)
        self.fixture.on_pre_update(self._push)
        self.fixture.on_post_update(self._read)
        self.fixture.finalize()
        self.links, self.motions = dict[str, Any](), dict[str, Motion]()
        self.wrenches = dict[str, Array]()  # force and torque for the next step
        for body in scene.moving:
            rates = np.array(body.velocity), np.array(body.spin)
            self.motions[body.name] = Motion(np.array(body.position), body.axes, *rates)
            turn = body.axes * body.inertia @ body.axes.T @ rates[1]
            self.wrenches[body.name] = np.array([body.mass * rates[0], turn]) / step

    def advance(self, forces: Forces) -> None:
        for name, force in forces.items():
            before = self.wrenches.get(name, np.zeros((2, 3)))
            self.wrenches[name] = before + np.array([force, np.zeros(3)])
        self.fixture.server().run(True, 1, False)
        self.wrenches.clear()

    def _push(self, _info: Any, ecm: Any) -> None:
        """Find the links at first, and put the wrenches on them."""
        for name in () if self.links else self.motions:
            model = sim.World(sim.world_entity(ecm)).model_by_name(ecm, name)
            link = sim.Link(sim.Model(model).link_by_name(ecm, name))
            shape = sim.Link(link.collisions(ecm)[0])
            shape.enable_velocity_checks(ecm)
            self.links[name] = link, shape
        for name, wrench in self.wrenches.items():
            self.links[name][0].add_world_wrench(ecm, *(Vector3d(*part) for part in wrench))

    def _read(self, _info: Any, ecm: Any) -> None:
        """Read the motions of all bodies."""
        for name, (link, shape) in self.links.items():
            pose = link.world_pose(ecm)
            q, p = pose.rot(), pose.pos()
            turn = quaternion_matrix(np.array([q.x(), q.y(), q.z(), q.w()]))
            vectors = p, shape.world_linear_velocity(ecm), shape.world_angular_velocity(ecm)
            position, velocity, spin = (np.array([v.x(), v.y(), v.z()]) for v in vectors)
            self.motions[name] = Motion(position, turn, velocity, spin)

    def motion(self, name: str) -> Motion:
        return self.motions[name]


OPTIONS = {"default": {"physics": "dartsim"}}
ENGINE = Engine(
    version=sim.__name__, world=GazeboWorld, options=OPTIONS, surface_restitution=np.sqrt
)
