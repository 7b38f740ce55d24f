"""Conversion of MJCF (MuJoCo's file format) to a URDF.

`convert` is the entry of `formats` in MuJoCo's `EngineSpec`, called by engines/formats.py when a
user names a file in MJCF. MuJoCo compiles the file, and links and joints are read from the compiled
model, so that all defaults and derived numbers are MuJoCo's own. `_Conversion` gathers them, and
description/tree_text.py writes the URDF. mjcf.py reads actuators and equalities, and names the
elements that URDF cannot express. Numbers stay unrounded: test_formats compares random trees with
MuJoCo's own motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.description.tree import Joint, Link
from roboaccord.description.tree_text import HERE, UP, WORLD, Converted, Pose, make_tree, write_tree
from roboaccord.engines.mujoco.missing import compile_file
from roboaccord.engines.mujoco.mjcf import actuator_terms, lacks, left_out, mimics, name_of, servos
from roboaccord.engines.mujoco.model import reason_of
from roboaccord.numerics.rotations import axis_angle_matrix

JOINT, OBJECT = mujoco.mjtJoint, mujoco.mjtObj
MAX_NAMES = 3  # names listed in a note: enough to find them in the file, in a short line
MASSLESS = np.zeros(3), np.zeros((3, 3))  # centre of mass and inertia of a massless link


def convert(text: str, path: Path | None, _packages: Mapping[str, Path]) -> Converted:
    """Return the URDF of a robot in MJCF.

    Links have the names and axes of the bodies, and their origins on their joints. A body with
    several joints becomes a chain in which all joints but the last lead to massless links.

    Args:
        text: content of the file.
        path: path of the file; None if the text is not that of a file.
        _packages: not used, because MJCF has no packages.

    Raises:
        AccordError: if MuJoCo refuses it, or no URDF can express it.
    """
    try:
        model, missing, weightless = compile_file(text, path)
    except ValueError as error:
        raise AccordError(f"MuJoCo refuses it: {reason_of(error)}") from None
    if model.nbody == 1:
        raise AccordError("it holds no bodies")
    converted = _Conversion(model).result()
    unweighed = tuple(name_of(model, OBJECT.mjOBJ_BODY, body.id) for body in weightless)
    masses = tuple(f"mass of {name}, whose mesh is missing" for name in unweighed)
    if missing:
        files = ", ".join(Path(name).name for name in missing[:MAX_NAMES])
        ellipsis = ", ..." if len(missing) > MAX_NAMES else ""
        line = f"missing in {Path(missing[0]).parent}, and left out: {files}{ellipsis}"
        converted = replace(converted, notes=(*converted.notes, line), missing=tuple(missing))
    return replace(converted, lacks=(*converted.lacks, *masses), unweighed=unweighed)


class _Conversion:
    """Gather the links and joints of a compiled model.

    Args:
        model: MuJoCo's.

    Attributes:
        bodies: names, by MuJoCo's number of a body.
        links: links of the URDF.
        joints: joints of the URDF, each with the pose of its frame in the child.
        made: names of the massless links between several joints of a body.
        notes: lines for the user on elements that are left out.
        drives: reflected inertia and damping of actuators on each rate (2, nv).
        mimics, servos: those of `mjcf.py`, by MuJoCo's number of a joint.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        bodies = range(1, model.nbody)
        self.bodies = [WORLD, *(name_of(model, OBJECT.mjOBJ_BODY, i) for i in bodies)]
        # Filled below, body by body.
        self.links, self.made = list[Link](), list[str]()
        self.joints = list[tuple[Joint, Pose]]()
        self.notes, self.drives = list(left_out(model)), actuator_terms(model)
        self.mimics, self.servos = dict(mimics(model)), dict(servos(model))
        # The robot is the tree of bodies with most rates; if it does not float, all trees that do
        # not. A free joint belongs to the root of a floating tree.
        root_of_rate = [int(model.body_rootid[body]) for body in model.dof_bodyid]
        floating = {*model.jnt_bodyid[model.jnt_type == JOINT.mjJNT_FREE].tolist()}
        largest = max(root_of_rate, key=lambda root: (root_of_rate.count(root), -root), default=0)
        roots_of_robot = {largest}
        if largest not in floating:
            roots_of_robot = {*model.body_rootid.tolist()} - floating
            self.links.append(Link(WORLD, 0.0, *MASSLESS))
        for body in range(1, model.nbody):
            if model.body_rootid[body] in roots_of_robot:
                self._add_body(body)
        others = sorted({*model.body_rootid[1:].tolist()} - roots_of_robot)
        if others:
            named = ", ".join(self.bodies[i] for i in others[:MAX_NAMES])
            self.notes.append(f"{len(others)} bodies beside the robot: left out: {named}")

    def result(self) -> Converted:
        """Return the URDF."""
        # The model's own name is at offset 0 of `names`.
        name = self.model.names.partition(b"\0")[0].decode()
        if self.made:
            named = ", ".join(self.made[:MAX_NAMES])
            self.notes.append(f"{len(self.made)} links of no mass between a body's joints: {named}")
        text = write_tree(make_tree(self.links, self.joints), name or "robot")
        missing = tuple(lacks(self.model, self.mimics))
        return Converted(name or "robot", text, tuple(self.notes), frozenset(self.made), missing)

    def _add_body(self, body: int) -> None:
        """Add a body, by its number, as a link, with the joints that lead to it."""
        model, name = self.model, self.bodies[body]
        turn = _matrix(model.body_iquat[body])
        inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T
        mass, centre = float(model.body_mass[body]), model.body_ipos[body].copy()
        self.links.append(Link(name, mass, centre, 0.5 * (inertia + inertia.T)))
        first_joint, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        joints = range(first_joint, first_joint + count)
        if count and model.jnt_type[first_joint] == JOINT.mjJNT_FREE:
            return
        parent, position = self.bodies[model.body_parentid[body]], model.body_pos[body].copy()
        pose: Pose = (position, _matrix(model.body_quat[body]))
        # A body without joints is fixed to its parent.
        if not count:
            joint_names = {name_of(model, OBJECT.mjOBJ_JOINT, k) for k in range(model.njnt)}
            joint_name = _unused(f"{name}_fixed", joint_names)
            fixed = Joint(joint_name, "fixed", parent, name, *pose, UP, -np.inf, np.inf)
            self.joints.append((fixed, HERE))
        # One link for each joint; all but the last are massless.
        for joint in joints:
            joint_name = name_of(model, OBJECT.mjOBJ_JOINT, joint)
            if model.jnt_type[joint] == JOINT.mjJNT_BALL:
                raise AccordError(f"ball joint {joint_name}, which URDF cannot express")
            child = name
            if joint != joints[-1]:
                child = _unused(f"{name}_before_{joint_name}", {*self.bodies, *self.made})
                self.made.append(child)
                self.links.append(Link(child, 0.0, *MASSLESS))
            self.joints.append(self._joint(joint, parent, child, pose))
            parent, pose = child, HERE

    def _joint(self, k: int, parent: str, child: str, pose: Pose) -> tuple[Joint, Pose]:
        """Return joint number `k` of MuJoCo as a joint of the URDF, with its pose in the child.

        MuJoCo counts positions from `qpos0`, at which the body is in its given pose; in a URDF that
        is q = 0, so the frame is shifted or turned back by `qpos0`.

        Args:
            k: number of the joint.
            parent, child: links.
            pose: position (3,) [m] and rotation (3, 3) of the body in the parent at `qpos0`.
        """
        model, dof = self.model, int(self.model.jnt_dofadr[k])
        axis, anchor = model.jnt_axis[k].copy(), model.jnt_pos[k].copy()
        coordinate = model.jnt_qposadr[k]
        zero, limited = float(model.qpos0[coordinate]), bool(model.jnt_limited[k])
        slides = model.jnt_type[k] == JOINT.mjJNT_SLIDE
        effort_limit = float(model.jnt_actfrcrange[k, 1]) if model.jnt_actfrclimited[k] else np.inf
        stiffness, servo_damping, servo_effort = self.servos.get(k, (0.0, 0.0, np.inf))
        rotor_inertia, drive_damping = self.drives[:, dof]
        body_position, turn = pose
        position = body_position + turn @ anchor
        if slides:
            position = position - zero * (turn @ axis)
        else:
            turn = turn @ axis_angle_matrix(axis, np.array(-zero))
        joint = Joint(
            name=name_of(model, OBJECT.mjOBJ_JOINT, k),
            mimic=self.mimics.get(k),
            kind="prismatic" if slides else "revolute" if limited else "continuous",
            parent=parent,
            child=child,
            position=position,
            rotation=turn,
            axis=axis,
            lower=float(model.jnt_range[k, 0]) if limited else -np.inf,
            upper=float(model.jnt_range[k, 1]) if limited else np.inf,
            effort=min(effort_limit, servo_effort),
            damping=float(model.dof_damping[dof] + drive_damping),
            friction=float(model.dof_frictionloss[dof]),
            armature=float(model.dof_armature[dof] + rotor_inertia),
            servo=(stiffness, servo_damping),
            spring=(float(model.jnt_stiffness[k]), float(model.qpos_spring[coordinate])),
        )
        return joint, (anchor, np.eye(3))


def _unused(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: the given one, with a number added if necessary."""
    # One candidate more than there are names that could be taken.
    candidates = (name, *(f"{name}_{number}" for number in range(1, len(taken) + 1)))
    return next(candidate for candidate in candidates if candidate not in taken)


def _matrix(quaternion: Array) -> Array:
    """Return the rotation (3, 3) of a quaternion w x y z."""
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, quaternion)
    return rotation.reshape(3, 3)
