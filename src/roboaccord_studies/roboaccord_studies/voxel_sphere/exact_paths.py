"""Exact paths of a rolling sphere, in closed form or by quadrature, for a constant w.

c' = r w x n. Lengths in voxels, times (k,) [s], w (3,) in the world frame [rad/s].
"""

from __future__ import annotations

import numpy as np
import scipy
from roboaccord.contract import Array
from roboaccord.numerics import axis_angle_matrix


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
