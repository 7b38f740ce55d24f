"""Interface to an engine's own model of a robot: accelerations, mass matrix, and properties.

A `Mechanism` is a robot that an engine has loaded; it returns the numbers that the engine computes
with. Each engine implements it once, for its simulator (base.py) and for its reader of robot files
(reading.py). A new property is an abstract method here that every engine implements. The order of
`statics_at` is that of `mass_matrix` in base.py, and stays.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import NO_TWIST, Array, RobotState
from roboaccord.engines.model import JointProperties, LinkProperties
from roboaccord.numerics import rotations


class Mechanism(ABC):
    """A robot that an engine has loaded, in a state that can be set.

    All numbers are in SI units. The argument `rotation` (3, 3) is that of the base in the current
    state, from its own axes to those of the world.
    """

    @abstractmethod
    def place(self, state: RobotState) -> None:
        """Set the current state."""

    @abstractmethod
    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return the accelerations under joint efforts (n,) in the current state.

        Contacts, friction and stops do not act.
        """

    @abstractmethod
    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return S, mass matrix M and gravity forces g in the engine's coordinates, at rest.

        S (m, m) converts rates to the engine's: v_engine = S v, with v in the order of
        `mass_matrix` in base.py. M is (m, m), g (m,).
        """

    @abstractmethod
    def link(self, name: str) -> LinkProperties | None:
        """Return the properties of a link; None where the engine has none of that name."""

    @abstractmethod
    def joint(self, name: str) -> JointProperties:
        """Return the properties of a joint."""

    @abstractmethod
    def gravity(self) -> Array:
        """Return gravity in the world (3,) [m/s^2]."""

    def acceleration_at(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations in a state, without contact, friction or stops."""
        self.place(state)
        return self.accelerate(rotations.quaternion_matrix(state.orientation), effort)

    def statics_at(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,) [N, N m] in a state.

        Their order is linear and angular in the world for a free base, x, y and yaw for a planar
        one, nothing for a fixed one; then the joints.
        """
        self.place(replace(state, qd=np.zeros_like(state.qd), twist=NO_TWIST))
        to_engine, mass, gravity = self.statics(rotations.quaternion_matrix(state.orientation))
        # With rates v_engine = S v, the kinetic energy v_engine' M v_engine / 2 is that of S' M S,
        # and the power v_engine' g is that of S' g.
        return np.asarray(to_engine.T @ mass @ to_engine), np.asarray(to_engine.T @ gravity)
