"""Coulomb friction of links that slide on a horizontal plane, as a force law.

The friction is a function of the links' motion, so it is the same in every engine. The snake uses
it for the contact of its links with the ground. The laws are `EllipseFriction` and
`PyramidFriction`; the kernel `sliding_wrenches` computes both. The equations, and the order of
operations in the kernels, must stay: hashes of the snake's runs depend on them (test_friction of
the snake).

The friction of a contact that slides with body-fixed velocity v = (v_along, v_across) under the
load N follows from maximum dissipation on the ellipse (f_along / mu_along)^2 +
(f_across / mu_across)^2 <= N^2 [Goyal, Ruina, Papadopoulos 1991]:

    f = -N mu^2 v / |mu v|,        mu = diag(mu_along, mu_across)

A force law needs a value at rest, too. So |mu v| is smoothed to sqrt(|mu v|^2 + (max(mu) eps)^2),
which matters below the slip speed eps.

Contact solvers that linearise the friction cone, such as DART's, bound each axis separately
(`PyramidFriction`), which replaces the ellipse by the rectangle around it:

    f_i = -N mu_i v_i / |v_i|,      with |v_i| smoothed to sqrt(v_i^2 + eps^2)

How the weight of a body that cannot bend upwards is shared by more than three contacts is not
determined by statics. Equal shares are one choice. A contact solver that adds the share CFM
("constraint force mixing") to the diagonal A_i of its matrix makes another: of all loads N_i that
carry the weight, those with the smallest sum of A_i N_i^2 (`rigid_loads`):

    A_i = 1 / M + u_i' S^-1 u_i,      N_i = (a + b' u_i) / A_i

where M is the mass, u_i the position of the contact from the centre of mass, and S the body's
inertia against tilting; a and b follow from the balance of force and moments. Contacts near the
middle carry more, because the ends are easier to lift.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import Array
from roboaccord.numerics.jit import kernel

# [m^2/s^2] Addend that avoids 0 / 0 at rest without slip speed; below any squared slip speed.
REST_ADDEND = 1e-30
CFM = 1e-5  # fraction of the diagonal that DART's contact solver adds (DART_CFM in its source)


class EllipseFriction:
    """Friction on the ellipse, at given points of links that slide on a horizontal plane.

    Args:
        links: names of the links.
        points: contact points relative to the centre of mass, along and across (k, 2) [m].
        load: normal force on each link [N], shared by its points.
        mu_along, mu_across: coefficients along the link's x and y axes.
        slip_speed: smoothing speed eps [m/s]. 0 is possible only for the pyramid: such friction
            sticks, and is solved by the reference alone.
        beyond: other ground: links whose centre is beyond `x` [m] have its `mu_along` and
            `mu_across`.
        gyration: squared radii of gyration of a link about its x and y axis [m^2]: loads are those
            of a rigid body (`rigid_loads`); None for equal loads.

    Raises:
        ValueError: for a negative coefficient or slip speed, or a slip speed of 0 on the ellipse.
        AccordError: for keys of `beyond` that are missing or unknown.
    """

    pyramid = False  # whether `PyramidFriction` is used

    def __init__(
        self,
        links: Sequence[str],
        points: Array,
        load: float,
        mu_along: float,
        mu_across: float,
        slip_speed: float,
        beyond: Mapping[str, float] | None = None,
        gyration: tuple[float, float] | None = None,
    ) -> None:
        self.gyration = np.array(gyration or (0.0, 0.0))
        self.beyond = _checked_beyond(beyond)  # (x, mu_along, mu_across), or empty
        for coefficients in ((mu_along, mu_across), self.beyond[1:]):
            if min(coefficients, default=0.0) < 0:
                raise ValueError("a friction coefficient is negative")
            has_friction = max(coefficients, default=1.0) > 0
            if not has_friction or slip_speed < 0 or not (self.pyramid or slip_speed):
                raise ValueError("the slip speed and one friction coefficient must be positive")
        self.links = tuple(links)
        self.points = np.ascontiguousarray(points, dtype=float)
        self.load = float(load)
        self.mu = np.array([mu_along, mu_across], dtype=float)
        self.slip_speed = float(slip_speed)
        self._force = np.zeros((len(self.links), 3))
        self._torque = np.zeros((len(self.links), 3))

    def wrenches(self, motion: LinkMotion) -> tuple[Array, Array]:
        """Return forces (k, 3) [N] and torques (k, 3) [N m] about the centres of mass.

        The next call overwrites the arrays.

        Raises:
            AccordError: for friction that sticks, which is not a function of the motion.
        """
        if not self.slip_speed:
            only = "0 works only in the reference; set a positive one"
            raise AccordError(f"friction.slip_speed: {only}")
        motions = motion.rotation, motion.position, motion.linear, motion.angular
        law = self.points, self.mu, self.beyond, self.load, self.slip_speed, self.gyration
        sliding_wrenches(self.pyramid, motions, law, self._force, self._torque)
        return self._force, self._torque


class PyramidFriction(EllipseFriction):
    """Friction that is bounded on each axis separately; arguments as of `EllipseFriction`."""

    pyramid = True


def _checked_beyond(beyond: Mapping[str, float] | None) -> Array:
    """Return the checked values (x, mu_along, mu_across) of `beyond`; an empty array for None."""
    if beyond is None:
        return np.zeros(0)
    keys = ("x", "mu_along", "mu_across")
    check_known("unknown key friction.beyond.", beyond, keys)
    for key in keys:
        value = beyond.get(key)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise AccordError(f"friction.beyond.{key}: {value!r} is not a number")
    return np.array([beyond[key] for key in keys], dtype=float)


@kernel
def sliding_wrenches(pyramid, motions, law, force, torque):
    """Fill the friction force (n, 3) [N] and torque (n, 3) [N m] on n links that slide on a plane.

    Args:
        pyramid: use the pyramid instead of the ellipse.
        motions: rotations of the links to the world (n, 3, 3); positions (n, 3) [m] and velocities
            (n, 3) [m/s] of their centres of mass; angular velocities in the world (n, 3) [rad/s].
        law: contact points on each link, along and across (k, 2) [m]; coefficients along and across
            (2,); other ground (x, mu_along, mu_across), whose coefficients hold where the x [m] of
            a link's centre is greater, or an empty array; weight of a link [N]; smoothing speed eps
            [m/s]; squared radii of gyration (2,) [m^2], 0 for equal loads.
        force: friction on each link in the world, filled (n, 3) [N].
        torque: its moment about each centre of mass, filled (n, 3) [N m].
    """
    rotation, position, linear, angular = motions
    points, mu, beyond, load, slip_speed, gyration = law
    n, count = rotation.shape[0], points.shape[0]
    mu_along, mu_across = mu[0], mu[1]
    # Equal loads; or those of a rigid body, which fill the arrays that are empty otherwise.
    point_load, loads, headings = load / count, points[:0], points[:0]
    if gyration[1] > 0.0:
        loads, headings = np.empty((n, count)), np.empty((n, 2))
        for i in range(n):
            headings[i, 0], headings[i, 1] = heading(rotation[i])
        x, y, cosines, sines = position[:, 0], position[:, 1], headings[:, 0], headings[:, 1]
        rigid_loads(x, y, cosines, sines, points, load, gyration, loads)
    for i in range(n):
        # Velocity of the centre in the axes of the link, and yaw rate.
        c, s = heading(rotation[i])
        v_along = c * linear[i, 0] + s * linear[i, 1]
        v_across = -s * linear[i, 0] + c * linear[i, 1]
        yaw_rate = angular[i, 2]
        if beyond.shape[0] > 0:
            is_beyond = position[i, 0] > beyond[0]
            mu_along, mu_across = (beyond[1], beyond[2]) if is_beyond else (mu[0], mu[1])
        # Sum over the contact points, forces turned into the world.
        fx, fy, moment = 0.0, 0.0, 0.0
        for k in range(count):
            along, across = points[k, 0], points[k, 1]
            if gyration[1] > 0.0:
                point_load = loads[i, k]
            point_v_along, point_v_across = v_along - yaw_rate * across, v_across + yaw_rate * along
            f_along, f_across = sliding_force(
                pyramid, point_v_along, point_v_across, mu_along, mu_across, point_load, slip_speed
            )
            fx += c * f_along - s * f_across
            fy += s * f_along + c * f_across
            moment += along * f_across - across * f_along
        force[i, 0], force[i, 1], torque[i, 2] = fx, fy, moment


@kernel
def sliding_force(pyramid, v_along, v_across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N] on the pyramid if `pyramid`, else the ellipse."""
    if pyramid:
        return pyramid_force(v_along, v_across, mu_along, mu_across, load, slip_speed)
    return ellipse_force(v_along, v_across, mu_along, mu_across, load, slip_speed)


@kernel
def ellipse_force(v_along, v_across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N] on the ellipse: f = -N mu^2 v / |mu v|, smoothed.

    Args:
        v_along, v_across: slip velocity v in the body's axes [m/s].
        mu_along, mu_across: coefficients of friction.
        load: N [N].
        slip_speed: smoothing speed eps [m/s].
    """
    along = mu_along * v_along
    across = mu_across * v_across
    smoothing = max(mu_along, mu_across) * slip_speed
    scale = load / np.sqrt(along * along + across * across + smoothing * smoothing)
    return -mu_along * along * scale, -mu_across * across * scale


@kernel
def pyramid_force(v_along, v_across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N], f_i = -N mu_i v_i / |v_i|, smoothed.

    Arguments are those of `ellipse_force`.
    """
    eps_squared = slip_speed * slip_speed + REST_ADDEND
    f_along = -mu_along * load * v_along / np.sqrt(v_along * v_along + eps_squared)
    return f_along, -mu_across * load * v_across / np.sqrt(v_across * v_across + eps_squared)


@kernel
def heading(rotation):
    """Return the cosine and sine of a body's heading: of its x axis in the horizontal plane.

    Args:
        rotation: body to world (3, 3).
    """
    x, y = rotation[0, 0], rotation[1, 0]
    norm = np.sqrt(x * x + y * y)
    return x / norm, y / norm


@kernel
def rigid_loads(x, y, c, s, points, load, gyration, loads):
    """Fill the loads (n, k) [N] of the contact points of n equal links that form one rigid body.

    They are N_i = (a + b' u_i) / A_i, with the weight as their sum (equations of the header).

    Args:
        x, y: positions of the links' centres (n,) [m].
        c, s: cosine and sine of their headings (n,).
        points: contact points on each link, along and across (k, 2) [m].
        load: weight of a link [N].
        gyration: squared radii of gyration of a link about its x and y axis (2,) [m^2].
        loads: filled.
    """
    n, count = loads.shape
    # Centre of mass.
    x0, y0 = 0.0, 0.0
    for i in range(n):
        x0 += x[i]
        y0 += y[i]
    x0, y0 = x0 / n, y0 / n
    # Inertia S against tilting, divided by the mass [m^2].
    sxx, sxy, syy = 0.0, 0.0, 0.0
    for i in range(n):
        dx, dy = x[i] - x0, y[i] - y0
        sxx += (dx * dx + gyration[1] * c[i] * c[i] + gyration[0] * s[i] * s[i]) / n
        syy += (dy * dy + gyration[1] * s[i] * s[i] + gyration[0] * c[i] * c[i]) / n
        sxy += (dx * dy + (gyration[1] - gyration[0]) * c[i] * s[i]) / n
    det = sxx * syy - sxy * sxy
    # Sums p of the weights w_i = 1 / A_i and of their moments, with u = (ux, uy) for u_i. CFM keeps
    # the equations regular where all points lie on a line.
    p, px, py = CFM, 0.0, 0.0
    pxx, pxy, pyy = CFM * sxx, CFM * sxy, CFM * syy
    for i in range(n):
        for k in range(count):
            ux = x[i] - x0 + c[i] * points[k, 0] - s[i] * points[k, 1]
            uy = y[i] - y0 + s[i] * points[k, 0] + c[i] * points[k, 1]
            w = 1.0 / (1.0 + (syy * ux * ux - 2.0 * sxy * ux * uy + sxx * uy * uy) / det)
            loads[i, k] = w
            p += w
            px += w * ux
            py += w * uy
            pxx += w * ux * ux
            pxy += w * ux * uy
            pyy += w * uy * uy
    # Solution a, b = (bx, by) of the balance of force and moments by Cramer's rule, up to a factor,
    # which follows from the weight of all links.
    a, bx, by = pxx * pyy - pxy * pxy, py * pxy - px * pyy, px * pxy - py * pxx
    scale = n * load / (p * a + px * bx + py * by)
    for i in range(n):
        for k in range(count):
            ux = x[i] - x0 + c[i] * points[k, 0] - s[i] * points[k, 1]
            uy = y[i] - y0 + s[i] * points[k, 0] + c[i] * points[k, 1]
            loads[i, k] *= scale * (a + bx * ux + by * uy)
