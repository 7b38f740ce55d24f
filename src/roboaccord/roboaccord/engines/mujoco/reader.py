"""MuJoCo's reading of a URDF or of MJCF, by its own compiler, for `accord parity`.

`MujocoReading` is the `Reading` (engines/reading.py) that shows what MuJoCo itself makes of a file,
so nothing is corrected here. One choice is the caller's: with the settings "accord", links that
MuJoCo would fuse remain separate, as in model.py. Elements of MJCF that our trees do not have
(actuators, equalities) are switched off, so that the same mechanism is compared. Coordinates of
planar and floating joints need no conversion, because ours are MuJoCo's (description/degrees.py).
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.description import KINDS, find_root
from roboaccord.engines.mujoco.missing import replace_missing
from roboaccord.engines.mujoco.mjcf import actuator_terms
from roboaccord.engines.mujoco.model import MujocoMechanism, reason_of, with_mesh_paths
from roboaccord.engines.reading import GRAVITY, Hinge, Question, Reading

_log = logging.getLogger(__name__)
FREE = mujoco.mjtJoint.mjJNT_FREE
# A model, and the name of the body that moves as the base; "" if none does.
Loaded = tuple[mujoco.MjModel, str]


class MujocoReading(Reading):
    """Read a URDF or MJCF with MuJoCo.

    Args:
        text: URDF or MJCF of a robot.
        question: base and joints.
        settings: `accord`, or `default` for those of MuJoCo, which fuse links that are fixed to
            each other, and ignore the folders of meshes.
        packages: not used, because MuJoCo knows no packages.
        file: with exactly this text; None if there is no such file.

    Raises:
        AccordError: if MuJoCo refuses it.
    """

    has_settings = True
    form = "mujoco"

    def __init__(
        self,
        text: str,
        question: Question,
        settings: str,
        packages: Mapping[str, Path],
        file: Path | None = None,
    ) -> None:
        # Load the file, without contacts and stops.
        self.question, is_mjcf = question, self.is_own(text)
        try:
            load = _of_mjcf if is_mjcf else _of_urdf
            model, base_body = load(text, question, settings, file)
        except ValueError as error:
            raise AccordError(f"MuJoCo refuses it: {reason_of(error)}") from None
        # By default MuJoCo writes warnings to MUJOCO_LOG.TXT in the current folder.
        mujoco.set_mju_user_warning(_log.warning)
        model.opt.gravity = (0.0, 0.0, -GRAVITY)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        if is_mjcf:
            _leave_out(model)
        moving = [model.joint(i) for i in range(model.njnt) if model.jnt_type[i] != FREE]
        if is_mjcf:  # the file may have bodies beside the robot
            moving = [joint for joint in moving if joint.name in question.joints]
        self.joints = tuple(joint.name for joint in moving)
        # Masses, links and hinges in the pose of q = 0.
        root = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, base_body or "world")
        self.mass = float(model.body_subtreemass[root])
        joints, kind = question.of(self.joints), KINDS[question.base]
        self.mechanism = mechanism = MujocoMechanism(model, kind, joints, base_body, flags=0)
        self.links = self.properties_of(model.body(i).name for i in range(1, model.nbody))
        for joint in moving if is_mjcf else ():  # a link's origin is on its last joint
            name = model.body(joint.bodyid[0]).name
            self.links[name] = replace(self.links[name], centre=model.body(name).ipos - joint.pos)
        mechanism.data.qpos[mechanism.q] = 0.0
        mujoco.mj_kinematics(model, mechanism.data)
        self.hinges = _hinges(mechanism.data, moving, question.root, is_mjcf=is_mjcf)
        # Properties that are compared separately do not act.
        self.apart = _separate(model, moving)
        names = [mujoco.mjtGeom(kind).name for kind in model.geom_type[model.geom_contype > 0]]
        self.shapes = Counter(name.removeprefix("mjGEOM_").lower() for name in names)
        model.dof_damping[:] = 0.0
        model.dof_frictionloss[:] = 0.0


def _hinges(
    data: mujoco.MjData, moving: Sequence[Any], root: str, *, is_mjcf: bool
) -> dict[str, Hinge]:
    """Return the axes of joints in the root's frame, by name.

    Args:
        data: with all positions of joints at 0.
        moving: MuJoCo's joints.
        root: name of the body that is the root.
        is_mjcf: whether positions count from `qpos0`.
    """
    model, hinges = data.model, dict[str, Hinge]()
    base = max(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, root), 0)
    position, turn = data.xpos[base].copy(), data.xmat[base].reshape(3, 3).copy()
    for joint in moving:
        i = joint.id
        ends = tuple(model.jnt_range[i]) if model.jnt_limited[i] else (-np.inf, np.inf)
        anchor, axis = turn.T @ (data.xanchor[i] - position), turn.T @ data.xaxis[i]
        if is_mjcf and model.jnt_type[i] == mujoco.mjtJoint.mjJNT_SLIDE:
            anchor = anchor - model.qpos0[model.jnt_qposadr[i]] * axis
        hinges[joint.name] = Hinge(anchor, axis, *ends)
    return hinges


def _separate(model: mujoco.MjModel, moving: Sequence[Any]) -> dict[str, dict[str, float]]:
    """Return the properties that are compared separately: the value of `Reading.apart`."""
    # By index, because the joints of which a planar one consists have no names in MuJoCo.
    dofs = {joint.name: int(joint.dofadr[0]) for joint in moving}
    armature = model.dof_armature + actuator_terms(model)[0]
    limited = {j.name: j.id for j in moving if model.jnt_actfrclimited[j.id]}
    followers = model.eq_obj1id[model.eq_type == mujoco.mjtEq.mjEQ_JOINT]
    return {
        "damping": {name: float(model.dof_damping[i]) for name, i in dofs.items()},
        "friction": {name: float(model.dof_frictionloss[i]) for name, i in dofs.items()},
        "armature": {name: float(armature[i]) for name, i in dofs.items()},
        "effort": {name: float(model.jnt_actfrcrange[i, 1]) for name, i in limited.items()},
        "mimic": {model.joint(i).name: 1.0 for i in followers},
    }


def _of_urdf(urdf: str, question: Question, settings: str, file: Path | None) -> Loaded:
    """Return the model of a URDF, and the body that moves as the base.

    If there is no file, the text must name meshes by complete paths.
    """
    accord = settings == "accord"
    # If the file has another root, that carries the question's root by a floating joint of its own.
    floats = question.base == "free" and question.root != find_root(ET.fromstring(urdf), "URDF")
    loads_file = file and not accord
    load = mujoco.MjSpec.from_file if loads_file else mujoco.MjSpec.from_string
    spec = load(str(file) if loads_file else with_mesh_paths(urdf))
    if accord:
        # A joint that floats below a static link can only float below the world.
        spec.compiler.fusestatic = floats
        spec.compiler.discardvisual = True
        spec.compiler.balanceinertia = False
    if question.base == "fixed":
        return spec.compile(), ""
    if floats:
        return spec.compile(), question.root
    body = spec.worldbody.bodies[0]
    body.add_freejoint()
    return spec.compile(), body.name


def _leave_out(model: mujoco.MjModel) -> None:
    """Switch off the elements of MJCF that our trees lack; mjcf.py names them for the user."""
    disable = mujoco.mjtDisableBit
    model.opt.disableflags |= disable.mjDSBL_EQUALITY | disable.mjDSBL_ACTUATION
    model.opt.disableflags &= ~int(disable.mjDSBL_GRAVITY)
    model.opt.density = model.opt.viscosity = 0.0
    model.actuator_damping[:] = model.body_gravcomp[:] = 0.0
    model.jnt_stiffnesspoly[:] = model.dof_dampingpoly[:] = 0.0  # terms of higher order
    for name in ("stiffness", "damping", "frictionloss", "armature"):
        getattr(model, f"tendon_{name}")[:] = 0.0
    model.dof_armature[model.jnt_type[model.dof_jntid] == FREE] = 0.0


def _of_mjcf(text: str, question: Question, _settings: str, file: Path | None) -> Loaded:
    """Return the model of an MJCF file, or of its text, and the body that moves as the base.

    Bodies and joints without a name are named by their numbers; a fixed base is at the origin.
    """
    loads_file = file is not None and file.suffix == ".xml"  # MjSpec reads no other file
    spec = mujoco.MjSpec.from_file(str(file)) if loads_file else mujoco.MjSpec.from_string(text)
    spec.modelfiledir = str(file.parent) if file else ""
    replace_missing(spec)
    spec.compile()  # to number bodies and joints
    for kind, elements in (("body", spec.bodies), ("joint", spec.joints)):
        for element in elements:
            element.name = element.name or f"{kind}_{element.id}"
    if question.root == "world":
        return spec.compile(), ""
    if question.base == "fixed":
        body = spec.body(question.root)
        spec.delete(body.joints[0])
        body.pos, body.quat = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0)
        return spec.compile(), ""
    return spec.compile(), question.root
