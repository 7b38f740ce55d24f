"""Reference of any robot: articulated bodies, and the classical Runge-Kutta method of order 4."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from roboaccord.contract import VERSION
from roboaccord.contract.errors import AccordError
from roboaccord.contract.interfaces import Acceleration
from roboaccord.contract.state import Array, Command, RobotState
from roboaccord.description.dynamics import TreeDynamics
from roboaccord.description.mimic import MimicDynamics
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist
from roboaccord.scenario.setup import Setup
from roboaccord.simulators.joints import LOCK_INERTIA, JointFriction, StopWatch
from roboaccord.simulators.losses import DAMPING, FRICTION, STOPS
from roboaccord.simulators.reference import Reference
from roboaccord.simulators.stops import Stops


class TreeReference(Reference):
    """Simulate a tree of links by its description alone, without contact; stops are inelastic.

    Args:
        setup: robot and scenario.
        friction: of the joints, or None.

    Raises:
        AccordError: for a link that moves and has no inertia.
    """

    version = f"roboaccord {VERSION}"
    order = 4
    bases = ("fixed", "planar", "free")

    def __init__(self, setup: Setup, friction: JointFriction | None) -> None:
        # What a law of friction takes is not measured; without one, only brakes that slip take.
        self.channels = (STOPS,) if friction else (STOPS, FRICTION, DAMPING)
        super().__init__(setup)
        self._base, law = setup.base, friction
        braking = (law.viscous, law.constant, law.speed) if law else ()
        gravity = setup.parameters.gravity
        plain = setup.tree, self.joints, setup.scenario.base, gravity
        held = MimicDynamics if any(j.mimic for j in setup.tree.moving) else TreeDynamics
        self._bare, self._dynamics = held(*plain), held(*plain, *braking)
        self._masses = {link.name: link.mass for link in setup.tree.links}
        self._watch, self._locked = StopWatch.of(setup.tree, self.joints), set[int]()
        self._stops = Stops(self._dynamics, *self._watch.limits)
        self.reset(setup.initial)

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link [kg]."""
        return self._masses

    def lock(self, joint: int, locked: bool) -> None:
        (self._locked.add if locked else self._locked.discard)(joint)
        for dynamics in (self._bare, self._dynamics):
            dynamics.lock(joint, LOCK_INERTIA if locked else 0.0)

    def _place(self, state: RobotState) -> None:
        """Go on from a state; a base that does not move is where it is described."""
        if not self._base.moves:
            state = RobotState(state.time, state.q, state.qd, state.effort)
        self._now = state

    def _advance(self, command: Command, duration: float) -> None:
        if command.twist is not None or (command.wrench is not None and not self._base.moves):
            raise AccordError("reference: it takes efforts, and wrenches on a base that moves")
        before, n = self._now, len(self.joints)
        turn = quaternion_matrix(before.orientation)
        twist = turn_twist(turn, before.twist)
        y = self._dynamics.state(before.q, before.qd, before.position, before.orientation, twist)
        taken = self._effort, self.physics_step, self._steps, command.wrench
        if self._stops.any:
            for impact in self._stops.advance(y, *taken, sorted(self._locked)):
                event = self._watch.event(impact.joint, before.time + impact.time, impact.impulse)
                self._events.append(event)
            self._losses.add(STOPS, self._stops.taken)
        else:
            self._dynamics.advance(y, *taken)
        position, orientation, q, twist, qd = np.split(y, [3, 7, 7 + n, 13 + n])
        back = quaternion_matrix(orientation)
        own = np.concatenate([twist[:3] @ back, twist[3:] @ back])
        self._now = RobotState(self._time, q, qd, self._effort, position, orientation, own)

    def _accelerate(self, state: RobotState, effort: Array) -> Acceleration:
        turn = quaternion_matrix(state.orientation)
        twist = turn_twist(turn, state.twist)
        return self._bare.acceleration(state.q, state.qd, effort, state.position, turn, twist)
