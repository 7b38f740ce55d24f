"""Time steps of the chain with friction that sticks, as contact solvers take them [Moreau 1988].

In a step of h [s] the velocities u = (v, w) become, with M, J and the bounds of its start,

    u' = u + h M^-1 (Q + J' f),    |f_i| <= mu_i N_i,    f_i = -mu_i N_i sign(s_i) where s_i != 0

s = J u' are the slips of the contact points, along and across their links. So a point that can be
held is held within the step, and dry friction needs no slip speed. A joint at its stop, or that
would pass it but for these impulses, has a row of J, too, whose torque keeps it from passing, and
never pulls; one that only they push past its stop goes past it, as in DART. There are more rows
than velocities, so the impulses are not unique. As in DART, the diagonal of J M^-1 J' is enlarged
by its part CFM, which makes them so, and lets what is held creep by some 1e-7 m/s. The velocity of
`base_link` and the rates of the joints are kept while these move by h: with others, such as those
of the centre of mass, a step would end with other slips, by h w^2 times its distance.

SnakeReference calls `advance` where the friction has no slip speed. The rules, those of CFM (from
roboaccord.contract) and stops among them, are fixed by DART: test_sticking and Gazebo's twin (its
scheme on our equations, test_gazebo_twin) compare them.
"""

from __future__ import annotations

import numpy as np
from roboaccord.contract import CFM
from roboaccord.numerics import kernel, solve_in_box

from snake.model.dynamics import accelerations, respond
from snake.model.ground import grips
from snake.model.kinematics import link_places, link_velocities
from snake.model.stops import FROZEN
from snake.model.tracking import centre_accelerations


@kernel
def row_speeds(body, c, s, u, points, out):
    """Fill the slips of all points along and across, then the rates of the joints [m/s, rad/s]."""
    n, count = c.shape[0], points.shape[0]
    lx, ly, w = np.empty(n), np.empty(n), u[2:]
    link_velocities(body, c, s, u[0], u[1], w, lx, ly)
    for i in range(n):
        for k in range(count):
            row = 2 * (i * count + k)
            out[row] = c[i] * lx[i] + s[i] * ly[i] - w[i] * points[k, 1]
            out[row + 1] = c[i] * ly[i] - s[i] * lx[i] + w[i] * points[k, 0]
    out[2 * n * count :] = w[:-1] - w[1:]


@kernel
def response(body, c, s, points, row, du):
    """Fill du (N + 2,), the change of u by a unit impulse of a row, at a point or in a joint."""
    n, count = c.shape[0], points.shape[0]
    work = np.zeros((11, n))
    fx, fy, torque, still = work[0], work[1], work[2], work[3]
    if row < 2 * n * count:
        i, k = row // 2 // count, row // 2 % count
        if row % 2 == 0:
            fx[i], fy[i], torque[i] = c[i], s[i], -points[k, 1]
        else:
            fx[i], fy[i], torque[i] = -s[i], c[i], points[k, 0]
    else:
        j = row - 2 * n * count
        torque[j], torque[j + 1] = 1.0, -1.0
    respond(body, c, s, still, fx, fy, torque, work[4:], du)


@kernel
def _allows(high, speed):
    """Return whether the stop of a joint allows a rate beside the one that leads up to it."""
    return speed <= 0.0 if high == 0.0 else speed >= 0.0


@kernel
def solve_rows(by_row, speed, low, high, used, side, impulse):
    """Fill the impulses of the rows that are used, 0 of the others; arguments as of `advance`."""
    rows = np.flatnonzero(used)
    k, first = len(rows), len(used) - len(side)
    matrix, solution = np.empty((k, k)), np.empty(k)
    for i in range(k):
        for j in range(k):
            matrix[i, j] = by_row[rows[i], rows[j]]
        if rows[i] < first or side[rows[i] - first] != FROZEN:
            matrix[i, i] *= 1.0 + CFM
    solve_in_box(matrix, speed[rows], low[rows], high[rows], solution)
    impulse[:] = 0.0
    impulse[rows] = solution


@kernel
def advance(body, y, tau, h, steps, friction, points, limit, side):
    """Advance y in place by `steps` steps of h [s]; arguments as of `steps.advance`.

    Of `side` the joints that are frozen count: their rows are held in both directions.

    Returns:
        the largest angle of any joint at the end [rad], and the energy that the stops took [J].
    """
    # The rows of J are two for each contact point, along and across, and then one for each joint.
    n, count = (y.shape[0] - 4) // 2, points.shape[0]
    first = 2 * n * count  # of the joints' rows
    rows = first + n - 1
    work, u = np.empty((12, n)), y[n + 2 :]
    mu, loads, acc = np.empty((n, 2)), np.empty((n, count)), np.empty(n + 2)
    du, by_row = np.zeros((rows, n + 2)), np.zeros((rows, rows))
    low, high, speed, before = np.empty(rows), np.empty(rows), np.empty(rows), np.empty(rows)
    impulse, stop = np.empty(rows), np.empty(n - 1)
    used = np.ones(rows, np.bool_)
    ax, ay, px, py = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    lost = 0.0
    for _ in range(steps):
        # Bounds of the impulses, and the rates with which joints would just reach their stops.
        angle = y[2 : n + 1] - y[3 : n + 2]
        accelerations(
            body, y[2 : n + 2], y[0], u[0], u[1], u[2:], tau, friction, points[:0], work, acc,
        )  # fmt: skip
        c, s = work[0], work[1]
        grips(body, c, s, y[0], friction, points, mu, loads)
        for row in range(first):
            high[row] = (
                h * mu[row // 2 // count, row % 2] * loads[row // 2 // count, row // 2 % count]
            )
            low[row] = -high[row]
        for j in range(n - 1):  # at the end of the step no farther than the nearer stop
            upper = angle[j] > 0.0
            low[first + j], high[first + j] = (-np.inf, 0.0) if upper else (0.0, np.inf)
            stop[j] = (
                max((limit - angle[j]) / h, 0.0) if upper else min(-(limit + angle[j]) / h, 0.0)
            )
            if side[j] == FROZEN:
                low[first + j], high[first + j], stop[j] = -np.inf, np.inf, 0.0
        # Velocities without impulses; u goes on with those of `base_link`, not of the centre.
        row_speeds(body, c, s, u, points, before)
        centre_accelerations(body, c, s, u[2:], np.zeros(n), ax, ay)
        u += h * acc
        u[0] += h * ax[-1]
        u[1] += h * ay[-1]
        row_speeds(body, c, s, u, points, speed)
        speed[first:] -= stop
        for row in range(first, rows):  # frozen joints have a stop of 0
            used[row] = stop[row - first] == 0.0 or not _allows(high[row], speed[row])
        # Impulses of all rows that act, and what they change.
        for row in range(rows):
            if used[row]:
                response(body, c, s, points, row, du[row])
                row_speeds(body, c, s, du[row], points, by_row[row])
        solve_rows(by_row, speed, low, high, used, side, impulse)
        speed += impulse @ by_row
        speed[first:] += stop
        u += impulse @ du
        for j in range(n - 1):
            lost -= 0.5 * impulse[first + j] * (before[first + j] + speed[first + j])
        # `base_link` moves by h times its velocity, and the centre of mass follows.
        link_velocities(body, c, s, u[0], u[1], u[2:], ax, ay)
        link_places(body, c, s, y[0], y[1], px, py)
        x, y_, vx, vy = px[-1] + h * ax[-1], py[-1] + h * ay[-1], ax[-1], ay[-1]
        y[2 : n + 2] += h * u[2:]
        c, s = np.cos(y[2 : n + 2]), np.sin(y[2 : n + 2])
        link_velocities(body, c, s, 0.0, 0.0, u[2:], ax, ay)
        link_places(body, c, s, 0.0, 0.0, px, py)
        y[0], y[1], u[0], u[1] = x - px[-1], y_ - py[-1], vx - ax[-1], vy - ay[-1]
    return np.abs(y[2 : n + 1] - y[3 : n + 2]).max(), lost
