"""An engine's own model of a robot, which answers for simulator and reader alike.

A new property is an abstract method of `Mechanism` that every engine writes. The order of
`statics_at` is that of `mass_matrix` of engines/base.py, and stays.
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
    """An engine's own model, which can be put in a state and asked for equations and properties.

    All numbers are in SI units. `rotation` (3, 3) is that of the base in the present state.
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

        S (m, m) times the rates in the order of `mass_matrix` are those of the engine's
        coordinates.
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
        turn, mass, gravity = self.statics(rotations.quaternion_matrix(state.orientation))
        return np.asarray(turn.T @ mass @ turn), np.asarray(turn.T @ gravity)
