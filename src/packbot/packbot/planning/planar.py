"""Compiled model of the arm in its vertical plane with one loose joint, for planning transitions.

The three joints of the plane are shoulder, elbow 1 and elbow 2; one of them is loose (without
drive). The state x (6,) has their angles, then their rates. The inputs u (2,) are the accelerations
of the two active joints; that of the loose joint follows, as its drive gives no effort
(non-collocated partial feedback linearisation [Spong 1994]). What the loose joint leans on at the
start is a one-sided spring. `residual` is the cost of a state and an input: limits of speed,
effort, angle and height are penalties. `linearise` and `rollout` compute a trajectory of n steps,
whose states are (n + 1, 6) and whose inputs are (n, 2), for transition.py to improve.

test_packbot_transition compares `inverse_dynamics` and `state_rate` with pinocchio. The constants
may be tuned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from roboaccord.contract import Array
from roboaccord.numerics import kernel

JOINT_COUNT, INPUT_COUNT = 3, 2
STATE_SIZE = 2 * JOINT_COUNT  # x[:JOINT_COUNT] are the angles, x[JOINT_COUNT:] their rates
# Jacobians have a column for each entry of the state, then one for each input; those of residuals
# have the residuals themselves in a last column.
VALUE_COLUMN = STATE_SIZE + INPUT_COUNT
# Rows of the bounds (4, 3): angles [rad], largest rates [rad/s] and efforts [N m].
LOWER_ANGLE, UPPER_ANGLE, MAX_RATE, MAX_EFFORT = range(4)
# Residuals, by the index of the first of each sort: two accelerations, three excesses each of
# angles, rates and efforts over their bounds, two lacks of height.
ACCELERATIONS, ANGLE_EXCESSES, RATE_EXCESSES, EFFORT_EXCESSES, HEIGHT_LACKS = 0, 2, 5, 8, 11
# The last two residuals: speed of a return to the spring, and how far the tips are behind link 1.
RETURN_SPEED, TIP_BEHIND = 13, 14
RESIDUAL_COUNT = 15
# m; smallest distance of the finger tips from the axis of link 1: the radius of its tube, 0.03,
# half the width of the hand, 0.06, and 0.03 to spare
MIN_TIP_DISTANCE = 0.12
# rad; if elbow 2 is bent by more, the tips can be behind link 1; bent by less, link 3 nearly
# continues link 2
MIN_BENT_ANGLE = 0.5
# rad; this near to the spring, fast returns of the loose joint are penalised: ten times as far as
# its weight presses the spring in. With 0.1, and MIN_BENT_ANGLE 0.8, a plan is found as well
# (measured).
CUSHION_ANGLE = 0.05
# N m/rad, s/rad; stiffness and damping of the one-sided spring. The weight of link 3, up to 14 N m,
# presses it in by 5 mrad; on 0.76 kg m^2 it swings at 63 rad/s, slowly enough for Runge-Kutta steps
# of 20 ms (1.26 of the 2.83 at which they become unstable). It lets go at a rate of
# 1 / SPRING_DAMPING. With 1000 and 0.3 a plan is found as well (measured).
SPRING_STIFFNESS, SPRING_DAMPING = 3000.0, 1.0
# rad, rad/s, rad/s^2; step of forward differences, near the square root of round-off
DIFFERENCE_STEP = 1e-6


class PlanarModel(NamedTuple):
    """The three links in the plane, and the spring that the loose one leans on.

    Attributes:
        lengths: from joint to joint (3,) [m]; 0 for the last link.
        masses: (3,) [kg].
        moments: first moments about the joints, as complex numbers: ahead and up (3,) [kg m].
        inertias: about the joints (3,) [kg m^2].
        viscous: friction of the joints (3,) [N m s/rad].
        armature: reflected inertia of the joints (3,) [kg m^2].
        spring_angle: angle of the loose joint at which the spring begins [rad].
        free_side: 1 if the joint is free at larger angles, -1 if at smaller ones, 0 for no spring.
        gravity: [m/s^2].
    """

    lengths: Array
    masses: Array
    moments: Array
    inertias: Array
    viscous: Array
    armature: Array
    spring_angle: float
    free_side: float
    gravity: float


class Penalties(NamedTuple):
    """Factors on the residuals of each sort.

    Attributes:
        acceleration: of the active joints [s^2/rad].
        rate, angle, effort: of excesses over the bounds [s/rad, 1/rad, 1/(N m)].
        height: of lacks of height, and of tips behind link 1 [1/m].
    """

    acceleration: float
    rate: float
    angle: float
    effort: float
    height: float


class Heights(NamedTuple):
    """Sizes by which the heights of elbow 2 and of the finger tips are judged.

    Attributes:
        shoulder: height of the shoulder [m].
        smallest: smallest height of elbow 2 and of the finger tips [m].
        last_link: length from elbow 2 to the finger tips [m].
    """

    shoulder: float
    smallest: float
    last_link: float


class PlanarProblem(NamedTuple):
    """What a trajectory in the plane is judged by.

    Attributes:
        model: of the links.
        bounds: of angles, rates and efforts, in the rows LOWER_ANGLE to MAX_EFFORT (4, 3).
        penalties: factors on the residuals.
        heights: sizes by which heights are judged.
        loose: index of the loose joint, 0 to 2.
        period: duration of a step [s].
    """

    model: PlanarModel
    bounds: Array
    penalties: Penalties
    heights: Heights
    loose: int
    period: float


@kernel
def linearise(problem, states, inputs):
    """Return Jacobians by state and input, of steps and of residuals, along a trajectory.

    By forward differences. Columns are by the state, then by the input; the residuals themselves
    are in VALUE_COLUMN.

    Args:
        problem: as `PlanarProblem`.
        states, inputs: of the trajectory (n + 1, 6), (n, 2).

    Returns:
        the Jacobians of the steps (n, 6, 8); those of the residuals, and the residuals (n, 15, 9).
    """
    model, loose, period = problem.model, problem.loose, problem.period
    step_slopes = np.empty((len(inputs), STATE_SIZE, VALUE_COLUMN))
    residuals = np.empty((len(inputs), RESIDUAL_COUNT, VALUE_COLUMN + 1))
    for k in range(len(inputs)):
        end = rk4_step(model, loose, period, states[k], inputs[k])
        values = residuals[k, :, VALUE_COLUMN]
        residual(problem, states[k], inputs[k], values)
        for j in range(VALUE_COLUMN):
            x, u = states[k].copy(), inputs[k].copy()
            if j < STATE_SIZE:
                x[j] += DIFFERENCE_STEP
            else:
                u[j - STATE_SIZE] += DIFFERENCE_STEP
            step_slopes[k, :, j] = (rk4_step(model, loose, period, x, u) - end) / DIFFERENCE_STEP
            residual(problem, x, u, residuals[k, :, j])
            residuals[k, :, j] = (residuals[k, :, j] - values) / DIFFERENCE_STEP
    return step_slopes, residuals


@kernel
def rollout(problem, states, inputs, gains, changes):
    """Simulate the inputs u + change + gain (x' - x), which change a trajectory x, u.

    Args:
        problem: as `PlanarProblem`.
        states, inputs: x and u (n + 1, 6), (n, 2).
        gains: of the feedback (n, 2, 6).
        changes: of the inputs (n, 2).

    Returns:
        the cost, the states x' (n + 1, 6) from the same start, and the inputs (n, 2).
    """
    model, loose, period = problem.model, problem.loose, problem.period
    cost, r = 0.0, np.empty(RESIDUAL_COUNT)
    new_states, new_inputs = np.empty_like(states), np.empty_like(inputs)
    new_states[0] = states[0]
    for k in range(len(inputs)):
        for i in range(INPUT_COUNT):
            new_inputs[k, i] = inputs[k, i] + changes[k, i]
            for j in range(STATE_SIZE):
                new_inputs[k, i] += gains[k, i, j] * (new_states[k, j] - states[k, j])
        residual(problem, new_states[k], new_inputs[k], r)
        for i in range(RESIDUAL_COUNT):
            cost += 0.5 * period * r[i] * r[i]
        new_states[k + 1] = rk4_step(model, loose, period, new_states[k], new_inputs[k])
    return cost, new_states, new_inputs


@kernel
def rk4_step(model, loose, period, x, u):
    """Return the state (6,) after a period [s], by the Runge-Kutta method of fourth order.

    `loose` is the index of the loose joint; x (6,) and u (2,) are state and input.
    """
    # Rates at the four stages, and efforts, which are not used.
    k1, k2, k3, k4, tau = np.empty(6), np.empty(6), np.empty(6), np.empty(6), np.empty(3)
    state_rate(model, loose, x, u, k1, tau)
    state_rate(model, loose, x + 0.5 * period * k1, u, k2, tau)
    state_rate(model, loose, x + 0.5 * period * k2, u, k3, tau)
    state_rate(model, loose, x + period * k3, u, k4, tau)
    return x + period / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@kernel
def inverse_dynamics(model, x, a, tau):
    """Compute the efforts `tau` (3,) [N m] for accelerations a (3,) [rad/s^2] at a state x (6,).

    This is the recursive Newton-Euler method in the plane. A vector (x forward, z up) is a complex
    number; exp(i theta) is the direction of a link, mu its mass times its centre from the joint.
    """
    lengths, moments = model.lengths, model.moments
    theta = omega = alpha = 0.0  # angle, rate and acceleration of a link
    joint_acc = np.empty(4, dtype=np.complex128)  # accelerations of the joints, plus gravity
    turn, direction = np.empty(3, dtype=np.complex128), np.empty(3, dtype=np.complex128)
    spin = np.empty(JOINT_COUNT)  # angular accelerations of the links [rad/s^2]
    # Outward: accelerations. The end of a link of length l accelerates by l (i alpha - omega^2)
    # exp(i theta) relative to its joint.
    joint_acc[0] = 1j * model.gravity
    for k in range(JOINT_COUNT):
        theta, omega, alpha = theta + x[k], omega + x[JOINT_COUNT + k], alpha + a[k]
        turn[k] = 1j * alpha - omega * omega
        direction[k] = np.exp(1j * theta)
        spin[k] = alpha
        joint_acc[k + 1] = joint_acc[k] + lengths[k] * turn[k] * direction[k]
    # Inward: forces and moments at the joints. Im(conj(r) F) is the moment of a force F at r.
    force, moment = 0.0 + 0.0j, 0.0
    for k in range(JOINT_COUNT - 1, -1, -1):
        mu = moments[k] * direction[k]
        moment += model.inertias[k] * spin[k] + (np.conj(mu) * joint_acc[k]).imag
        moment += (lengths[k] * np.conj(direction[k]) * force).imag
        force += model.masses[k] * joint_acc[k] + mu * turn[k]
        tau[k] = moment + model.viscous[k] * x[JOINT_COUNT + k] + model.armature[k] * a[k]


@kernel
def state_rate(model, loose, x, u, rate, tau):
    """Compute the rate (6,) of a state x (6,) with inputs u (2,), and the efforts `tau` (3,)."""
    side = model.free_side
    rate[:JOINT_COUNT] = x[JOINT_COUNT:]
    a = rate[JOINT_COUNT:]
    # The active joints in ascending order; the three indices add up to 3.
    first_active = 1 if loose == 0 else 0
    a[first_active], a[3 - loose - first_active] = u[0], u[1]
    # Inertia of the loose joint: the difference of its efforts for accelerations of 1 and 0.
    a[loose] = 1.0
    inverse_dynamics(model, x, a, tau)
    mass = tau[loose]
    a[loose] = 0.0
    inverse_dynamics(model, x, a, tau)
    mass -= tau[loose]
    # Acceleration by which the loose joint's effort is that of the spring, which only pushes.
    depth = side * (model.spring_angle - x[loose])
    push = 0.0
    if depth > 0.0:
        damping = max(0.0, 1.0 - SPRING_DAMPING * side * x[JOINT_COUNT + loose])
        push = side * SPRING_STIFFNESS * depth * damping
    a[loose] = (push - tau[loose]) / mass
    inverse_dynamics(model, x, a, tau)


@kernel
def residual(problem, x, u, r):
    """Compute the weighted residuals of a state and an input; the cost is half their squared sum.

    Args:
        problem: as `PlanarProblem`.
        x, u: state (6,) and input (2,).
        r: filled (15,), in the order of ACCELERATIONS to TIP_BEHIND: the accelerations, and
            excesses over the limits. The heights are those of elbow 2 and of the finger tips.
    """
    model, bounds, penalties, heights, loose, _ = problem
    lengths, last_link = model.lengths, heights.last_link
    tau = np.empty(JOINT_COUNT)
    state_rate(model, loose, x, u, np.empty(STATE_SIZE), tau)
    r[ACCELERATIONS:ANGLE_EXCESSES] = penalties.acceleration * u
    height, theta = heights.shoulder, 0.0
    for i in range(JOINT_COUNT):
        theta += x[i]
        height += (last_link if i == 2 else lengths[i]) * np.sin(theta)
        if i > 0:
            r[HEIGHT_LACKS + i - 1] = penalties.height * max(0.0, heights.smallest - height)
        angle_excess = max(0.0, bounds[LOWER_ANGLE, i] - x[i], x[i] - bounds[UPPER_ANGLE, i])
        r[ANGLE_EXCESSES + i] = penalties.angle * angle_excess
        excess = max(0.0, abs(x[JOINT_COUNT + i]) - bounds[MAX_RATE, i])
        r[RATE_EXCESSES + i] = penalties.rate * excess
        r[EFFORT_EXCESSES + i] = penalties.effort * max(0.0, abs(tau[i]) - bounds[MAX_EFFORT, i])
    # Distance of the tips from the axis of link 1, on their side of it.
    r[TIP_BEHIND] = 0.0
    elbow1, elbow2 = x[1], x[2]
    if elbow2 > MIN_BENT_ANGLE:
        distance = lengths[1] * np.sin(elbow1) + last_link * np.sin(elbow1 + elbow2)
        r[TIP_BEHIND] = penalties.height * max(0.0, MIN_TIP_DISTANCE - distance)
    # Speed of a return to the spring.
    side = model.free_side
    nearness = max(0.0, 1.0 - side * (x[loose] - model.spring_angle) / CUSHION_ANGLE)
    r[RETURN_SPEED] = penalties.rate * side * nearness * max(0.0, -side * x[JOINT_COUNT + loose])
