"""Simulate a robot without contact with PhysX, one articulation on the CPU.

Forces on the robot (efforts, wrench on the base, force law, friction of joints) are computed here
in each physics step and given to PhysX. `EngineSimulator` implements the interface of all engines,
and calls the methods of this class.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import numpy as np
from roboaccord.contract import AccordError, Array, ContactPoint, RobotState
from roboaccord.engines import EngineModel, EngineSimulator, read_settings
from roboaccord.numerics import quaternion_matrix, turn_twist
from roboaccord.simulators import LOCK_INERTIA, Losses

from roboaccord_sapien.articulation import SINGLE, Articulation
from roboaccord_sapien.model import SapienMechanism
from roboaccord_sapien.settings import SapienSettings


class SapienSimulator(EngineSimulator):
    """Simulate any model without contact with PhysX, under its `SapienSettings` (Simulator)."""

    name = "sapien"
    order = 1

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        settings = read_settings(model.options, self.name, SapienSettings)
        if self.base.moves and not self.base.tilts:
            raise AccordError("sapien: no base that moves in the plane: use mujoco or dart")
        solver = "tgs" if settings.tgs else "pgs"
        self.version = f"{version('sapien')} ({solver})"
        iterations = settings.position_iterations, settings.velocity_iterations
        self._articulation = Articulation(self, model, iterations=iterations, tgs=settings.tgs)
        self.mechanism: SapienMechanism = SapienMechanism(self, model)
        self._pushed = np.zeros(len(self.joints)), np.zeros(6)  # efforts and wrench of a step
        self._prepare_forces()

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint where it is, or release it, by the inertia of its rotor."""
        inertia = LOCK_INERTIA if locked else self.armature[joint]
        for articulation in (self._articulation, self.mechanism.articulation):
            index = int(articulation.columns[joint])
            articulation.body.active_joints[index].armature = [inertia]

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by PhysX's drive."""
        articulation = self._articulation
        driven = articulation.body.active_joints[int(articulation.columns[joint])]
        driven.set_drive_property(stiffness, damping + float(self._own_damping[joint]))
        driven.set_drive_target(target)

    def contacts(self) -> Sequence[ContactPoint]:
        """Return nothing: there is no contact."""
        return ()

    def _place(self, state: RobotState) -> None:
        self._articulation.place(state, free=self.base.tilts)

    def _read(self) -> RobotState:
        body, columns = self._articulation.body, self._articulation.columns
        q, qd = (values[columns].astype(float) for values in (body.get_qpos(), body.get_qvel()))
        if not self.base.tilts:
            return RobotState(self._time, q, qd, self._effort)
        position, orientation, twist = self._articulation.base()
        own_twist = turn_twist(quaternion_matrix(orientation).T, twist)
        return RobotState(self._time, q, qd, self._effort, position, orientation, own_twist)

    def _substeps(self, effort: Array, count: int) -> None:
        for _ in range(count):
            self._pushed = self._loads(effort)
            self._articulation.push(*self._pushed)
            self._articulation.step(self.physics_step)

    def _loads(self, effort: Array) -> tuple[Array, Array]:
        """Return efforts (n,) and the wrench (6,) on the base with force law and friction."""
        wrench = np.zeros(6) if self._wrench is None else self._wrench
        if not (self._law or self._friction):
            return effort, wrench
        state = self._read()
        if self._law:
            turn, twist = quaternion_matrix(state.orientation), self._twist(state)
            on_base, on_joints = self._law_efforts(state.q, state.qd, state.position, turn, twist)
            wrench, effort = wrench + on_base, effort + on_joints
        if self._friction:  # last, for it opposes the sum of all other efforts
            effort = self._friction.add(effort, state.q, state.qd)
        return effort, wrench

    def _twist(self, state: RobotState) -> Array:
        """Return the twist of the base in the world (6,)."""
        return turn_twist(quaternion_matrix(state.orientation), state.twist)

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the energy that joint stops took in the last physics step [J].

        What changes the rates beyond the accelerations a without stops is the impulse of stops,
        J = M (v1 - v0 - h a). Its work is J times the mean rates (v0 + v1) / 2.
        """
        turn = quaternion_matrix(before.orientation)
        self.mechanism.place(before)
        free = self.mechanism.accelerate(turn, *self._pushed)
        axes = [*self.base.axes]
        twists = [
            turn_twist(quaternion_matrix(s.orientation), s.twist)[axes] for s in (before, after)
        ]
        rates = [np.concatenate(pair) for pair in zip(twists, (before.qd, after.qd), strict=True)]
        excess = rates[1] - rates[0] - self.physics_step * np.append(free.base[axes], free.joints)
        impulse = self.mechanism.statics_at(before)[0] @ excess
        # Excesses of round-off are no impulses.
        is_stopped = np.abs(excess[len(axes) :]) > 64.0 * np.finfo(SINGLE).eps * np.abs(before.qd)
        mean = 0.5 * (rates[0] + rates[1])[len(axes) :]
        return Losses(-float((impulse[len(axes) :] * mean)[is_stopped].sum()))
