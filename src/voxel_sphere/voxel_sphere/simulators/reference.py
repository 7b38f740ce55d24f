"""Simulator of the kinematic ball, which rolls at its commanded angular velocity.

Inside it counts in voxels, outside in metres.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import roboaccord
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.trajectory import Event
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.reference import Reference

from voxel_sphere.rolling.motion import Roller
from voxel_sphere.rolling.path import DONE
from voxel_sphere.simulators.scene import Scene

VERSION = f"roboaccord-voxel-sphere {roboaccord.__version__}"
NO_JOINTS = np.zeros(0)


def ball_state(
    time: float, centre: Array, orientation: Array, speed: Array, spin: Array
) -> RobotState:
    """Return the state of a ball without joints.

    Args:
        time: [s].
        centre, orientation: in the world (3,) [m], x y z w (4,).
        speed, spin: velocity of the centre (3,) [m/s] and angular velocity (3,) [rad/s], in the
            world; the twist has them in the axes of the ball.
    """
    rotation = quaternion_matrix(orientation)
    return RobotState(
        time=time,
        q=NO_JOINTS,
        qd=NO_JOINTS,
        effort=NO_JOINTS,
        position=centre,
        orientation=orientation,
        twist=np.concatenate([speed @ rotation, spin @ rotation]),
    )


class RollingReference(Reference):
    """Roll the kinematic ball over the field of its terrain.

    A command without a twist leaves it at rest. Where its run ends, at the edge of the workspace
    say, it stays, and an event says why.

    Args:
        setup: robot and scenario.
    """

    version = VERSION
    order = 4

    def __init__(self, setup: Setup) -> None:
        scene: Scene = setup.terrain
        super().__init__(setup)
        self._voxel, self._mass = scene.voxel, float(setup.parameters.mass)
        self._ground, self._walls = scene.fields
        self._warm_up(setup.initial, Command(NO_JOINTS, twist=np.ones(6)))

    def _place(self, state: RobotState) -> None:
        """Put the ball on the ground; it has no speed of its own."""
        self._roller = Roller(
            self._ground, centre=state.position / self._voxel, orientation=state.orientation,
            walls=self._walls, step=self.physics_step,
        )  # fmt: skip
        self._began = state.time
        self._roller.take(quaternion_matrix(state.orientation) @ state.twist[3:])

    def _read(self) -> RobotState:
        roller = self._roller
        spin = roller.omega if roller.status == DONE else np.zeros(3)
        speed = roller.field.radius * self._voxel * np.cross(spin, roller.normal)
        centre = roller.centre * self._voxel
        return ball_state(self._time, centre, roller.orientation, speed, spin)

    def _advance(self, command: Command, duration: float) -> None:
        """Roll with the angular velocity of a command.

        Raises:
            AccordError: for a wrench, which a kinematic ball does not feel.
        """
        if command.wrench is not None:
            raise AccordError("friction.law is rolling: the kinematic ball takes no wrench")
        spin = np.zeros(3) if command.twist is None else command.twist[3:]
        known = len(self._roller.events)
        self._roller.advance(spin, duration)
        new = self._roller.events[known:]
        self._events += [Event(self._began + e.time, e.kind, e.detail) for e in new]

    def _accelerate(self, state: RobotState, effort: Array) -> None:
        """Return None: the ball is kinematic."""

    def masses(self) -> Mapping[str, float]:
        """Return the mass of the ball [kg]."""
        return {"base_link": self._mass}
