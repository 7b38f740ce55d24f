"""Rigid bodies with contact, described once and written as URDF, SDF and MJCF.

A `Scene` has bodies of one shape each. A body without mass is fixed in the world; one with a
`slide` moves along a straight line; all others are free. The scene's coefficients of friction and
restitution are those of each pair of bodies: engines have coefficients of single surfaces, and
combine two of them by rules of their own, so that each engine makes surfaces for the pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import quaternion_matrix

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)
G = 9.81  # gravity [m/s^2]


@dataclass(frozen=True, kw_only=True)
class Body:
    """A homogeneous box or sphere.

    Args:
        name: within its scene.
        size: edges of a box (3,) [m]; of a sphere its diameter alone (1,).
        mass: 0 for a body that is fixed in the world [kg].
        position: of its centre [m].
        rotation: rotation vector of its axes [rad].
        velocity, spin: of its centre and about it, in the world [m/s, rad/s].
        mu, restitution: coefficients of its surface; None for those that make the scene's pairs.
        slide: axis of the joint that it slides along, in its own axes; None for a free body.
    """

    name: str
    size: tuple[float, ...]
    mass: float = 0.0
    position: Vector = ZERO
    rotation: Vector = ZERO
    velocity: Vector = ZERO
    spin: Vector = ZERO
    mu: float | None = None
    restitution: float | None = None
    slide: Vector | None = None

    @property
    def is_sphere(self) -> bool:
        """Whether it is a sphere."""
        return len(self.size) == 1

    @property
    def inertia(self) -> Array:
        """Moments of inertia about its centre (3,) [kg m^2]; of a fixed one those of 1 kg."""
        if self.is_sphere:
            return np.full(3, 0.1 * (self.mass or 1.0) * self.size[0] ** 2)
        squares = np.square(self.size)
        return np.asarray((self.mass or 1.0) / 12.0 * (squares.sum() - squares))

    @property
    def quaternion(self) -> Array:
        """Its orientation as x y z w (4,)."""
        angle = float(np.linalg.norm(self.rotation))
        half_sinc = 0.5 * np.sinc(angle / (2.0 * np.pi))
        return np.append(half_sinc * np.array(self.rotation), np.cos(angle / 2.0))

    @property
    def axes(self) -> Array:
        """Its axes in the world, as columns (3, 3)."""
        return quaternion_matrix(self.quaternion)

    @property
    def rates(self) -> Array:
        """Rate along its slide (1,), or velocity, and spin in its own axes (6,) [m/s, rad/s]."""
        if self.slide:
            return np.array([self.axes @ self.slide @ self.velocity])
        return np.concatenate([self.velocity, self.spin @ self.axes])


@dataclass(frozen=True)
class Scene:
    """Bodies under gravity.

    Args:
        bodies: with the fixed ones first.
        mu, restitution: coefficients of friction and restitution of each pair.
        gravity: in the world [m/s^2].
    """

    bodies: tuple[Body, ...]
    mu: float = 1.0
    restitution: float = 0.0
    gravity: Vector = (0.0, 0.0, -G)

    @property
    def moving(self) -> list[Body]:
        """Bodies that are not fixed."""
        return [body for body in self.bodies if body.mass]


class Motion(NamedTuple):
    """Motion of a body in the world: its centre (3,), rotation matrix (3, 3), and rates (3,)."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array


GROUND = Body(name="ground", size=(40.0, 40.0, 1.0), position=(0.0, 0.0, -0.5))


def words(numbers: Iterable[float]) -> str:
    """Return numbers with blanks between, without loss."""
    return " ".join(repr(float(number)) for number in numbers)


def _roll_pitch_yaw(body: Body) -> str:
    """Return the orientation of a body by the angles of URDF and SDF."""
    from scipy.spatial.transform import Rotation

    return words(Rotation.from_rotvec(body.rotation).as_euler("xyz"))


def _shape(body: Body) -> str:
    """Return the shape in URDF."""
    if body.is_sphere:
        return f'<geometry><sphere radius="{body.size[0] / 2!r}"/></geometry>'
    return f'<geometry><box size="{words(body.size)}"/></geometry>'


def urdf(body: Body) -> str:
    """Return a body as a URDF of its own, with its joint to the world if it slides.

    Poses, rates and coefficients of contact have no place in it.
    """
    x, y, z = body.inertia.tolist()
    inertia = f'ixx="{x!r}" iyy="{y!r}" izz="{z!r}" ixy="0" ixz="0" iyz="0"'
    link = (
        f'<link name="{body.name}"><inertial><mass value="{body.mass or 1.0!r}"/>'
        f"<inertia {inertia}/></inertial><collision>{_shape(body)}</collision></link>"
    )
    if body.slide:
        link += (
            f'<link name="world"/><joint name="{body.name}_slide" type="prismatic">'
            f'<parent link="world"/><child link="{body.name}"/><axis xyz="{words(body.slide)}"/>'
            f'<origin xyz="{words(body.position)}" rpy="{_roll_pitch_yaw(body)}"/>'
            '<limit lower="-1e3" upper="1e3" effort="1e9" velocity="1e9"/></joint>'
        )
    return f'<robot name="{body.name}">{link}</robot>'


def sdf(scene: Scene, step: float, further: str = "") -> str:
    """Return the scene as a world in SDF, with a model for each body.

    Args:
        scene: to write.
        step: physics step [s].
        further: elements of the world.
    """
    models = "".join(_sdf_model(body) for body in scene.bodies)
    return (
        '<sdf version="1.9" xmlns:drake="http://drake.mit.edu"><world name="bench">'
        f'<gravity>{words(scene.gravity)}</gravity><physics name="physics" type="ode">'
        f"<max_step_size>{step!r}</max_step_size><real_time_factor>0</real_time_factor></physics>"
        f"{further}{models}</world></sdf>"
    )


def _sdf_model(body: Body) -> str:
    """Return a body as a model in SDF.

    Of friction it has sliding alone. Drake is told that a fixed body is rigid.
    """
    shape = f"<box><size>{words(body.size)}</size></box>"
    if body.is_sphere:
        shape = f"<sphere><radius>{body.size[0] / 2!r}</radius></sphere>"
    x, y, z = body.inertia.tolist()
    friction = (
        f"<ode><mu>{body.mu!r}</mu><mu2>{body.mu!r}</mu2></ode><bullet><friction>{body.mu!r}"
        f"</friction><friction2>{body.mu!r}</friction2></bullet>"
        "<torsional><coefficient>0</coefficient></torsional>"
    )
    hard = "" if body.mass else "<drake:rigid_hydroelastic/>"
    joint = ""
    if body.slide:
        joint = (
            f'<joint name="slide" type="prismatic"><parent>world</parent><child>{body.name}</child>'
            f"<axis><xyz>{words(body.slide)}</xyz></axis></joint>"
        )
    return (
        f'<model name="{body.name}"><static>{str(not body.mass).lower()}</static>'
        f"<pose>{words(body.position)} {_roll_pitch_yaw(body)}</pose>"
        f'<link name="{body.name}"><inertial><mass>{body.mass or 1.0!r}</mass>'
        f"<inertia><ixx>{x!r}</ixx><iyy>{y!r}</iyy><izz>{z!r}</izz></inertia></inertial>"
        f'<collision name="c"><geometry>{shape}</geometry><surface><friction>{friction}'
        f"</friction><bounce>"
        f"<restitution_coefficient>{body.restitution!r}</restitution_coefficient></bounce>"
        f"</surface><drake:proximity_properties>{hard}</drake:proximity_properties>"
        f"</collision></link>{joint}</model>"
    )


def mjcf(scene: Scene, option: str = "", geom: str = "") -> str:
    """Return the scene as MJCF.

    Args:
        scene: to write.
        option: attributes of `option`.
        geom: further attributes of each geom.
    """
    bodies = "".join(_mjcf_body(body, geom) for body in scene.bodies)
    gravity = words(scene.gravity)
    return (
        f'<mujoco><compiler angle="radian"/><option gravity="{gravity}" {option}/>'
        f"<worldbody>{bodies}</worldbody></mujoco>"
    )


def _mjcf_body(body: Body, geom: str) -> str:
    """Return a body in MJCF."""
    x, y, z, w = body.quaternion.tolist()
    kind = "sphere" if body.is_sphere else "box"
    half = words(np.array(body.size) / 2.0)
    joint = inertial = ""
    if body.mass:
        joint = "<freejoint/>"
        inertial = (
            f'<inertial pos="0 0 0" mass="{body.mass!r}" diaginertia="{words(body.inertia)}"/>'
        )
    if body.slide:
        joint = f'<joint type="slide" axis="{words(body.slide)}"/>'
    return (
        f'<body name="{body.name}" pos="{words(body.position)}" quat="{words((w, x, y, z))}">'
        f'{joint}{inertial}<geom type="{kind}" size="{half}" '
        f'friction="{body.mu!r} 0 0" condim="3" {geom}/></body>'
    )
