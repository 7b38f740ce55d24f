"""Dynamics of a dribbled ball between the rollers of a carrier: compiled kernels.

The equations are fixed: test_roller_newton_euler compares accelerations and loads with Newton's and
Euler's of the URDF to rounding. GAMMA belongs to the scheme, PASSES makes it of the second order
(test_roller_dribble): both stay. Friction may be changed in model/contact.py, `rub`.

With the rates y = (omega, nu rates, carrier rates), eight numbers, the ball's centre moves at
v = r omega x z, since it rolls on the ground, and roller i with its holder at

    c_i' = V + psi' z x rho_i - s_i' n_i,   (c_i' - v) u_i = 0

rho_i from the carrier's middle to the roller's centre, n_i its slide's direction and u_i the
direction from the ball's centre to it. The second line, contact, gives the slides' rates s_i'. So
c_i' = J_i y, the slips zeta_i = G_i y, and with forces that act along y (Kane)

    M y' + sum m J_i' (dJ_i/dt y) = Q + sum G_i' f_i(N_i, zeta_i)

M, J and G depend on the configuration, f on the load of the contact, which is what presses the
roller, with its weight and inertia:

    N_i u_i n_i = F + m (c_i'' n_i + g z n_i) + f_i n_i.
"""

from __future__ import annotations

import math

import numpy as np
from roboaccord.numerics import cross, factor, kernel, solve

from roller_sphere.model.contact import dot, rub

RATES = 8
PASSES = 3  # of a step; the second has loads and accelerations in its middle, the third refines
GAMMA = 1.0 - math.sqrt(0.5)  # of the L-stable diagonally implicit scheme of second order


@kernel
def to_world(c, s, vector, out):
    """Fill a vector of the carrier's frame in the world, of its yaw's cosine and sine."""
    out[0] = c * vector[0] - s * vector[1]
    out[1] = s * vector[0] + c * vector[1]
    out[2] = vector[2]


@kernel
def slide_of(row, direction, offset, at):
    """Fill the roller's centre in the carrier's frame (3,); return whether it reaches the ball."""
    reach = row[0] + row[1]
    projected = dot(direction, offset)
    square = projected * projected - dot(offset, offset) + reach * reach
    left = projected + math.sqrt(max(square, 0.0))
    for d in range(3):
        at[d] = left * direction[d]
    at[0] += row[2]
    return square > 0.0 and abs(reach - left) <= row[3]


@kernel
def touch(row, i, u, n, axis, y, J, G, k, bias):
    """Add to what `spread` fills for roller i what it is made to do by contact."""
    r, small = row[0], row[1]
    facing = dot(n, u)
    rolling = np.zeros((3, RATES))
    rolling[0, 1], rolling[1, 0] = r, -r
    for j in range(RATES):
        for d in range(3):
            k[j] += (J[d, j] - rolling[d, j]) * u[d] / facing
        for d in range(3):
            J[d, j] -= k[j] * n[d]
    rate, apart, lean = dot(k, y), 0.0, 0.0
    bias[0] += 2.0 * y[7] * rate * n[1]
    bias[1] -= 2.0 * y[7] * rate * n[0]
    for d in range(3):
        apart += dot(J[d] - rolling[d], y) ** 2
        lean += bias[d] * u[d]
    for d in range(3):
        bias[d] -= (lean + apart / (r + small)) / facing * n[d]
        for j in range(RATES):
            G[d, j] = rolling[d, j] - J[d, j]
    unit, arm = np.zeros(3), np.empty(3)
    for d in range(3):
        unit[:] = 0.0
        unit[d] = r
        cross(unit, u, arm)
        for e in range(3):
            G[e, d] += arm[e]
    cross(axis, u, arm)
    for e in range(3):
        G[e, 3 + i] += small * arm[e]
    G[0, 7] -= small * u[1]
    G[1, 7] += small * u[0]


@kernel
def spread(row, along, place, y, held, J, G, k, bias, u, n):
    """Fill what depends on the configuration; return whether both rollers reach the ball.

    Args:
        row: radius, roller_radius, ball_ahead and stroke [m].
        along: directions of slides (2, 3) and of rollers' axes (2, 3), in the carrier's frame.
        place: x and y of ball and carrier [m], yaw [rad] (5,).
        y: rates (8,).
        held: whether the rollers touch the ball.
        J, G: velocities of the rollers' centres, and slips, by the rates (2, 3, 8).
        k: rates of the slides by the rates (2, 8).
        bias: accelerations of the rollers' centres at constant rates (2, 3).
        u, n: directions to the rollers, and of their slides, in the world (2, 3).
    """
    c, s = math.cos(place[4]), math.sin(place[4])
    dx, dy = place[0] - place[2], place[1] - place[3]
    offset, at = np.zeros(3), np.empty(3)
    axis, rho = np.empty(3), np.empty(3)
    offset[0] = c * dx + s * dy - row[2]
    offset[1] = c * dy - s * dx
    J[:] = 0.0
    G[:] = 0.0
    k[:] = 0.0
    reached = True
    for i in range(2):
        reached = slide_of(row, along[0, i], offset, at) and reached
        if not held:  # pressed out as far as it goes
            for d in range(3):
                at[d] = (row[0] + row[1] - row[3]) * along[0, i, d]
            at[0] += row[2]
        to_world(c, s, at, rho)
        to_world(c, s, along[0, i], n[i])
        to_world(c, s, along[1, i], axis)
        u[i, 0], u[i, 1], u[i, 2] = rho[0] - dx, rho[1] - dy, rho[2]
        size = math.sqrt(dot(u[i], u[i]))
        for d in range(3):
            u[i, d] /= size
        J[i, 0, 5] = J[i, 1, 6] = 1.0
        J[i, 0, 7], J[i, 1, 7] = -rho[1], rho[0]
        bias[i, 0], bias[i, 1], bias[i, 2] = -y[7] * y[7] * rho[0], -y[7] * y[7] * rho[1], 0.0
        if held:
            touch(row, i, u[i], n[i], axis, y, J[i], G[i], k[i], bias[i])
    return reached


@kernel
def relax(M, slope, pull, step, change):
    """Fill the change of rates in a step, of M y' = pull + slope (y - y_0).

    The slope is symmetric and nowhere positive. The scheme is of the second order and L-stable, so
    friction may be as stiff as it likes.
    """
    L = M - GAMMA * step * slope
    factor(L, L)
    first, second = pull.copy(), pull.copy()
    solve(L, first)
    for i in range(RATES):
        second[i] += (1.0 - GAMMA) * step * dot(slope[i], first)
    solve(L, second)
    for i in range(RATES):
        change[i] = step * ((1.0 - GAMMA) * first[i] + GAMMA * second[i])


@kernel
def press(forces, friction, J, G, bias, u, n, middle, change, step, force, slope):
    """Compute the friction on the ball at the start of a step, for the load at its middle.

    What friction itself adds to the load is taken to the first order of mu sin(u, n). `middle`
    holds the rates there, `force` (2, 3) what is filled, in row 0, and a row of use.
    """
    slip = force[1]
    facing, rise = dot(u, n), forces[2] * n[2]
    for d in range(3):
        rise += (dot(J[d], change) / step + bias[d]) * n[d]
        slip[d] = dot(G[d], middle)
    load = (forces[0] + forces[1] * rise) / facing
    rub(friction, load, slip, force[0], slope)
    load = max(load + dot(force[0], n) / facing, 0.0)
    for d in range(3):
        slip[d] = dot(G[d], middle) - 0.5 * dot(G[d], change)
    rub(friction, load, slip, force[0], slope)


@kernel
def gather(forces, fixed, along, friction, held, drive, spreads, middle, change, step, M, S, pull):
    """Fill M, the slope S of the forces by the rates, and the forces, of `relax`."""
    J, G, k, bias, u, n = spreads
    force, slope = np.zeros((2, 3)), np.zeros((3, 3))
    M[:] = fixed
    S[:] = 0.0
    pull[:] = drive
    for i in range(2):
        M[3 + i, 7] += forces[3] * along[1, i, 2]
        M[7, 3 + i] += forces[3] * along[1, i, 2]
        if held:
            press(
                forces, friction, J[i], G[i], bias[i], u[i], n[i], middle, change, step, force,
                slope,
            )  # fmt: skip
        for a in range(RATES):
            pull[a] += forces[0] * k[i, a] - forces[1] * forces[2] * J[i, 2, a]
            for d in range(3):
                pull[a] += G[i, d, a] * force[0, d] - forces[1] * J[i, d, a] * bias[i, d]
            for b in range(RATES):
                for d in range(3):
                    M[a, b] += forces[1] * J[i, d, a] * J[i, d, b]
                    for e in range(3):
                        S[a, b] += G[i, d, a] * slope[d, e] * G[i, e, b]


@kernel
def scratch():
    """Return the arrays that `spread` fills: J, G, k, bias, u and n."""
    J, G = np.empty((2, 3, RATES)), np.empty((2, 3, RATES))
    return J, G, np.empty((2, RATES)), np.empty((2, 3)), np.empty((2, 3)), np.empty((2, 3))


@kernel
def mass_matrix(row, along, forces, fixed, place, y, held):
    """Return M (8, 8) in a state; the arguments are those of `advance`."""
    J, G, k, bias, u, n = scratch()
    M, S, pull = np.empty((RATES, RATES)), np.empty((RATES, RATES)), np.empty(RATES)
    spread(row, along, place, y, held, J, G, k, bias, u, n)
    none = np.zeros(RATES)
    gather(
        forces, fixed, along, (0.0, 0.0, 1.0), held, none, (J, G, k, bias, u, n), y, none, 1.0,
        M, S, pull,
    )  # fmt: skip
    return M


@kernel
def drift(place, y, radius, step):
    """Move the places on at constant rates."""
    place[0] += step * radius * y[1]
    place[1] -= step * radius * y[0]
    for j in range(3):
        place[2 + j] += step * y[5 + j]


@kernel
def advance(row, along, forces, fixed, friction, drive, place, y, held, step, turns):
    """Advance the rates y (8,) and the places by as many steps as `turns` has rows.

    Args:
        row, along, place, held: see `spread`; the place is moved on.
        forces: press_force [N], mass of a roller with its holder [kg], gravity, inertia.
        fixed: mass matrix of what does not depend on the configuration (8, 8).
        friction: viscous, dry over load, slip speed.
        drive: efforts of rollers and carrier (8,), 0 for the ball.
        y: rates; are moved on.
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
        drift(place, y, row[0], 0.5 * step)
        change[:] = 0.0
        for _ in range(PASSES):
            middle = y + 0.5 * change
            if not spread(row, along, place, middle, held, J, G, k, bias, u, n) and held:
                held, lost = False, index
                spread(row, along, place, middle, held, J, G, k, bias, u, n)
            gather(
                forces, fixed, along, friction, held, drive, (J, G, k, bias, u, n), middle, change,
                step, M, S, pull,
            )  # fmt: skip
            relax(M, S, pull, step, change)
        for j in range(5):
            turns[index, j] = step * (y[j] + 0.5 * change[j])
        y += change
        drift(place, y, row[0], 0.5 * step)
    return lost
