"""MuJoCo's model of a description: links, ball, and collision pairs."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import mujoco
import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.description.base_kinds import KINDS, FixedBase
from roboaccord.description.meshes import local_files
from roboaccord.description.tree import Tree
from roboaccord.engines.ball import Ball, split_ball
from roboaccord.engines.model import BASE_LINK, EngineModel
from roboaccord.engines.mujoco.contact import collide
from roboaccord.engines.properties import LinkProperties
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_matrix

PLAIN = '<mujoco><compiler strippath="false"/></mujoco>'  # else names of files lose their folders


def base_slices(model: mujoco.MjModel, base: FixedBase) -> tuple[slice, slice]:
    """Return the slices of the coordinates and the rates of `base_link`."""
    if not base.moves:
        return slice(0), slice(0)
    counts = base.size, len(base.axes)
    joint = model.body(BASE_LINK).jntadr[0]
    starts = (int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint]))
    positions, rates = (slice(i, i + n) for i, n in zip(starts, counts, strict=True))
    return positions, rates


def link_of(model: mujoco.MjModel, body: int) -> LinkProperties:
    """Return the properties of a body, in the axes of its link."""
    turn = quaternion_matrix(np.roll(model.body_iquat[body], -1))
    inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T
    return LinkProperties(float(model.body_mass[body]), model.body_ipos[body].copy(), inertia)


def compile_model(
    model: EngineModel, tree: Tree, contact_time: float, damping_ratio: float = 1.0
) -> mujoco.MjModel:
    """Return MuJoCo's model, every link kept and nothing colliding but the pairs of a contact.

    Contacts have the time constant `contact_time` [s], and a damping ratio.

    Raises:
        AccordError: if MuJoCo refuses the description.
    """
    urdf, ball = split_ball(model.urdf, tree) if tree.frame else (model.urdf, None)
    try:
        spec = mujoco.MjSpec.from_string(_with_files(urdf))
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = True
        spec.compiler.balanceinertia = False
        if ball:
            _add_ball(spec, ball, model.base)
        elif not KINDS[model.base].tied:
            # MuJoCo welds the root of a URDF to the world.
            spec.body(BASE_LINK).add_freejoint()
        for geom in spec.geoms:
            geom.contype = 0
            geom.conaffinity = 0
        if model.contact:
            collide(spec, model.contact, contact_time, damping_ratio)
        return spec.compile()
    except ValueError as error:
        # The link or joint that it means is named in the second line.
        reason = "; ".join(line.strip() for line in str(error).splitlines()[:2])
        raise AccordError(f"MuJoCo refuses the description: {reason}") from None


def _with_files(urdf: str) -> str:
    """Return a URDF whose meshes MuJoCo finds: it takes paths, and no `file://`."""
    urdf = local_files(urdf)
    if "<mesh" not in urdf:
        return urdf
    root = ET.fromstring(urdf)
    for mesh in root.iter("mesh"):
        mesh.set("filename", mesh.get("filename", "").removeprefix("file://"))
    root.insert(0, ET.fromstring(PLAIN))
    return ET.tostring(root, encoding="unicode")


def _add_ball(spec: mujoco.MjSpec, ball: Ball, base: str) -> None:
    """Add `base_link` to a model."""
    # MuJoCo 4.0.0 sorts the moments of a body's `fullinertia`, and forgets to turn their axes.
    moments, axes = np.linalg.eigh(ball.inertia)
    axes[:, 0] *= np.sign(np.linalg.det(axes))
    body = spec.worldbody.add_body(
        name=BASE_LINK,
        mass=ball.mass,
        inertia=moments,
        iquat=np.roll(matrix_quaternion(axes), 1),
        explicitinertial=True,
    )
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[ball.radius, 0.0, 0.0])
    if base == "ball":
        body.add_joint(type=mujoco.mjtJoint.mjJNT_BALL)
    else:
        body.add_freejoint()
