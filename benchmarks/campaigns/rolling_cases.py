"""Runs of a rolling sphere with an exact path, and the error of each rolling scheme on them.

The ground is voxelised as `make` does it. Paths are exact in closed form or by quadrature, for a
constant w: c' = r w x n, lengths in voxels, times (k,) [s], w (3,) in the world frame [rad/s]. An
error is the largest distance between the contact and the exact contact at the same time over the
run, in radii of the sphere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy
from roboaccord.contract import Array
from roboaccord.numerics import axis_angle_matrix
from voxel_sphere.rolling.closed_forms import CYLINDER, PLANE, SPHERE, WAVE
from voxel_sphere.rolling.field import Field, Vector
from voxel_sphere.rolling.motion import Roller, roll
from voxel_sphere.rolling.path import RolledPath
from voxel_sphere.source.described import DESCRIBED, roll_as_described
from voxel_sphere.terrain.filling import fill_below
from voxel_sphere.terrain.surfaces import Surface, make_surface


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
    ends = contact - reach, contact + reach

    def contact_at(time: float) -> float:
        distance = r * w[1] * time
        root = scipy.optimize.brentq(lambda x: gone(x) - distance, *ends, xtol=1e-11)
        return float(root)

    x = np.array([contact_at(time) for time in times])
    rise = amplitude * k * np.cos(k * x)
    centre = x - r * rise / np.hypot(1.0, rise)
    y = across - w[0] / w[1] * (centre - centre[0])
    z = base + amplitude * np.sin(k * x) + r / np.hypot(1.0, rise)
    return np.stack([centre, y, z], axis=1)


# n / r; a voxel is then a tenth of the radius.
SIZE = 10
# Points of a path that are compared; any from 20 on would do.
SAMPLES = 60
# r; many turns of the ball, so that errors add up.
LOOPS = 47.0


@dataclass(frozen=True, kw_only=True)
class RollCase:
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


def _incline() -> RollCase:
    angle, yaw, w = np.radians(10.0), np.radians(30.0), np.array([-0.4, 1.0, 0.0])
    normal = np.array([
        -np.sin(angle) * np.cos(yaw), -np.sin(angle) * np.sin(yaw), np.cos(angle)
    ])  # fmt: skip
    return RollCase(
        name="incline",
        surface=("incline", {"angle_deg": 10.0, "direction_deg": 30.0}),
        start=(-3.0, -1.2),
        omega=tuple(w),
        duration=6.0,
        exact=lambda n, r: Field.closed(PLANE, [n / 2, n / 2, 3 * r, *normal], r, n),
        reference=lambda t, c, n, r: c + t[:, None] * (r * np.cross(w, normal)),
    )


def _bowl(
    name: str, start: tuple[float, float], w: Array | Callable[[float], Array], duration: float
) -> RollCase:
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

    return RollCase(
        name=name,
        surface=("bowl", {"bowl_radius": 5.0}),
        start=start,
        omega=w if callable(w) else tuple(w),
        duration=duration,
        exact=lambda n, r: Field.closed(SPHERE, [*middle(n, r), 0.0, 0.0, 0.0, 5 * r], r, n),
        reference=reference,
    )


def _level_loops() -> RollCase:
    """Return four rounds about the bottom of a bowl by a level w that turns."""
    duration, rounds = 52.7, 4.0  # on the slope |w x n| is less than 1

    def w(time: float) -> Array:
        turned = 2 * np.pi * rounds * time / duration
        return np.array([np.cos(turned), np.sin(turned), 0.0])

    return _bowl("level loops", (-1.87, 0.0), w, duration)


def _cylinder() -> RollCase:
    w, axis = np.array([0.35, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])

    def point(n: int, r: float) -> Array:
        return np.array([0.0, n / 2, 6 * r])

    return RollCase(
        name="cylinder",
        surface=("tunnel", {"tunnel_radius": 4.0}),
        start=(-3.0, 1.7),
        omega=tuple(w),
        duration=6.5,
        exact=lambda n, r: Field.closed(CYLINDER, [*point(n, r), *axis, 4 * r], r, n),
        reference=lambda t, c, n, r: in_cylinder(
            t, start=c, point=point(n, r), axis=axis, r=r, w=w
        ),
    )


def _sinusoid() -> RollCase:
    yaw, w = np.radians(20.0), np.array([-0.1, 1.0, 0.0])
    turn = np.array([
        [np.cos(yaw), np.sin(yaw), 0.0], [-np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]
    ])  # fmt: skip

    def exact(n: int, r: float) -> Field:
        params = [np.cos(yaw), np.sin(yaw), 2 * r, 0.3 * r, 2 * np.pi / (5 * r)]
        return Field.closed(WAVE, params, r, n)

    def reference(times: Array, start: Array, n: int, r: float) -> Array:
        k = 2 * np.pi / (5 * r)
        contact = turn @ (start - r * exact(n, r).normal(start))
        centre = on_wave(
            times, contact=contact[0], across=(turn @ start)[1], base=2 * r, amplitude=0.3 * r,
            k=k, r=r, w=turn @ w,
        )  # fmt: skip
        return np.asarray(centre @ turn)

    return RollCase(
        name="sinusoid",
        surface=("sinusoid", {"direction_deg": 20.0}),
        start=(-3.2, 0.0),
        omega=tuple(w),
        duration=6.5,
        exact=exact,
        reference=reference,
    )


def cases() -> list[RollCase]:
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


def error(path: RolledPath, case: RollCase, n: int, start: Array) -> float:
    """Return the largest error of a path's contact [r], inf if it did not last the whole time."""
    r = n / SIZE
    if path.status != "done":
        return float("inf")
    exact = case.exact(n, r)
    centre = case.reference(path.time, start, n, r)
    contact = np.array([c - r * exact.normal(c) for c in centre])
    return float(np.linalg.norm(path.contact - contact, axis=1).max() / r)


def measure(case: RollCase, n: int, scheme: str, *, binary: bool = False) -> float:
    """Return the error of a scheme on a grid [r]."""
    r = n / SIZE
    volume = fill_below(case.ground(n).height, n, binary=binary)
    at = n / 2 + r * np.array(case.start)
    field = Field.build(volume, r)
    centre, omega = field.place(*at), case.omega
    if scheme == DESCRIBED:
        path = roll_as_described(volume, r, centre=centre, omega=omega, duration=case.duration)
    else:
        path = roll(Roller(field, centre=centre, scheme=scheme), omega, case.duration, SAMPLES)
    return error(path, case, n, case.exact(n, r).place(*at))
