"""Dynamics of a dribbled ball between the rollers of a carrier: compiled functions.

The rates y are eight numbers: the ball's angular velocity omega, the speeds of both rollers, and
the carrier's x', y' and psi' (yaw). The ball rolls on the ground, so its centre moves with v = r
omega x z. The centre c_i of roller i moves with its holder,

    c_i' = V + psi' z x rho_i - s_i' n_i,   (c_i' - v) u_i = 0

where V is the carrier's velocity, rho_i points from the carrier's middle to the roller's centre,
n_i is the direction of its slide, and u_i the direction from the ball's centre to it. The second
equation, contact, gives the slides' rates s_i'. So c_i' = J_i y, the slips are zeta_i = G_i y, and
with the forces Q along y (Kane's method)

    M y' + sum m J_i' (dJ_i/dt y) = Q + sum G_i' f_i(N_i, zeta_i)

M, J and G depend on the configuration. The friction f_i depends on the load N_i of the contact,
which follows from the pressing force F, the roller's weight and its inertia:

    N_i u_i n_i = F + m (c_i'' n_i + g z n_i) + f_i n_i.

`spread` fills J, G and the rest of the configuration, `gather` fills M and the forces, and `relax`
computes the change of rates in a step; `advance` repeats this. A step is of second order and
L-stable.

Friction may be changed in model/contact.py, `rub`. test_roller_newton_euler compares accelerations
and loads with Newton's and Euler's equations for the URDF, to round-off; test_roller_dribble
measures the order.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import cholesky, cross, kernel

from roller_sphere.model.contact import dot, rub

RATES = 8  # entries of y: omega (3), rollers (2), carrier_x, carrier_y and carrier_yaw
ROLLER, CARRIER, YAW = 3, 5, 7  # indices of the first roller, of carrier_x and of carrier_yaw in y
# Entries of `row`, the lengths [m].
BALL_RADIUS, ROLLER_RADIUS, BALL_AHEAD, STROKE = range(4)
# Entries of `forces`: pressing force [N], mass of a roller with holder [kg], gravity [m/s^2], and
# moment of inertia of a roller [kg m^2].
PRESSING, MASS, GRAVITY, INERTIA = range(4)
# Passes of a step: the second has loads and accelerations at its middle, the third refines them. In
# 3 s of `dribble` the largest offset of the ball is 0.28 mm off with two, 0.015 mm with three
# (measured against six).
PASSES = 3
GAMMA = 1.0 - math.sqrt(0.5)  # of the L-stable, diagonally implicit scheme of second order


@kernel
def to_world(c, s, vector, out):
    """Fill `out` with a vector (3,) of the carrier's frame in the world; c, s are of its yaw."""
    out[0] = c * vector[0] - s * vector[1]
    out[1] = s * vector[0] + c * vector[1]
    out[2] = vector[2]


@kernel
def slide_of(row, direction, offset, at):
    """Fill `at` (3,) with a roller's centre in the carrier's frame; return if it reaches the ball.

    The equation is that of model/hold.py.

    Args:
        row: lengths, see `spread`.
        direction: direction of the slide (3,).
        offset: offset of the ball from its nominal place (3,) [m].
        at: is filled.
    """
    reach = row[BALL_RADIUS] + row[ROLLER_RADIUS]
    projected = dot(direction, offset)
    square = projected * projected - dot(offset, offset) + reach * reach
    distance = projected + math.sqrt(max(square, 0.0))  # R - s_i, model/hold.py
    for d in range(3):
        at[d] = distance * direction[d]
    at[0] += row[BALL_AHEAD]
    return square > 0.0 and abs(reach - distance) <= row[STROKE]


@kernel
def touch(row, i, u, n, axis, y, J, G, k, bias):
    """Add the motion that contact imposes to J, G, k and bias of roller i; see `spread`.

    Contact, (c' - v) u = 0, gives s' = k y with k = (J - rolling)' u / (n u).
    """
    r, r_roller = row[BALL_RADIUS], row[ROLLER_RADIUS]
    facing = dot(n, u)
    # Velocity of the ball's centre, v = rolling y, then k, and J with the slide's motion.
    rolling = np.zeros((3, RATES))
    rolling[0, 1], rolling[1, 0] = r, -r
    for j in range(RATES):
        for d in range(3):
            k[j] += (J[d, j] - rolling[d, j]) * u[d] / facing
        for d in range(3):
            J[d, j] -= k[j] * n[d]
    # Slide's rate; squared speed of the roller's centre relative to the ball's; bias along u. The
    # derivative of contact gives the slide's acceleration at constant rates.
    rate, relative, normal_bias = dot(k, y), 0.0, 0.0
    bias[0] += 2.0 * y[YAW] * rate * n[1]
    bias[1] -= 2.0 * y[YAW] * rate * n[0]
    for d in range(3):
        relative += dot(J[d] - rolling[d], y) ** 2
        normal_bias += bias[d] * u[d]
    for d in range(3):
        bias[d] -= (normal_bias + relative / (r + r_roller)) / facing * n[d]
        for j in range(RATES):
            G[d, j] = rolling[d, j] - J[d, j]
    # Slip of the surfaces: omega x r u of the ball, and the roller's own turn and yaw.
    unit, arm = np.zeros(3), np.empty(3)
    for d in range(3):
        unit[:] = 0.0
        unit[d] = r
        cross(unit, u, arm)
        for e in range(3):
            G[e, d] += arm[e]
    cross(axis, u, arm)
    for e in range(3):
        G[e, ROLLER + i] += r_roller * arm[e]
    G[0, YAW] -= r_roller * u[1]
    G[1, YAW] += r_roller * u[0]


@kernel
def spread(row, along, positions, y, holds, J, G, k, bias, u, n):
    """Fill the matrices of a configuration; return whether both rollers reach the ball.

    Args:
        row: lengths radius, roller_radius, ball_ahead and stroke [m].
        along: directions of slides (2, 3) and of rollers' axes (2, 3), in the carrier's frame.
        positions: x and y of ball and carrier [m], yaw [rad] (5,).
        y: rates (8,).
        holds: whether the rollers touch the ball.
        J, G: matrices of the rollers' velocities c_i' = J_i y and slips G_i y (2, 3, 8).
        k: matrix of the slides' rates s' = k y (2, 8).
        bias: accelerations of the rollers' centres at constant rates (2, 3).
        u, n: directions to the rollers, and of their slides, in the world (2, 3).
    """
    c, s = math.cos(positions[4]), math.sin(positions[4])
    dx, dy = positions[0] - positions[2], positions[1] - positions[3]
    offset, at = np.zeros(3), np.empty(3)
    axis, rho = np.empty(3), np.empty(3)
    # Offset of the ball from its nominal place, in the carrier's frame.
    offset[0] = c * dx + s * dy - row[BALL_AHEAD]
    offset[1] = c * dy - s * dx
    J[:] = 0.0
    G[:] = 0.0
    k[:] = 0.0
    reached = True
    for i in range(2):
        reached = slide_of(row, along[0, i], offset, at) and reached
        if not holds:  # the slide is at its stop
            for d in range(3):
                at[d] = (row[BALL_RADIUS] + row[ROLLER_RADIUS] - row[STROKE]) * along[0, i, d]
            at[0] += row[BALL_AHEAD]
        to_world(c, s, at, rho)
        to_world(c, s, along[0, i], n[i])
        to_world(c, s, along[1, i], axis)
        # Direction from the ball's centre to the roller's.
        u[i, 0], u[i, 1], u[i, 2] = rho[0] - dx, rho[1] - dy, rho[2]
        size = math.sqrt(dot(u[i], u[i]))
        for d in range(3):
            u[i, d] /= size
        J[i, 0, CARRIER] = J[i, 1, CARRIER + 1] = 1.0
        J[i, 0, YAW], J[i, 1, YAW] = -rho[1], rho[0]
        # Centripetal acceleration of the carrier's turn.
        bias[i, 0], bias[i, 1] = -y[YAW] * y[YAW] * rho[0], -y[YAW] * y[YAW] * rho[1]
        bias[i, 2] = 0.0
        if holds:
            touch(row, i, u[i], n[i], axis, y, J[i], G[i], k[i], bias[i])
    return reached


@kernel
def relax(M, slope, pull, step, change):
    """Fill the change of rates (8,) in a step [s] of M y' = pull + slope (y - y_0).

    The slope is symmetric and negative semidefinite. The scheme is a diagonally implicit one of two
    stages with (M - GAMMA step slope) in both; it is L-stable, so friction may be arbitrarily
    stiff.
    """
    L = M - GAMMA * step * slope
    cholesky.factor(L, L)
    first, second = pull.copy(), pull.copy()
    cholesky.solve(L, first)
    for i in range(RATES):
        second[i] += (1.0 - GAMMA) * step * dot(slope[i], first)
    cholesky.solve(L, second)
    for i in range(RATES):
        change[i] = step * ((1.0 - GAMMA) * first[i] + GAMMA * second[i])


@kernel
def press(forces, friction, J, G, bias, u, n, middle, change, step, force, slope):
    """Fill the friction on the ball at the start of a step, for the load at the step's middle.

    Friction itself adds to the load; that part is computed to first order in mu sin(u, n).

    Args:
        forces, friction: see `advance`.
        J, G, bias, u, n: of the roller, see `spread`.
        middle, change: rates at the middle of the step, and their change in it (8,).
        step: [s].
        force: row 0 is filled with the force (3,); row 1 is scratch.
        slope: is filled with the slope of the force by the slip (3, 3).
    """
    slip = force[1]
    facing, rise = dot(u, n), forces[GRAVITY] * n[2]
    for d in range(3):
        rise += (dot(J[d], change) / step + bias[d]) * n[d]
        slip[d] = dot(G[d], middle)
    load = (forces[PRESSING] + forces[MASS] * rise) / facing
    rub(friction, load, slip, force[0], slope)
    load = max(load + dot(force[0], n) / facing, 0.0)
    for d in range(3):
        slip[d] = dot(G[d], middle) - 0.5 * dot(G[d], change)
    rub(friction, load, slip, force[0], slope)


@kernel
def gather(forces, fixed, along, friction, holds, drive, spreads, middle, change, step, M, S, pull):
    """Fill M (8, 8), the slope S (8, 8) of the forces by the rates, and the forces `pull` (8,)."""
    J, G, k, bias, u, n = spreads
    force, slope = np.zeros((2, 3)), np.zeros((3, 3))
    M[:] = fixed
    S[:] = 0.0
    pull[:] = drive
    for i in range(2):
        M[ROLLER + i, YAW] += forces[INERTIA] * along[1, i, 2]
        M[YAW, ROLLER + i] += forces[INERTIA] * along[1, i, 2]
        if holds:
            press(
                forces, friction, J[i], G[i], bias[i], u[i], n[i], middle, change, step, force,
                slope,
            )  # fmt: skip
        for a in range(RATES):
            pull[a] += forces[PRESSING] * k[i, a] - forces[MASS] * forces[GRAVITY] * J[i, 2, a]
            for d in range(3):
                pull[a] += G[i, d, a] * force[0, d] - forces[MASS] * J[i, d, a] * bias[i, d]
            for b in range(RATES):
                for d in range(3):
                    M[a, b] += forces[MASS] * J[i, d, a] * J[i, d, b]
                    for e in range(3):
                        S[a, b] += G[i, d, a] * slope[d, e] * G[i, e, b]


@kernel
def scratch():
    """Return new arrays J, G, k, bias, u and n, which `spread` fills."""
    J, G = np.empty((2, 3, RATES)), np.empty((2, 3, RATES))
    return J, G, np.empty((2, RATES)), np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3))


@kernel
def mass_matrix(row, along, forces, fixed, positions, y, holds):
    """Return M (8, 8) in a state; the arguments are those of `advance`."""
    J, G, k, bias, u, n = scratch()
    M, S, pull = np.empty((RATES, RATES)), np.empty((RATES, RATES)), np.empty(RATES)
    spread(row, along, positions, y, holds, J, G, k, bias, u, n)
    none = np.zeros(RATES)
    gather(
        forces, fixed, along, (0.0, 0.0, 1.0), holds, none, (J, G, k, bias, u, n), y, none, 1.0,
        M, S, pull,
    )  # fmt: skip
    return M


@kernel
def drift(positions, y, radius, step):
    """Advance the positions by a step [s] at constant rates."""
    positions[0] += step * radius * y[1]
    positions[1] -= step * radius * y[0]
    for j in range(3):
        positions[2 + j] += step * y[CARRIER + j]


@kernel
def advance(row, along, forces, fixed, friction, drive, positions, y, holds, step, turns):
    """Advance the rates y (8,) and the positions by as many steps as `turns` has rows.

    Args:
        row, along, positions, holds: see `spread`; the positions are changed. forces: press_force
        [N], mass of a roller with its holder [kg], gravity [m/s^2], and moment of
            inertia of a roller [kg m^2].
        fixed: constant part of the mass matrix (8, 8).
        friction: viscous coefficient [N s/m], dry friction over the load, and slip speed [m/s].
        drive: efforts along the rates (8,): of rollers and carrier, 0 for the ball.
        y: rates; they are changed.
        step: [s].
        turns: is filled with the integrals of the first five rates (count, 5).

    Returns:
        Number of steps after which the ball was lost, or -1.
    """
    J, G, k, bias, u, n = scratch()
    M, S = np.empty((RATES, RATES)), np.empty((RATES, RATES))
    pull, change = np.empty(RATES), np.empty(RATES)
    lost = -1
    for index in range(len(turns)):
        drift(positions, y, row[BALL_RADIUS], 0.5 * step)
        change[:] = 0.0
        for _ in range(PASSES):
            middle = y + 0.5 * change
            # A roller that does not reach the ball loses it for good.
            if not spread(row, along, positions, middle, holds, J, G, k, bias, u, n) and holds:
                holds, lost = False, index
                spread(row, along, positions, middle, holds, J, G, k, bias, u, n)
            gather(
                forces, fixed, along, friction, holds, drive, (J, G, k, bias, u, n), middle, change,
                step, M, S, pull,
            )  # fmt: skip
            relax(M, S, pull, step, change)
        for j in range(5):
            turns[index, j] = step * (y[j] + 0.5 * change[j])
        y += change
        drift(positions, y, row[BALL_RADIUS], 0.5 * step)
    return lost
