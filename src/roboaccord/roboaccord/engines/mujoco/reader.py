"""MuJoCo's reading of a URDF, by its own compiler."""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import mujoco
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array, RobotState
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.mujoco.model import link_of
from roboaccord.engines.reading import GRAVITY, Hinge, Question, Reading
from roboaccord.numerics.rotations import quaternion_matrix

_log = logging.getLogger(__name__)
PLAIN = '<mujoco><compiler strippath="false"/></mujoco>'
FREE = mujoco.mjtJoint.mjJNT_FREE


class MujocoReading(Reading):
    """Read a URDF with MuJoCo.

    Args:
        urdf: its text.
        question: base and joints.
        settings: `accord` keeps the links that MuJoCo would fuse, and the folders of meshes.
        packages: not used: MuJoCo knows no packages.

    Raises:
        AccordError: if MuJoCo refuses it.
    """

    has_settings = True

    def __init__(
        self, urdf: str, question: Question, settings: str, packages: Mapping[str, Path]
    ) -> None:
        accord = settings == "accord"
        try:
            if accord:
                urdf = urdf.replace("<link", f"{PLAIN}<link", 1)
            spec = mujoco.MjSpec.from_string(urdf)
            if accord:
                spec.compiler.fusestatic = False
                spec.compiler.discardvisual = True
                spec.compiler.balanceinertia = False
            roots = list(spec.worldbody.bodies)
            if question.base == "free":
                roots[0].add_freejoint()
            self._model = model = spec.compile()
        except ValueError as error:
            said = "; ".join(line.strip() for line in str(error).splitlines()[:2])
            raise AccordError(f"MuJoCo refuses it: {said}") from None
        # Else it writes to MUJOCO_LOG.TXT where the command runs.
        mujoco.set_mju_user_warning(_log.info)
        model.opt.gravity = (0.0, 0.0, -GRAVITY)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        self._data = data = mujoco.MjData(model)
        moving = [model.joint(i) for i in range(model.njnt) if model.jnt_type[i] != FREE]
        self.joints = tuple(joint.name for joint in moving)
        self.mass = float(model.body_mass.sum())
        self.links = {model.body(i).name: link_of(model, i) for i in range(1, model.nbody)}
        mujoco.mj_kinematics(model, data)
        root = find_root(ET.fromstring(urdf), "URDF")
        found = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, root)
        place, turn = np.zeros(3), np.eye(3)
        if found >= 0:
            place, turn = data.xpos[found].copy(), data.xmat[found].reshape(3, 3).copy()
        self.hinges = {}
        for joint in moving:
            i, ends = joint.id, (-np.inf, np.inf)
            if model.jnt_limited[i]:
                ends = tuple(model.jnt_range[i])
            anchor, axis = turn.T @ (data.xanchor[i] - place), turn.T @ data.xaxis[i]
            self.hinges[joint.name] = Hinge(anchor, axis, *ends)
        dofs = {joint.name: int(joint.dofadr[0]) for joint in moving}
        limited = {j.name: j.id for j in moving if model.jnt_actfrclimited[j.id]}
        followers = [model.eq_obj1id[i] for i in range(model.neq)]
        self.apart = {
            "damping": {name: float(model.dof_damping[i]) for name, i in dofs.items()},
            "friction": {name: float(model.dof_frictionloss[i]) for name, i in dofs.items()},
            "effort": {name: float(model.jnt_actfrcrange[i, 1]) for name, i in limited.items()},
            "armature": {name: float(model.dof_armature[i]) for name, i in dofs.items()},
            "mimic": {model.joint(i).name: 1.0 for i in followers},
        }
        kinds = model.geom_type[model.geom_contype > 0]
        self.shapes = Counter(
            mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower() for kind in kinds
        )
        model.dof_damping[:] = 0.0
        model.dof_frictionloss[:] = 0.0

    def _forward(self, state: RobotState, joints: tuple[str, ...], *, moves: bool) -> Array:
        """Put the model in a state, at rest or not; return its rates by those of all readings."""
        model, data = self._model, self._data
        rows = [int(model.joint(name).dofadr[0]) for name in joints]
        places = [int(model.joint(name).qposadr[0]) for name in joints]
        rotation, free = quaternion_matrix(state.orientation), model.nq > model.nv
        data.qpos[places] = state.q
        data.qvel[:] = 0.0
        data.qvel[rows], data.qfrc_applied[rows] = moves * state.qd, state.effort
        if free:
            data.qpos[:7] = [*state.position, *np.roll(state.orientation, 1)]
            twist = np.array([*(rotation @ state.twist[:3]), *state.twist[3:]])
            data.qvel[:6] = moves * twist
        mujoco.mj_forward(model, data)
        order = np.eye(model.nv)[:, [*range(6 * free), *rows]]
        if free:
            order[3:6, 3:6] = rotation.T
        return order

    def acceleration(self, state: RobotState, joints: tuple[str, ...]) -> Array:
        order = self._forward(state, joints, moves=True)
        return np.asarray(order.T @ self._data.qacc)

    def statics(self, state: RobotState, joints: tuple[str, ...]) -> tuple[Array, Array]:
        order = self._forward(state, joints, moves=False)
        mass = np.empty((self._model.nv, self._model.nv))
        mujoco.mj_fullM(self._model, self._data, mass)
        return order.T @ mass @ order, order.T @ self._data.qfrc_bias
