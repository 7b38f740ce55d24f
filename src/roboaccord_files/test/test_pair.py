"""One robot written twice is one, and what was changed in it is named and sized."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from roboaccord.contract.state import Array
from roboaccord.engines.formats import read_robot
from roboaccord.numerics.rotations import matrix_quaternion, quaternion_rpy, rpy_matrix
from roboaccord_files.parity.pair import TOLERANCE, Comparison, Pair
from roboaccord_files.parity.placing import STILL, Pose


class Part(NamedTuple):
    """Hold a link and the joint that leads to it, in the frame of its parent."""

    name: str
    parent: str = ""
    kind: str = "revolute"
    pose: Pose = STILL
    axis: Array = STILL.turn[2]
    upper: float = 1.5
    effort: float = 20.0
    damping: float = 0.3
    mass: float = 0.0
    centre: Array = STILL.place
    inertia: Array = 0.0 * STILL.turn


def part(name: str, parent: str, xyz: str, axis: str, mass: float, kind: str = "revolute") -> Part:
    """Return a part of lengths of its own, none of its products of inertia 0."""
    rng = np.random.default_rng(list(name.encode()))
    turn = rpy_matrix(*rng.uniform(-1.0, 1.0, 3))
    pose = Pose(np.array([float(x) for x in xyz.split()]), rpy_matrix(0.1, -0.2, 0.3))
    along = np.array([float(x) for x in axis.split()])
    inertia = turn @ np.diag(mass * np.array([0.008, 0.011, 0.015])) @ turn.T
    return Part(name, parent, kind, pose, along, mass=mass, inertia=inertia,
                centre=rng.uniform(-0.1, 0.1, 3))  # fmt: skip


ROBOT = (
    part("base", "", "0 0 0", "0 0 1", 5.0),
    part("box", "base", "0.2 0 0.1", "0 0 1", 0.8, "fixed"),
    part("left", "base", "0.1 0.3 0.2", "0 0 1", 2.0),
    part("fore", "left", "0.05 0.02 0.4", "0 1 0", 1.4),
    part("hand", "fore", "0.3 0 0.1", "0.6 0 0.8", 0.7),
    part("tool", "hand", "0 0.1 0.1", "0 0 1", 0.3, "fixed"),
    part("right", "base", "0.1 -0.3 0.2", "0 0 1", 2.0),
    part("slide", "right", "0.1 0 0.3", "1 0 0", 1.1, "prismatic"),
)
Robot = Sequence[Part]


def inside(one: Pose, link: Part) -> Part:
    """Return a part in a frame that has a pose in its own."""
    centre = one.turn.T @ (link.centre - one.place)
    inertia = one.turn.T @ link.inertia @ one.turn
    return link._replace(axis=one.turn.T @ link.axis, centre=centre, inertia=inertia)


def moved(robot: Robot, root: bool = True) -> Robot:
    """Return a robot with other frames; those of hinges stay on their axes."""
    rng, frames = np.random.default_rng(7), {"": STILL}
    for each in robot:
        turn, slide = rpy_matrix(*rng.uniform(-2.0, 2.0, 3)), rng.uniform(-0.3, 0.3, 3)
        hinge = each.kind == "revolute" and each.parent
        frames[each.name] = Pose(each.axis * slide[0] if hinge else slide, turn)
    if not root:
        frames["base"] = STILL
    back = {name: pose.inverse for name, pose in frames.items()}
    return [
        inside(frames[p.name], p)._replace(pose=back[p.parent].then(p.pose).then(frames[p.name]))
        for p in robot
    ]


def renamed(robot: Robot) -> Robot:
    """Return a robot whose links and joints have other names, but for the root."""
    names = {p.name: p.name if p.name == "base" else f"n{i}" for i, p in enumerate(robot)}
    return [p._replace(name=names[p.name], parent=names.get(p.parent, "")) for p in robot]


def reordered(robot: Robot) -> Robot:
    """Return a robot whose parts stand in another order."""
    return [*robot[::-1]]


def lumped(robot: Robot) -> Robot:
    """Return a robot whose fixed links are part of those that carry them."""
    found = {p.name: p for p in robot}
    for child in [p for p in robot if p.kind == "fixed"]:
        one, other = found[child.parent], inside(child.pose.inverse, child)
        mass = one.mass + other.mass
        centre = (one.mass * one.centre + other.mass * other.centre) / mass
        inertia = one.inertia + other.inertia
        for each in (one, other):
            r = each.centre - centre
            inertia = inertia + each.mass * (r @ r * np.eye(3) - np.outer(r, r))
        found[one.name] = one._replace(mass=mass, centre=centre, inertia=inertia)
        del found[child.name]
    return [*found.values()]


def text(values: Array | Sequence[float]) -> str:
    """Return numbers as XML has them."""
    return " ".join(repr(float(x)) for x in values)


def urdf(robot: Robot) -> str:
    """Return a robot as URDF."""
    rows = []
    for p in robot:
        xx, xy, xz, _, yy, yz, _, _, zz = (repr(float(x)) for x in p.inertia.flat)
        rows.append(
            f'<link name="{p.name}"><inertial><origin xyz="{text(p.centre)}"/>'
            f'<mass value="{p.mass!r}"/><inertia ixx="{xx}" ixy="{xy}" ixz="{xz}" iyy="{yy}" '
            f'iyz="{yz}" izz="{zz}"/></inertial></link>'
        )
        rpy = quaternion_rpy(matrix_quaternion(p.pose.turn))
        if p.parent:
            rows.append(
                f'<joint name="to_{p.name}" type="{p.kind}"><parent link="{p.parent}"/>'
                f'<child link="{p.name}"/><origin xyz="{text(p.pose.place)}" rpy="{text(rpy)}"/>'
                f'<axis xyz="{text(p.axis)}"/><dynamics damping="{p.damping!r}"/>'
                f'<limit lower="-1" upper="{p.upper!r}" effort="{p.effort!r}" velocity="2"/></joint>'
            )
    return f'<robot name="r">{"".join(rows)}</robot>'


def mjcf(robot: Robot, parent: str = "") -> str:
    """Return a robot as MJCF, or what hangs on one of its links."""
    rows = []
    for p in (p for p in robot if p.parent == parent):
        x, y, z, w = matrix_quaternion(p.pose.turn)
        full = p.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        joint = f'<freejoint name="free"/>' if not parent else ""
        if parent and p.kind != "fixed":
            kind = "hinge" if p.kind == "revolute" else "slide"
            joint = (f'<joint name="to_{p.name}" type="{kind}" axis="{text(p.axis)}" limited="true" '
                     f'range="-1 {p.upper!r}" damping="{p.damping!r}"/>')  # fmt: skip
        rows.append(
            f'<body name="{p.name}" pos="{text(p.pose.place)}" quat="{text([w, x, y, z])}">{joint}'
            f'<inertial pos="{text(p.centre)}" mass="{p.mass!r}" fullinertia="{text(full)}"/>'
            f"{mjcf(robot, p.name)}</body>"
        )
    if parent:
        return "".join(rows)
    options = '<compiler angle="radian" balanceinertia="false"/>'
    return f'<mujoco model="r">{options}<worldbody>{"".join(rows)}</worldbody></mujoco>'


def sdf(robot: Robot) -> str:
    """Return a robot as SDF."""
    rows = []
    for p in robot:
        xx, xy, xz, _, yy, yz, _, _, zz = (repr(float(x)) for x in p.inertia.flat)
        pose = text([*p.pose.place, *quaternion_rpy(matrix_quaternion(p.pose.turn))])
        at = f'relative_to="{p.parent}"' if p.parent else ""
        rows.append(
            f'<link name="{p.name}"><pose {at}>{pose}</pose><inertial><pose>{text(p.centre)} 0 0 0'
            f"</pose><mass>{p.mass!r}</mass><inertia><ixx>{xx}</ixx><ixy>{xy}</ixy><ixz>{xz}</ixz>"
            f"<iyy>{yy}</iyy><iyz>{yz}</iyz><izz>{zz}</izz></inertia></inertial></link>"
        )
        if p.parent:
            axis = (f"<axis><xyz>{text(p.axis)}</xyz><limit><lower>-1</lower><upper>{p.upper!r}"
                    f"</upper><effort>{p.effort!r}</effort><velocity>2</velocity></limit><dynamics>"
                    f"<damping>{p.damping!r}</damping></dynamics></axis>")  # fmt: skip
            rows.append(
                f'<joint name="to_{p.name}" type="{p.kind}"><parent>{p.parent}</parent><child>'
                f"{p.name}</child>{axis if p.kind != 'fixed' else ''}</joint>"
            )
    return f'<sdf version="1.9"><model name="r">{"".join(rows)}</model></sdf>'
