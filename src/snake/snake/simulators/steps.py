"""Time steps of the snake's chain: Runge-Kutta 4, with impacts on the stops located in each step.

While no joint is near its stop, `glide` takes plain steps. Otherwise `advance` does the following
in each step: it finds the first joint that would pass its stop, moves the chain to that instant by
secant steps on the true motion (`locate`), applies the impact, and goes on with the rest of the
step. If there are more impacts than MAX_IMPACTS in a step, impulses at its start take their place
(`keep_inside`). All kernels work on states y = [p, th, v, w] (model/coordinates), a row for each
motion; the equations are in model/.

MAX_IMPACTS may be tuned, and limits the time that a step takes. Method and accuracy must stay, for
physics engines are judged by this simulator.
"""

from __future__ import annotations

import numpy as np
from roboaccord.numerics import kernel, rk4_stage

from snake.model.dynamics import accelerations
from snake.model.stops import (
    STILL,
    TOUCH,
    energy_taken,
    excess,
    first_violation,
    hold,
    impact,
    update_sides,
)

MAX_IMPACTS = 6  # located in one step; more of them cost time and change no figure of a gait
# Largest number of secant steps to locate an impact: in `lateral_undulation` all take 1 or 2 to a
# tenth of TOUCH (measured); a joint that turns out to be earlier begins anew.
SECANT_STEPS = 12
# Of `keep_inside`: four by Newton's method, and one that moves the joints inside. In the same runs
# Newton's method ends within four in 11 of 14 steps; an impact is then up to h early in any case.
ROUNDS = 5


@kernel
def free_derivative(body, y, tau, friction, points, work, dy):
    """Fill dy of y, (2N + 4,), without stops; `work` is that of `accelerations`."""
    n = tau.shape[0] + 1
    for i in range(n + 2):
        dy[i] = y[n + 2 + i]
    accelerations(
        body, y[2 : n + 2], y[0], y[n + 2], y[n + 3], y[n + 4 :], tau, friction, points, work,
        dy[n + 2 :],
    )  # fmt: skip


@kernel
def widest(y):
    """Return the largest angle of any joint [rad]."""
    n, largest = y.shape[0] // 2 - 2, 0.0
    for j in range(n - 1):
        largest = max(largest, abs(y[2 + j] - y[3 + j]))
    return largest


@kernel
def glide(body, rows, tau, h, counts, friction, points, limit, sides, logs, ends, done):
    """Advance k rows of y while no joint is at its stop.

    It needs none of the kernels of impacts, which take long to compile.

    Args:
        body, rows, tau, h, counts, friction, points, limit, sides, logs, ends: as in
            `advance_rows`.
        done: filled with the number of steps made for each row (k,).

    Returns:
        the number of steps that remain, summed over the rows.
    """
    size, remaining = rows.shape[1], 0
    slope, stage, end = np.empty(size), np.empty(size), np.empty(size)
    work = np.empty((12, tau.shape[1] + 1))
    for i in range(rows.shape[0]):
        y, done[i] = rows[i], 0
        ends[i, 0], ends[i, 1] = widest(y), 0.0
        for j in range(tau.shape[1]):
            logs[i, j, 0], logs[i, j, 1] = 0.0, 0.0
            if sides[i, j] != 0:
                ends[i, 0] = np.inf
        while done[i] < counts[i] and ends[i, 0] < limit - TOUCH:
            for d in range(size):
                stage[d] = end[d] = y[d]
            for k in range(4):
                free_derivative(body, stage, tau[i], friction, points, work, slope)
                rk4_stage(k, h, y, slope, stage, end)
            ends[i, 0] = widest(end)
            if ends[i, 0] < limit - TOUCH:
                done[i] += 1
                for d in range(size):
                    y[d] = end[d]
        remaining += counts[i] - done[i]
    return remaining


@kernel
def derivative(body, y, tau, friction, points, side, work, dy):
    """Fill dy of y, (2N + 4,), with the torques of the stops in `side`; `work` as above."""
    n = tau.shape[0] + 1
    free_derivative(body, y, tau, friction, points, work, dy)
    for j in range(n - 1):
        if side[j] != 0:
            hold(body, work[0], work[1], dy[n + 4 :], side)
            break


@kernel
def rk4(body, y, tau, h, friction, points, side):
    """Return y after one step of h [s], during which the joints in `side` rest at their stops."""
    slope, work = np.empty(y.shape[0]), np.empty((12, side.shape[0] + 1))
    stage, end = y.copy(), y.copy()
    for k in range(4):
        derivative(body, stage, tau, friction, points, side, work, slope)
        rk4_stage(k, h, y, slope, stage, end)
    return end


@kernel
def keep_inside(body, y, tau, h, friction, points, limit, side):
    """Take a step with impulses at its start such that all joints end inside their stops.

    It is for steps with more impacts than are worth locating. An impact then comes up to h too
    early, an error of first order; momentum and angular momentum are conserved. The impulses follow
    by Newton's method, since the motion is linear in them to first order: what a joint is beyond
    its stop at the end, divided by h, is the velocity to be stopped at the start. What remains
    after four rounds is removed by moving the joints to their stops.

    Returns:
        y after h [s], and the energy that the impulses dissipate [J].
    """
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    sides = side.copy()
    beyond = np.empty(n)
    start = y.copy()
    resting = side.copy()
    impulses = np.zeros(n - 1)
    after = y
    for iteration in range(ROUNDS):
        after = rk4(body, start, tau, h, friction, points, resting)
        if excess(after, limit, sides, beyond) <= TOUCH:
            break
        beyond_before = beyond.copy()
        force = hold(body, c, s, beyond, sides)
        if iteration == ROUNDS - 1:
            after[2 : n + 2] += beyond - beyond_before
            break
        start[n + 4 :] += (beyond - beyond_before) / h
        for j in range(n - 1):
            impulses[j] += force[j] * sides[j] / h
            if resting[j] * (start[n + 4 + j] - start[n + 5 + j]) < -STILL:
                resting[j] = 0
    return after, energy_taken(impulses, y[n + 4 :], start[n + 4 :])


@kernel
def locate(body, y, after, tau, remaining, joint, sign, fraction, friction, points, limit, side):
    """Locate the instant at which the first joint reaches its stop.

    Starts from the estimate of `first_violation`, and improves it by the gap that is left over the
    joint's rate, on the true motion. If another joint turns out to be earlier, it takes the place
    of the first.

    Args:
        body, tau, friction, points, limit, side: as in `advance`.
        y: state at the start of the interval.
        after: state at its end.
        remaining: length of the interval [s].
        joint, sign, fraction: what `first_violation` returned for the interval.

    Returns:
        the state at that instant, and the time from the start of the interval to it [s].
    """
    n = side.shape[0] + 1
    offset = fraction * remaining
    for _ in range(SECANT_STEPS):
        after = rk4(body, y, tau, offset, friction, points, side)
        other, other_sign, other_fraction = first_violation(y, after, offset, limit, side)
        if other >= 0 and other != joint:
            joint, sign = other, other_sign
            offset *= other_fraction
            continue
        gap = limit - sign * (after[2 + joint] - after[3 + joint])
        rate = sign * (after[n + 4 + joint] - after[n + 5 + joint])
        if abs(gap) < 0.1 * TOUCH or rate <= STILL:
            break
        offset = min(max(offset + gap / rate, 0.0), remaining)
    return after, offset


@kernel
def advance(body, y, tau, h, first, steps, friction, points, limit, side, log):
    """Advance a motion by steps number `first` to `steps` - 1, with impacts on the stops.

    Args:
        body: (a, b, m, J) of a link.
        y: state, changed in place (2N + 4,).
        tau: joint efforts (n,) [N m].
        h: length of a step [s].
        first, steps: number of the first step, and of all steps.
        friction, points: of the ground, as in `ground.ground_forces`.
        limit: joint limit [rad].
        side: stop that each joint touches, as in `stops`, changed in place (n,).
        log: filled with a row for each joint (n, 2): the time of its first impact since the start
            of step 0 [s], and the sum of the impulses of its impacts, 0 for none [N m s].

    Returns:
        the largest angle of any joint at the end [rad], and the energy lost at the stops [J].
    """
    n = side.shape[0] + 1
    log[:] = 0.0
    lost = 0.0
    for step in range(first, steps):
        remaining = h
        attempts = 0
        while True:
            # Neighbouring joints can hit their stops in turn ever faster, without end. The
            # tolerance within which a joint touches its stop therefore grows with the attempts.
            touch = TOUCH * 10.0 ** min(attempts // 8, 4)
            # Impacts: one can drive another joint at its stop outwards, so repeat up to n times.
            for _ in range(n):
                if not update_sides(y, limit, side, touch):
                    break
                rates_before = y[n + 4 :].copy()
                impulse = impact(body, y, side)
                lost += energy_taken(impulse * side, rates_before, y[n + 4 :])
                for j in range(n - 1):
                    if impulse[j] > 0.0:
                        if log[j, 1] == 0.0:
                            log[j, 0] = step * h + (h - remaining)
                        log[j, 1] += impulse[j]
            if remaining <= 0.0:
                break
            # Try the rest of the step; without a further impact, or after too many, it ends there.
            after = rk4(body, y, tau, remaining, friction, points, side)
            joint, sign, fraction = first_violation(y, after, remaining, limit, side)
            attempts += 1
            if joint < 0 or attempts > MAX_IMPACTS:
                if joint >= 0:
                    after, energy = keep_inside(
                        body, y, tau, remaining, friction, points, limit, side
                    )
                    lost += energy
                y[:] = after
                remaining = 0.0
                continue
            # Else go on up to the next impact.
            after, offset = locate(
                body, y, after, tau, remaining, joint, sign, fraction, friction, points, limit, side
            )
            y[:] = after
            remaining -= offset
            if remaining < 1e-15:
                remaining = 0.0
    return widest(y), lost


@kernel
def advance_rows(body, rows, tau, h, counts, friction, points, limit, sides, logs, ends, done):
    """Advance k rows of y by `advance`, each by its own number of steps.

    Args:
        body, h, friction, points, limit: as in `advance`, the same for all rows.
        rows, tau, counts, sides, logs: states, efforts, numbers of steps, sides and logs (k, ...).
        ends: filled with what `advance` returns (k, 2).
        done: number of steps of each row that `glide` has made before (k,).
    """
    for i in range(rows.shape[0]):
        if done[i] < counts[i]:
            ends[i, 0], ends[i, 1] = advance(
                body, rows[i], tau[i], h, done[i], counts[i], friction, points, limit, sides[i],
                logs[i],
            )  # fmt: skip
