"""Time steps of the snake among pegs: contact and friction of each peg as set-valued laws.

This is time stepping after Moreau, as [Transeth, Leine, Glocker, Pettersen, Liljeback 2008] have it
for their snake robot. In a step of h [s] the velocities u = (v, w) of centre of mass and headings
become u', where the mass matrix M, the Jacobian J of the contacts, and all forces Q but those of
pegs and joint stops are those at the start of the step:

    u' = u + h M^-1 Q + M^-1 J' p

For each pair of link and peg that is nearly touching, with the gap g and the impulses p_n >= 0
along the normal and p_t along the tangent:

    0 <= p_n   perpendicular to   g / h + J_n u' >= 0       (no penetration, no rebound)
    |p_t| <= mu p_n,   p_t = -mu p_n sign(J_t u')  where J_t u' is not 0      (Coulomb)

In the plane the second law is exact with two tangents, t and -t, and a bound s of their slip:

    0 <= p_+   perpendicular to   s + J_t u' >= 0
    0 <= p_-   perpendicular to   s - J_t u' >= 0
    0 <= s     perpendicular to   mu p_n - p_+ - p_- >= 0

A joint that is near its stop has a row like that of a gap. All rows together are one linear
complementarity problem (LCP). Where the round ends of two links
coincide, both touch the peg in the same place: the diagonal of J M^-1 J' is multiplied by 1 + CFM,
as DART does, so that both bear half.

Ground friction is the smoothed law of the other reference (model/ground), at the start of the step.
Positions move as in `sticking`, whose rules are DART's. The method is of first order.
"""

import numpy as np
from roboaccord.contract import CFM
from roboaccord.numerics import eliminate, kernel

from snake.model import coordinates
from snake.model.dynamics import accelerations, respond
from snake.model.kinematics import link_velocities
from snake.model.pegs import touching
from snake.model.stops import FROZEN
from snake.model.tracking import centre_accelerations
from snake.simulators.sticking import move_base_link

# m: pairs with a smaller gap are part of the problem, far more than a link moves in a step.
NEAR = 0.005
STOP_NEAR = 0.05  # rad: as much for the joints
# m/s: an overlap ends no faster, so that a start within a peg throws no link away; in a run
# overlaps are a hundredth of a millimetre, which takes less.
RECOVERY = 0.1
# Sweeps of Gauss-Seidel, doubled in each attempt, and steps of Newton's method in an attempt.
ATTEMPTS, SWEEPS, NEWTON_STEPS = 8, 10, 20
FREE, HELD = 0, 2  # states of a row; +-1 where a pair slips


@kernel
def advance(model, field, y, tau, h, steps, side):
    """Advance y in place by `steps` steps of h [s].

    Args:
        model: as `steps.StepModel`.
        field: as `PegField`.
        y: state (2N + 4,).
        tau: joint efforts (N - 1,) [N m].
        h, steps: length of a step [s], and number of steps.
        side: of each joint, as in `model/stops`; only FROZEN counts (N - 1,).

    Returns:
        the largest angle of any joint at the end [rad]; the energy lost at the stops and at the
        pegs, friction included [J]; how many problems were not solved exactly; and of the last step
        the pairs (k, 2), and the rows of `touching` with the normal and the tangential impulse
        (k, 7) [N s].
    """
    lost_at_stops = lost_at_pegs = 0.0
    unsolved = 0
    pairs, rows = np.empty((0, 2), np.int64), np.empty((0, 7))
    for _ in range(steps):
        at_stops, at_pegs, is_solved, pairs, rows = take_step(model, field, y, tau, h, side)
        lost_at_stops += at_stops
        lost_at_pegs += at_pegs
        unsolved += not is_solved
    return coordinates.largest_angle(y), lost_at_stops, lost_at_pegs, unsolved, pairs, rows


@kernel
def take_step(model, field, y, tau, h, side):
    """Advance y in place by a step of h [s]; arguments and results are those of `advance`.

    Only the third result differs: whether the problem was solved exactly.
    """
    body = model.body
    n = side.shape[0] + 1
    work, acc = np.empty((12, n)), np.empty(n + 2)
    accelerations(body, y, tau, model.friction, model.points, work, acc)
    c, s = work[0].copy(), work[1].copy()
    pairs, rows = touching(body, field, c, s, y[0], y[1], NEAR)
    # Velocities without impulses; u[:2] belongs to the motion of `base_link`, as in `sticking`.
    u = coordinates.velocities(y)
    before = u.copy()
    ax, ay = np.empty(n), np.empty(n)
    centre_accelerations(body, c, s, u[2:], np.zeros(n), ax, ay)
    u += h * acc
    u[0] += h * ax[-1]
    u[1] += h * ay[-1]
    # Rows: normals of the k pairs, tangents of the k pairs, then the m stops that are near.
    stops, gaps = near_stops(y, model.limit, side)
    k = len(pairs)
    count = 2 * k + len(stops)
    delassus, du = np.empty((count, count)), np.empty((count, n + 2))
    speed, speed_before = np.empty(count), np.empty(count)
    row_speeds(body, c, s, u, pairs, rows, stops, speed)
    row_speeds(body, c, s, before, pairs, rows, stops, speed_before)
    for row in range(count):
        response(body, c, s, pairs, rows, stops, row, du[row])
        row_speeds(body, c, s, du[row], pairs, rows, stops, delassus[row])
        delassus[row, row] *= 1.0 + CFM
    impulse = np.zeros(count)
    for i in range(k):
        speed[i] += max(rows[i, 0] / h, -RECOVERY)
    speed[2 * k :] += gaps / h
    solved = solve_contacts(delassus, speed, field.mu, k, impulse)
    u += impulse @ du
    row_speeds(body, c, s, u, pairs, rows, stops, speed)
    work_of_row = -0.5 * impulse * (speed_before + speed)
    results = np.column_stack((rows, impulse[:k], impulse[k : 2 * k]))
    move_base_link(body, c, s, h, y)
    return work_of_row[2 * k :].sum(), work_of_row[: 2 * k].sum(), solved, pairs, results


@kernel
def near_stops(y, limit, side):
    """Return the stops within STOP_NEAR, and how far away they are.

    Args:
        y: state (2N + 4,).
        limit: joint limit [rad].
        side: of each joint, of which only FROZEN counts (N - 1,).

    Returns:
        joint and direction of each (m, 2): 1 for the lower stop, which pushes upward, -1 for the
        upper one; a frozen joint is at both. And the angles that remain (m,) [rad].
    """
    stops, gaps, m = np.empty((2 * len(side), 2), np.int64), np.empty(2 * len(side)), 0
    for j in range(len(side)):
        for direction in (1, -1):
            gap = limit + direction * coordinates.joint_angle(y, j)
            if side[j] == FROZEN or gap < STOP_NEAR:
                stops[m, 0], stops[m, 1] = j, direction
                gaps[m] = 0.0 if side[j] == FROZEN else gap
                m += 1
    return stops[:m], gaps[:m]


@kernel
def solve_contacts(delassus, speed, mu, k, impulse):
    """Fill `impulse` with the solution of the LCP (r,) [N s, N m s].

    Sweeps of projected Gauss-Seidel guess which pairs press and which of these slip. Newton's
    method on these states then gives the exact solution, where a step changes none of them [Alart,
    Curnier 1991]; if it does not settle, more sweeps follow. Lemke's method of the core is not
    used: its result fails the core's own check where pairs are near and do not press.

    Args:
        delassus: J M^-1 J' with CFM (r, r), of normals and tangents of k pairs, and of m stops.
        speed: J u without impulses, with what gaps add (r,) [m/s, rad/s].
        mu: coefficient of friction.
        k: number of pairs.
        impulse: filled.

    Returns:
        whether the solution is exact; otherwise it is that of the last sweep.
    """
    r = len(speed)
    impulse[:] = 0.0
    state, before, trial = np.zeros(r, np.int64), np.zeros(r, np.int64), np.empty(r)
    for attempt in range(ATTEMPTS):
        for _ in range(SWEEPS << attempt):
            for i in range(r):
                moved = impulse[i] - (delassus[i] @ impulse + speed[i]) / delassus[i, i]
                bound = mu * impulse[i - k] if k <= i < 2 * k else np.inf
                impulse[i] = min(max(moved, -bound if k <= i < 2 * k else 0.0), bound)
        trial[:] = impulse
        before[:] = -1
        for _ in range(NEWTON_STEPS):
            classify(delassus, speed, mu, k, trial, state)
            if np.array_equal(state, before):
                impulse[:] = trial
                return True
            before[:] = state
            if not solve_states(delassus, speed, mu, k, state, trial):
                break
    return False


@kernel
def classify(delassus, speed, mu, k, impulse, state):
    """Fill `state` (r,): FREE, HELD, or for a pair that slips the direction of its friction, +-1.

    FREE rows have no impulse, HELD rows no speed. Other arguments are those of `solve_contacts`.
    """
    for i in range(len(speed)):
        moved = impulse[i] - (delassus[i] @ impulse + speed[i]) / delassus[i, i]
        if k <= i < 2 * k:
            if state[i - k] == FREE:
                state[i] = FREE
                continue
            normal = impulse[i - k]
            normal -= (delassus[i - k] @ impulse + speed[i - k]) / delassus[i - k, i - k]
            state[i] = HELD if abs(moved) <= mu * normal else (1 if moved > 0.0 else -1)
        else:
            state[i] = HELD if moved > 0.0 else FREE


@kernel
def solve_states(delassus, speed, mu, k, state, impulse):
    """Fill `impulse` with that of given states; return whether it is determined."""
    r = len(speed)
    matrix, right = np.zeros((r, r)), np.zeros(r)
    for i in range(r):
        if state[i] == HELD:
            matrix[i] = delassus[i]
            right[i] = -speed[i]
        else:
            matrix[i, i] = 1.0
            if state[i] != FREE:
                matrix[i, i - k] = -mu * state[i]
    regular = eliminate(matrix, right)
    impulse[:] = right
    return regular


@kernel
def row_speeds(body, c, s, u, pairs, rows, stops, out):
    """Fill `out` with J u: speeds along normals and tangents of the pairs, and rates of joints.

    Args:
        body, c, s: as in `ground.ground_forces`.
        u: velocity of the centre of mass, and rates of the headings (N + 2,) [m/s, rad/s].
        pairs, rows: of `touching`; a tangent is its normal, turned to the left.
        stops: of `near_stops` (m, 2).
        out: filled (2k + m,) [m/s, rad/s].
    """
    n, k = c.shape[0], len(pairs)
    lx, ly, w = np.empty(n), np.empty(n), u[2:]
    link_velocities(body, c, s, u[0], u[1], w, lx, ly)
    for i in range(k):
        link = pairs[i, 0]
        nx, ny, px, py = rows[i, 1], rows[i, 2], rows[i, 3], rows[i, 4]
        vx, vy = lx[link] - w[link] * py, ly[link] + w[link] * px
        out[i] = nx * vx + ny * vy
        out[k + i] = nx * vy - ny * vx
    for i in range(len(stops)):
        out[2 * k + i] = stops[i, 1] * (w[stops[i, 0]] - w[stops[i, 0] + 1])


@kernel
def response(body, c, s, pairs, rows, stops, row, du):
    """Fill du (N + 2,) with M^-1 J' of one row: the change of u by a unit impulse."""
    n, k = c.shape[0], len(pairs)
    work = np.zeros((11, n))
    fx, fy, torque, zero_rates = work[0], work[1], work[2], work[3]
    if row < 2 * k:
        i = row % k
        link = pairs[i, 0]
        nx, ny = rows[i, 1], rows[i, 2]
        if row >= k:
            nx, ny = -ny, nx
        fx[link], fy[link] = nx, ny
        torque[link] = rows[i, 3] * ny - rows[i, 4] * nx
    else:
        j, direction = stops[row - 2 * k]
        torque[j], torque[j + 1] = direction, -direction
    respond(body, c, s, zero_rates, fx, fy, torque, work[4:], du)
