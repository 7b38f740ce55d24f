"""Named surfaces in closed form: height, distances to ground and walls, and their voxels.

A surface may be added: a function of n, r and keywords that returns Surface, put into SURFACES: it
is then a name of `accord voxel-sphere make` and of scenarios, its keywords are parameters (see
Shape in cli/terrain.py). Defaults are our choice, but tests and scenarios use them. PARTS and BAND,
the grey of voxels, stay: test_voxel_generate integrates it. Where the robot stands (`sphere`) is
fixed by the source.

Lengths in voxels from the grid's corner; parameters that are lengths are given in radii r of the
sphere, so that they mean the same on every grid. Grey voxels are partly filled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import Parameter, signature

import numpy as np
from roboaccord.contract import AccordError, Array

from voxel_sphere.terrain.slices import SOLID, Done, Volume, nothing

Height = Callable[[Array, Array], Array]
Distance = Callable[[Array, Array, Array], Array]
KEYWORD = Parameter.KEYWORD_ONLY


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Ground that is a graph z = f(x, y), solid below, and walls that stand on it.

    Args:
        name: of the surface.
        height: f(x, y), of arrays of one shape [voxels].
        ground: signed distance (x, y, z) to the ground, negative inside [voxels]; None where it is
            known to first order only, by the height.
        walls: the same to the walls; None where there are none.
    """

    name: str
    height: Height
    ground: Distance | None = None
    walls: Distance | None = None


def plane(n: int, r: float, *, base: float = 2.0) -> Surface:  # noqa: ARG001
    """Return a level plane at the height `base` [r]."""
    return Surface(name="plane", height=lambda x, y: np.full(np.broadcast(x, y).shape, base * r))


def incline(
    n: int, r: float, *, angle_deg: float = 10.0, direction_deg: float = 0.0, base: float = 3.0
) -> Surface:
    """Return a plane that rises by an angle towards a direction; `base` [r] is its middle."""
    slope = np.tan(np.deg2rad(angle_deg))
    a, b = slope * np.cos(np.deg2rad(direction_deg)), slope * np.sin(np.deg2rad(direction_deg))
    return Surface(name="incline", height=lambda x, y: base * r + a * (x - n / 2) + b * (y - n / 2))


def sinusoid(
    n: int,  # noqa: ARG001
    r: float,
    *,
    amplitude: float = 0.3,
    wavelength: float = 5.0,
    direction_deg: float = 0.0,
    base: float = 2.0,
) -> Surface:
    """Return waves along a direction: base + amplitude sin(2 pi s / wavelength), lengths [r]."""
    k, a = 2 * np.pi / (_positive("wavelength", wavelength) * r), amplitude * r
    c, s = np.cos(np.deg2rad(direction_deg)), np.sin(np.deg2rad(direction_deg))
    return Surface(name="sinusoid", height=lambda x, y: base * r + a * np.sin(k * (c * x + s * y)))


def bowl(
    n: int, r: float, *, bowl_radius: float = 5.0, rim: float = 0.9, base: float = 1.0
) -> Surface:
    """Return a spherical bowl in the middle; the ball's centre moves on `bowl_radius` less 1 [r].

    Its lowest point is at `base` [r]. Where the plan distance from the middle passes `rim` times
    the radius, flat ground begins.
    """
    radius = _positive("bowl_radius", bowl_radius) * r
    if not 0 < rim < 1:
        raise AccordError(f"rim is {rim:g}, and must be between 0 and 1")

    def height(x: Array, y: Array) -> Array:
        plan = np.minimum(np.hypot(x - n / 2, y - n / 2), rim * radius)
        return np.asarray(middle - np.sqrt(radius**2 - plan**2))

    middle, edge = base * r + radius, base * r + radius * (1 - np.sqrt(1 - rim**2))

    def ground(x: Array, y: Array, z: Array) -> Array:
        ball = radius - np.sqrt((x - n / 2) ** 2 + (y - n / 2) ** 2 + (z - middle) ** 2)
        return np.asarray(np.maximum(ball, z - edge))

    return Surface(name="bowl", height=height, ground=ground)


def saddle(n: int, r: float, *, saddle_radius: float = 8.0, base: float = 3.0) -> Surface:
    """Return base + ((x - n/2)^2 - (y - n/2)^2) / (2 saddle_radius), lengths [r]."""
    radius = _positive("saddle_radius", saddle_radius) * r
    return Surface(
        name="saddle",
        height=lambda x, y: base * r + ((x - n / 2) ** 2 - (y - n / 2) ** 2) / (2 * radius),
    )


def ramp(
    n: int,
    r: float,
    *,
    rise: float = 1.5,
    length: float = 6.0,
    half_width: float = 3.0,
    wall_height: float = 3.0,
    base: float = 2.0,
) -> Surface:
    """Return a rise along +x between two walls parallel to x.

    base + rise (1 - cos(pi s)) / 2, s from 0 to 1 over `length` in the middle; the walls end at
    `wall_height` over the highest ground. Lengths [r].
    """
    top = (base + max(rise, 0.0) + wall_height) * r
    span, up = _positive("length", length) * r, rise * r
    k, begin = np.pi / span, (n - span) / 2

    def along(x: Array) -> Array:
        return k * np.clip(x - begin, 0.0, span)

    return Surface(
        name="ramp",
        height=lambda x, y: base * r + up / 2 * (1 - np.cos(along(x))) + 0.0 * y,
        walls=lambda x, y, z: np.maximum(half_width * r - np.abs(y - n / 2), z - top) + 0.0 * x,
    )


def tunnel(n: int, r: float, *, tunnel_radius: float = 3.0, base: float = 2.0) -> Surface:
    """Return a round tunnel along x: the ground is its lower half, the walls are its upper half.

    Its lowest line is at `base`, lengths [r]; at the sides the ground is upright.
    """
    radius = _positive("tunnel_radius", tunnel_radius) * r
    axis = base * r + radius

    def height(x: Array, y: Array) -> Array:
        depth = np.sqrt(np.maximum(radius**2 - (y - n / 2) ** 2, 0.0))
        return np.asarray(axis - depth + 0.0 * x)

    def tube(y: Array, z: Array) -> Array:
        return np.asarray(radius - np.hypot(y - n / 2, z - axis))

    return Surface(
        name="tunnel",
        height=height,
        ground=lambda x, y, z: np.maximum(tube(y, z), z - axis) + 0.0 * x,
        walls=lambda x, y, z: np.maximum(tube(y, z), axis - z) + 0.0 * x,
    )


def arena(
    n: int,
    r: float,
    *,
    half_width: float = 3.5,
    turn_deg: float = 0.0,
    wall_height: float = 3.0,
    base: float = 2.0,
) -> Surface:
    """Return level ground in a square of walls, which may be turned in plan; lengths [r].

    All that is outside the square is wall, so it is closed as long as its corners are in the grid.
    """
    top = (base + wall_height) * r
    c, s = np.cos(np.deg2rad(turn_deg)), np.sin(np.deg2rad(turn_deg))
    half = half_width * r
    if half * (abs(c) + abs(s)) > n / 2:
        raise AccordError(f"the corners of an arena of half_width {half_width:g} leave the grid")

    def walls(x: Array, y: Array, z: Array) -> Array:
        u = np.abs(c * (x - n / 2) + s * (y - n / 2))
        v = np.abs(c * (y - n / 2) - s * (x - n / 2))
        return np.asarray(np.maximum(half - np.maximum(u, v), z - top))

    return replace(plane(n, r, base=base), name="arena", walls=walls)


SURFACES: dict[str, Callable[..., Surface]] = {
    make.__name__: make for make in (plane, incline, sinusoid, bowl, saddle, ramp, tunnel, arena)
}


def make_surface(name: str, n: int, radius: float, **parameters: float) -> Surface:
    """Return a named surface on a grid of n voxels, for a sphere of a radius [voxels].

    Args:
        name: one of `SURFACES`.
        n: size of the grid [voxels].
        radius: of the sphere, the unit of the parameters [voxels].
        **parameters: of the surface; the others have their defaults.

    Raises:
        AccordError: for an unknown name or parameter, or a surface that cannot be.
    """
    if name not in SURFACES:
        raise AccordError(f"no surface {name}; available: {', '.join(SURFACES)}")
    kinds = [p.name for p in signature(SURFACES[name]).parameters.values() if p.kind is KEYWORD]
    for key in parameters:
        if key not in kinds:
            raise AccordError(f"{name} has no parameter {key}; it has {', '.join(kinds)}")
    return SURFACES[name](n, radius, **{key: float(value) for key, value in parameters.items()})


def _positive(name: str, value: float) -> float:
    if not 0 < value < np.inf:
        raise AccordError(f"{name} is {value:g}, and must be positive")
    return value


PARTS = 4  # of a voxel's edge, over which its content is averaged
BAND = 0.87  # voxels: half the diagonal of a voxel, beyond which it is full or empty


def centres(n: int, parts: int = 1) -> Array:
    """Return the centres of n voxels along an axis, or those of their parts, (n * parts,)."""
    return (np.arange(n * parts) + 0.5) / parts


def fill_below(
    height: Callable[[Array, Array], Array], n: int, *, binary: bool = False, done: Done = nothing
) -> Volume:
    """Return the volume below z = f(x, y), exact along z, averaged over 4 x 4 columns a voxel.

    Args:
        height: of arrays of one shape [voxels].
        n: size of the grid [voxels].
        binary: full where the centre of the voxel is below, else empty.
        done: called after each slice.

    Raises:
        AccordError: if the height is not finite, or leaves the grid.
    """
    parts = 1 if binary else PARTS
    x = centres(n, parts)
    columns = np.asarray(height(*np.meshgrid(x, x, indexing="ij")), float)
    check_heights(columns, n)
    volume = np.empty((n, n, n), np.uint8)
    for k in range(n):
        inside = columns > k + 0.5 if binary else np.clip(columns - k, 0.0, 1.0)
        volume[:, :, k] = grey(inside.reshape(n, parts, n, parts).mean(axis=(1, 3)))
        done(1)
    return volume


def check_heights(heights: Array, n: int) -> None:
    """Complain about heights that a grid of n voxels cannot show.

    Raises:
        AccordError: unless all are finite and between 1 and n - 1 voxels.
    """
    if not np.isfinite(heights).all():
        raise AccordError("the height is not a finite number everywhere on the grid")
    low, high = heights.min(), heights.max()
    if low < 1 or high > n - 1:
        raise AccordError(
            f"the height goes from {low:.4g} to {high:.4g} voxels; it must stay in 1 to {n - 1}"
        )


def fill_inside(
    distance: Callable[[Array, Array, Array], Array], n: int, *, binary: bool = False,
    done: Done = nothing,
) -> Volume:  # fmt: skip
    """Return the volume where a signed distance is negative.

    Args:
        distance: (x, y, z) -> distance, negative inside; it must change by at most 1 a voxel.
        n: size of the grid [voxels].
        binary: full where the centre of the voxel is inside, else empty.
        done: called after each slice.
    """
    x = centres(n)
    plan = np.meshgrid(x, x, indexing="ij")
    volume = np.empty((n, n, n), np.uint8)
    offsets = np.stack(np.meshgrid(*[centres(1, PARTS) - 0.5] * 3), axis=-1).reshape(-1, 3)
    for k in range(n):
        d = distance(*plan, np.full((n, n), k + 0.5))
        volume[:, :, k] = np.where(d < 0, SOLID, 0)
        near = np.nonzero(np.abs(d) < BAND)
        if len(near[0]) and not binary:
            points = np.stack([near[0], near[1], np.full_like(near[0], k)], axis=-1) + 0.5
            parts = distance(*np.moveaxis(points[:, None] + offsets, -1, 0))
            volume[near[0], near[1], k] = grey(np.clip(0.5 - PARTS * parts, 0.0, 1.0).mean(axis=1))
        done(1)
    return volume


def sphere(n: int, radius: float, *, binary: bool = False, done: Done = nothing) -> Volume:
    """Return the robot as the source has it, its lowest point at (n/2, n/2, 0).

    Raises:
        AccordError: if it is larger than the grid.
    """
    if 2 * radius > n:
        raise AccordError(f"a sphere of radius {radius:g} is larger than the grid of {n} voxels")

    def distance(x: Array, y: Array, z: Array) -> Array:
        return np.sqrt((x - n / 2) ** 2 + (y - n / 2) ** 2 + (z - radius) ** 2) - radius

    return fill_inside(distance, n, binary=binary, done=done)


def grey(content: Array) -> Volume:
    """Return the grey of contents between 0 and 1."""
    return np.rint(content * SOLID).astype(np.uint8)
