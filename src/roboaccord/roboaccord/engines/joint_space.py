"""Reference simulator of a robot on a fixed base, from its equations of motion."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.timing import count_steps
from roboaccord.contract.trajectory import Event
from roboaccord.contract.version import VERSION
from roboaccord.engines.joint_faults import JointFaults

if TYPE_CHECKING:
    from roboaccord.scenario.setup import Setup


class JointSpaceReference(JointFaults):
    """Simulate a robot on a fixed base by the equations of motion that a subclass writes.

    The joints have neither stops nor friction: one that comes to a stop of the description is an
    error. The integrator is the classical Runge-Kutta method of order 4, at the scenario's physics
    step.

    Args:
        setup: robot and scenario.

    Attributes:
        parameters: of the robot.
    """

    name = "reference"
    order = 4

    def __init__(self, setup: Setup) -> None:
        if setup.scenario.base != "fixed":
            raise AccordError(f"base is {setup.scenario.base}; the {setup.robot.name} takes fixed")
        self.version = f"roboaccord {VERSION}"
        self.parameters: Any = setup.parameters
        self.joints = setup.joints
        self.effort_limits = setup.effort_limits
        self.physics_step = setup.scenario.physics_step
        self._state = setup.initial
        self._schedule(setup.faults, setup.tree)
        self._held, self._events = list[int](), list[Event]()
        described = {joint.name: joint for joint in setup.tree.moving}
        self._lower, self._upper = (
            np.array([getattr(described[name], end) for name in self.joints])
            for end in ("lower", "upper")
        )

    @abstractmethod
    def joint_accelerations(self, q: Array, qd: Array, effort: Array) -> Array:
        """Return the accelerations of the joints (n,) [rad/s^2].

        Args:
            q: positions (n,) [rad].
            qd: velocities (n,) [rad/s].
            effort: of the motors (n,) [N m].
        """

    @abstractmethod
    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`."""
        self._heal(state.time)
        self._events.clear()
        self._state = RobotState(
            state.time, np.array(state.q), np.array(state.qd), np.array(state.effort)
        )
        return self._state

    def state(self) -> RobotState:
        """Return the present state."""
        return self._state

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command, clipped to the effort limits.

        Raises:
            AccordError: if a joint comes to a stop.
        """
        steps = count_steps(duration, self.physics_step, "control period over physics step")
        effort = self._begin(command)
        y = np.array([self._state.q, self._state.qd])
        for _ in range(steps):
            y = self._step(y, effort)
        time = round(self._state.time + duration, 9)  # free of the sum's round-off
        for joint in np.flatnonzero((y[0] < self._lower) | (y[0] > self._upper)):
            raise AccordError(
                f"{self.joints[joint]} comes to its stop at t = {time:.6f} s, and the reference of "
                "the robot has none: widen its limits, or make it continuous"
            )
        self._state = RobotState(time, y[0].copy(), y[1].copy(), effort)
        return self._state

    def _step(self, y: Array, effort: Array) -> Array:
        """Return positions and velocities (2, n) one physics step later."""

        def slope(y: Array) -> Array:
            return np.array([y[1], self._held_accelerations(y[0], y[1], effort)])

        h = self.physics_step
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        k4 = slope(y + h * k3)
        return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)

    def take_events(self) -> Sequence[Event]:
        """Return the joints that failed since the last call: there are no stops to come to."""
        events, self._events = self._events, []
        return events

    def lock(self, joint: int, locked: bool) -> None:
        (self._held.append if locked else self._held.remove)(joint)

    def _continue_from(self, state: RobotState) -> None:
        self._state = state

    def _tell(self, events: Sequence[Event]) -> None:
        self._events += events

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
