"""Simulation with MuJoCo: Runge-Kutta 4 or semi-implicit Euler, the force law in every stage.

`MujocoSimulator` sets MuJoCo's options and takes the physics steps. Its base class in
engines/base.py contains what all engines share; loading is in model.py, contact in contact.py, the
user's settings in settings.py. Force laws and friction of joints are computed in MuJoCo's control
callback, which MuJoCo calls in every evaluation of the dynamics: so they act in every stage of the
integrator.

STOP_STEPS and STOP_IMPEDANCE may be tuned within the limits of test_engines. Stops are as stiff as
MuJoCo allows; softer ones let joints pass their limits.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np

from roboaccord.contract.contact import ContactPoint
from roboaccord.contract.state import NO_BODIES, Array, RobotState
from roboaccord.description.base_kinds import KINDS
from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.engines.mujoco.contact import ConstraintMeter, MujocoContact
from roboaccord.engines.mujoco.model import MujocoMechanism, compile_model
from roboaccord.engines.mujoco.settings import ORDERS, MujocoSettings
from roboaccord.engines.spec import read_settings
from roboaccord.numerics.rotations import quaternion_matrix
from roboaccord.simulators import LOCK_INERTIA, Losses

_log = logging.getLogger(__name__)
FREE = KINDS["free"]  # how a free body moves

SOLVER_TOLERANCE = 1e-8  # relative tolerance at which the constraint solver ends; MuJoCo's default
# [physics steps] Time constant of joint stops and shortest one of contacts: MuJoCo allows no less.
STOP_STEPS = 2.0
# MuJoCo's `solimp` of stops: impedances dmin and dmax at their upper bound (1 would be rigid);
# width [m], midpoint and power at MuJoCo's defaults.
STOP_IMPEDANCE = (0.9999, 0.9999, 0.001, 0.5, 2.0)


class MujocoSimulator(EngineSimulator):
    """Simulate any model with MuJoCo, under its `MujocoSettings` (Simulator).

    `_q` and `_v` are the indices of the joints in MuJoCo's positions and velocities (n,), `_base_q`
    and `_base_v` the slices of the base, and `_axes` the components of a twist (6,) that are rates
    of the base. `_all_q`, `_all_v` and `_applied` are MuJoCo's positions, velocities and applied
    forces, `_pose` and `_rates` those of the base: views of its memory, not copies.
    """

    name = "mujoco"
    settings = MujocoSettings

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        # Settings of the user, with a time constant of contacts that MuJoCo allows.
        settings = read_settings(model.options, self.name, self.settings)
        integrator = settings.integrator_of(contact=model.contact is not None)
        self.order = ORDERS[integrator]
        self.version = f"{mujoco.__version__} ({integrator})"
        shortest = STOP_STEPS * self.physics_step
        contact_time = max(float(settings.contact_time), shortest)
        settings = replace(settings, contact_time=contact_time)
        self._model = compile_model(model, self.tree, settings)
        self._set_options(integrator, model.gravity)
        # By default MuJoCo writes to stderr, and to MUJOCO_LOG.TXT in the current folder.
        mujoco.set_mju_user_warning(_log.info)
        # MuJoCo's default stop has a time constant of 20 ms: strong efforts push joints through it.
        self._model.jnt_solref[:] = shortest * model.stop_softness, 1.0
        self._model.jnt_solimp[:] = STOP_IMPEDANCE
        # Indices of joints and base in MuJoCo's arrays.
        self.mechanism = mechanism = MujocoMechanism(self._model, self.base, self.joints, BASE_LINK)
        self._data = data = mechanism.data
        self._q, self._v = mechanism.q, mechanism.v
        self._base_q, self._base_v = mechanism.base_q, mechanism.base_v
        self._axes = mechanism.axes
        self._height = 0.0  # of a planar base, which MuJoCo lacks [m]
        # Friction of joints is the model's, by the same law in every engine. MuJoCo itself adds
        # rotors, and only the damping that the model leaves to it.
        self._model.dof_frictionloss[:] = 0.0
        self._model.dof_damping[:] = 0.0
        self._model.dof_armature[self._v] = self.armature
        if model.damping is not None:
            self._model.dof_damping[self._v] = model.damping
        # Constant efforts on joints that take no commands.
        self._preloaded = [int(self._model.joint(name).dofadr[0]) for name in model.preload]
        self._preload = np.array([*model.preload.values()])
        data.qfrc_applied[self._preloaded] = self._preload
        # Contacts and losses.
        self._contact = MujocoContact(self._model, model.contact) if model.contact else None
        joints = [self._model.body(body.name).jntadr[0] for body in self._free_bodies]
        self._bodies = [(self._model.jnt_qposadr[i], self._model.jnt_dofadr[i]) for i in joints]
        self._constraints = ConstraintMeter(self._model, self._data, stages=self.order)
        # Views of the engine's memory, because each access through `data` costs 0.25 us.
        self._all_q, self._all_v, self._applied = data.qpos, data.qvel, data.qfrc_applied
        self._pose, self._rates = self._all_q[self._base_q], self._all_v[self._base_v]
        base_q_rows = np.arange(self._model.nq)[self._base_q]
        base_v_rows = np.arange(self._model.nv)[self._base_v]
        self._prepare_forces(self._q, self._v, base_q_rows, base_v_rows)

    def _set_options(self, integrator: str, gravity: float) -> None:
        """Set MuJoCo's options: step, integrator, gravity along -z [m/s^2], and two precautions."""
        options = self._model.opt
        options.timestep = self.physics_step
        options.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        options.gravity = (0.0, 0.0, -gravity)
        # By default MuJoCo resets a diverging state to zeros, which would remain unnoticed.
        options.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        # The sparse Cholesky factor of MuJoCo 4.0.0 is wrong, and these models are small.
        options.jacobian = mujoco.mjtJacobian.mjJAC_DENSE

    def _compile(self) -> None:
        """Make the compiled form of the forces, on MuJoCo's own arrays."""
        super()._compile()
        if self._compiled:
            self._compiled.attach(self._all_q, self._all_v, self._applied)

    def _place(self, state: RobotState) -> None:
        """Set MuJoCo's state and time."""
        data = self._data
        mujoco.mj_resetData(self._model, data)
        data.time = state.time
        self.mechanism.place(state)
        for (q, v), body in zip(self._bodies, self._body_states(state), strict=True):
            data.qpos[q : q + 7] = FREE.pose(body)
            linear = quaternion_matrix(body.orientation) @ body.twist[:3]
            data.qvel[v : v + 6] = *linear, *body.twist[3:]
        data.qfrc_applied[self._preloaded] = self._preload
        self._height = float(state.position[2])

    def _read(self) -> RobotState:
        """Return the present state."""
        motion = self.base.read(self._pose, self._rates, self._height)
        q, qd = self._all_q[self._q], self._all_v[self._v]
        bodies = np.array([*map(self._row, self._bodies)]) if self._bodies else NO_BODIES
        return RobotState(self._time, q, qd, self._effort, *motion, bodies=bodies)

    def _row(self, start: tuple[int, int]) -> Array:
        """Return the motion of a free body (13,); its coordinates and rates begin at `start`."""
        q, v = start
        return np.concatenate(FREE.read(self._all_q[q : q + 7], self._all_v[v : v + 6], 0.0))

    def lock(self, joint: int, locked: bool) -> None:
        """Lock a joint by a large inertia, or release it."""
        model, armature = self._model, self._model.dof_armature
        armature[self._v[joint]] = LOCK_INERTIA if locked else self.armature[joint]
        # The tolerance of the constraint solver is relative to the mean of all inertias.
        inertia_sum = model.stat.meaninertia * model.nv
        model.opt.tolerance = SOLVER_TOLERANCE * inertia_sum / (inertia_sum + armature.sum())

    def drive(self, joint: int, stiffness: float, damping: float, target: float) -> None:
        """Drive a joint by a position actuator."""
        model, number = self._model, self._model.actuator(self.joints[joint]).id
        model.actuator_gainprm[number, 0] = stiffness
        model.actuator_biasprm[number, :3] = 0.0, -stiffness, -damping
        self._data.ctrl[number] = target

    def limit_servo(self, joint: int, effort: float, rate: float) -> None:
        """Limit the effort of a joint's actuator; MuJoCo has no limit of rates."""
        model, number = self._model, self._model.actuator(self.joints[joint]).id
        model.actuator_forcelimited[number] = np.isfinite(effort)
        model.actuator_forcerange[number] = -effort, effort

    def contacts(self) -> Sequence[ContactPoint]:
        """Return the contacts of the last physics step."""
        return self._contact.points(self._data) if self._contact else ()

    def _substeps(self, effort: Array, count: int) -> None:
        """Take `count` physics steps under efforts (n,) and `_wrench`."""
        self._applied[self._base_v] = 0.0
        only_efforts = self._law is None and self._friction is None and self._wrench is None
        if only_efforts and self._meter is None:
            self._applied[self._v] = effort
            mujoco.mj_step(self._model, self._data, count)
            return
        compiled, is_metered = self._compiled_forces(effort), self._meter is not None
        callback = compiled.callback() if compiled and not is_metered else self._apply
        mujoco.set_mjcb_control(callback)
        try:
            mujoco.mj_step(self._model, self._data, count)
        finally:
            mujoco.set_mjcb_control(None)

    def _apply(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Set the generalised forces: efforts, wrench, force law and friction."""
        if self._meter:
            self._constraints.begin_stage()
        if self._compiled and self._wrench is None:
            self._compiled.apply(self._all_q, self._all_v, self._applied)
            return
        effort = self._acting
        if self._law or self._wrench is not None:
            effort = effort + self._apply_law(data)
        if self._friction:
            effort = self._friction.add(effort, data.qpos[self._q], data.qvel[self._v])
        data.qfrc_applied[self._v] = effort

    def _apply_law(self, data: mujoco.MjData) -> Array:
        """Set the forces on the base by wrench and force law; return the law's efforts (n,)."""
        q, v = data.qpos, data.qvel
        pose, rates, forces = q[self._base_q], v[self._base_v], data.qfrc_applied[self._base_v]
        rotation, position, twist = self.base.placed(pose, rates)
        wrench, efforts = np.zeros(6), np.zeros(len(self._v))
        if self._law:
            wrench, efforts = self._law_efforts(q[self._q], v[self._v], position, rotation, twist)
        if self._wrench is not None:
            wrench = wrench + self._wrench
        forces[:] = np.concatenate([wrench[:3], wrench[3:] @ rotation])[self._axes]
        return efforts

    def _constraint_losses(self, before: RobotState, after: RobotState) -> Losses:
        """Return the losses in stops, contacts and their friction in the last physics step [J]."""
        return self._constraints.end_step()
