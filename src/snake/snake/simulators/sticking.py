"""Time steps of the chain with friction that sticks, as the contact solvers of engines take them.

This is the scheme of Moreau (1988), as in the physics engine DART. In a step of h [s] the
velocities u = (v, w) of centre of mass and headings become u', where the mass matrix M, the
Jacobian J and the bounds are those at the start of the step:

    u' = u + h M^-1 (Q + J' f),    |f_i| <= mu_i N_i,    f_i = -mu_i N_i sign(s_i) where s_i != 0

Q are the applied forces, N_i the loads of the contact points, and s = J u' their slip velocities
along and across the links. A friction impulse is h f_i. So a point that friction can hold is held
within the step, and dry friction needs no slip speed.

Stops: a joint that is at its stop, or would pass it without the impulses, has a row of J as well.
Its torque keeps the joint from passing, and never pulls. A joint that passes its stop only because
of the impulses does pass it, as in DART.

CFM (constraint force mixing): J has more rows than there are velocities, so the impulses are not
unique. As in DART, the diagonal of J M^-1 J' is multiplied by 1 + CFM. That makes them unique, and
lets held points creep by some 1e-7 m/s.

Positions: `base_link` moves with its velocity over the step, and the joints with their rates. If
the centre of mass moved with its velocity instead, the step would end with other slips, by h w^2
times the distance of a link.

SnakeReference calls `advance` if the friction has no slip speed. The rules must stay those of DART,
with whose runs they are compared.
"""

import numpy as np
from roboaccord.contract import CFM
from roboaccord.numerics import kernel, solve_in_box

from snake.model import coordinates
from snake.model.dynamics import accelerations, respond
from snake.model.ground import coefficients_and_loads
from snake.model.kinematics import link_positions, link_velocities
from snake.model.stops import FROZEN
from snake.model.tracking import centre_accelerations


@kernel
def advance(model, y, tau, h, steps, side):
    """Advance y in place by `steps` steps of h [s].

    Args:
        model: as `steps.StepModel`.
        y: state (2N + 4,).
        tau: joint efforts (N - 1,) [N m].
        h, steps: length of a step [s], and number of steps.
        side: of each joint, as in `model/stops`; only FROZEN counts, whose joints are held in both
            directions (N - 1,).

    Returns:
        the largest angle of any joint at the end [rad], and the energy lost at the stops [J].
    """
    lost = 0.0
    for _ in range(steps):
        lost = take_step(model, y, tau, h, side, lost)
    return coordinates.largest_angle(y), lost


@kernel
def take_step(model, y, tau, h, side, lost):
    """Advance y in place by a step of h [s]; arguments are those of `advance`.

    Returns:
        `lost`, the energy lost at the stops before, with that of this step [J].
    """
    body, points = model.body, model.points
    # The rows of J are two for each contact point, along and across, and then one for each joint.
    n = side.shape[0] + 1
    first_joint = 2 * n * points.shape[0]  # the first of the joints' rows
    rows = first_joint + n - 1
    # Accelerations without contact points, for friction comes as impulses; and the bounds.
    work, acc = np.empty((12, n)), np.empty(n + 2)
    accelerations(body, y, tau, model.friction, points[:0], work, acc)
    c, s = work[0], work[1]  # of the headings at the start of the step
    low, high, stop_rate = np.empty(rows), np.empty(rows), np.empty(n - 1)
    bound_friction(model, c, s, y[0], h, low, high)
    bound_stops(h, y, model.limit, side, low[first_joint:], high[first_joint:], stop_rate)
    # Slips and rates of the rows without impulses.
    u = coordinates.velocities(y)
    speed_before, speed = np.empty(rows), np.empty(rows)
    row_speeds(body, c, s, u, points, speed_before)
    # The velocities u without impulses. Until the end of the step u[:2] is the velocity of the
    # centre of mass that belongs to the motion of `base_link` described at the top of the module.
    ax, ay = np.empty(n), np.empty(n)
    centre_accelerations(body, c, s, u[2:], np.zeros(n), ax, ay)
    u += h * acc
    u[0] += h * ax[-1]
    u[1] += h * ay[-1]
    row_speeds(body, c, s, u, points, speed)
    speed[first_joint:] -= stop_rate
    is_active = acting_rows(speed, high, stop_rate)
    # Impulses of all rows that act, and the velocities after them.
    du = np.zeros((rows, n + 2))  # M^-1 J', by rows
    delassus = np.zeros((rows, rows))  # J M^-1 J'
    for active in np.flatnonzero(is_active):
        response(body, c, s, points, active, du[active])
        row_speeds(body, c, s, du[active], points, delassus[active])
    impulse = np.empty(rows)
    solve_rows(delassus, speed, low, high, is_active, side, impulse)
    speed += impulse @ delassus
    speed[first_joint:] += stop_rate
    u += impulse @ du
    for row in range(first_joint, rows):
        lost -= 0.5 * impulse[row] * (speed_before[row] + speed[row])
    move_base_link(body, c, s, h, y)
    return lost


@kernel
def bound_friction(model, c, s, x, h, low, high):
    """Fill `low` and `high` of the points' rows with minus and plus the friction h mu N [N s].

    Args:
        model: as `steps.StepModel`.
        c, s: cosines and sines of the headings (N,).
        x: of the centre of mass, where the ground may change [m].
        h: length of a step [s].
        low, high: bounds of all rows, of which those of the points are filled.
    """
    n, count = c.shape[0], model.points.shape[0]
    mu, loads = np.empty((n, 2)), np.empty((n, count))
    coefficients_and_loads(model.body, c, s, x, model.friction, model.points, mu, loads)
    for row in range(2 * n * count):
        link, point, direction = point_of(row, count)
        high[row] = h * mu[link, direction] * loads[link, point]
        low[row] = -high[row]


@kernel
def point_of(row, count):
    """Return link, point and direction of a point's row: 0 along the link, 1 across it.

    `count` is the number of contact points of a link.
    """
    number = row // 2  # of the point, counted through all links
    return number // count, number % count, row % 2


@kernel
def bound_stops(h, y, limit, side, low, high, stop_rate):
    """Fill the bounds of the joints' rows: a joint may go to its nearer stop, and no farther.

    Args:
        h: length of a step [s].
        y: state (2N + 4,).
        limit: joint limit [rad].
        side: FROZEN for a joint that is held in both directions (N - 1,).
        low, high: filled with the bounds of the impulse (N - 1,) [N m s].
        stop_rate: filled with the rate at which each joint would just reach its nearer stop in the
            step, 0 for a frozen joint (N - 1,) [rad/s].
    """
    for j in range(len(side)):
        angle = coordinates.joint_angle(y, j)
        if side[j] == FROZEN:
            low[j], high[j], stop_rate[j] = -np.inf, np.inf, 0.0
        elif angle > 0.0:
            low[j], high[j], stop_rate[j] = -np.inf, 0.0, max((limit - angle) / h, 0.0)
        else:
            low[j], high[j], stop_rate[j] = 0.0, np.inf, min(-(limit + angle) / h, 0.0)


@kernel
def acting_rows(speed, high, stop_rate):
    """Return which rows act in a step (r,): all points, and joints at their stops or beyond.

    A joint acts if it is at its stop or would pass it; a frozen one has a stop rate of 0.

    Args:
        speed: J u without impulses, for a joint minus `stop_rate` (r,) [m/s, rad/s].
        high: upper bounds of the impulses (r,): for a joint 0 at the upper stop, whose impulse can
            only be negative, and infinite at the lower one.
        stop_rate: rate at which each joint would just reach its stop (N - 1,) [rad/s].
    """
    first_joint = len(speed) - len(stop_rate)
    is_active = np.ones(len(speed), np.bool_)
    for row in range(first_joint, len(speed)):
        is_at_stop = stop_rate[row - first_joint] == 0.0
        stays_inside = speed[row] <= 0.0 if high[row] == 0.0 else speed[row] >= 0.0
        is_active[row] = is_at_stop or not stays_inside
    return is_active


@kernel
def move_base_link(body, c, s, h, y):
    """Move `base_link` by h times its velocity and turn the links by h times their rates, in y.

    The centre of mass follows, and its velocity is set to that of the new headings. `c` and `s` are
    cosines and sines of the headings before (N,).
    """
    n = c.shape[0]
    th, v, w = coordinates.headings(y), coordinates.velocities(y)[:2], coordinates.heading_rates(y)
    vx, vy, px, py = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    link_velocities(body, c, s, v[0], v[1], w, vx, vy)
    link_positions(body, c, s, y[0], y[1], px, py)
    tail_x, tail_y = px[-1] + h * vx[-1], py[-1] + h * vy[-1]
    tail_vx, tail_vy = vx[-1], vy[-1]
    th += h * w
    c, s = np.cos(th), np.sin(th)
    # With the centre of mass at the origin and at rest: the tail relative to it.
    link_velocities(body, c, s, 0.0, 0.0, w, vx, vy)
    link_positions(body, c, s, 0.0, 0.0, px, py)
    y[0], y[1] = tail_x - px[-1], tail_y - py[-1]
    v[0], v[1] = tail_vx - vx[-1], tail_vy - vy[-1]


@kernel
def row_speeds(body, c, s, u, points, out):
    """Fill `out` with J u: the slips of all points along and across, then the rates of the joints.

    Args:
        body, c, s, points: as in `ground.ground_forces`.
        u: velocity of the centre of mass, and rates of the headings (N + 2,) [m/s, rad/s].
        out: filled (2 N k + N - 1,) [m/s, rad/s].
    """
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
    """Fill du (N + 2,) with M^-1 J' of one row: the change of u by a unit impulse.

    Rows are ordered as in `row_speeds`: an impulse at a point, along or across, or in a joint.
    """
    n, count = c.shape[0], points.shape[0]
    work = np.zeros((11, n))
    fx, fy, torque, zero_rates = work[0], work[1], work[2], work[3]
    if row < 2 * n * count:
        i, k, direction = point_of(row, count)
        if direction == 0:
            fx[i], fy[i], torque[i] = c[i], s[i], -points[k, 1]
        else:
            fx[i], fy[i], torque[i] = -s[i], c[i], points[k, 0]
    else:
        j = row - 2 * n * count
        torque[j], torque[j + 1] = 1.0, -1.0
    respond(body, c, s, zero_rates, fx, fy, torque, work[4:], du)


@kernel
def solve_rows(delassus, speed, low, high, is_active, side, impulse):
    """Fill `impulse` with the impulses of all rows, 0 for rows that do not act.

    Args:
        delassus: J M^-1 J', the inverse inertia that an impulse on each row feels (r, r).
        speed: J u without impulses, minus the rate that is allowed at a stop (r,) [m/s, rad/s].
        low, high: bounds of the impulses (r,) [N s, N m s].
        is_active: whether a row acts in this step (r,).
        side: of the joints; a frozen joint gets no CFM (N - 1,).
        impulse: filled (r,) [N s, N m s].
    """
    rows = np.flatnonzero(is_active)
    k, first_joint = len(rows), len(is_active) - len(side)
    matrix, solution = np.empty((k, k)), np.empty(k)
    for i in range(k):
        for j in range(k):
            matrix[i, j] = delassus[rows[i], rows[j]]
        if rows[i] < first_joint or side[rows[i] - first_joint] != FROZEN:
            matrix[i, i] *= 1.0 + CFM
    solve_in_box(matrix, speed[rows], low[rows], high[rows], solution)
    impulse[:] = 0.0
    impulse[rows] = solution
