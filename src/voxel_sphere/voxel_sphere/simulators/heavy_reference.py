"""The heavy ball as a simulator: weight, drive torque and dry friction on the field of its terrain.

Inside it counts in voxels, outside in metres.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.reference import Reference

from voxel_sphere.model.contact import BALL, GROUND
from voxel_sphere.model.parameters import VoxelSphereParameters
from voxel_sphere.rolling.heavy import HeavyParameters, HeavyRoller
from voxel_sphere.rolling.path import DONE
from voxel_sphere.simulators.reference import NO_JOINTS, VERSION, ball_state
from voxel_sphere.simulators.scene import Scene


class HeavyReference(Reference):
    """Roll the heavy ball over the field of its terrain; it may slip and lift off.

    Where its run ends, at the edge of the workspace say, it stays, and an event says why. Walls
    take all of the speed towards them, as they do in the engines.

    Args:
        setup: robot and scenario.
    """

    version = VERSION
    order = 4

    def __init__(self, setup: Setup) -> None:
        scene: Scene = setup.terrain
        p: VoxelSphereParameters = setup.parameters
        assert setup.contact is not None
        super().__init__(setup)
        self._voxel, self._p = scene.voxel, p
        self._mu = setup.contact.mu((BALL, GROUND))
        self._ground, self._walls = scene.fields
        self._heavy = HeavyParameters(
            mass=p.mass, inertia=p.inertia / scene.voxel**2, gravity=p.gravity / scene.voxel,
            friction=self._mu, restitution=0.0,
        )  # fmt: skip
        self._warm_up(setup.initial)

    def _place(self, state: RobotState) -> None:
        """Put the ball on the ground; it rolls, or slides if it is as fast as that."""
        rotation = quaternion_matrix(state.orientation)
        centre, speed = state.position / self._voxel, rotation @ state.twist[:3] / self._voxel
        spin = rotation @ state.twist[3:]
        self._roller = HeavyRoller(
            self._ground, centre=centre, orientation=state.orientation, omega=spin,
            velocity=speed if self._slides(centre, speed, spin) else None,
            walls=self._walls, parameters=self._heavy, step=self.physics_step,
        )  # fmt: skip
        self._began = state.time

    def _slides(self, centre: Array, speed: Array, spin: Array) -> bool:
        """Return whether the contact slips by more than friction ends within a step."""
        n, p = self._ground.normal(centre), self._p
        slip = speed - (speed @ n) * n - self._ground.radius * np.cross(spin, n)
        ends = self._mu * self._heavy.gravity * n[2] * (1.0 + 1.0 / p.inertia_ratio)
        return bool(np.linalg.norm(slip) > ends * self.physics_step)

    def _read(self) -> RobotState:
        roller, runs = self._roller, self._roller.status == DONE
        speed = roller.velocity * self._voxel if runs else np.zeros(3)
        spin = roller.omega if runs else np.zeros(3)
        centre = roller.centre * self._voxel
        return ball_state(self._time, centre, roller.orientation, speed, spin)

    def _advance(self, command: Command, duration: float) -> None:
        """Move under a held torque.

        Raises:
            AccordError: for a twist, which a heavy ball cannot be told, or a force.
        """
        if command.twist is not None:
            raise AccordError("friction.law is contact: the heavy ball takes a wrench, no twist")
        wrench = np.zeros(6) if command.wrench is None else command.wrench
        if np.any(wrench[:3]):
            raise AccordError("the heavy ball's reference takes torques, and no force")
        known = len(self._roller.events)
        self._roller.advance(wrench[3:] / self._voxel**2, duration)
        new = self._roller.events[known:]
        self._events += [Event(self._began + e.time, e.kind, e.detail) for e in new]

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact: it falls."""
        return Acceleration(np.array([0.0, 0.0, -self._p.gravity, 0.0, 0.0, 0.0]), NO_JOINTS)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of the ball [kg]."""
        return {"base_link": self._p.mass}
