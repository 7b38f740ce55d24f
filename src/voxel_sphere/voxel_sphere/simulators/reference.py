"""Reference simulators of the ball on its terrain: a kinematic and a heavy one.

A reference is the analytical model with which physics engines are compared, so it must not be tuned
towards them. The kinematic ball (`RollingReference`) rolls without slipping at its commanded
angular velocity. On the heavy one (`HeavyReference`) weight, drive torque and dry friction act, and
it may slip and lift off. The equations of both, and their derivation, are in rolling/schemes.py and
rolling/heavy_equations.py; the integration step is the scenario's `physics_step`.

States and commands of the workspace are in metres, those of rolling/ in voxels: lengths are
converted here, by the edge of a voxel. A spin is an angular velocity in the world frame [rad/s].
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping

import numpy as np
import roboaccord
from roboaccord.contract import Acceleration, AccordError, Array, Command, Event, RobotState
from roboaccord.numerics import quaternion_matrix
from roboaccord.scenario import Setup
from roboaccord.simulators import Reference

from voxel_sphere.model import BALL, GROUND
from voxel_sphere.rolling.ball import DONE
from voxel_sphere.rolling.heavy import HeavyRoller
from voxel_sphere.rolling.heavy_equations import Body
from voxel_sphere.rolling.motion import Roller
from voxel_sphere.rolling.scene import Scene

NO_JOINTS = np.zeros(0)  # positions, rates or efforts of a robot without joints


class BallReference(Reference):
    """A ball that moves on a terrain, of which it knows the distance field.

    If its motion ends early, for example at the edge of the grid, the ball stays there, and an
    event states the reason.

    Args:
        setup: robot and scenario.
    """

    version = f"roboaccord-voxel-sphere {roboaccord.__version__}"
    order = 4
    _roller: Roller | HeavyRoller
    _start_time = 0.0  # time of the scenario at which the ball was placed [s]

    def __init__(self, setup: Setup) -> None:
        scene: Scene = setup.terrain
        super().__init__(setup)
        self._voxel = scene.voxel  # edge [m]
        self._ground, self._walls = scene.fields

    @abstractmethod
    def _velocity(self, spin: Array) -> Array:
        """Return the velocity of the centre (3,) [m/s] at a spin (3,); 0 once the run has ended."""

    def _read(self) -> RobotState:
        """Return the state of the ball [m], with its twist (6,) in the axes of the ball."""
        roller = self._roller
        rotation = quaternion_matrix(roller.orientation)
        spin = roller.omega if roller.status == DONE else np.zeros(3)
        return RobotState(
            time=self._time,
            q=NO_JOINTS,
            qd=NO_JOINTS,
            effort=NO_JOINTS,
            position=roller.centre * self._voxel,
            orientation=roller.orientation,
            twist=np.concatenate([self._velocity(spin) @ rotation, spin @ rotation]),
        )

    def _roll(self, drive: Array, duration: float) -> None:
        """Move the ball for a duration [s], and report its new events.

        Args:
            drive: angular velocity of the kinematic ball, or torque on the heavy one (3,).
            duration: [s].
        """
        reported = len(self._roller.events)
        self._roller.advance(drive, duration)
        new = self._roller.events[reported:]
        self._events += [Event(self._start_time + e.time, e.kind, e.detail) for e in new]

    def masses(self) -> Mapping[str, float]:
        """Return the mass of the ball [kg]."""
        return {"base_link": float(self.parameters.mass)}


class RollingReference(BallReference):
    """The kinematic ball; a command without a twist leaves it at rest."""

    _roller: Roller

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._warm_up(setup.initial, Command(NO_JOINTS, twist=np.ones(6)))

    def _place(self, state: RobotState) -> None:
        """Put the ball on the ground; its speed follows from its spin."""
        self._roller = Roller(
            self._ground,
            centre=state.position / self._voxel,
            orientation=state.orientation,
            walls=self._walls,
            step=self.physics_step,
        )
        self._start_time = state.time
        self._roller.set_omega(quaternion_matrix(state.orientation) @ state.twist[3:])

    def _velocity(self, spin: Array) -> Array:
        return self._ground.radius * self._voxel * np.cross(spin, self._roller.normal)

    def _advance(self, command: Command, duration: float) -> None:
        """Roll with the angular velocity of a command for a duration [s].

        Raises:
            AccordError: for a wrench, which a kinematic ball does not feel.
        """
        if command.wrench is not None:
            raise AccordError("friction.law is rolling: the kinematic ball takes no wrench")
        self._roll(np.zeros(3) if command.twist is None else command.twist[3:], duration)

    def _accelerate(self, state: RobotState, effort: Array) -> None:
        """Return None: the ball is kinematic."""


class HeavyReference(BallReference):
    """The heavy ball, which may slip and lift off."""

    _roller: HeavyRoller

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        assert setup.contact is not None
        p, voxel = self.parameters, self._voxel
        inertia, gravity = p.inertia / voxel**2, p.gravity / voxel
        mu = float(setup.contact.mu((BALL, GROUND)))
        self._body = Body(self._ground.radius, float(p.mass), inertia, gravity, mu)
        self._warm_up(setup.initial)

    def _place(self, state: RobotState) -> None:
        """Put the ball on the ground; it slides if its velocity does not match its spin."""
        rotation = quaternion_matrix(state.orientation)
        centre = state.position / self._voxel
        velocity, spin = rotation @ state.twist[:3] / self._voxel, rotation @ state.twist[3:]
        self._roller = HeavyRoller(
            self._ground,
            self._body,
            centre=centre,
            orientation=state.orientation,
            omega=spin,
            velocity=velocity if self._slides(centre, velocity, spin) else None,
            walls=self._walls,
            step=self.physics_step,
        )
        self._start_time = state.time

    def _slides(self, centre: Array, velocity: Array, spin: Array) -> bool:
        """Return whether the contact slips faster than friction can stop within a step.

        Args:
            centre: centre of the ball (3,) [voxels].
            velocity: velocity of the centre (3,) [voxels/s].
            spin: angular velocity (3,) [rad/s].
        """
        n, body = self._ground.normal(centre), self._body
        slip = velocity - (velocity @ n) * n - body.radius * np.cross(spin, n)
        # Friction mu N slows the centre and, by its torque, changes the spin: both reduce the slip.
        deceleration = body.mu * body.gravity * n[2] * (1.0 + 1.0 / self.parameters.inertia_ratio)
        return bool(np.linalg.norm(slip) > deceleration * self.physics_step)

    def _velocity(self, spin: Array) -> Array:
        is_running = self._roller.status == DONE
        return self._roller.velocity * self._voxel if is_running else np.zeros(3)

    def _advance(self, command: Command, duration: float) -> None:
        """Move under the constant torque of a command for a duration [s].

        Raises:
            AccordError: for a twist, which a heavy ball does not take, or a force.
        """
        if command.twist is not None:
            raise AccordError("friction.law is contact: the heavy ball takes a wrench, no twist")
        wrench = np.zeros(6) if command.wrench is None else command.wrench
        if np.any(wrench[:3]):
            raise AccordError("the heavy ball's reference takes torques, and no force")
        self._roll(wrench[3:] / self._voxel**2, duration)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the acceleration without contact, a free fall."""
        free_fall = np.array([0.0, 0.0, -self.parameters.gravity, 0.0, 0.0, 0.0])
        return Acceleration(free_fall, NO_JOINTS)
