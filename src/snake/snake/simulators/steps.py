"""Time steps of the snake's chain: Runge-Kutta 4, with impacts on the stops located in each step.

While no joint is near its stop, `glide` takes plain steps. Otherwise `advance` does the following
in each step: it finds the first joint that would pass its stop, moves the chain to that instant by
secant steps on the true motion (`locate`), applies the impact, and goes on with the remaining part
of the step. If there are more impacts than MAX_IMPACTS in a step, impulses at its start take their
place (`step_inside_stops`). reference.py calls `glide` and then `advance_rows`, a kernel that calls
`advance` for each motion. All work on states y = [p, th, v, w] (model/coordinates), a row for each
motion; the equations are in model/. What is constant in a run is passed as `StepModel`; what is
recorded of a tick, the control period, as `TickRecord`.

MAX_IMPACTS may be tuned, and limits the time that a step takes. Method and accuracy must stay, for
physics engines are judged by this simulator.
"""

from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel, rk4_stage

from snake.model import coordinates, stops
from snake.model.dynamics import accelerations
from snake.model.ground import GroundFriction

MAX_IMPACTS = 6  # located in one step; more of them cost time and change no figure of a gait
# Largest number of secant steps to locate an impact: in `lateral_undulation` all take 1 or 2 to a
# tenth of TOUCH (measured); a joint that turns out to be earlier begins anew.
SECANT_STEPS = 12
# Largest number of iterations of `step_inside_stops`: four of Newton's method, and one that moves
# the joints inside. In the same runs Newton's method ends within four in 11 of 14 steps; an impact
# is then up to h early in any case.
STEP_INSIDE_ITERATIONS = 5
SHORTEST = 1e-15  # s: a remainder of a step that is shorter is round-off, and is left out


class StepModel(NamedTuple):
    """What stays the same in all steps of a run, as the kernels take it.

    Attributes:
        body: (a, b, m, J) of a link (`kinematics`) [m, m, kg, kg m^2].
        friction: of the links on the ground.
        points: contact points of a link, along and across it from its centre (p, 2) [m].
        limit: joint limit [rad].
    """

    body: tuple[float, float, float, float]
    friction: GroundFriction
    points: Array
    limit: float


class TickRecord(NamedTuple):
    """What the kernels record of a tick, for k motions of n joints.

    Attributes:
        sides: stop that each joint touches, as in `stops` (k, n).
        impacts: for each joint the time of its first impact since the start of the tick [s], and
            the sum of the impulses of its impacts, 0 for none [N m s] (k, n, 2).
        angle_and_loss: largest angle of any joint at the end [rad], and energy lost at the stops
            [J] (k, 2).
        steps_taken: number of steps that `glide` has made (k,).
    """

    sides: Array
    impacts: Array
    angle_and_loss: Array
    steps_taken: Array


@kernel
def advance_rows(model, rows, tau, h, counts, record):
    """Advance k motions by `advance`, each by the steps that `glide` has left.

    Args:
        model: as `StepModel`, the same for all motions.
        rows: states, changed in place (k, 2N + 4).
        tau: joint efforts (k, n) [N m].
        h: length of a step [s].
        counts: numbers of steps, those of `glide` included (k,).
        record: as `TickRecord`, filled.
    """
    for i in range(rows.shape[0]):
        first, side, impacts = record.steps_taken[i], record.sides[i], record.impacts[i]
        if first < counts[i]:
            angle, lost = advance(model, rows[i], tau[i], h, first, counts[i], side, impacts)
            record.angle_and_loss[i, 0], record.angle_and_loss[i, 1] = angle, lost


@kernel
def glide(model, rows, tau, h, counts, record):
    """Advance k motions until a joint comes near its stop; arguments are those of `advance_rows`.

    A step at whose end a joint is within TOUCH of its stop is not taken. This kernel needs none of
    those of impacts, which take long to compile.

    Returns:
        the number of steps that remain, summed over the motions.
    """
    steps_taken, outcome = record.steps_taken, record.angle_and_loss
    nearly_touching = model.limit - stops.TOUCH
    size, remaining = rows.shape[1], 0
    slope, stage, end = np.empty(size), np.empty(size), np.empty(size)
    work = np.empty((12, tau.shape[1] + 1))
    for i in range(rows.shape[0]):
        y, steps_taken[i] = rows[i], 0
        outcome[i, 0], outcome[i, 1] = coordinates.largest_angle(y), 0.0
        record.impacts[i] = 0.0
        if record.sides[i].any():
            outcome[i, 0] = np.inf  # this motion is left to `advance`
        while steps_taken[i] < counts[i] and outcome[i, 0] < nearly_touching:
            stage[:] = y
            end[:] = y
            for k in range(4):
                free_derivative(model, stage, tau[i], work, slope)
                rk4_stage(k, h, y, slope, stage, end)
            outcome[i, 0] = coordinates.largest_angle(end)
            if outcome[i, 0] < nearly_touching:
                steps_taken[i] += 1
                y[:] = end
        remaining += counts[i] - steps_taken[i]
    return remaining


@kernel
def advance(model, y, tau, h, first, steps, side, impacts):
    """Advance a motion by steps number `first` to `steps` - 1, with impacts on the stops.

    Args:
        model: as `StepModel`.
        y: state, changed in place (2N + 4,).
        tau: joint efforts (n,) [N m].
        h: length of a step [s].
        first, steps: number of the first step, and of all steps.
        side: stop that each joint touches, as in `stops`, changed in place (n,).
        impacts: filled with time and impulse of each joint's impacts (n, 2), as in `TickRecord`.

    Returns:
        the largest angle of any joint at the end [rad], and the energy lost at the stops [J].
    """
    impacts[:] = 0.0
    lost = 0.0
    for step in range(first, steps):
        remaining = h
        attempts = 0
        while True:
            now = step * h + (h - remaining)
            lost = apply_impacts(model, y, side, now, impacts, lost)
            if remaining <= 0.0:
                break
            # Try the remaining part of the step.
            after = rk4(model, y, tau, remaining, side)
            violation = stops.first_violation(y, after, remaining, model.limit, side)
            attempts += 1
            if violation[0] < 0:  # no joint passes its stop
                remaining = 0.0
            elif attempts > MAX_IMPACTS:
                # Neighbouring joints can hit their stops in turn ever faster, without end.
                after, energy = step_inside_stops(model, y, tau, remaining, side)
                lost += energy
                remaining = 0.0
            else:  # go on to the next impact
                after, offset = locate(model, y, after, tau, remaining, violation, side)
                remaining -= offset
                if remaining < SHORTEST:
                    remaining = 0.0
            y[:] = after
    return coordinates.largest_angle(y), lost


@kernel
def apply_impacts(model, y, side, time, impacts, lost):
    """Apply impacts to y, in place, until no joint at its stop moves outwards.

    An impact can drive another joint at its stop outwards, so that up to n follow each other.

    Args:
        model, y, side, impacts: as in `advance`.
        time: since the start of step 0, to be recorded [s].
        lost: energy lost at the stops before [J].

    Returns:
        `lost` with the energy that these impacts dissipate [J].
    """
    n, rates = side.shape[0], coordinates.heading_rates(y)
    for _ in range(n + 1):
        if not stops.update_sides(y, model.limit, side):
            break
        rates_before = rates.copy()
        impulse = stops.impact(model.body, y, side)
        lost += stops.dissipated_energy(impulse * side, rates_before, rates)
        for j in range(n):
            if impulse[j] > 0.0:
                if impacts[j, 1] == 0.0:
                    impacts[j, 0] = time
                impacts[j, 1] += impulse[j]
    return lost


@kernel
def locate(model, y, after, tau, remaining, violation, side):
    """Locate the instant at which the first joint reaches its stop.

    Starts from the estimate of `first_violation`, and improves it by the gap that is left over the
    joint's rate, on the true motion. If another joint turns out to be earlier, it takes the place
    of the first.

    Args:
        model, tau, side: as in `advance`.
        y: state at the start of the interval.
        after: state at its end.
        remaining: length of the interval [s].
        violation: what `first_violation` returned for the interval.

    Returns:
        the state at that instant, and the time from the start of the interval to it [s].
    """
    joint, sign, fraction = violation
    offset = fraction * remaining
    for _ in range(SECANT_STEPS):
        after = rk4(model, y, tau, offset, side)
        other, other_sign, part = stops.first_violation(y, after, offset, model.limit, side)
        if other >= 0 and other != joint:
            joint, sign = other, other_sign
            offset *= part
            continue
        gap = model.limit - sign * coordinates.joint_angle(after, joint)
        rate = sign * coordinates.joint_rate(after, joint)
        if abs(gap) < 0.1 * stops.TOUCH or rate <= stops.STILL:
            break
        offset = min(max(offset + gap / rate, 0.0), remaining)
    return after, offset


@kernel
def step_inside_stops(model, y, tau, h, side):
    """Take a step with impulses at its start such that all joints end inside their stops.

    It is for steps with more impacts than are worth locating. An impact then comes up to h too
    early, an error of first order; momentum and angular momentum are conserved. The impulses follow
    by Newton's method, since the motion is linear in them to first order: what a joint is beyond
    its stop at the end, divided by h, is the velocity to be stopped at the start. What remains
    after four rounds is removed by moving the joints to their stops.

    Returns:
        y after h [s], and the energy that the impulses dissipate [J].
    """
    n = side.shape[0]
    c, s = np.cos(coordinates.headings(y)), np.sin(coordinates.headings(y))
    nearer, resting = side.copy(), side.copy()
    beyond = np.empty(n + 1)
    start = y.copy()
    start_rates = coordinates.heading_rates(start)
    impulses = np.zeros(n)
    after = y
    for iteration in range(STEP_INSIDE_ITERATIONS):
        after = rk4(model, start, tau, h, resting)
        if stops.excess(after, model.limit, nearer, beyond) <= stops.TOUCH:
            break
        beyond_before = beyond.copy()
        push = stops.apply_stops(model.body, c, s, beyond, nearer)
        if iteration == STEP_INSIDE_ITERATIONS - 1:
            coordinates.headings(after)[:] += beyond - beyond_before
            break
        start_rates += (beyond - beyond_before) / h
        for j in range(n):
            impulses[j] += push[j] * nearer[j] / h
            if resting[j] * coordinates.joint_rate(start, j) < -stops.STILL:
                resting[j] = 0
    return after, stops.dissipated_energy(impulses, coordinates.heading_rates(y), start_rates)


@kernel
def rk4(model, y, tau, h, side):
    """Return y after one step of h [s], during which the joints in `side` rest at their stops."""
    slope, work = np.empty(y.shape[0]), np.empty((12, side.shape[0] + 1))
    stage, end = y.copy(), y.copy()
    for k in range(4):
        derivative(model, stage, tau, side, work, slope)
        rk4_stage(k, h, y, slope, stage, end)
    return end


@kernel
def derivative(model, y, tau, side, work, dy):
    """Fill dy of y, (2N + 4,), with the torques of the stops in `side`.

    `work` is the scratch array (12, N) of `dynamics.accelerations`.
    """
    free_derivative(model, y, tau, work, dy)
    if side.any():
        c, s = work[0], work[1]
        stops.apply_stops(model.body, c, s, coordinates.heading_rates(dy), side)


@kernel
def free_derivative(model, y, tau, work, dy):
    """Fill dy of y, (2N + 4,), without stops; `work` (12, N) is that of `accelerations`."""
    rates = coordinates.velocities(y)
    dy[: rates.shape[0]] = rates
    accelerations(
        model.body, y, tau, model.friction, model.points, work, coordinates.velocities(dy)
    )
