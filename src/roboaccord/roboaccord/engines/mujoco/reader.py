"""MuJoCo's reading of a URDF or of MJCF, by its own compiler, for `accord parity`.

It must show what MuJoCo makes of a file by itself: correct nothing here. `settings` alone may be
changed; by it `accord` keeps links that MuJoCo would fuse, as model.py does. Coordinates of planar
and floating joints are translated by the maps (`Chart`) of engines/reading.py.
"""

from __future__ import annotations

import logging
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.description.base_kinds import KINDS
from roboaccord.description.urdf_file import find_root
from roboaccord.engines.mujoco.missing import replace_missing
from roboaccord.engines.mujoco.model import MujocoMechanism, of_drives, with_files
from roboaccord.engines.reading import GRAVITY, Hinge, Question, Reading

_log = logging.getLogger(__name__)
FREE = mujoco.mjtJoint.mjJNT_FREE
Loaded = tuple[mujoco.MjModel, str]
"""A model, and the body that moves as the base."""


class MujocoReading(Reading):
    """Read a URDF or MJCF with MuJoCo.

    Args:
        text: of a file, or of none.
        question: base and joints.
        settings: `accord` keeps the links that MuJoCo would fuse, and the folders of meshes.
        packages: not used: MuJoCo knows no packages.
        file: with this text.

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
        self.question, own = question, self.is_own(text)
        try:
            model, top = (_own if own else _of_urdf)(text, question, settings, file)
        except ValueError as error:
            reason = "; ".join(line.strip() for line in str(error).splitlines()[:2])
            raise AccordError(f"MuJoCo refuses it: {reason}") from None
        # Else it writes to MUJOCO_LOG.TXT where the command runs.
        mujoco.set_mju_user_warning(_log.warning)
        model.opt.gravity = (0.0, 0.0, -GRAVITY)
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        if own:
            _leave_out(model)
        moving = [model.joint(i) for i in range(model.njnt) if model.jnt_type[i] != FREE]
        if own:  # of bodies beside the robot, too
            moving = [joint for joint in moving if joint.name in question.joints]
        self.joints = tuple(joint.name for joint in moving)
        whole = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, top or "world")
        self.mass = float(model.body_subtreemass[whole])
        asked, kind = question.of(self.joints), KINDS[question.base]
        self.mechanism = mechanism = MujocoMechanism(model, kind, asked, top, flags=0)
        self.links = self.linked(model.body(i).name for i in range(1, model.nbody))
        for joint in moving if own else ():  # a link's origin is on its last joint
            name = model.body(joint.bodyid[0]).name
            self.links[name] = replace(self.links[name], centre=model.body(name).ipos - joint.pos)
        data = mechanism.data
        data.qpos[mechanism.q] = 0.0
        mujoco.mj_kinematics(model, data)
        root = max(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, question.root), 0)
        place, turn = data.xpos[root].copy(), data.xmat[root].reshape(3, 3).copy()
        self.hinges = {}
        for joint in moving:
            i = joint.id
            ends = tuple(model.jnt_range[i]) if model.jnt_limited[i] else (-np.inf, np.inf)
            anchor, axis = turn.T @ (data.xanchor[i] - place), turn.T @ data.xaxis[i]
            if own and model.jnt_type[i] == mujoco.mjtJoint.mjJNT_SLIDE:
                anchor = anchor - model.qpos0[model.jnt_qposadr[i]] * axis
            self.hinges[joint.name] = Hinge(anchor, axis, *ends)
        # By index, for what a planar joint is made of has no name.
        dofs = {joint.name: int(joint.dofadr[0]) for joint in moving}
        armature = model.dof_armature + of_drives(model)[0]
        limited = {j.name: j.id for j in moving if model.jnt_actfrclimited[j.id]}
        followers = model.eq_obj1id[model.eq_type == mujoco.mjtEq.mjEQ_JOINT]
        self.apart = {
            "damping": {name: float(model.dof_damping[i]) for name, i in dofs.items()},
            "friction": {name: float(model.dof_frictionloss[i]) for name, i in dofs.items()},
            "armature": {name: float(armature[i]) for name, i in dofs.items()},
            "effort": {name: float(model.jnt_actfrcrange[i, 1]) for name, i in limited.items()},
            "mimic": {model.joint(i).name: 1.0 for i in followers},
        }
        kinds = model.geom_type[model.geom_contype > 0]
        self.shapes = Counter(
            mujoco.mjtGeom(kind).name.removeprefix("mjGEOM_").lower() for kind in kinds
        )
        model.dof_damping[:] = 0.0
        model.dof_frictionloss[:] = 0.0


def _of_urdf(urdf: str, question: Question, settings: str, file: Path | None) -> Loaded:
    """Return the model of a URDF, and the body that moves as the base.

    Of a text that is of no file the meshes have their folders.
    """
    accord = settings == "accord"
    # Below another root, the joint that carries ours floats by itself.
    floats = question.base == "free" and question.root != find_root(ET.fromstring(urdf), "URDF")
    as_it_is = file and not accord
    load = mujoco.MjSpec.from_file if as_it_is else mujoco.MjSpec.from_string
    spec = load(str(file) if as_it_is else with_files(urdf))
    if accord:
        # A joint that floats below a static link can do so below the world alone.
        spec.compiler.fusestatic = floats
        spec.compiler.discardvisual = True
        spec.compiler.balanceinertia = False
    top = ""
    if question.base == "free":
        top = question.root
        if not floats:
            body = spec.worldbody.bodies[0]
            body.add_freejoint()
            top = body.name
    return spec.compile(), top


def _leave_out(model: mujoco.MjModel) -> None:
    """Leave out what the tree of an MJCF file has not; `accord` names it (convert.py)."""
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= off.mjDSBL_EQUALITY | off.mjDSBL_ACTUATION
    model.opt.disableflags &= ~int(off.mjDSBL_GRAVITY)
    model.opt.density = model.opt.viscosity = 0.0
    for values in (
        model.actuator_damping, model.body_gravcomp, model.jnt_stiffnesspoly, model.dof_dampingpoly,
        model.tendon_stiffness, model.tendon_damping, model.tendon_frictionloss,
        model.tendon_armature,
    ):  # fmt: skip
        values[:] = 0.0
    model.dof_armature[model.jnt_type[model.dof_jntid] == FREE] = 0.0


def _own(text: str, question: Question, _settings: str, file: Path | None) -> Loaded:
    """Return the model of an MJCF file, or of its text, and the body that moves as the base.

    What has no name gets that of its number; a base that is fixed is at the origin.
    """
    named = file is not None and file.suffix == ".xml"  # MjSpec reads no other file
    spec = mujoco.MjSpec.from_file(str(file)) if named else mujoco.MjSpec.from_string(text)
    spec.modelfiledir = str(file.parent) if file else ""
    replace_missing(spec)
    spec.compile()  # which numbers bodies and joints
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
