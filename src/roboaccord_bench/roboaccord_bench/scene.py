"""Rigid bodies with contact, described once and written as URDF, SDF and MJCF.

A `Scene` has bodies of one shape each. A body without mass is fixed in the world; one with a
`slide` moves along a straight line; all others are free. The scene's coefficients of friction and
restitution are those of each pair of bodies: engines have coefficients of single surfaces, and
combine two of them by rules of their own, so that each engine makes surfaces for the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from math import cos, radians, sin
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import quaternion_matrix, yaw_quaternion

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)
G = 9.81  # gravity [m/s^2]


def vector(values: Iterable[float]) -> Vector:
    """Return three numbers as a tuple of floats."""
    x, y, z = map(float, values)
    return x, y, z


def direction(heading: float) -> Array:
    """Return the horizontal unit vector of a heading in degrees (3,)."""
    return np.array([cos(radians(heading)), sin(radians(heading)), 0.0])


@dataclass(frozen=True, kw_only=True)
class Body:
    """A homogeneous box or sphere.

    Args:
        name: within its scene.
        size: edges of a box (3,) [m]; of a sphere its diameter alone (1,).
        mass: 0 for a body that is fixed in the world [kg].
        position: of its centre [m].
        yaw: angle of its axes about the vertical [rad].
        velocity, spin: of its centre and about it, in the world [m/s, rad/s].
        mu, restitution: coefficients of its surface; None for those that make the scene's pairs.
        slide: axis of the joint that it slides along, in its own axes; None for a free body.
    """

    name: str
    size: tuple[float, ...]
    mass: float = 0.0
    position: Vector = ZERO
    yaw: float = 0.0
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
    def half(self) -> Array:
        """Half of its edges (3,), or its radius (1,) [m]."""
        return np.array(self.size) / 2.0

    @property
    def quaternion(self) -> Array:
        """Its orientation as x y z w (4,)."""
        return yaw_quaternion(self.yaw)

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

    def with_surfaces(self, mu: float, restitution: float) -> Scene:
        """Return the scene with these coefficients of all surfaces that have none of their own."""
        pair = {"mu": mu, "restitution": restitution}
        bodies = []
        for body in self.bodies:
            lacking = {key: value for key, value in pair.items() if getattr(body, key) is None}
            bodies.append(replace(body, **lacking))  # type: ignore[arg-type]
        return replace(self, bodies=tuple(bodies))

    def after(self, time: float) -> Scene:
        """Return the scene after free flight for a time [s]; spins stay."""
        gravity = np.array(self.gravity)

        def moved(body: Body) -> Body:
            velocity = body.velocity + gravity * time
            position = body.position + (velocity + body.velocity) * time / 2.0
            return replace(body, position=vector(position), velocity=vector(velocity))

        return replace(self, bodies=tuple(moved(b) if b.mass else b for b in self.bodies))


class Motion(NamedTuple):
    """Motion of a body in the world: its centre (3,), rotation matrix (3, 3), and rates (3,)."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    def velocity_at(self, point: Array) -> Array:
        """Return the velocity of a point of the body (3,) [m/s]."""
        return np.asarray(self.velocity + np.cross(self.spin, point - self.position))


REST = Motion(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))  # of fixed bodies

GROUND = Body(name="ground", size=(40.0, 40.0, 1.0), position=(0.0, 0.0, -0.5))


def sphere(
    name: str, radius: float, height: float, velocity: Vector = ZERO, spin: Vector = ZERO
) -> Body:
    """Return a sphere of 1 kg at a height over the ground [m]."""
    size, centre = (2.0 * radius,), (0.0, 0.0, radius + height)
    return Body(name=name, size=size, mass=1.0, position=centre, velocity=velocity, spin=spin)


def words(numbers: Iterable[float]) -> str:
    """Return numbers with blanks between, without loss."""
    return " ".join(repr(float(number)) for number in numbers)


def urdf(body: Body) -> str:
    """Return a body as a URDF of its own, with its joint to the world if it slides.

    Poses, rates and coefficients of contact have no place in it.
    """
    return _render("body.urdf", body=body)


def sdf(scene: Scene, step: float, further: str = "") -> str:
    """Return the scene as a world in SDF, with a model for each body.

    Friction is that of sliding alone. Drake is told that boxes are hydroelastic, fixed ones rigid.

    Args:
        scene: to write.
        step: physics step [s].
        further: elements of the world.
    """
    return _render("scene.sdf", scene=scene, step=step, further=further)


def mjcf(scene: Scene, option: str = "", geoms: Mapping[str, str] | None = None) -> str:
    """Return the scene as MJCF.

    Args:
        scene: to write.
        option: attributes of `option`.
        geoms: further attributes of the geoms of bodies, by name.
    """
    return _render("scene.xml", scene=scene, option=option, geoms=geoms or {})


def _render(template: str, **values: object) -> str:
    """Return a file of `formats` with its values."""
    import jinja2

    text = files(__package__).joinpath("formats", template).read_text("utf-8")
    made = jinja2.Template(text, trim_blocks=True, lstrip_blocks=True)
    return str(made.render(words=words, **values))
