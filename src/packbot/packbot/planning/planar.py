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

LOWER, UPPER, RATE, EFFORT = range(4)  # rows of bounds (4, 3): angles [rad], rates, efforts
# Residuals, by the index of the first of each sort: two accelerations, three excesses each of
# angles, rates and efforts, two of heights, one of a return to the spring, one behind link 1.
ACCELERATIONS, ANGLES, RATES, EFFORTS, HEIGHTS, RETURN, HIDDEN = 0, 2, 5, 8, 11, 13, 14
RESIDUALS = 15  # number of residuals
# m; smallest distance of the finger tips from the axis of link 1: the radius of its tube, 0.03,
# half the width of the hand, 0.06, and 0.03 to spare
BEHIND = 0.12
# rad; if elbow 2 is bent by more, the tips can be behind link 1; bent by less, link 3 nearly
# continues link 2
BENT = 0.5
# rad; so near to the spring, fast returns of the loose joint are penalised: ten times as far as its
# weight presses the spring in. With 0.1, and BENT 0.8, a plan is found as well (measured).
CUSHION = 0.05
# N m/rad, s/rad; stiffness and damping of the one-sided spring. The weight of link 3, up to 14 N m,
# presses it in by 5 mrad; on 0.76 kg m^2 it swings at 63 rad/s, slowly enough for Runge-Kutta steps
# of 20 ms (1.26 of the 2.83 at which they become unstable). It lets go at a rate of 1 / DAMPING.
# With 1000 and 0.3 a plan is found as well (measured).
SPRING, DAMPING = 3000.0, 1.0
SMALL = 1e-6  # step of forward differences, near the square root of round-off


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
    """Weights of the residuals, and the sizes by which heights are judged.

    Attributes:
        acceleration, rate, angle, effort, height: factors on the residuals of each.
        shoulder: height of the shoulder [m].
        floor: least height of elbow 2 and of the finger tips [m].
        last_link: length from elbow 2 to the finger tips [m].
    """

    acceleration: float
    rate: float
    angle: float
    effort: float
    height: float
    shoulder: float
    floor: float
    last_link: float


class PlanarProblem(NamedTuple):
    """What a trajectory in the plane is judged by.

    Attributes:
        model: of the links.
        bounds: of angles, rates and efforts, in the rows LOWER to EFFORT (4, 3).
        penalties: weights of the residuals.
        loose: index of the loose joint, 0 to 2.
        period: duration of a step [s].
    """

    model: PlanarModel
    bounds: Array
    penalties: Penalties
    loose: int
    period: float


@kernel
def linearise(problem, states, inputs, step_slopes, residuals):
    """Compute Jacobians by state and input, of steps and of residuals, along a trajectory.

    By forward differences. The first 6 columns are by the state, the next 2 by the input; the
    residuals themselves are in the last column.

    Args:
        problem: as `PlanarProblem`.
        states, inputs: of the trajectory (n + 1, 6), (n, 2).
        step_slopes: filled with the Jacobians of the steps (n, 6, 8).
        residuals: filled with those of the residuals, and the residuals (n, 15, 9).
    """
    model, _, _, loose, period = problem
    for k in range(len(inputs)):
        end = rk4_step(model, loose, period, states[k], inputs[k])
        residual(problem, states[k], inputs[k], residuals[k, :, 8])
        for j in range(8):
            x, u = states[k].copy(), inputs[k].copy()
            if j < 6:
                x[j] += SMALL
            else:
                u[j - 6] += SMALL
            step_slopes[k, :, j] = (rk4_step(model, loose, period, x, u) - end) / SMALL
            residual(problem, x, u, residuals[k, :, j])
            residuals[k, :, j] = (residuals[k, :, j] - residuals[k, :, 8]) / SMALL


@kernel
def rollout(problem, states, inputs, gains, changes, new_states, new_inputs):
    """Simulate the inputs u + change + gain (x' - x) of a trajectory x, u; return the cost.

    Args:
        problem: as `PlanarProblem`.
        states, inputs: x and u (n + 1, 6), (n, 2).
        gains: of the feedback (n, 2, 6).
        changes: of the inputs (n, 2).
        new_states: x' (n + 1, 6); the first one is given, the others are filled.
        new_inputs: filled (n, 2).
    """
    model, _, _, loose, period = problem
    cost, r = 0.0, np.empty(RESIDUALS)
    for k in range(len(inputs)):
        for i in range(2):
            new_inputs[k, i] = inputs[k, i] + changes[k, i]
            for j in range(6):
                new_inputs[k, i] += gains[k, i, j] * (new_states[k, j] - states[k, j])
        residual(problem, new_states[k], new_inputs[k], r)
        for i in range(RESIDUALS):
            cost += 0.5 * period * r[i] * r[i]
        new_states[k + 1] = rk4_step(model, loose, period, new_states[k], new_inputs[k])
    return cost


@kernel
def rk4_step(model, loose, period, x, u):
    """Return the state (6,) after a period [s], by the Runge-Kutta method of fourth order.

    `loose` is the index of the loose joint; x (6,) and u (2,) are state and input.
    """
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
    lengths, masses, moments, inertias, viscous, armature, _, _, gravity = model
    theta, omega, alpha = 0.0, 0.0, 0.0
    joint_acc = np.empty(4, dtype=np.complex128)  # accelerations of the joints, plus gravity
    turn, direction = np.empty(3, dtype=np.complex128), np.empty(3, dtype=np.complex128)
    spin = np.empty(3)
    # Outward: accelerations. The end of a link of length l accelerates by l (i alpha - omega^2)
    # exp(i theta) relative to its joint.
    joint_acc[0] = 1j * gravity
    for k in range(3):
        theta, omega, alpha = theta + x[k], omega + x[3 + k], alpha + a[k]
        turn[k], direction[k], spin[k] = 1j * alpha - omega * omega, np.exp(1j * theta), alpha
        joint_acc[k + 1] = joint_acc[k] + lengths[k] * turn[k] * direction[k]
    # Inward: forces and moments at the joints. Im(conj(r) F) is the moment of a force F at r.
    force, moment = 0.0 + 0.0j, 0.0
    for k in range(2, -1, -1):
        mu = moments[k] * direction[k]
        moment += inertias[k] * spin[k] + (np.conj(mu) * joint_acc[k]).imag
        moment += (lengths[k] * np.conj(direction[k]) * force).imag
        force += masses[k] * joint_acc[k] + mu * turn[k]
        tau[k] = moment + viscous[k] * x[3 + k] + armature[k] * a[k]


@kernel
def state_rate(model, loose, x, u, rate, tau):
    """Compute the rate (6,) of a state x (6,) with inputs u (2,), and the efforts `tau` (3,)."""
    side = model.free_side
    rate[:3] = x[3:]
    a = rate[3:]
    first = 1 if loose == 0 else 0
    a[first], a[3 - loose - first] = u[0], u[1]
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
        push = side * SPRING * depth * max(0.0, 1.0 - DAMPING * side * x[3 + loose])
    a[loose] = (push - tau[loose]) / mass
    inverse_dynamics(model, x, a, tau)


@kernel
def residual(problem, x, u, r):
    """Compute the weighted residuals of a state and an input; the cost is half their squared sum.

    Args:
        problem: as `PlanarProblem`.
        x, u: state (6,) and input (2,).
        r: filled (15,), in the order of ACCELERATIONS to HIDDEN: the accelerations, and excesses
            over the limits. The heights are those of elbow 2 and of the finger tips.
    """
    model, bounds, penalties, loose, _ = problem
    lengths, last_link = model.lengths, penalties.last_link
    rate, tau = np.empty(6), np.empty(3)
    state_rate(model, loose, x, u, rate, tau)
    r[ACCELERATIONS:ANGLES] = penalties.acceleration * u
    height, theta = penalties.shoulder, 0.0
    for i in range(3):
        theta += x[i]
        height += (last_link if i == 2 else lengths[i]) * np.sin(theta)
        if i > 0:
            r[HEIGHTS + i - 1] = penalties.height * max(0.0, penalties.floor - height)
        angle_excess = max(0.0, bounds[LOWER, i] - x[i], x[i] - bounds[UPPER, i])
        r[ANGLES + i] = penalties.angle * angle_excess
        r[RATES + i] = penalties.rate * max(0.0, abs(x[3 + i]) - bounds[RATE, i])
        r[EFFORTS + i] = penalties.effort * max(0.0, abs(tau[i]) - bounds[EFFORT, i])
    # Distance of the tips from the axis of link 1, on their side of it.
    if x[2] > BENT:
        behind = lengths[1] * np.sin(x[1]) + last_link * np.sin(x[1] + x[2])
        r[HIDDEN] = penalties.height * max(0.0, BEHIND - behind)
    else:
        r[HIDDEN] = 0.0
    # Speed of a return to the spring.
    side = model.free_side
    nearness = max(0.0, 1.0 - side * (x[loose] - model.spring_angle) / CUSHION)
    r[RETURN] = penalties.rate * side * nearness * max(0.0, -side * x[3 + loose])
