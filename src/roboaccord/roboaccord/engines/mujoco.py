"""MuJoCo: Runge-Kutta 4 or semi-implicit Euler, the force law in every stage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np

from roboaccord.engines.base import EngineSimulator
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.errors import AccordError
from roboaccord.interfaces import Acceleration
from roboaccord.rotations import quaternion_matrix, quaternion_yaw, yaw_matrix, yaw_quaternion
from roboaccord.scenario import did_you_mean
from roboaccord.state import Array, RobotState

INTEGRATORS = {
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
}
NO_CONSTRAINT = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
STOP_STEPS = 2.0  # time constant of a joint stop in physics steps: the shortest MuJoCo allows
STOP_IMPEDANCE = (0.9999, 0.9999, 0.001, 0.5, 2.0)  # 1 is rigid, and MuJoCo's largest is 0.9999


class MujocoSimulator(EngineSimulator):
    """Simulate any model with MuJoCo (Simulator).

    The model's `options: {mujoco: {integrator: euler | rk4 | implicitfast}}` chooses
    the integrator; rk4 where it says nothing.
    """

    name = "mujoco"

    def __init__(self, model: EngineModel) -> None:
        super().__init__(model)
        options = dict(model.options.get("mujoco", {}))
        integrator = str(options.pop("integrator", "rk4")).lower()
        if options:
            key = next(iter(options))
            hint = did_you_mean(key, ["integrator"])
            raise AccordError(f"unknown key engine_options.mujoco.{key}{hint}")
        if integrator not in INTEGRATORS:
            raise AccordError(
                f"unknown integrator {integrator}{did_you_mean(integrator, INTEGRATORS)}"
            )
        self.order = 4 if integrator == "rk4" else 1
        self.version = f"{mujoco.__version__} ({integrator})"
        self._model = _compile(model.urdf, self.base)
        self._model.opt.timestep = self.physics_step
        self._model.opt.integrator = INTEGRATORS[integrator]
        self._model.opt.gravity = (0.0, 0.0, -model.gravity)
        # MuJoCo 4.0.0 has a wrong sparse Cholesky factor: these models are small, so dense.
        self._model.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        # The default stop is a spring of 20 ms: strong efforts push joints through it.
        self._model.jnt_solref[:] = STOP_STEPS * self.physics_step, 1.0
        self._model.jnt_solimp[:] = STOP_IMPEDANCE
        # Friction of joints is the model's, by the same law in every engine.
        self._model.dof_damping[:] = 0.0
        self._model.dof_frictionloss[:] = 0.0
        self._data = mujoco.MjData(self._model)
        joints = [self._model.joint(name) for name in self.joints]
        self._q = np.array([j.qposadr[0] for j in joints], dtype=int)
        self._v = np.array([j.dofadr[0] for j in joints], dtype=int)
        self._height = 0.0
        self._root = {"fixed": 0, "planar": 3, "free": 6}[self.base]

    def _place(self, state: RobotState) -> None:
        data = self._data
        mujoco.mj_resetData(self._model, data)
        data.time = state.time
        data.qpos[self._q] = state.q
        data.qvel[self._v] = state.qd
        rotation = quaternion_matrix(state.orientation)
        linear = rotation @ state.twist[:3]
        if self.base == "planar":
            data.qpos[:3] = (*state.position[:2], quaternion_yaw(state.orientation))
            data.qvel[:3] = (linear[0], linear[1], state.twist[5])
        elif self.base == "free":
            x, y, z, w = state.orientation
            data.qpos[:7] = (*state.position, w, x, y, z)
            data.qvel[:6] = (*linear, *state.twist[3:])
        self._height = float(state.position[2])

    def _read(self) -> RobotState:
        data = self._data
        position, orientation, twist = np.zeros(3), yaw_quaternion(0.0), np.zeros(6)
        if self.base == "planar":
            x, y, yaw = data.qpos[:3]
            vx, vy, rate = data.qvel[:3]
            c, s = np.cos(yaw), np.sin(yaw)
            position = np.array([x, y, self._height])
            orientation = yaw_quaternion(float(yaw))
            twist[:] = c * vx + s * vy, c * vy - s * vx, 0.0, 0.0, 0.0, rate
        elif self.base == "free":
            position = np.array(data.qpos[:3])
            orientation = data.qpos[[4, 5, 6, 3]]
            twist[:3] = quaternion_matrix(orientation).T @ data.qvel[:3]
            twist[3:] = data.qvel[3:6]
        return RobotState(
            time=self._time,
            q=data.qpos[self._q],
            qd=data.qvel[self._v],
            effort=self._effort,
            position=position,
            orientation=orientation,
            twist=twist,
        )

    def _substeps(self, effort: Array, count: int) -> None:
        self._data.qfrc_applied[self._v] = effort
        if self._law is None and self._friction is None:
            mujoco.mj_step(self._model, self._data, count)
            return
        # The callback runs in every evaluation of the dynamics, so in each stage of rk4.
        mujoco.set_mjcb_control(self._apply)
        try:
            mujoco.mj_step(self._model, self._data, count)
        finally:
            mujoco.set_mjcb_control(None)

    def _apply(self, model: Any, data: Any) -> None:
        """Set the generalised forces: the efforts, and what force law and friction do."""
        effort = self._effort
        if self._law:
            effort = effort + self._apply_law(data)
        if self._friction:
            effort = effort + self._friction.efforts(data.qvel[self._v])
        data.qfrc_applied[self._v] = effort

    def _apply_law(self, data: Any) -> Array:
        """Set the forces on the base by the force law, and return those on the joints (n,)."""
        q, v = data.qpos, data.qvel
        rotation, position, twist = np.eye(3), np.zeros(3), np.zeros(6)
        if self.base == "planar":
            rotation = yaw_matrix(q[2])
            position[:2] = q[:2]
            twist[[0, 1, 5]] = v[:3]
        elif self.base == "free":
            rotation, position = quaternion_matrix(q[[4, 5, 6, 3]]), q[:3]
            twist[:3], twist[3:] = v[:3], rotation @ v[3:6]
        wrench, efforts = self._law_efforts(q[self._q], v[self._v], position, rotation, twist)
        if self.base == "planar":
            data.qfrc_applied[:3] = wrench[[0, 1, 5]]
        elif self.base == "free":
            data.qfrc_applied[:3], data.qfrc_applied[3:6] = wrench[:3], wrench[3:] @ rotation
        return efforts

    def acceleration(self, state: RobotState, effort: Array) -> Acceleration:
        """Return the accelerations without contact, friction or stops."""
        kept = self.state()
        self._place(state)
        model, data = self._model, self._data
        data.qfrc_applied[self._v] = effort
        flags = model.opt.disableflags
        model.opt.disableflags = flags | NO_CONSTRAINT
        mujoco.mj_forward(model, data)
        model.opt.disableflags = flags
        joints = data.qacc[self._v].copy()
        base = np.zeros(6)
        if self.base == "planar":
            base[[0, 1, 5]] = data.qacc[:3]
        elif self.base == "free":
            rotation = quaternion_matrix(state.orientation)
            base[:3] = data.qacc[:3]
            base[3:] = rotation @ data.qacc[3:6]
        self._place(kept)
        return Acceleration(base, joints)

    def _statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return matrix S, mass matrix and gravity forces, as the base class says."""
        model, data = self._model, self._data
        mujoco.mj_forward(model, data)
        rows = [*range(self._root), *self._v]
        order = np.zeros((model.nv, len(rows)))
        order[rows, np.arange(len(rows))] = 1.0
        if self.base == "free":  # angular in the base's own axes
            order[3:6, 3:6] = rotation.T
        mass = np.empty((model.nv, model.nv))
        for column, unit in zip(mass, np.eye(model.nv)):
            mujoco.mj_mulM(model, data, column, unit)  # symmetric: a column is a row
        return order, mass, data.qfrc_bias.copy()

    def masses(self) -> Mapping[str, float]:
        """Return the mass of each link as MuJoCo has it [kg]."""
        found = {}
        for link in self.tree.links:
            body = mujoco.mj_name2id(self._model, mujoco.mjtObj.mjOBJ_BODY, link.name)
            if body >= 0:
                found[link.name] = float(self._model.body_mass[body])
        return found


def _compile(urdf: str, base: str) -> Any:
    """Return the model of a URDF, every link kept and nothing colliding.

    Raises:
        AccordError: if MuJoCo refuses the description.
    """
    try:
        spec = mujoco.MjSpec.from_string(urdf)
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = True
        spec.compiler.balanceinertia = False
        if base == "free":
            # MuJoCo welds the root of a URDF to the world.
            spec.body(BASE_LINK).add_freejoint()
        for geom in spec.geoms:
            geom.contype = 0
            geom.conaffinity = 0
        return spec.compile()
    except ValueError as error:
        raise AccordError(f"MuJoCo refuses the description: {str(error).splitlines()[0]}") from None
