"""Named surfaces in closed form: their heights, and signed distances to ground and walls.

`make_surface` makes one by its name, as `accord voxel-sphere make` and scenarios give it;
filling.py turns it into voxels. Each surface is a function of the size n of the grid, the radius r
of the sphere and parameters of its own, and returns a Surface. Lengths are in voxels from the
grid's corner; parameters that are lengths are in radii r, so that they mean the same on each grid.
Where a coordinate does not matter, `0.0 * x` is added, so that the result has the shape of all
arguments.

To add a surface, write such a function and enter it in SURFACES. Its name then works in
`accord voxel-sphere make` and in scenarios; new keywords become fields of Shape in cli/make.py.
Defaults are our choice, but tests and scenarios use them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import signature

import numpy as np
from roboaccord.contract import AccordError, Array, check_known

# z = f(x, y), of arrays of one shape [voxels].
Height = Callable[[Array, Array], Array]
# Signed distance at (x, y, z), negative inside, of arrays of one shape [voxels].
Distance = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True, kw_only=True)
class Surface:
    """Ground that is a graph z = f(x, y), solid below, and walls that stand on it.

    Args:
        name: name of the surface.
        height: height of the ground.
        ground: signed distance to the ground; None if only the height is known in closed form.
        walls: signed distance to the walls; None if there are no walls.
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
    # Slopes along x and y.
    slope = np.tan(np.deg2rad(angle_deg))
    a, b = slope * np.cos(np.deg2rad(direction_deg)), slope * np.sin(np.deg2rad(direction_deg))
    return Surface(name="incline", height=lambda x, y: base * r + a * (x - n / 2) + b * (y - n / 2))


def sinusoid(
    n: int, r: float, *, amplitude: float = 0.3, wavelength: float = 5.0,  # noqa: ARG001
    direction_deg: float = 0.0, base: float = 2.0,
) -> Surface:  # fmt: skip
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

    middle = base * r + radius  # height of the bowl's centre
    edge = base * r + radius * (1 - np.sqrt(1 - rim**2))  # height of its rim

    def height(x: Array, y: Array) -> Array:
        plan = np.minimum(np.hypot(x - n / 2, y - n / 2), rim * radius)
        return np.asarray(middle - np.sqrt(radius**2 - plan**2))

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
    n: int, r: float, *, rise: float = 1.5, length: float = 6.0, half_width: float = 3.0,
    wall_height: float = 3.0, base: float = 2.0,
) -> Surface:  # fmt: skip
    """Return a rise along +x between two walls parallel to x.

    base + rise (1 - cos(pi s)) / 2, s from 0 to 1 over `length` in the middle; the walls end at
    `wall_height` over the highest ground. Lengths [r].
    """
    # All in voxels: `k` turns the way along the rise into the angle pi s.
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
    n: int, r: float, *, half_width: float = 3.5, turn_deg: float = 0.0, wall_height: float = 3.0,
    base: float = 2.0,
) -> Surface:  # fmt: skip
    """Return level ground in a square of walls, which may be turned in plan; lengths [r].

    All that is outside the square is wall, so it is closed as long as its corners are in the grid.
    """
    top = (base + wall_height) * r
    c, s = np.cos(np.deg2rad(turn_deg)), np.sin(np.deg2rad(turn_deg))
    half = half_width * r
    if half * (abs(c) + abs(s)) > n / 2:
        raise AccordError(f"the corners of an arena of half_width {half_width:g} leave the grid")

    def walls(x: Array, y: Array, z: Array) -> Array:
        # Distances from the middle along the square's axes.
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
        n: number of voxels along an edge of the grid.
        radius: radius of the sphere [voxels], the unit of the parameters.
        **parameters: parameters of the surface; the others have their defaults.

    Raises:
        AccordError: for an unknown name or parameter, or values that make no surface.
    """
    check_known("no surface ", name, SURFACES)
    accepted = [*signature(SURFACES[name]).parameters][2:]  # those after n and r
    for key in parameters:
        if key not in accepted:
            raise AccordError(f"{name} has no parameter {key}; it has {', '.join(accepted)}")
    return SURFACES[name](n, radius, **{key: float(value) for key, value in parameters.items()})


def _positive(name: str, value: float) -> float:
    """Return a parameter, checked to be positive."""
    if not 0 < value < np.inf:
        raise AccordError(f"{name} is {value:g}, and must be positive")
    return value
