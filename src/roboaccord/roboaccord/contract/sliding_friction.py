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

A link has several contact points, which share its load equally. If the body cannot bend upwards,
statics does not determine the loads of more than three points; `rigid_loads` has those that a
contact solver chooses. Contacts near the middle carry more, because the ends are easier to lift.
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
        self._force, self._torque = np.zeros((2, len(self.links), 3))

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
        law: six numbers or arrays, as of `EllipseFriction`: contact points on each link, along and
            across (k, 2) [m]; coefficients along and across (2,); other ground (x, mu_along,
            mu_across) for links with a centre beyond x [m], or an empty array for none; weight of a
            link [N]; smoothing speed eps [m/s]; squared radii of gyration (2,) [m^2], 0 for equal
            loads.
        force: friction on each link in the world, filled (n, 3) [N].
        torque: its moment about each centre of mass, filled (n, 3) [N m].
    """
    rotation, position, linear, angular = motions
    points, mu, beyond, load, slip_speed, gyration = law
    n, count = rotation.shape[0], points.shape[0]
    cosines, sines = np.empty(n), np.empty(n)  # of the headings
    for i in range(n):
        cosines[i], sines[i] = heading(rotation[i])
    loads = np.full((n, count), load / count)
    if gyration[1] > 0.0:
        rigid_loads(position[:, 0], position[:, 1], cosines, sines, points, load, gyration, loads)
    for i in range(n):
        mu_along, mu_across = mu[0], mu[1]
        if beyond.shape[0] > 0 and position[i, 0] > beyond[0]:
            mu_along, mu_across = beyond[1], beyond[2]
        # Velocity of the centre in the axes of the link, and yaw rate.
        c, s = cosines[i], sines[i]
        v_along = c * linear[i, 0] + s * linear[i, 1]
        v_across = -s * linear[i, 0] + c * linear[i, 1]
        yaw_rate = angular[i, 2]
        # Sum over the contact points, forces turned into the world.
        fx, fy, moment = 0.0, 0.0, 0.0
        for k in range(count):
            along, across = points[k, 0], points[k, 1]
            point_v_along, point_v_across = v_along - yaw_rate * across, v_across + yaw_rate * along
            f_along, f_across = sliding_force(
                pyramid, point_v_along, point_v_across, mu_along, mu_across, loads[i, k], slip_speed
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

    They are those of a contact solver that adds the share CFM ("constraint force mixing") of the
    diagonal A_i to its matrix: of all loads N_i that carry the weight, those with the smallest sum
    of A_i N_i^2. A force on contact i accelerates the contact by A_i = (1 + u_i' S^-1 u_i) / M per
    newton, where u_i = (x_i, y_i) is its position from the centre of mass, M the mass of the body,
    and M S its inertia against tilting. With the weights w_i = 1 / (M A_i) these loads are

        N_i = w_i (a + b' u_i)

    The balance of force and of both moments determines a and b = (b_x, b_y):

        [ W    W_x   W_y  ] [ a   ]   [ n load ]    W    = CFM + sum w_i
        [ W_x  W_xx  W_xy ] [ b_x ] = [ 0      ]    W_x  = sum w_i x_i
        [ W_y  W_xy  W_yy ] [ b_y ]   [ 0      ]    W_xx = CFM S_xx + sum w_i x_i^2, and so on

    CFM keeps these equations regular where all points lie on a line
    (test_rigid_loads_are_those_of_the_solvers_matrix).

    Args:
        x, y: positions of the links' centres (n,) [m].
        c, s: cosine and sine of their headings (n,).
        points: contact points on each link, along and across (k, 2) [m].
        load: weight of a link [N].
        gyration: squared radii of gyration of a link about its x and y axis (2,) [m^2].
        loads: filled.
    """
    n, count = loads.shape
    centre_x, centre_y, s_xx, s_xy, s_yy = _mass_moments(x, y, c, s, gyration)
    det = s_xx * s_yy - s_xy * s_xy
    # The weights, kept in `loads`, and the sums W.
    w, w_x, w_y = CFM, 0.0, 0.0
    w_xx, w_xy, w_yy = CFM * s_xx, CFM * s_xy, CFM * s_yy
    for i in range(n):
        for k in range(count):
            ux, uy = _offset_of_point(x[i] - centre_x, y[i] - centre_y, c[i], s[i], points[k])
            weight = 1.0 / (1.0 + (s_yy * ux * ux - 2.0 * s_xy * ux * uy + s_xx * uy * uy) / det)
            loads[i, k] = weight
            w += weight
            w_x += weight * ux
            w_y += weight * uy
            w_xx += weight * ux * ux
            w_xy += weight * ux * uy
            w_yy += weight * uy * uy
    # Cramer's rule: a, b_x and b_y up to a common factor, which follows from the first equation.
    a = w_xx * w_yy - w_xy * w_xy
    b_x, b_y = w_y * w_xy - w_x * w_yy, w_x * w_xy - w_y * w_xx
    factor = n * load / (w * a + w_x * b_x + w_y * b_y)
    for i in range(n):
        for k in range(count):
            ux, uy = _offset_of_point(x[i] - centre_x, y[i] - centre_y, c[i], s[i], points[k])
            loads[i, k] *= factor * (a + b_x * ux + b_y * uy)


@kernel
def _mass_moments(x, y, c, s, gyration):
    """Return the centre of mass (x, y) [m] of equal links, and S_xx, S_xy, S_yy [m^2] about it.

    Arguments and S are those of `rigid_loads`.
    """
    n = x.shape[0]
    centre_x, centre_y = 0.0, 0.0
    for i in range(n):
        centre_x += x[i]
        centre_y += y[i]
    centre_x, centre_y = centre_x / n, centre_y / n
    s_xx, s_xy, s_yy = 0.0, 0.0, 0.0
    for i in range(n):
        dx, dy = x[i] - centre_x, y[i] - centre_y
        s_xx += (dx * dx + gyration[1] * c[i] * c[i] + gyration[0] * s[i] * s[i]) / n
        s_yy += (dy * dy + gyration[1] * s[i] * s[i] + gyration[0] * c[i] * c[i]) / n
        s_xy += (dx * dy + (gyration[1] - gyration[0]) * c[i] * s[i]) / n
    return centre_x, centre_y, s_xx, s_xy, s_yy


@kernel
def _offset_of_point(dx, dy, c, s, point):
    """Return the offset (x, y) [m] of a link's contact point from the body's centre of mass.

    Args:
        dx, dy: offset of the link's centre [m].
        c, s: cosine and sine of its heading.
        point: along and across the link (2,) [m].
    """
    return dx + c * point[0] - s * point[1], dy + s * point[0] + c * point[1]
