"""Simulators of engines without contact whose forces are computed here, in each physics step.

`ContactlessSimulator` adds force law and friction of joints to efforts and wrench, and measures
what joint stops take. An engine gives it a `ForcedMechanism`, which has accelerations without stops
under efforts and a wrench on the base. Newton and PhysX derive from it (test_energy tests both).
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from roboaccord.contract import Acceleration, Array, RobotState
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.mechanism import Mechanism
from roboaccord.numerics.rotations import quaternion_matrix, turn_twist
from roboaccord.simulators.losses import Losses

# Relative change of a rate, in roundings, up to which it is round-off: some tens of operations.
EXCESS_ROUNDINGS = 64.0


class ForcedMechanism(Mechanism):
    """A mechanism that also takes a wrench on its base."""

    @abstractmethod
    def accelerate(
        self, rotation: Array, effort: Array, wrench: Array | None = None
    ) -> Acceleration:
        """Return the accelerations under efforts (n,) and a wrench (6,) about the base's origin."""


class ContactlessSimulator(EngineSimulator):
    """Simulate a model without contact; an engine calls `_loads` in each physics step."""

    mechanism: ForcedMechanism
    _pushed: tuple[Array, Array]  # efforts (n,) and wrench (6,) of the last physics step

    def _loads(self, state: RobotState, effort: Array) -> tuple[Array, Array]:
        """Return efforts (n,) and the wrench (6,) on the base, with force law and friction."""
        wrench = np.zeros(6) if self._wrench is None else self._wrench
        if self._law:
            pose = state.position, quaternion_matrix(state.orientation)
            on_base, on_joints = self._law_efforts(state.q, state.qd, *pose, _twist(state))
            wrench, effort = wrench + on_base, effort + on_joints
        if self._friction:  # last, for it opposes the sum of all other efforts
            effort = self._friction.add(effort, state.q, state.qd)
        return effort, wrench

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the energy that joint stops took in the last physics step [J].

        What changes the rates beyond the accelerations a without stops is the impulse of stops,
        J = M (v1 - v0 - h a). Its work is J times the mean rates (v0 + v1) / 2.
        """
        axes, n = [*self.base.axes], len(self.joints)
        self.mechanism.place(before)
        free = self.mechanism.accelerate(quaternion_matrix(before.orientation), *self._pushed)
        rates = [np.append(_twist(state)[axes], state.qd) for state in (before, after)]
        excess = rates[1] - rates[0] - self.physics_step * np.append(free.base[axes], free.joints)
        impulses = (self.mechanism.statics_at(before)[0] @ excess)[-n:]
        # Excesses of round-off are no impulses.
        is_stopped = np.abs(excess[-n:]) > EXCESS_ROUNDINGS * self.rounding * np.abs(before.qd)
        return Losses(-0.5 * float((impulses * (before.qd + after.qd))[is_stopped].sum()))


def _twist(state: RobotState) -> Array:
    """Return the twist of the base in the world (6,)."""
    return turn_twist(quaternion_matrix(state.orientation), state.twist)
