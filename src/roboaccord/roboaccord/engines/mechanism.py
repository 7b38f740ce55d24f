"""A description as an engine has loaded it: what its simulator and its reader ask of it alike."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

import numpy as np

from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import NO_TWIST, Array, RobotState
from roboaccord.engines.properties import JointProperties, LinkProperties
from roboaccord.numerics.rotations import quaternion_matrix


class Mechanism(ABC):
    """Put an engine's own model in states, and ask for its equations and properties, in our units.

    `rotation` (3, 3) is that of the base in the present state.
    """

    @abstractmethod
    def place(self, state: RobotState) -> None:
        """Put it in a state."""

    @abstractmethod
    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return the accelerations in the present state, without contact, friction or stops."""

    @abstractmethod
    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix M and gravity forces g of the engine's coordinates, at rest.

        S (m, m) gives the rates of the engine's coordinates by those of `mass_matrix`.
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
        return self.accelerate(quaternion_matrix(state.orientation), effort)

    def statics_at(self, state: RobotState) -> tuple[Array, Array]:
        """Return mass matrix (m, m) and gravity forces (m,) [N, N m] in a state.

        Their order is linear and angular in the world for a free base, x, y and yaw for a planar
        one, nothing for a fixed one; then the joints.
        """
        self.place(replace(state, qd=np.zeros_like(state.qd), twist=NO_TWIST))
        turn, mass, gravity = self.statics(quaternion_matrix(state.orientation))
        return np.asarray(turn.T @ mass @ turn), np.asarray(turn.T @ gravity)
