"""Reference of any robot: articulated bodies, and the classical Runge-Kutta method of order 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.contract.timing import count_steps
from roboaccord.contract.trajectory import Event
from roboaccord.contract.version import VERSION
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.engines.joint_faults import LOCK_INERTIA, JointFaults
from roboaccord.engines.model import JointFriction
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist
from roboaccord.scenario.setup import Setup


class TreeReference(JointFaults):
    """Simulate a tree of links by its description alone, without contact.

    A joint that comes to a stop is an error.

    Args:
        setup: robot and scenario.
        friction: of the joints, or None.

    Raises:
        AccordError: for a link that moves and has no inertia.
    """

    name = "reference"
    order = 4

    def __init__(self, setup: Setup, friction: JointFriction | None) -> None:
        scenario, law = setup.scenario, friction
        self.version = f"roboaccord {VERSION}"
        self.joints, self.effort_limits = setup.joints, setup.effort_limits
        self.physics_step, self.base = scenario.physics_step, scenario.base
        assert self.base != "ball"
        braking = (law.viscous, law.constant, law.speed) if law else ()
        gravity = setup.parameters.gravity
        plain = setup.tree, self.joints, self.base, gravity
        self._bare, self._dynamics = TreeDynamics(*plain), TreeDynamics(*plain, *braking)
        self._masses = {link.name: link.mass for link in setup.tree.links}
        described = {joint.name: joint for joint in setup.tree.moving}
        self._lower = np.array([described[name].lower for name in self.joints])
        self._upper = np.array([described[name].upper for name in self.joints])
        self._state, self._events = setup.initial, list[Event]()
        self._schedule(setup.faults, setup.tree)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return self._masses

    def reset(self, state: RobotState) -> RobotState:
        """Put the robot in `state`; a base that does not move is where it is described."""
        self._heal(state.time)
        self._events.clear()
        if self.base == "fixed":
            state = RobotState(state.time, state.q, state.qd, state.effort)
        self._state = state
        return state

    def state(self) -> RobotState:
        """Return the present state."""
        return self._state

    def step(self, command: Command, duration: float) -> RobotState:
        """Advance by `duration` [s] under a held command, clipped to the effort limits.

        Raises:
            AccordError: if a joint comes to a stop, or the command cannot act.
        """
        if command.twist is not None or (command.wrench is not None and self.base == "fixed"):
            raise AccordError("reference: it takes efforts, and wrenches on a base that moves")
        steps = count_steps(duration, self.physics_step, "control period over physics step")
        effort = self._begin(command)
        before, n = self._state, len(self.joints)
        turn = quaternion_matrix(before.orientation)
        twist = turn_twist(turn, before.twist)
        y = self._dynamics.state(before.q, before.qd, before.position, before.orientation, twist)
        self._dynamics.advance(y, effort, self.physics_step, steps, command.wrench)
        position, orientation, q, twist, qd = np.split(y, [3, 7, 7 + n, 13 + n])
        time = round(before.time + duration, 9)  # free of the sum's round-off
        for joint in np.flatnonzero((q < self._lower) | (q > self._upper)):
            raise AccordError(
                f"{self.joints[joint]} comes to its stop at t = {time:.6f} s, and the reference "
                "of a file has none: a shorter run, or --set parameters.stops=0 for all simulators"
            )
        back = quaternion_matrix(orientation)
        own = np.concatenate([twist[:3] @ back, twist[3:] @ back])
        self._state = RobotState(time, q, qd, effort, position, orientation, own)
        return self._state

    def take_events(self) -> Sequence[Event]:
        """Return the joints that failed since the last call."""
        events, self._events = self._events, []
        return events

    def lock(self, joint: int, locked: bool) -> None:
        for dynamics in (self._bare, self._dynamics):
            dynamics.lock(joint, LOCK_INERTIA if locked else 0.0)

    def _continue_from(self, state: RobotState) -> None:
        self._state = state

    def _tell(self, events: Sequence[Event]) -> None:
        self._events += events

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        turn = quaternion_matrix(state.orientation)
        twist = turn_twist(turn, state.twist)
        return self._bare.acceleration(state.q, state.qd, effort, state.position, turn, twist)
