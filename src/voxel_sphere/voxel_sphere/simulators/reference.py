"""Simulator of the kinematic ball, which rolls at its commanded angular velocity.

Inside it counts in voxels, outside in metres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import roboaccord
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.timing import count_steps
from roboaccord.contract.trajectory import Event
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.scenario.setup import Setup

from voxel_sphere.rolling.motion import Roller
from voxel_sphere.rolling.path import DONE
from voxel_sphere.simulators.scene import Scene

VERSION = f"roboaccord-voxel-sphere {roboaccord.__version__}"
NO_JOINTS = np.zeros(0)


class RollingReference:
    """Roll the kinematic ball over the field of its terrain (Simulator).

    A command without a twist leaves it at rest. Where its run ends, at the edge of the workspace
    say, it stays, and an event says why.

    Args:
        setup: robot and scenario.
    """

    name = "reference"
    version = VERSION
    order = 4

    def __init__(self, setup: Setup) -> None:
        scene: Scene = setup.terrain
        self.joints, self.effort_limits = setup.joints, setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        self._voxel, self._mass = scene.voxel, float(setup.parameters.mass)
        self._ground, self._walls = scene.fields
        self.reset(setup.initial)
        self.step(Command(NO_JOINTS, twist=np.ones(6)), self.physics_step)  # compiles the kernels
        self.reset(setup.initial)

    def reset(self, state: RobotState) -> RobotState:
        """Put the ball in `state`, on the ground; it has no speed of its own."""
        self._roller = Roller(
            self._ground, centre=state.position / self._voxel, orientation=state.orientation,
            walls=self._walls, step=self.physics_step,
        )  # fmt: skip
        self._start, self._told = state.time, 0
        self._roller.take(quaternion_matrix(state.orientation) @ state.twist[3:])
        return self.state()

    def state(self) -> RobotState:
        """Return the present state."""
        roller = self._roller
        rotation = quaternion_matrix(roller.orientation)
        spin = roller.omega if roller.status == DONE else np.zeros(3)
        speed = roller.field.radius * self._voxel * np.cross(spin, roller.normal)
        return RobotState(
            time=round(self._start + roller.time, 9),  # free of the sum's round-off
            q=NO_JOINTS,
            qd=NO_JOINTS,
            effort=NO_JOINTS,
            position=roller.centre * self._voxel,
            orientation=roller.orientation,
            twist=np.concatenate([speed @ rotation, spin @ rotation]),
        )

    def step(self, command: Command, duration: float) -> RobotState:
        """Roll for `duration` [s] with the angular velocity of a command.

        Raises:
            AccordError: for a wrench, which a kinematic ball does not feel.
        """
        count_steps(duration, self.physics_step, "control period over physics step")
        if command.wrench is not None:
            raise AccordError("friction.law is rolling: the kinematic ball takes no wrench")
        spin = np.zeros(3) if command.twist is None else command.twist[3:]
        self._roller.advance(spin, duration)
        return self.state()

    def take_events(self) -> Sequence[Event]:
        """Return walls, corners and the end of the run, since the last call."""
        events = self._roller.events[self._told :]
        self._told += len(events)
        return [Event(self._start + e.time, e.kind, e.detail) for e in events]

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration | None:
        """Return None: the ball is kinematic."""
        return None

    def masses(self) -> Mapping[str, float]:
        """Return the mass of the ball [kg]."""
        return {"base_link": self._mass}
