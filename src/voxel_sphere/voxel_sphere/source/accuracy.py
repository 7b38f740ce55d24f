"""Errors of each rolling scheme against the exact path, and of reflections in a rotated arena.

Ground and walls are voxelised as `make` does it. Errors are the largest distance between the
contact and the reference's contact at the same time over the run, in radii of the sphere.

Exact paths of a rolling sphere, in closed form or by quadrature, for a constant w.

c' = r w x n. Lengths in voxels, times (k,) [s], w (3,) in the world frame [rad/s].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import Array, Quantity
from roboaccord.numerics import axis_angle_matrix

from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.motion import Roller, Rolling
from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.rolling.walls import WallLaw
from voxel_sphere.source.variants import roll_by
from voxel_sphere.terrain.surfaces import Surface, fill_below, fill_inside, make_surface


def on_plane(times: Array, *, start: Array, normal: Array, r: float, w: Array) -> Array:
    """Return the centre (k, 3) on a plane: a straight line."""
    return np.asarray(start + times[:, None] * (r * np.cross(w, normal)))


def in_bowl(times: Array, *, start: Array, middle: Array, r: float, w: Array) -> Array:
    """Return the centre (k, 3) in a spherical bowl about `middle` (3,).

    n = -e / R with e = c - middle, so e' = -(r / R) w x e: e turns about w.
    """
    e = start - middle
    size, rate = float(np.linalg.norm(e)), float(np.linalg.norm(w))
    turns = axis_angle_matrix(w / rate, -r / size * rate * times)
    return np.asarray(middle + turns @ e)


def in_cylinder(
    times: Array, *, start: Array, point: Array, axis: Array, r: float, w: Array
) -> Array:
    """Return the centre (k, 3) in a cylinder about an axis (3,) through a point (3,).

    e, off the axis, turns about it at W = -(r / R) w.a; along it the rate is -(r / R) (a x w).e.
    """
    off = start - point
    e = off - (off @ axis) * axis
    ratio = r / float(np.linalg.norm(e))
    rate = -ratio * float(w @ axis)
    side = np.cross(axis, e)
    angle = (rate * times)[:, None]
    turned = np.cos(angle) * e + np.sin(angle) * side
    if abs(rate) < 1e-12:
        summed = times[:, None] * e
    else:
        summed = (np.sin(angle) * e + (1.0 - np.cos(angle)) * side) / rate
    along = -ratio * summed @ np.cross(axis, w)
    return np.asarray(point + (off @ axis + along)[:, None] * axis + turned)


def on_wave(
    times: Array, *, contact: float, across: float, base: float, amplitude: float, k: float,
    r: float, w: Array,
) -> Array:  # fmt: skip
    """Return the centre (m, 3), in the wave's frame, on z = base + amplitude sin(k x).

    With the contact at x: c_x = x - r z_x / W, and r w_y t is the length of the ground from the
    start less r times its turn, by quadrature. In plan the centre goes straight (w_z = 0).

    Args:
        contact, across: x of the first contact, y of the first centre.
        w: in that frame, w_z = 0, w_y not 0.
    """

    def slope(x: float) -> float:
        return amplitude * k * float(np.cos(k * x))

    def gone(x: float) -> float:
        length = scipy.integrate.quad(
            lambda s: np.hypot(1.0, slope(s)), contact, x, epsabs=1e-11, limit=400
        )[0]
        return float(length - r * (np.arctan(slope(x)) - np.arctan(slope(contact))))

    reach = 2.0 * (abs(r * w[1]) * times[-1] + r)

    def contact_at(time: float) -> float:
        distance = r * w[1] * time
        return float(
            scipy.optimize.brentq(
                lambda x: gone(x) - distance, contact - reach, contact + reach, xtol=1e-11
            )
        )

    x = np.array([contact_at(time) for time in times])
    rise = amplitude * k * np.cos(k * x)
    centre = x - r * rise / np.hypot(1.0, rise)
    y = across - w[0] / w[1] * (centre - centre[0])
    z = base + amplitude * np.sin(k * x) + r / np.hypot(1.0, rise)
    return np.stack([centre, y, z], axis=1)


SIZE = 10  # n / r
SAMPLES = 60
LOOPS = 47.0  # r


@dataclass(frozen=True, kw_only=True)
class Case:
    """A run with a reference.

    Args:
        name: of the case.
        surface: by name and parameters.
        start: in plan, from the middle of the grid [r].
        omega: angular velocity (3,) [rad/s], or a function of the time.
        duration: of the run [s].
        reference: (times, centre at the start, n, r) to the centre (k, 3).
    """

    name: str
    surface: tuple[str, dict[str, float]]
    start: tuple[float, float]
    omega: Vector | Callable[[float], Vector]
    duration: float
    exact: Callable[[int, float], Field]
    reference: Callable[[Array, Array, int, float], Array]

    def ground(self, n: int) -> Surface:
        """Return the surface on a grid of n voxels."""
        name, parameters = self.surface
        return make_surface(name, n, n / SIZE, **parameters)


def _incline() -> Case:
    angle, yaw, w = np.radians(10.0), np.radians(30.0), np.array([-0.4, 1.0, 0.0])
    normal = np.array([
        -np.sin(angle) * np.cos(yaw), -np.sin(angle) * np.sin(yaw), np.cos(angle)
    ])  # fmt: skip
    return Case(
        name="incline",
        surface=("incline", {"angle_deg": 10.0, "direction_deg": 30.0}),
        start=(-3.0, -1.2),
        omega=tuple(w),
        duration=6.0,
        exact=lambda n, r: Field.plane((n / 2, n / 2, 3 * r), normal, radius=r, size=n),
        reference=lambda t, c, n, r: on_plane(t, start=c, normal=normal, r=r, w=w),
    )


def _bowl(
    name: str, start: tuple[float, float], w: Array | Callable[[float], Array], duration: float
) -> Case:
    """Return a run in a bowl by a constant w, or by one that turns, as one steers.

    That turns once a sample, and between samples the centre turns about the w of that time.
    """

    def middle(n: int, r: float) -> Array:
        return np.array([n / 2, n / 2, 6 * r])

    def reference(times: Array, start: Array, n: int, r: float) -> Array:
        if not callable(w):
            return in_bowl(times, start=start, middle=middle(n, r), r=r, w=w)
        centres = [start]
        for a, b in pairwise(times):
            step, turn = np.array([b - a]), w(0.5 * (a + b))
            found = in_bowl(step, start=centres[-1], middle=middle(n, r), r=r, w=turn)
            centres.append(found[0])
        return np.array(centres)

    return Case(
        name=name,
        surface=("bowl", {"bowl_radius": 5.0}),
        start=start,
        omega=w if callable(w) else tuple(w),
        duration=duration,
        exact=lambda n, r: Field.bowl(middle(n, r), 5 * r, radius=r, size=n),
        reference=reference,
    )


def _level_loops() -> Case:
    """Return four rounds about the bottom of a bowl by a level w that turns."""
    duration, rounds = 52.7, 4.0  # on the slope |w x n| is less than 1

    def w(time: float) -> Array:
        turned = 2 * np.pi * rounds * time / duration
        return np.array([np.cos(turned), np.sin(turned), 0.0])

    return _bowl("level loops", (-1.87, 0.0), w, duration)


def _cylinder() -> Case:
    w, axis = np.array([0.35, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])

    def point(n: int, r: float) -> Array:
        return np.array([0.0, n / 2, 6 * r])

    return Case(
        name="cylinder",
        surface=("tunnel", {"tunnel_radius": 4.0}),
        start=(-3.0, 1.7),
        omega=tuple(w),
        duration=6.5,
        exact=lambda n, r: Field.cylinder(point(n, r), axis, 4 * r, radius=r, size=n),
        reference=lambda t, c, n, r: in_cylinder(
            t, start=c, point=point(n, r), axis=axis, r=r, w=w
        ),
    )


def _sinusoid() -> Case:
    yaw, w = np.radians(20.0), np.array([-0.1, 1.0, 0.0])
    turn = np.array([
        [np.cos(yaw), np.sin(yaw), 0.0], [-np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]
    ])  # fmt: skip

    def exact(n: int, r: float) -> Field:
        return Field.wave(2 * r, 0.3 * r, 5 * r, yaw, radius=r, size=n)

    def reference(times: Array, start: Array, n: int, r: float) -> Array:
        k = 2 * np.pi / (5 * r)
        contact = turn @ (start - r * exact(n, r).normal(start))
        centre = on_wave(
            times, contact=contact[0], across=(turn @ start)[1], base=2 * r, amplitude=0.3 * r,
            k=k, r=r, w=turn @ w,
        )  # fmt: skip
        return np.asarray(centre @ turn)

    return Case(
        name="sinusoid",
        surface=("sinusoid", {"direction_deg": 20.0}),
        start=(-3.2, 0.0),
        omega=tuple(w),
        duration=6.5,
        exact=exact,
        reference=reference,
    )


def cases() -> list[Case]:
    """Return the runs of the table; loops are 47 r long, the centre 4 r from the bowl's middle.

    The bowl loops go round an axis 10 deg off the upright, between 20 and 40 deg from the bottom.
    """
    tilt, radius = np.radians(10.0), 4.0
    axis = np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    low = np.radians(30.0) - tilt
    length = 2 * np.pi * radius * np.sin(np.radians(30.0))
    return [
        _incline(),
        _bowl("bowl", (-2.6, -0.8), np.array([-0.2, 1.0, 0.0]), 6.0),
        _bowl("bowl loops", (radius * np.sin(low), 0.0), axis, 2 * np.pi * radius * LOOPS / length),
        _level_loops(),
        _cylinder(),
        _sinusoid(),
    ]


def error(path: RolledPath, case: Case, n: int, start: Array) -> float:
    """Return the largest error of a path's contact [r], inf if it did not last the whole time."""
    r = n / SIZE
    if path.status != "done":
        return float("inf")
    exact = case.exact(n, r)
    centre = case.reference(path.time, start, n, r)
    contact = np.array([c - r * exact.normal(c) for c in centre])
    return float(np.linalg.norm(path.contact - contact, axis=1).max() / r)


def measure(case: Case, n: int, scheme: str, *, binary: bool = False) -> float:
    """Return the error of a scheme on a grid [r]."""
    r = n / SIZE
    volume = fill_below(case.ground(n).height, n, binary=binary)
    at = n / 2 + r * np.array(case.start)
    field = Field.build(volume, r)
    asked = Rolling(
        field, centre=field.place(*at), omega=case.omega, duration=case.duration,
        samples=SAMPLES, scheme=scheme,
    )  # fmt: skip
    path = roll_by(volume, asked)
    return error(path, case, n, case.exact(n, r).place(*at))


TURNS = (0.0, 10.0, 20.0, 30.0, 45.0)  # deg of the arena in plan
HEADINGS = 12
TRAVEL = 20.0  # r after the first hit
HALF_WIDTH = 3.3  # r, so that the arena fits into the grid at 45 deg
SPEED = 1.0  # rad/s


@dataclass(frozen=True, kw_only=True)
class Bounces:
    """Worst errors of an arena over its headings.

    Args:
        n: size of the grid [voxels].
        turn: of the arena.
        heading_error: after the first hit, against the law of reflection.
        mean_error: its mean.
        contact_error: of the place of the first hit and of the ground's contact throughout.
        hits: at walls, all headings.
        stuck: runs that ended, or did not travel.
    """

    n: Annotated[int, Quantity("")]
    turn: Annotated[float, Quantity("deg", name="walls at", form="g")]
    heading_error: Annotated[
        float, Quantity("deg", "largest error after the first hit", "heading", ".2f")
    ]
    mean_error: Annotated[float, Quantity("deg", "its mean", "mean", ".2f")]
    contact_error: Annotated[
        float, Quantity("r", "of its place, and of the ground's throughout", "contact", ".4f")
    ]
    hits: Annotated[int, Quantity("", "at walls, all headings")]
    stuck: Annotated[int, Quantity("", "runs that ended")]


def bounces(n: int, turn: float, *, binary: bool = False) -> Bounces:
    """Let a sphere of n/10 voxels go in `HEADINGS` headings from the middle of an arena.

    Args:
        n: size of the grid [voxels].
        turn: of the arena in plan [deg].
        binary: whether the slices are black and white.
    """
    r = n / 10
    arena = make_surface("arena", n, r, turn_deg=turn, half_width=HALF_WIDTH)
    assert arena.walls is not None
    ground = Field.build(fill_below(arena.height, n, binary=binary), r)
    walls = Field.build(fill_inside(arena.walls, n, binary=binary), r)
    # Off the multiples of 15 deg, which the arenas' own directions are.
    headings = np.deg2rad(np.arange(HEADINGS) * 360.0 / HEADINGS + 7.0)
    runs = [_one(ground, walls, r, turn, heading) for heading in headings]
    errors = np.array([run[0] for run in runs])
    return Bounces(
        n=n,
        turn=turn,
        heading_error=float(errors.max()),
        mean_error=float(errors.mean()),
        contact_error=max(run[1] for run in runs),
        hits=sum(run[2] for run in runs),
        stuck=sum(run[3] for run in runs),
    )


def _one(
    ground: Field, walls: Field, r: float, turn: float, heading: float
) -> tuple[float, float, int, bool]:
    """Return heading error [deg], contact error [r], hits, and whether the sphere got stuck."""
    n = ground.size
    start = np.array([n / 2 + 0.3 * r, n / 2 - 0.2 * r])
    roller = Roller(ground, centre=ground.place(*start), walls=walls, law=WallLaw(after="parallel"))
    direction = np.array([np.cos(heading), np.sin(heading)])
    omega = SPEED * np.array([-direction[1], direction[0], 0.0])
    place, expected = _first_hit(start, direction, n, r, turn)
    tick = 0.01 / SPEED
    while roller.status == "done" and not roller.events and roller.time < 20.0:
        roller.advance(omega, tick)
    if not roller.events:
        return 180.0, np.inf, 0, True
    after = np.array([roller.omega[1], -roller.omega[0]]) / np.linalg.norm(roller.omega[:2])
    error = np.degrees(np.arccos(np.clip(after @ expected, -1.0, 1.0)))
    gap = float(np.linalg.norm(np.array(roller.events[0].centre[:2]) - place))
    begin = roller.travel
    worst = 0.0
    while roller.status == "done" and roller.travel - begin < TRAVEL * r and roller.time < 60.0:
        roller.advance(omega, tick)
        worst = max(worst, abs(roller.centre[2] - 3.0 * r))  # the level ground is at 2 r
    hits = sum(event.kind in ("wall", "corner") for event in roller.events)
    moved = roller.travel - begin
    return error, max(gap, worst) / r, hits, roller.status != "done" or moved < TRAVEL * r


def _first_hit(
    start: Array, direction: Array, n: float, r: float, turn: float
) -> tuple[Array, Array]:  # fmt: skip
    """Return where the centre is at the first hit (2,), and its direction after it (2,)."""
    c, s = np.cos(np.deg2rad(turn)), np.sin(np.deg2rad(turn))
    frame = np.array([[c, s], [-s, c]])
    at, along = frame @ (start - n / 2), frame @ direction
    limit = (HALF_WIDTH - 1.0) * r
    times = (np.sign(along) * limit - at) / along
    axis = int(np.argmin(times))
    after = along.copy()
    after[axis] = -after[axis]
    return start + times[axis] * direction, frame.T @ after
