"""Time steps of the chain: Runge-Kutta 4, with impacts on the stops located inside each step.

While no joint is near its stop, `glide` takes plain steps. Otherwise `advance` finds the first
joint that would pass its stop in a step, moves the chain to that instant by secant steps on the
true motion (`locate`), applies the impact, and goes on with the rest of the step. A step with more
than MAX_IMPACTS is finished by impulses at its start (`keep_inside`). The rows of all kernels are
states y = [p, th, v, w].

MAX_IMPACTS may be tuned, and bounds the time of a step. Engines are judged by this, so method and
accuracy must stay: test_dynamics tests the order, test_stops the impacts. Equations are in model/.
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

MAX_IMPACTS = 6  # located in one step; more cost time and change no figure of a gait
SECANT_STEPS = 12  # at most, to an impact; they end within a tenth of TOUCH
ROUNDS = 5  # of Newton's method in `keep_inside`, the last of which only moves the joints inside


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
    """Advance k rows of y while no joint is at its stop, which needs no kernel of impacts.

    Args:
        rows, tau, counts, sides, logs, ends: as of `advance_rows`.
        done: filled with how many steps were made (k,).

    Returns:
        how many steps remain in all.
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
    """Fill dy of y = [p, th, v, w], (2N + 4,); `work` is that of `accelerations`."""
    n = tau.shape[0] + 1
    free_derivative(body, y, tau, friction, points, work, dy)
    for j in range(n - 1):
        if side[j] != 0:
            hold(body, work[0], work[1], dy[n + 4 :], side)
            break


@kernel
def rk4(body, y, tau, h, friction, points, side):
    """Return y after h [s]."""
    slope, work = np.empty(y.shape[0]), np.empty((12, side.shape[0] + 1))
    stage, end = y.copy(), y.copy()
    for k in range(4):
        derivative(body, stage, tau, friction, points, side, work, slope)
        rk4_stage(k, h, y, slope, stage, end)
    return end


@kernel
def keep_inside(body, y, tau, h, friction, points, limit, side):
    """Return y after h [s], with impulses at its start by which all joints end inside their stops.

    The energy that they take [J] is returned beside it.

    It is for steps with more impacts than are worth locating. An impact then comes up to h too
    early: an error of first order, with both momenta kept. Newton's method finds the impulses,
    since the motion is linear in them to first order; what four rounds leave is moved inside.
    """
    n = side.shape[0] + 1
    c = np.cos(y[2 : n + 2])
    s = np.sin(y[2 : n + 2])
    sides = side.copy()
    beyond = np.empty(n)
    start = y.copy()
    held = side.copy()
    push = np.zeros(n - 1)
    after = y
    for turn in range(ROUNDS):
        after = rk4(body, start, tau, h, friction, points, held)
        if excess(after, limit, sides, beyond) <= TOUCH:
            break
        before = beyond.copy()
        force = hold(body, c, s, beyond, sides)
        if turn == ROUNDS - 1:
            after[2 : n + 2] += beyond - before
            break
        start[n + 4 :] += (beyond - before) / h
        for j in range(n - 1):
            push[j] += force[j] * sides[j] / h
            if held[j] * (start[n + 4 + j] - start[n + 5 + j]) < -STILL:
                held[j] = 0
    return after, energy_taken(push, y[n + 4 :], start[n + 4 :])


@kernel
def locate(body, y, after, tau, remaining, joint, sign, fraction, friction, points, limit, side):
    """Return the state in which the first joint has just come to its stop, and the time to it.

    Starts from the cubic's estimate, and goes on by secant steps on the true motion; another
    joint that turns out to be earlier takes the place of the first.
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
    """Advance y and side in place by steps of h [s], from the one numbered `first` to `steps`.

    Args:
        log: filled with a row for each joint (n, 2): the time of its first impact since the start
            [s], and the sum of the impulses of all of its impacts, 0 where there was none [N m s].

    Returns:
        the largest angle of any joint at the end [rad], and the energy that the stops took [J].
    """
    n = side.shape[0] + 1
    log[:] = 0.0
    lost = 0.0
    for step in range(first, steps):
        remaining = h
        attempts = 0
        while True:
            # Neighbours can hit in turn ever faster, without end: then nearly there is there.
            touch = TOUCH * 10.0 ** min(attempts // 8, 4)
            # An impact can drive another joint at its stop outwards, which then takes part.
            for _ in range(n):
                if not update_sides(y, limit, side, touch):
                    break
                before = y[n + 4 :].copy()
                impulse = impact(body, y, side)
                lost += energy_taken(impulse * side, before, y[n + 4 :])
                for j in range(n - 1):
                    if impulse[j] > 0.0:
                        if log[j, 1] == 0.0:
                            log[j, 0] = step * h + (h - remaining)
                        log[j, 1] += impulse[j]
            if remaining <= 0.0:
                break
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
    """Advance k rows of y by `advance`, each by a number of steps of its own.

    Args:
        rows, tau, counts, sides, logs: of each row (k, ...).
        ends: filled with what `advance` returns (k, 2).
        done: how many steps of each were made before, by `glide` (k,).
    """
    for i in range(rows.shape[0]):
        if done[i] < counts[i]:
            ends[i, 0], ends[i, 1] = advance(
                body, rows[i], tau[i], h, done[i], counts[i], friction, points, limit, sides[i],
                logs[i],
            )  # fmt: skip
