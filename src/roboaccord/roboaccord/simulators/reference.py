"""References, simulators of a setup by equations of their own: their base, and joint space."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from roboaccord.contract import VERSION
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.base_kinds import Base
from roboaccord.simulators.base import Simulator
from roboaccord.simulators.joints import StopWatch

if TYPE_CHECKING:
    from roboaccord.scenario.setup import Setup


class Reference(Simulator):
    """Simulate a robot by equations of its own.

    The state is kept in `_now`; a subclass that keeps coordinates writes `_place` and `_read`.

    Args:
        setup: robot and scenario.

    Attributes:
        bases: kinds of base for which it has equations.
        parameters: of the robot.

    Raises:
        AccordError: for another base.
    """

    name = "reference"
    bases: tuple[Base, ...] = get_args(Base)

    def __init__(self, setup: Setup) -> None:
        base = setup.scenario.base
        if base not in self.bases:
            known = " or ".join(self.bases)
            raise AccordError(f"base is {base}; the reference of {setup.robot.name} takes {known}")
        super().__init__(
            setup.joints, setup.effort_limits, setup.scenario.physics_step,
            faults=setup.faults, hinges=setup.tree.hinges,
        )  # fmt: skip
        self.parameters: Any = setup.parameters
        self._now = setup.initial

    def _place(self, state: RobotState) -> None:
        self._now = state

    def _read(self) -> RobotState:
        return self._now


class JointSpaceReference(Reference):
    """Simulate a robot on a fixed base by the equations of motion that a subclass writes.

    The joints have neither stops nor friction: one that comes to a stop of the description is an
    error. The integrator is the classical Runge-Kutta method of order 4, at the scenario's physics
    step.

    Args:
        setup: robot and scenario.
    """

    version = f"roboaccord {VERSION}"
    order = 4
    bases = ("fixed",)

    def __init__(self, setup: Setup) -> None:
        super().__init__(setup)
        self._stops = StopWatch.of(setup.tree, self.joints)
        self._held = list[int]()
        self.reset(setup.initial)

    @abstractmethod
    def joint_accelerations(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the accelerations of the joints (n,) [rad/s^2].

        Args:
            q: positions (n,) [rad].
            qd: velocities (n,) [rad/s].
            effort: of the motors (n,) [N m].
        """

    def lock(self, joint: int, locked: bool) -> None:
        (self._held.append if locked else self._held.remove)(joint)

    def _place(self, state: RobotState) -> None:
        self._y = np.array([state.q, state.qd])

    def _read(self) -> RobotState:
        return RobotState(self._time, self._y[0].copy(), self._y[1].copy(), self._effort)

    def _advance(self, command: Command, duration: float) -> None:
        for _ in range(self._steps):
            self._y = self._rk4(self._y, self._effort)

    def _note(self, before: RobotState, after: RobotState) -> None:
        """Refuse a joint beyond its stop."""
        stopped = self._stops.beyond(after.q)
        if stopped:
            raise AccordError(
                f"{stopped} comes to its stop at t = {after.time:.6f} s, and the reference of "
                "the robot has none: widen its limits, or make it continuous"
            )

    def _rk4(self, y: Array, effort: Array) -> Array:
        """Return positions and velocities (2, n) one physics step later."""

        def slope(y: Array) -> Array:
            return np.array([y[1], self._held_accelerations(y[0], y[1], effort)])

        h = self.physics_step
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        return Acceleration(np.zeros(6), self._held_accelerations(state.q, state.qd, effort))

    def _held_accelerations(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the accelerations (n,) under the efforts by which frozen joints have none."""
        free = self.joint_accelerations(q, qd, effort)
        held = self._held
        if not held:
            return free
        units = effort + np.eye(len(self.joints))[held]
        responses = np.array([self.joint_accelerations(q, qd, e) for e in units]) - free
        found = free - np.linalg.solve(responses[:, held].T, free[held]) @ responses
        found[held] = 0.0
        return np.asarray(found)
