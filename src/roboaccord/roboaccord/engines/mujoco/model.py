"""MuJoCo's model of a robot: loading of its description, and `MujocoMechanism` with its equations.

`compile_model` loads a URDF for simulator.py. All links remain separate (by default MuJoCo fuses
links that are fixed to each other, but levels compare links one by one), and only the pairs of a
contact collide. `MujocoMechanism` is the `Mechanism` of simulator.py and reader.py, in SI units and
the order of the contract; MuJoCo's quaternions are w x y z, ours x y z w.

A property of links or joints is first added to `Mechanism` of engines/mechanism.py.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

import mujoco
import numpy as np

from roboaccord.contract import Acceleration, AccordError, Array, RobotState
from roboaccord.description import KINDS, FixedBase, Tree
from roboaccord.description.meshes import local_files
from roboaccord.engines.mechanism import Mechanism
from roboaccord.engines.model import Ball, EngineModel, JointProperties, LinkProperties, split_ball
from roboaccord.engines.mujoco.contact import add_body, collide
from roboaccord.engines.mujoco.settings import MujocoSettings
from roboaccord.numerics.rotations import quaternion_matrix

NO_CONSTRAINT = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
# [kg] and [kg m^2] Mass and moments that replace those of a moving body which has none: MuJoCo
# requires more than 1e-15 (mjMINVAL). For robots of grams it is below round-off.
MIN_INERTIA = 2e-15


def compile_model(model: EngineModel, tree: Tree, settings: MujocoSettings) -> mujoco.MjModel:
    """Return MuJoCo's compiled model of a robot.

    Args:
        model: description, base and contact.
        tree: links and joints of the description.
        settings: settings of contacts.

    Raises:
        AccordError: if MuJoCo refuses the description.
    """
    urdf, ball = split_ball(model.urdf, tree) if tree.frame else (model.urdf, None)
    base_link = tree.links[0].name
    try:
        spec = mujoco.MjSpec.from_string(with_mesh_paths(local_files(urdf)))
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = True
        spec.compiler.balanceinertia = False
        for name in _massless_carriers(tree):
            body = spec.body(name)
            body.mass, body.inertia, body.explicitinertial = MIN_INERTIA, (MIN_INERTIA,) * 3, True
        if ball:
            _add_ball(spec, ball, base_link, model.base)
        elif not KINDS[model.base].tied:
            # MuJoCo welds the root of a URDF to the world.
            spec.body(base_link).add_freejoint()
        for geom in spec.geoms:
            geom.contype = 0
            geom.conaffinity = 0
        for name in model.joints if model.servos else ():
            actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
            actuator.gainprm[0] = 0.0
            spec.joint(name).actfrclimited = mujoco.mjtLimited.mjLIMITED_FALSE
        if model.contact:
            collide(spec, model.contact, settings)
        return spec.compile()
    except ValueError as error:
        raise AccordError(f"MuJoCo refuses the description: {reason_of(error)}") from None


def reason_of(error: ValueError) -> str:
    """Return the first two lines of MuJoCo's error; the second one names the link or joint."""
    return "; ".join(line.strip() for line in str(error).splitlines()[:2])


def _massless_carriers(tree: Tree) -> set[str]:
    """Return the names of massless links that move, by a joint, and carry links with mass."""
    with_mass = {link.name for link in tree.links if link.mass or link.inertia.any()}
    moved, carried = set[str](), set(with_mass)
    for joint in reversed(tree.joints):
        if joint.child in carried:
            carried.add(joint.parent)
            moved.add(joint.child)
    return moved - with_mass


def with_mesh_paths(urdf: str) -> str:
    """Return a URDF with paths of meshes that MuJoCo finds: complete, and without `file://`."""
    if "<mesh" not in urdf:
        return urdf
    root = element = ET.fromstring(urdf)
    for mesh in root.iter("mesh"):
        mesh.set("filename", mesh.get("filename", "").removeprefix("file://"))
    # In <mujoco><compiler strippath="false"/></mujoco>, where both elements may already exist.
    for tag in ("mujoco", "compiler"):
        existing = element.find(tag)
        element = ET.SubElement(element, tag) if existing is None else existing
    element.set("strippath", "false")
    return ET.tostring(root, encoding="unicode")


def _add_ball(spec: mujoco.MjSpec, ball: Ball, name: str, base: str) -> None:
    """Add the ball of a bearing to a model.

    Args:
        spec: MuJoCo's specification of the model.
        ball: mass, inertia and radius.
        name: of its body.
        base: how it moves: `ball`, about its centre, or `free`.
    """
    body = add_body(spec, name, ball.mass, ball.inertia)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball.radius, 0.0, 0.0])
    if base == "ball":
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    else:
        body.add_freejoint()


class MujocoMechanism(Mechanism):
    """MuJoCo's model of a robot, with a state.

    Args:
        model: MuJoCo's.
        base: how the base moves.
        joints: names, in the order of states.
        body: name of the body that moves as the base.
        flags: bits of MuJoCo's `disableflags` that are set while accelerations are computed.

    Attributes:
        data: MuJoCo's state.
        q, v: indices of the joints in qpos and qvel (n,).
        base_q, base_v: slices of the base there.
        axes: components of a twist that are rates of the base.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        base: FixedBase,
        joints: Sequence[str],
        body: str,
        flags: int = NO_CONSTRAINT,
    ) -> None:
        self._model, self._base, self._flags = model, base, flags
        self.data = mujoco.MjData(model)
        moving = [model.joint(name) for name in joints]
        self.q = np.array([joint.qposadr[0] for joint in moving], dtype=int)
        self.v = np.array([joint.dofadr[0] for joint in moving], dtype=int)
        self.base_q = self.base_v = slice(0)
        if base.moves:
            joint = model.body(body).jntadr[0]
            first_q, first_v = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
            self.base_q = slice(first_q, first_q + base.size)
            self.base_v = slice(first_v, first_v + len(base.axes))
        self.axes = np.array(base.axes, dtype=int)

    def place(self, state: RobotState) -> None:
        """Set the state."""
        data = self.data
        data.qpos[:] = self._model.qpos0
        data.qvel[:] = 0.0
        data.qpos[self.q] = state.q
        data.qvel[self.v] = state.qd
        rotation = quaternion_matrix(state.orientation)
        twist = np.concatenate([rotation @ state.twist[:3], state.twist[3:]])
        data.qpos[self.base_q] = self._base.pose(state)
        data.qvel[self.base_v] = twist[self.axes]

    def accelerate(self, rotation: Array, effort: Array) -> Acceleration:
        """Return the accelerations under joint efforts (n,) in the current state."""
        model, data = self._model, self.data
        data.qfrc_applied[:] = 0.0
        data.qfrc_applied[self.v] = effort
        flags = model.opt.disableflags
        model.opt.disableflags = flags | self._flags
        try:
            mujoco.mj_forward(model, data)
        finally:
            model.opt.disableflags = flags
        base = np.zeros(6)
        base[self.axes] = data.qacc[self.base_v]
        if self._base.tilts:
            base[3:] = rotation @ base[3:]
        return Acceleration(base, data.qacc[self.v].copy())

    def statics(self, rotation: Array) -> tuple[Array, Array, Array]:
        """Return S, mass matrix and gravity forces, in MuJoCo's order."""
        model, data = self._model, self.data
        mujoco.mj_forward(model, data)
        rows = [*range(model.nv)[self.base_v], *self.v]
        to_engine = np.zeros((model.nv, len(rows)))
        to_engine[rows, np.arange(len(rows))] = 1.0
        if self._base.tilts:  # MuJoCo's angular velocity is in the base's own axes
            spin = slice(self.base_v.stop - 3, self.base_v.stop)
            base_size = len(rows) - len(self.v)
            to_engine[spin, base_size - 3 : base_size] = rotation.T
        mass = np.empty((model.nv, model.nv))
        for column, unit in zip(mass, np.eye(model.nv)):
            mujoco.mj_mulM(model, data, column, unit)  # symmetric: a column is a row
        return to_engine, mass, data.qfrc_bias.copy()

    def gravity(self) -> Array:
        """Return gravity in the world (3,) [m/s^2]."""
        return np.array(self._model.opt.gravity)

    def link(self, name: str) -> LinkProperties | None:
        """Return the properties of a link; None for a name that MuJoCo does not have."""
        model = self._model
        body = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if body < 0:
            return None
        turn = quaternion_matrix(np.roll(model.body_iquat[body], -1))
        mass, moments = float(model.body_mass[body]), model.body_inertia[body]
        if max(mass, *moments) <= MIN_INERTIA:
            mass, moments = 0.0, np.zeros(3)
        inertia = turn @ np.diag(moments) @ turn.T
        return LinkProperties(mass, model.body_ipos[body].copy(), inertia)

    def joint(self, name: str) -> JointProperties:
        """Return the properties of a joint."""
        model, joint = self._model, self._model.joint(name)
        body, dof = int(joint.bodyid[0]), int(joint.dofadr[0])
        turn = quaternion_matrix(np.roll(model.body_quat[body], -1))
        limits = np.array(joint.range) if joint.limited[0] else np.array([-np.inf, np.inf])
        return JointProperties(
            origin=np.array(model.body_pos[body]),
            axis=turn @ joint.axis,
            limits=limits,
            damping=float(model.dof_damping[dof]),
            friction=float(model.dof_frictionloss[dof]),
            armature=float(model.dof_armature[dof]),
        )
