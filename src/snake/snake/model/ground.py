"""Friction of the links on the ground: the law of a scenario, and the forces that follow from it.

Each link touches the ground in one or more contact points. A point slides with a velocity along and
across the link, and is resisted by anisotropic Coulomb friction, whose coefficients differ along
and across. Below a slip speed `sliding_force` (roboaccord.contract) smooths the force to 0 at rest.
The points share the weight of a link equally, or as a contact solver would share out the weight of
the whole body (`rigid_loads`, the same module). The coefficients may change at a line across the x
axis of the world, as where a smooth floor ends.

Another law must change here in `ground_forces` and `coefficients_and_loads`, and in
roboaccord.contract for the physics engines. The order of the arithmetic must stay, for hashes
depend on it.
"""

import math
from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array, EllipseFriction, rigid_loads, sliding_force
from roboaccord.numerics import kernel
from roboaccord.scenario import Setup

from snake.model.kinematics import link_positions, link_velocities


class GroundFriction(NamedTuple):
    """Friction of every link on the ground, as the kernels take it.

    Attributes:
        mu_along, mu_across: coefficients along and across the link [1].
        load: weight of a link [N].
        slip_speed: smoothing speed [m/s]; at 0 a point at rest sticks (simulators/sticking.py).
        pyramid: True if the force is bounded along and across by itself, False if both together
            are bounded by an ellipse.
        gyration_x, gyration_y: squared radii of gyration of a link about its own axes, along and
            across [m^2], by which the weight of a rigid body is shared out; 0 for equal loads.
        change_x: where the ground changes, along the world's x axis [m]; infinite for uniform
            ground.
        mu_along_beyond, mu_across_beyond: coefficients of links whose centre is beyond it [1].
    """

    mu_along: float
    mu_across: float
    load: float
    slip_speed: float
    pyramid: bool
    gyration_x: float = 0.0
    gyration_y: float = 0.0
    change_x: float = math.inf
    mu_along_beyond: float = 0.0
    mu_across_beyond: float = 0.0


NO_FRICTION = GroundFriction(0.0, 0.0, 0.0, 0.0, False)
NO_POINTS = np.zeros((0, 2))


def friction_of(setup: Setup) -> tuple[GroundFriction, Array]:
    """Return the friction of a setup and the contact points of a link (k, 2) [m], if any."""
    law = setup.force_law
    if not isinstance(law, EllipseFriction):
        return NO_FRICTION, NO_POINTS
    uniform = (*law.mu.tolist(), law.load, law.slip_speed, law.pyramid, *law.gyration.tolist())
    return GroundFriction(*uniform, *law.beyond.tolist()), law.points


@kernel
def coefficients_and_loads(body, c, s, x, friction, points, mu, loads):
    """Fill `mu` with the coefficients of every link, and `loads` with the load of every point.

    Args:
        body, c, s, x, friction, points: as in `ground_forces`.
        mu: filled with the coefficients along and across each link (N, 2).
        loads: filled with the load of each of the k points of a link (N, k) [N].
    """
    n, count = loads.shape
    for i in range(n):
        mu[i, 0], mu[i, 1] = friction.mu_along, friction.mu_across
        for k in range(count):
            loads[i, k] = friction.load / count
    rigid, changes = friction.gyration_y > 0.0, friction.change_x < math.inf
    if rigid or changes:
        px, py = np.empty(n), np.empty(n)
        link_positions(body, c, s, x, 0.0, px, py)
        if rigid:
            gyration = (friction.gyration_x, friction.gyration_y)
            rigid_loads(px, py, c, s, points, friction.load, gyration, loads)
        if changes:
            for i in range(n):
                if px[i] > friction.change_x:
                    mu[i, 0], mu[i, 1] = friction.mu_along_beyond, friction.mu_across_beyond


@kernel
def ground_forces(body, c, s, x, vx, vy, w, friction, points, fx, fy, moment):
    """Fill the ground's force (fx, fy) [N] and moment [N m] on every link (N,).

    Args:
        body: (a, b, m, J) of a link (`kinematics`).
        c, s: cosines and sines of the headings (N,).
        x, vx, vy: of the centre of mass: where it is along the world's x axis [m], and its velocity
            [m/s].
        w: rates of the headings (N,) [rad/s].
        friction: as `GroundFriction`.
        points: contact points of a link, along and across it from its centre (k, 2) [m].
        fx, fy, moment: filled.
    """
    n, count = c.shape[0], points.shape[0]
    if count == 0:
        fx[:], fy[:], moment[:] = 0.0, 0.0, 0.0
        return
    mu_along, mu_across, load = friction.mu_along, friction.mu_across, friction.load / count
    pyramid, slip_speed = friction.pyramid, friction.slip_speed
    # Coefficients of every link and loads of every point, empty where all are alike.
    mu, loads = points[:0], points[:0]
    varies = friction.gyration_y > 0.0 or friction.change_x < math.inf
    if varies:
        mu, loads = np.empty((n, 2)), np.empty((n, count))
        coefficients_and_loads(body, c, s, x, friction, points, mu, loads)
    # Velocities of the links' centres, in the arrays of the forces, which replace them link by
    # link.
    link_vx, link_vy = fx, fy
    link_velocities(body, c, s, vx, vy, w, link_vx, link_vy)
    for i in range(n):
        along = c[i] * link_vx[i] + s[i] * link_vy[i]
        across = c[i] * link_vy[i] - s[i] * link_vx[i]
        force_along, force_across, torque = 0.0, 0.0, 0.0
        for k in range(count):
            px, py = points[k, 0], points[k, 1]
            if varies:
                mu_along, mu_across, load = mu[i, 0], mu[i, 1], loads[i, k]
            slip_along, slip_across = along - w[i] * py, across + w[i] * px
            point_along, point_across = sliding_force(
                pyramid, slip_along, slip_across, mu_along, mu_across, load, slip_speed
            )
            force_along += point_along
            force_across += point_across
            torque += px * point_across - py * point_along
        fx[i] = c[i] * force_along - s[i] * force_across
        fy[i] = s[i] * force_along + c[i] * force_across
        moment[i] = torque
