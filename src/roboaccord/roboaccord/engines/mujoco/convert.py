"""MJCF as a URDF, by what MuJoCo's compiler makes of it.

An element that URDF can express may be added in `_Conversion`; one that it cannot is a line in
`_lacks`, where the motion would be another, or else in `_left_out`. test_formats
compares random trees with MuJoCo's own motion, so digits must stay unrounded. MOST, names in a
line, may be changed; GRAVITY stays, what acts here; a file with another one gets a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.description.tree import Joint, Link
from roboaccord.description.tree_text import (
    HERE,
    UP,
    WORLD,
    Converted,
    Pose,
    make_tree,
    write_tree,
)
from roboaccord.engines.mujoco.missing import compile_file
from roboaccord.engines.mujoco.model import of_drives
from roboaccord.numerics.rotations import axis_angle_matrix

JOINT, OBJECT = mujoco.mjtJoint, mujoco.mjtObj
GRAVITY = (0.0, 0.0, -9.81)
MOST = 3  # links named in a line
NOTHING = np.zeros(3), np.zeros((3, 3))


def convert(text: str, path: Path | None, _packages: Mapping[str, Path]) -> Converted:
    """Return the URDF of a robot in MJCF.

    Bodies keep their names and axes; a body's origin goes where its joint turns. Of several joints
    in a body, all but the last lead to links of no mass.

    Args:
        text: of the file.
        path: of the file, None where the text is of none.
        _packages: not used: MuJoCo knows none.

    Raises:
        AccordError: where MuJoCo refuses it, or it holds what no URDF can express.
    """
    try:
        model, missing, weightless = compile_file(text, path)
    except ValueError as error:
        reason = "; ".join(line.strip() for line in str(error).splitlines()[:2])
        raise AccordError(f"MuJoCo refuses it: {reason}") from None
    if model.nbody == 1:
        raise AccordError("it holds no bodies")
    made = _Conversion(model).result()
    unweighed = tuple(_name(model, OBJECT.mjOBJ_BODY, body.id) for body in weightless)
    lacks = (*made.lacks, *(f"mass of {name}, whose mesh is missing" for name in unweighed))
    if missing:
        files = ", ".join(Path(name).name for name in missing[:MOST])
        more = ", ..." * (len(missing) > MOST)
        line = f"missing in {Path(missing[0]).parent}, and left out: {files}{more}"
        made = replace(made, notes=(*made.notes, line), missing=tuple(missing))
    return replace(made, lacks=lacks, unweighed=unweighed)


class _Conversion:
    """Gather the links and joints of a compiled model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.model = model
        self.bodies = [WORLD, *(_name(model, OBJECT.mjOBJ_BODY, i) for i in range(1, model.nbody))]
        self.links, self.joints, self.made = list[Link](), list[tuple[Joint, Pose]](), list[str]()
        self.notes, self.drives = list(_left_out(model)), of_drives(model)
        self.mimics, self.servos = dict(_mimics(model)), dict(_servos(model))
        roots = [int(model.body_rootid[i]) for i in model.dof_bodyid]
        first = {i: int(model.body_jntadr[i]) for i in {*roots}}
        loose = {i for i, k in first.items() if k >= 0 and model.jnt_type[k] == JOINT.mjJNT_FREE}
        # Of several bodies that move by themselves, the one with most joints is the robot.
        most = max(roots, key=lambda i: (roots.count(i), -i), default=0)
        self.free = most in loose
        kept = {most} if self.free else {*map(int, model.body_rootid)} - loose
        if not self.free:
            self.links.append(Link(WORLD, 0.0, *NOTHING, ()))
        for i in range(1, model.nbody):
            if model.body_rootid[i] in kept:
                self._add(i)
        others = sorted({*map(int, model.body_rootid[1:])} - kept)
        if others:
            named = ", ".join(self.bodies[i] for i in others[:MOST])
            self.notes.append(f"{len(others)} bodies beside the robot: left out: {named}")

    def result(self) -> Converted:
        """Return the URDF."""
        # At offset 0 of `names` is the model's own.
        name = self.model.names.partition(b"\0")[0].decode()
        if self.made:
            named = ", ".join(self.made[:MOST])
            self.notes.append(f"{len(self.made)} links of no mass between a body's joints: {named}")
        text = write_tree(make_tree(self.links, self.joints), name or "robot")
        lacks = tuple(_lacks(self.model, self.mimics))
        made = frozenset(self.made)
        return Converted(name or "robot", text, tuple(self.notes), made, lacks)

    def _add(self, i: int) -> None:
        model, name = self.model, self.bodies[i]
        turn = _matrix(model.body_iquat[i])
        inertia = turn @ np.diag(model.body_inertia[i]) @ turn.T
        self.links.append(
            Link(name, float(model.body_mass[i]), model.body_ipos[i].copy(),
                 0.5 * (inertia + inertia.T), ())
        )  # fmt: skip
        first, count = int(model.body_jntadr[i]), int(model.body_jntnum[i])
        joints = range(first, first + count)
        if count and model.jnt_type[first] == JOINT.mjJNT_FREE:
            return
        at, place = self.bodies[model.body_parentid[i]], model.body_pos[i].copy()
        pose: Pose = (place, _matrix(model.body_quat[i]))
        if not count:
            taken = {_name(model, OBJECT.mjOBJ_JOINT, k) for k in range(model.njnt)}
            joint = _unused(f"{name}_fixed", taken)
            fixed = Joint(joint, "fixed", at, name, *pose, UP, -np.inf, np.inf)
            self.joints.append((fixed, HERE))
        for k in joints:
            if model.jnt_type[k] == JOINT.mjJNT_BALL:
                ball = f"ball joint {_name(model, OBJECT.mjOBJ_JOINT, k)}"
                raise AccordError(f"{ball}, which URDF cannot express")
            child = name
            if k != joints[-1]:
                label = _name(model, OBJECT.mjOBJ_JOINT, k)
                child = _unused(f"{name}_before_{label}", {*self.bodies, *self.made})
                self.made.append(child)
                self.links.append(Link(child, 0.0, *NOTHING, ()))
            self.joints.append(self._joint(k, at, child, pose))
            at, pose = child, HERE

    def _joint(self, k: int, parent: str, child: str, pose: Pose) -> tuple[Joint, Pose]:
        """Return a joint in a body that is at `pose` in its parent before the joint moves."""
        model, dof = self.model, int(self.model.jnt_dofadr[k])
        axis, at = model.jnt_axis[k].copy(), model.jnt_pos[k].copy()
        ref, limited = float(model.qpos0[model.jnt_qposadr[k]]), bool(model.jnt_limited[k])
        slides = model.jnt_type[k] == JOINT.mjJNT_SLIDE
        most = float(model.jnt_actfrcrange[k, 1]) if model.jnt_actfrclimited[k] else np.inf
        place, turn = pose[0] + pose[1] @ at, pose[1]
        if slides:
            place = place - ref * (turn @ axis)
        else:
            turn = turn @ axis_angle_matrix(axis, np.array(-ref))
        found = Joint(
            name=_name(model, OBJECT.mjOBJ_JOINT, k),
            mimic=self.mimics.get(k),
            kind="prismatic" if slides else "revolute" if limited else "continuous",
            parent=parent,
            child=child,
            position=place,
            rotation=turn,
            axis=axis,
            lower=float(model.jnt_range[k, 0]) if limited else -np.inf,
            upper=float(model.jnt_range[k, 1]) if limited else np.inf,
            effort=min(most, self.servos.get(k, (0.0, 0.0, np.inf))[2]),
            damping=float(model.dof_damping[dof] + self.drives[1, dof]),
            friction=float(model.dof_frictionloss[dof]),
            armature=float(model.dof_armature[dof] + self.drives[0, dof]),
            servo=self.servos.get(k, (0.0, 0.0))[:2],
            spring=(
                float(model.jnt_stiffness[k]),
                float(model.qpos_spring[model.jnt_qposadr[k]]),
            ),
        )
        return found, (at, np.eye(3))


def _mimics(model: mujoco.MjModel) -> Iterator[tuple[int, tuple[str, float, float]]]:
    """Yield the joints that an equality holds to a multiple of another, as `Joint.mimic`."""
    kinds = int(JOINT.mjJNT_HINGE), int(JOINT.mjJNT_SLIDE)
    for i in np.flatnonzero(model.eq_type == mujoco.mjtEq.mjEQ_JOINT):
        k, lead = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
        offset, factor, *curved = model.eq_data[i, :5].tolist()
        if lead < 0 or any(curved) or not model.eq_active0[i] or model.jnt_type[lead] not in kinds:
            continue
        refs = model.qpos0[model.jnt_qposadr[[k, lead]]]
        name = _name(model, OBJECT.mjOBJ_JOINT, lead)
        yield k, (name, factor, float(offset + refs[0] - factor * refs[1]))


def _plain(model: mujoco.MjModel) -> Iterator[int]:
    """Yield the actuators whose force on a joint is linear in its position and rate."""
    known = int(mujoco.mjtBias.mjBIAS_NONE), int(mujoco.mjtBias.mjBIAS_AFFINE)
    for i in range(model.nu):
        of_joint = model.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_JOINT
        direct = model.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
        fixed = model.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        if of_joint and direct and fixed and model.actuator_biastype[i] in known:
            yield i


def _servos(model: mujoco.MjModel) -> Iterator[tuple[int, tuple[float, float, float]]]:
    """Yield joints with stiffness, damping and largest effort of their actuators."""
    found = dict[int, list[tuple[float, float, float]]]()
    for i in _plain(model):
        gear = abs(float(model.actuator_gear[i, 0]))
        _, stiffness, damping = (-gear * gear * model.actuator_biasprm[i, :3]).tolist()
        limited = model.actuator_forcelimited[i]
        most = gear * float(model.actuator_forcerange[i, 1]) if limited else np.inf
        found.setdefault(int(model.actuator_trnid[i, 0]), []).append((stiffness, damping, most))
    for k, each in found.items():
        stiff, damped, most = (sum(column) for column in zip(*each, strict=True))
        yield k, (stiff, damped, most)


def _lacks(model: mujoco.MjModel, mimics: Mapping[int, object]) -> Iterator[str]:
    """Yield what no URDF can express of a model and moves it, by name."""
    mocaps = [i for i in range(model.nbody) if model.body_mocapid[i] >= 0]
    for what, kind, found in (
        ("tendon", OBJECT.mjOBJ_TENDON, range(model.ntendon)),
        ("flex", OBJECT.mjOBJ_FLEX, range(model.nflex)),
        ("mocap body", OBJECT.mjOBJ_BODY, mocaps),
        ("plugin", OBJECT.mjOBJ_PLUGIN, range(model.nplugin)),
    ):
        yield from (f"{what} {_name(model, kind, i)}" for i in found)
    for i in range(model.neq):
        word = mujoco.mjtEq(model.eq_type[i]).name.removeprefix("mjEQ_").lower()
        if word != "joint" or int(model.eq_obj1id[i]) not in mimics:
            loop = ", a loop" if word in ("connect", "weld") else ""
            yield f"equality {word} {_name(model, OBJECT.mjOBJ_EQUALITY, i)}{loop}"


def _left_out(model: mujoco.MjModel) -> Iterator[str]:
    """Yield a line for what is left out, because URDF has no word for it."""
    free = np.isin(model.jnt_type, JOINT.mjJNT_FREE)
    of_free = free[model.dof_jntid]
    omitted = (
        ("springs that are not linear", model.jnt_stiffnesspoly.any() or model.nplastic),
        ("damping of higher order", model.dof_dampingpoly.any()),
        ("armature, damping and friction of the free joint",
         (model.dof_armature + model.dof_damping + model.dof_frictionloss)[of_free].any()),
        ("gravity compensation", model.body_gravcomp.any()),
        ("density, viscosity and wind of the air", model.opt.density or model.opt.viscosity),
        ("actuators not linear, with states, or not of a joint",
         model.nu - len([*_plain(model)])),
    )  # fmt: skip
    for what, there in omitted:
        if there:
            yield f"{what}: left out"
    weightless = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    gravity = (0.0, 0.0, 0.0) if weightless else tuple(model.opt.gravity)
    if gravity != GRAVITY:
        words = " ".join(f"{x:g}" for x in gravity)
        yield f"gravity of the file, {words} m/s^2: left out, 9.81 acts here"


def _name(model: mujoco.MjModel, kind: mujoco.mjtObj, i: int) -> str:
    word = kind.name.removeprefix("mjOBJ_").lower()
    return str(mujoco.mj_id2name(model, kind, i) or f"{word}_{i}")


def _unused(name: str, taken: set[str]) -> str:
    return next(
        new for new in (name, *(f"{name}_{i}" for i in range(1, 10_000))) if new not in taken
    )


def _matrix(quaternion: Array) -> Array:
    """Return the rotation (3, 3) of a quaternion w x y z."""
    found = np.zeros(9)
    mujoco.mju_quat2Mat(found, quaternion)
    return found.reshape(3, 3)
