"""Contact specification for engines, and body-fixed Coulomb friction as an external force.

The force laws are fixed by the equations below, and their order of operations by the hashes of runs
of the snake; test_friction of the snake checks them. CFM is DART's own number and stays, TINY may
be any number far below a slip speed squared. A kind of fixture may be added: a dataclass beside
`HeightField`, a member of the union in `Contact.fixtures`, and a branch in each engine's contact.py
and in engines/moves.py. New fields of `Contact` need a default: packages of robots make and
derive from it.

The friction of a contact that slides with body-fixed velocity v = (v_along, v_across) under the
load N follows from maximum dissipation on the ellipse (f_along / mu_along)^2 +
(f_across / mu_across)^2 <= N^2 [Goyal, Ruina, Papadopoulos 1991]:

    f = -N mu^2 v / |mu v|,        mu = diag(mu_along, mu_across)

Below the slip speed eps it is smoothed: |mu v| becomes sqrt(|mu v|^2 + (max mu eps)^2), without
which a force law has no value at rest.

Contact solvers that linearise the cone of friction, DART's for one, bound each axis by itself
instead, and leave the ellipse for its circumscribed box:

    f_i = -N mu_i v_i / |v_i|,      smoothed: |v_i| becomes sqrt(v_i^2 + eps^2)

The loads N of more than three contacts of a body that is rigid upwards are not given by statics.
Equal shares are one choice. A contact solver that adds a small part of itself, CFM, to the
diagonal A_i of its matrix makes another: the least sum of A_i N_i^2 that carries the weight, with

    A_i = 1 / M + u_i' S^-1 u_i,      N_i = (a + b' u_i) / A_i

where u_i is the place of the contact from the centre of mass and S the body's inertia against
tilting. Contacts near the middle carry more, for the ends are easier to lift.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from roboaccord.contract.errors import AccordError, check_known
from roboaccord.contract.interfaces import LinkMotion
from roboaccord.contract.state import ORIGIN, Array
from roboaccord.numerics.jit import kernel

Index = npt.NDArray[np.int64]
TINY = 1e-30  # (m/s)^2; so that a slip of 0 has no friction where the slip speed is 0, too
CFM = 1e-5  # what DART's contact solver adds, as a part of the diagonal


@dataclass(frozen=True, kw_only=True)
class Fixture:
    """Hold a fixed box, such as the ground.

    Args:
        name: of it, beside the links' names.
        size: along x, y and z (3,) [m].
        position: of its centre (3,) [m].
    """

    name: str
    size: Array
    position: Array


@dataclass(frozen=True, kw_only=True)
class MeshFixture:
    """Hold a fixed closed mesh.

    DART takes any, MuJoCo convex ones alone: it collides with the convex hull of a mesh.

    Args:
        name: of it, beside the links' names.
        vertices: in its own frame (m, 3) [m].
        faces: indices of the vertices of triangles (k, 3), counterclockwise seen from outside.
        position: of its frame (3,) [m].
        convex: whether it is its own convex hull.
    """

    name: str
    vertices: Array
    faces: Index
    position: Array = field(default_factory=lambda: ORIGIN)
    convex: bool = False


@dataclass(frozen=True, kw_only=True)
class HeightField:
    """Hold a height field on a regular grid; for MuJoCo, not for DART.

    Args:
        name: of it, beside the links' names.
        heights: at the points of the grid, indexed [x, y], (rows, columns) [m].
        spacing: of the points [m].
        position: of the point [0, 0], at the height 0 (3,) [m].
    """

    name: str
    heights: Array
    spacing: float
    position: Array = field(default_factory=lambda: ORIGIN)


@dataclass(frozen=True, kw_only=True)
class Contact:
    """Specify the contacts that an engine's own contact solver handles.

    Args:
        pairs: names of links or fixtures that can touch, each with all of its shapes; nothing else
            does.
        friction: coefficient of each name; a pair has the smaller of its two.
        fixtures: what stands still.
        restitution: speed of parting over speed of approach; DART takes it, MuJoCo has 0 alone.
        yaw: by which each fixture is turned about the vertical through its position [rad].
    """

    pairs: tuple[tuple[str, str], ...]
    friction: Mapping[str, float]
    fixtures: tuple[Fixture | MeshFixture | HeightField, ...] = ()
    restitution: float = 0.0
    yaw: float = 0.0

    def mu(self, pair: tuple[str, str]) -> float:
        """Return the coefficient of friction of a pair."""
        return min(self.friction[name] for name in pair)


@dataclass(frozen=True, slots=True)
class ContactPoint:
    """Hold one contact point at one instant.

    Args:
        pair: names of the two links or fixtures.
        position: in the world (3,) [m].
        normal: unit vector in the world, from the first of the pair into the second (3,).
        force: with which the first pushes the second along the normal [N]; 0 where it is unknown.
        depth: how deep they overlap there [m]; negative where there is a gap.
    """

    pair: tuple[str, str]
    position: Array
    normal: Array
    force: float
    depth: float


@kernel
def ellipse_force(along, across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N] against a slip (along, across) [m/s]."""
    a = mu_along * along
    c = mu_across * across
    e = max(mu_along, mu_across) * slip_speed
    scale = load / np.sqrt(a * a + c * c + e * e)
    return -mu_along * a * scale, -mu_across * c * scale


@kernel
def pyramid_force(along, across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N] bounded on each axis by itself."""
    e = slip_speed * slip_speed + TINY
    a = -mu_along * load * along / np.sqrt(along * along + e)
    return a, -mu_across * load * across / np.sqrt(across * across + e)


@kernel
def sliding_force(pyramid, along, across, mu_along, mu_across, load, slip_speed):
    """Return the friction (f_along, f_across) [N] of the pyramid, or else of the ellipse."""
    if pyramid:
        return pyramid_force(along, across, mu_along, mu_across, load, slip_speed)
    return ellipse_force(along, across, mu_along, mu_across, load, slip_speed)


@kernel
def rigid_loads(x, y, c, s, points, load, gyration, loads):
    """Fill the loads (n, k) [N] of contact points of n equal links, a body rigid upwards.

    Args:
        x, y: of the links' centres (n,) [m].
        c, s: of their headings (n,).
        points: on each link, along and across (k, 2) [m].
        load: weight of a link [N].
        gyration: squared radii of gyration of a link about its x and y axis (2,) [m^2].
        loads: filled.
    """
    n, count = loads.shape
    x0, y0 = 0.0, 0.0
    for i in range(n):
        x0 += x[i]
        y0 += y[i]
    x0, y0 = x0 / n, y0 / n
    xx, xy, yy = 0.0, 0.0, 0.0  # inertia against tilting over the mass [m^2]
    for i in range(n):
        dx, dy = x[i] - x0, y[i] - y0
        xx += (dx * dx + gyration[1] * c[i] * c[i] + gyration[0] * s[i] * s[i]) / n
        yy += (dy * dy + gyration[1] * s[i] * s[i] + gyration[0] * c[i] * c[i]) / n
        xy += (dx * dy + (gyration[1] - gyration[0]) * c[i] * s[i]) / n
    det = xx * yy - xy * xy
    # Moments of 1 / A_i; what the solver adds keeps them regular where all points are in a line.
    p, px, py = CFM, 0.0, 0.0
    pxx, pxy, pyy = CFM * xx, CFM * xy, CFM * yy
    for i in range(n):
        for k in range(count):
            u = x[i] - x0 + c[i] * points[k, 0] - s[i] * points[k, 1]
            v = y[i] - y0 + s[i] * points[k, 0] + c[i] * points[k, 1]
            w = 1.0 / (1.0 + (yy * u * u - 2.0 * xy * u * v + xx * v * v) / det)
            loads[i, k] = w
            p += w
            px += w * u
            py += w * v
            pxx += w * u * u
            pxy += w * u * v
            pyy += w * v * v
    one, along, across = pxx * pyy - pxy * pxy, py * pxy - px * pyy, px * pxy - py * pxx
    scale = n * load / (p * one + px * along + py * across)
    for i in range(n):
        for k in range(count):
            u = x[i] - x0 + c[i] * points[k, 0] - s[i] * points[k, 1]
            v = y[i] - y0 + s[i] * points[k, 0] + c[i] * points[k, 1]
            loads[i, k] *= scale * (one + along * u + across * v)


@kernel
def heading(rotation):
    """Return the cosine and sine of a body's x axis as it lies in the horizontal plane."""
    x, y = rotation[0, 0], rotation[1, 0]
    norm = np.sqrt(x * x + y * y)
    return x / norm, y / norm


@kernel
def sliding_wrenches(
    pyramid, rotation, position, linear, angular, points, mu, beyond, load, slip, gyration,
    force, torque,
):  # fmt: skip
    """Fill the friction's force [N] and torque [N m] on n links that slide in the plane (n, 3).

    Args:
        pyramid: whether each axis is bounded by itself.
        rotation, position, linear, angular: motion of the links, as `LinkMotion` has it.
        points: on each link, along and across (k, 2) [m].
        mu: along and across (2,).
        beyond: (x, mu_along, mu_across) of ground that changes; empty where it does not.
        load: weight of a link [N].
        slip: smoothing speed [m/s].
        gyration: squared radii of gyration (2,) [m^2]; 0 for equal loads.
        force, torque: filled.
    """
    n, count = rotation.shape[0], points.shape[0]
    mu_along, mu_across = mu[0], mu[1]
    own, loads, headings = load / count, points[:0], points[:0]
    if gyration[1] > 0.0:
        loads, headings = np.empty((n, count)), np.empty((n, 2))
        for i in range(n):
            headings[i, 0], headings[i, 1] = heading(rotation[i])
        rigid_loads(
            position[:, 0], position[:, 1], headings[:, 0], headings[:, 1], points, load, gyration,
            loads,
        )  # fmt: skip
    for i in range(n):
        c, s = heading(rotation[i])
        along = c * linear[i, 0] + s * linear[i, 1]
        across = -s * linear[i, 0] + c * linear[i, 1]
        w = angular[i, 2]
        if beyond.shape[0] > 0:
            there = position[i, 0] > beyond[0]
            mu_along, mu_across = (beyond[1], beyond[2]) if there else (mu[0], mu[1])
        fx = 0.0
        fy = 0.0
        moment = 0.0
        for k in range(count):
            px = points[k, 0]
            py = points[k, 1]
            if gyration[1] > 0.0:
                own = loads[i, k]
            fa, fc = sliding_force(
                pyramid, along - w * py, across + w * px, mu_along, mu_across, own, slip
            )
            fx += c * fa - s * fc
            fy += s * fa + c * fc
            moment += px * fc - py * fa
        force[i, 0] = fx
        force[i, 1] = fy
        torque[i, 2] = moment


class EllipseFriction:
    """Apply the ellipse at given points of links that slide on a horizontal plane.

    Args:
        links: names of the links.
        points: contact points relative to the centre of mass, along and across (k, 2) [m].
        load: normal force on each link [N], shared by its points.
        mu_along, mu_across: coefficients along the link's x and y axes.
        slip_speed: smoothing speed eps [m/s]; 0 for a pyramid that sticks, as no force law can.
        beyond: ground that changes with place: `x` [m], and the `mu_along` and `mu_across` of
            links whose centre is beyond it.
        gyration: squared radii of gyration of a link about its x and y axis [m^2]: its points carry
            what a contact solver gives to those of a body rigid upwards; None for equal shares.

    Raises:
        ValueError: for a negative coefficient, or a slip speed that is none.
        AccordError: for keys of `beyond` that are missing or unknown.
    """

    pyramid = False  # whether each axis is bounded by itself

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
        self.beyond = _beyond(beyond)  # (x, mu_along, mu_across), or empty
        for pair in ((mu_along, mu_across), self.beyond[1:]):
            if min(pair, default=0.0) < 0:
                raise ValueError("a friction coefficient is negative")
            if max(pair, default=1.0) <= 0 or slip_speed < 0 or not (self.pyramid or slip_speed):
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

        The arrays are used again by the next call.

        Raises:
            AccordError: for friction that sticks, which is not a function of the motion.
        """
        if not self.slip_speed:
            only = "0 works only in the reference; set a positive one"
            raise AccordError(f"friction.slip_speed: {only}")
        sliding_wrenches(
            self.pyramid, motion.rotation, motion.position, motion.linear, motion.angular,
            self.points, self.mu, self.beyond, self.load, self.slip_speed, self.gyration,
            self._force, self._torque,
        )  # fmt: skip
        return self._force, self._torque


class PyramidFriction(EllipseFriction):
    """Apply friction that is bounded on each axis by itself; arguments as of the ellipse."""

    pyramid = True


def _beyond(given: Mapping[str, float] | None) -> Array:
    """Return (x, mu_along, mu_across) of the ground that changes, empty where it does not."""
    if given is None:
        return np.zeros(0)
    keys = ("x", "mu_along", "mu_across")
    check_known("unknown key friction.beyond.", given, keys)
    for key in keys:
        value = given.get(key)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            raise AccordError(f"friction.beyond.{key}: {value!r} is not a number")
    return np.array([given[key] for key in keys], dtype=float)
