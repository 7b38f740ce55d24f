"""Simulate a robot without contact with PhysX, one articulation on the CPU.

Forces on the robot (efforts, wrench on the base, force law, friction of joints) are computed here
in each physics step and given to PhysX. `EngineSimulator` implements the interface of all engines,
and calls the methods of this class.
"""

from __future__ import annotations

from importlib.metadata import version

import numpy as np
from roboaccord.contract import AccordError, Array, RobotState
from roboaccord.engines import ContactlessSimulator, EngineModel, read_settings
from roboaccord.numerics import quaternion_matrix, turn_twist
from roboaccord.simulators import LOCK_INERTIA

from roboaccord_sapien.articulation import Articulation
from roboaccord_sapien.model import SapienMechanism
from roboaccord_sapien.settings import SapienSettings

LARGEST = float(np.finfo(np.float32).max)  # N m, rad/s; PhysX's form of no limit


class SapienSimulator(ContactlessSimulator):
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
        gains = stiffness, damping + float(self._own_damping[joint])
        driven.set_drive_property(*gains, driven.force_limit)
        driven.set_drive_target(target)

    def limit_servo(self, joint: int, effort: float, rate: float) -> None:
        """Limit effort and rate of a joint, as PhysX's drive does."""
        driven = self._articulation.body.active_joints[int(self._articulation.columns[joint])]
        driven.set_drive_property(driven.stiffness, driven.damping, min(effort, LARGEST))
        driven.set_max_velocity(min(rate, LARGEST))

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
            self._pushed = self._loads(self._read(), effort)
            self._articulation.push(*self._pushed)
            self._articulation.step(self.physics_step)
