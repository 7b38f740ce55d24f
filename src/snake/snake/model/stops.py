"""Inelastic joint stops of the snake: which joints touch them, when, and with what force.

A joint whose angle reaches plus or minus the joint limit hits a mechanical stop. The stop does not
bounce it back (coefficient of restitution 0), and pushes only as hard as is needed to keep it from
going further. So the torques or impulses lambda of the stops, positive where they push back, solve
a linear complementarity problem (LCP): a stop either pushes, or its joint moves inwards, never both

    lambda >= 0,   W lambda - b >= 0,   lambda' (W lambda - b) = 0,     W = E M^-1 E',   b = E x

A row of E gives the outward rate of one joint at its stop, as a difference of two headings. M is
the mass matrix of the headings. x is the acceleration of the headings without stops where the
joints rest at them, or their velocity before an impact.

A frozen joint is held at its angle in both directions; its lambda has any sign, and makes its row
of W lambda - b equal to 0. In all kernels here `side` (n,) is +1 for a joint at its upper stop, -1
for one at its lower stop, FROZEN for a frozen one, and 0 for a joint that is free. The state y is
[p, th, v, w] as in `coordinates`.

The tolerances TOUCH, STILL and ASTRAY may be tuned, but other values move impacts, and with them
the figures of gaits that reach their stops.
"""

import numpy as np
from roboaccord.numerics import cholesky, kernel, solve_by_pivoting

from snake.model.coordinates import heading_rates, headings, joint_angle, joint_rate
from snake.model.dynamics import solve_headings

FROZEN = 2  # value of `side` for a joint that is held in both directions
# Both far above round-off, 1e-15, and below the digits of any figure: 1e-10 m and m/s of a link.
TOUCH = 1e-9  # rad: a joint this close to its stop touches it
STILL = 1e-9  # rad/s: a joint that touches its stop and is slower than this rests there
# rad: a resting joint this far beyond its stop has left it in the step and come back. `apply_stops`
# lets a resting joint drift by at most 8e-10 rad in a step (measured in `lateral_undulation`).
ASTRAY = 1e-6
BISECTIONS = 40  # halvings of a step to find when a joint passes its stop: to 2^-40 = 1e-12 of it


@kernel
def joint_response(body, c, s, joint, size, response):
    """Fill `response` (N,) with the change of the headings' rates by an impulse `size` on a joint.

    An impulse [N m s] turns the two links of the joint in opposite directions. A torque [N m]
    changes the headings' accelerations likewise.
    """
    # One array for all that `solve_headings` needs: torques, g of 0 along x and y, and the pivots.
    work = np.zeros((8, c.shape[0]))
    torque = work[0]
    torque[joint], torque[joint + 1] = size, -size
    solve_headings(body, c, s, work[1], work[2], torque, work[3:], response)


@kernel
def remove_frozen_turns(body, c, s, x, side):
    """Subtract from x (N,), in place, the motion that turns frozen joints.

    The impulses on the frozen joints solve W force = E x, with W of those joints. That projects x
    onto the motions that turn no frozen joint, in the metric of the mass matrix.

    Args:
        body, c, s: as in `dynamics.solve_headings`.
        x: accelerations or velocities of the headings (N,).
        side: +1 at the upper stop, -1 at the lower one, `FROZEN`, 0 elsewhere (n,).
    """
    joints = np.flatnonzero(side == FROZEN)
    k = len(joints)
    response, W, force = np.empty((k, len(x))), np.empty((k, k)), np.empty(k)
    for r in range(k):  # by frozen joint, as i below
        joint_response(body, c, s, joints[r], 1.0, response[r])
        force[r] = x[joints[r]] - x[joints[r] + 1]
        for i in range(k):
            W[i, r] = response[r, joints[i]] - response[r, joints[i] + 1]
    cholesky.factor(W, W)
    cholesky.solve(W, force)
    for r in range(k):
        x -= force[r] * response[r]


@kernel
def apply_stops(body, c, s, x, side):
    """Apply the stops' torques or impulses to x, in place; return lambda of every joint (n,).

    Args:
        body, c, s: as in `dynamics.solve_headings`.
        x: accelerations or velocities of the headings without stops (N,), changed in place to
            those with them.
        side: +1 at the upper stop, -1 at the lower one, `FROZEN`, 0 elsewhere (n,).
    """
    links = x.shape[0]
    # Frozen joints first: all that follows happens among motions that do not turn them.
    frozen = (side == FROZEN).any()
    if frozen:
        remove_frozen_turns(body, c, s, x, side)
    # The k joints at their stops, numbered by r and i: row r of `response` is the motion that a
    # unit impulse on joint r causes (M^-1 E'), b = E x is the right-hand side, and W the matrix.
    joints = np.flatnonzero((side != 0) & (side != FROZEN))
    k = len(joints)
    response, b = np.zeros((k, links)), np.empty(k)
    for r in range(k):
        j = joints[r]
        joint_response(body, c, s, j, side[j], response[r])
        if frozen:
            remove_frozen_turns(body, c, s, response[r], side)
        b[r] = side[j] * (x[j] - x[j + 1])
    W = np.empty((k, k))
    for r in range(k):
        j = joints[r]
        for i in range(k):
            W[r, i] = side[j] * (response[i, j] - response[i, j + 1])
    # Solve the LCP for lambda, and subtract the motion that it stops.
    stop_forces = solve_by_pivoting(W, b)
    by_joint = np.zeros(links - 1)
    for r in range(k):
        by_joint[joints[r]] = stop_forces[r]
        x -= stop_forces[r] * response[r]
    return by_joint


@kernel
def impact(body, y, side):
    """Stop the joints at their stops that move outwards: change the rates w of y, in place.

    Returns:
        the impulse of each stop (n,) [N m s].
    """
    th = headings(y)
    return apply_stops(body, np.cos(th), np.sin(th), heading_rates(y), side)


@kernel
def dissipated_energy(push, before, after):
    """Return the kinetic energy that the impulses of an impact dissipate [J].

    It is the sum over the joints of the impulse times the mean of the joint's rate before and after
    the impact, the rate of joint j being w_j - w_(j+1).

    Args:
        push: impulses on the joints, positive against the joint angle (n,) [N m s].
        before, after: rates of the headings (N,) [rad/s].
    """
    return (0.5 * push * (before[:-1] - before[1:] + after[:-1] - after[1:])).sum()


@kernel
def update_sides(y, limit, side):
    """Update `side` (n,) to the state y; return whether a joint hits its stop now.

    A joint leaves its stop when it has moved inwards by more than TOUCH, or does so faster than
    STILL. It touches a stop when it is within TOUCH of the limit [rad] and does not move
    inwards. It hits the stop if it still moves outwards there.
    """
    hit = False
    for j in range(side.shape[0]):
        if side[j] == FROZEN:
            continue
        angle = joint_angle(y, j)
        rate = joint_rate(y, j)
        if side[j] != 0 and (side[j] * angle < limit - TOUCH or side[j] * rate < -STILL):
            side[j] = 0
        if side[j] == 0:
            for sign in (1, -1):
                if sign * angle >= limit - TOUCH and sign * rate >= -STILL:
                    side[j] = sign
        if side[j] != 0 and side[j] * rate > STILL:
            hit = True
    return hit


@kernel
def first_violation(before, after, h, limit, side):
    """Find the joint that passes its stop first in a step, by `passing_fraction` of each joint.

    Args:
        before, after: states at the start and the end of the step (2N + 4,).
        h: length of the step [s].
        limit: joint limit [rad].
        side: of every joint (n,); a joint that rests at its stop counts only beyond ASTRAY.

    Returns:
        the joint, -1 for none; the side at which it passes, +1 or -1; and the part of the step
        after which it does, 2 for none.
    """
    first_joint, first_side, first_fraction = -1, 0, 2.0
    for j in range(side.shape[0]):
        if side[j] == FROZEN:
            continue
        end_angle = joint_angle(after, j)
        outward = 1 if end_angle > 0 else -1
        if not outward * end_angle > limit + (TOUCH if side[j] == 0 else ASTRAY):
            continue
        # Angles q and rates times h, d, at both ends, with the sign for which the stop is at
        # +limit.
        q0 = outward * joint_angle(before, j)
        q1 = outward * end_angle
        d0 = outward * joint_rate(before, j) * h
        d1 = outward * joint_rate(after, j) * h
        fraction = passing_fraction(q0, d0, q1, d1, limit)
        if fraction < first_fraction:
            first_fraction, first_joint, first_side = fraction, j, outward
    return first_joint, first_side, first_fraction


@kernel
def passing_fraction(q0, d0, q1, d1, limit):
    """Return the part of a step after which an angle passes a limit, by bisection.

    The angle is interpolated by the cubic Hermite polynomial, which has the angles q0, q1 [rad] and
    the rates d0 / h, d1 / h [rad/s] at both ends of the step h. With x from 0 to 1 through the step

        q(x) = (1 + 2 x) (1 - x)^2 q0 + x (1 - x)^2 d0 + x^2 (3 - 2 x) q1 + x^2 (x - 1) d1
    """
    start, end = 0.0, 1.0
    for _ in range(BISECTIONS):
        x = 0.5 * (start + end)
        angle = (1 + 2 * x) * (1 - x) ** 2 * q0 + x * (1 - x) ** 2 * d0
        angle += x * x * (3 - 2 * x) * q1
        angle += x * x * (x - 1) * d1
        if angle > limit:
            end = x
        else:
            start = x
    return end


@kernel
def excess(y, limit, nearer, beyond):
    """Measure how far every joint of y is beyond its nearer stop; fill `nearer` and `beyond`.

    Args:
        y: state (2N + 4,).
        limit: joint limit [rad].
        nearer: filled with the nearer stop of each joint, +1 or -1; frozen joints stay (n,).
        beyond: filled with headings (N,) [rad] whose difference at joint j,
            beyond[j] - beyond[j + 1], is its angle beyond the stop; 0 for a frozen joint.

    Returns:
        the largest angle of a joint beyond its stop, negative if all are within [rad].
    """
    worst = -limit
    beyond[-1] = 0.0
    for j in range(nearer.shape[0] - 1, -1, -1):
        if nearer[j] == FROZEN:
            beyond[j] = beyond[j + 1]
            continue
        angle = joint_angle(y, j)
        nearer[j] = 1 if angle > 0 else -1
        beyond[j] = beyond[j + 1] + angle - nearer[j] * limit
        worst = max(worst, abs(angle) - limit)
    return worst
