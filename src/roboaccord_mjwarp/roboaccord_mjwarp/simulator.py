"""Simulation by MuJoCo Warp: one world on the CPU, in single precision.

MuJoCo's adapter loads the robot, sets MuJoCo's options and computes forces (force law, friction,
wrench) in double precision. Here the state is copied to Warp's arrays, Warp takes the physics
steps, and the state is copied back. Warp calls `_set_forces` in each evaluation of the dynamics, so
forces act in every stage of the integrator, as in MuJoCo.

Nothing in Warp raises an error: each control tick ends with a check for NaN and for numbers of
contacts and constraints beyond the sizes in the settings.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import mujoco
import numpy as np
import warp as wp
from roboaccord.contract import Acceleration, AccordError, Array, ContactPoint, RobotState
from roboaccord.engines import (
    BASE_LINK,
    EngineModel,
    MujocoMechanism,
    MujocoSimulator,
    read_settings,
)
from roboaccord.simulators import Losses

from roboaccord_mjwarp.settings import WarpSettings

wp.config.log_level = wp.LOG_ERROR  # before Warp warns of a missing GPU
import mujoco_warp as mjw  # noqa: E402

STATE = ("qpos", "qvel", "qfrc_applied", "ctrl")  # arrays that are copied to Warp before a step
TOO_FEW = mjw.OverflowType.NEFC | mjw.OverflowType.NJMAX_NNZ | mjw.OverflowType.NARROWPHASE


def send(data: mujoco.MjData, warp_data: Any) -> None:
    """Copy state and applied forces to Warp, rounded to single precision."""
    for name in STATE:
        getattr(warp_data, name).numpy()[0] = getattr(data, name)


class WarpMechanism(MujocoMechanism):
    """Evaluate accelerations by Warp, and all else by MuJoCo's model of the same robot."""

    _warp: tuple[Any, Any] | None = None  # Warp's model and data, without constraints

    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return Warp's accelerations of base and joints under efforts (n,) [N m]."""
        model, data = self._model, self.data
        exact = super().accelerate(rotation, effort)  # also sets the forces in `data`
        if self._warp is None:
            flags = model.opt.disableflags
            model.opt.disableflags = flags | self._flags
            self._warp = mjw.put_model(model), mjw.put_data(model, data)
            model.opt.disableflags = flags
        send(data, self._warp[1])
        mjw.forward(*self._warp)
        rates = self._warp[1].qacc.numpy()[0].astype(float)
        base = np.zeros_like(exact.base)
        base[self.axes] = rates[self.base_v]
        if self._base.tilts:
            base[3:] = rotation @ base[3:]
        return Acceleration(base, rates[self.v])

    def forget(self) -> None:
        """Make Warp's model anew before the next evaluation."""
        self._warp = None


class WarpSimulator(MujocoSimulator):
    """Simulate any model with MuJoCo Warp, under its `WarpSettings` (Simulator)."""

    name = "mjwarp"
    settings = WarpSettings
    mechanism: WarpMechanism

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        self._settings = read_settings(model.options, self.name, WarpSettings)
        # Warp never resets a diverged state, and refuses the option that forbids it.
        self._model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
        solver = f"mjSOL_{self._settings.solver.upper()}"
        self._model.opt.solver = getattr(mujoco.mjtSolver, solver)
        self.version = f"{version('mujoco-warp')} ({self.version.partition('(')[2]}"
        self.mechanism = WarpMechanism(self._model, self.base, self.joints, BASE_LINK)
        self.mechanism.data = self._data
        self._warp: tuple[Any, Any] | None = None  # Warp's model and data; None before a step

    def lock(self, joint: int, locked: bool) -> None:
        """Hold a joint, or release it; Warp's model is made anew."""
        super().lock(joint, locked)
        self._warp = None
        self.mechanism.forget()

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by a position actuator; with other gains Warp's model is made anew."""
        number, gains = self._model.actuator(self.joints[joint]).id, self._model.actuator_biasprm
        before = gains[number].copy()
        super().drive(joint, stiffness, damping, target)
        if (before != gains[number]).any():
            self._warp = None

    def limit_servo(self, joint: int, effort: float, rate: float) -> None:
        """Limit the effort of a joint's actuator; Warp's model is made anew."""
        super().limit_servo(joint, effort, rate)
        self._warp = None

    def contacts(self) -> list[ContactPoint]:
        """Return the contacts of the last physics step."""
        self._receive_constraints()
        return [*super().contacts()]

    def _substeps(self, effort: Array, count: int) -> None:
        self._applied[self._base_v] = 0.0
        self._applied[self._v] = effort
        model, data = self._warp = self._warp or self._make()
        send(self._data, data)
        has_forces = self._law or self._friction or self._wrench is not None or self._meter
        model.callback.passive = self._set_forces if has_forces else None
        data.overflow.zero_()
        if self._compiled and self._wrench is None:
            self._compiled.held[:] = effort
        for _ in range(count):
            mjw.step(model, data)
        self._receive(data)
        self._data.time += count * self.physics_step
        overflow = int(data.overflow.numpy().max())
        if overflow & TOO_FEW:
            sizes = f"njmax {self._settings.njmax} and nconmax {self._settings.nconmax}"
            raise AccordError(f"mjwarp: more contacts or constraints than {sizes} allow")
        if not (np.isfinite(self._all_q).all() and np.isfinite(self._all_v).all()):
            raise AccordError(f"mjwarp: the state is NaN after {self._data.time:.4g} s")

    def _make(self) -> tuple[Any, Any]:
        """Return Warp's model and data of the present state."""
        mujoco.mj_forward(self._model, self._data)
        sizes = {"njmax": self._settings.njmax, "nconmax": self._settings.nconmax}
        return mjw.put_model(self._model), mjw.put_data(self._model, self._data, **sizes)

    def _receive(self, data: Any) -> None:
        """Copy the state from Warp."""
        self._all_q[:], self._all_v[:] = data.qpos.numpy()[0], data.qvel.numpy()[0]

    def _set_forces(self, _model: Any, data: Any) -> None:
        """Set the generalised forces in Warp's present state, which may be that of a stage."""
        self._receive(data)
        self._data.qfrc_constraint[:] = data.qfrc_constraint.numpy()[0]  # of the stage before
        self._apply(self._model, self._data)
        data.qfrc_applied.numpy()[0] = self._applied

    def _receive_constraints(self) -> None:
        """Copy contacts and constraint forces from Warp."""
        if self._warp:
            mjw.get_data_into(self._data, self._model, self._warp[1])

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops, contacts and their friction in the last physics step [J]."""
        self._receive_constraints()
        return super()._constraint_losses(before, after)
