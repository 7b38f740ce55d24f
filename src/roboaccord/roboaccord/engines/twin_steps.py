"""Steps of a twin as one compiled kernel, for bases that do not tilt.

A twin (twin.py) is our equations of motion under an engine's integration method. `advance_twins`
steps many states one after another, and `advance_twin` one state, by semi-implicit Euler or the
classical Runge-Kutta method of order 4, under constant efforts and the compiled forces of
compiled.py. Each operation must stay equal to its counterpart in twin.py and twin_coordinates.py:
test_scheme compares the two. A new scheme is added here, too, or excluded by `Twin._compiles`.

A state y (13 + 2 n,) is that of `articulated.slopes`: position (3), quaternion x y z w (4) and
joints (n) of the tree, then linear (3) and angular velocity (3) in the world and the joints' rates
(n). Joints begin at index Q = 7, rates at Q + n. Three tuples group arguments of all kernels here:

    bodies   tree, body, free, work: the arguments of `slopes`
    forces   table of `CompiledForces`, empty where efforts alone act; positions, velocities and
             forces for it, each with the 0 or 3 numbers of a planar base and n of the joints; and
             the held efforts (n,) that the table names
    limits   lower and upper limits of the joints (n,) [rad or m]
"""

import numpy as np

from roboaccord.description.articulated import slopes
from roboaccord.description.bodies import Q
from roboaccord.engines.compiled import apply_forces
from roboaccord.numerics.jit import kernel


@kernel
def advance_twins(bodies, forces, states, acting, h, counts, order, limits, stopped):
    """Take steps of semi-implicit Euler or of Runge and Kutta on k states, in place.

    Args:
        bodies, forces, limits: as of this module.
        states: (k, 13 + 2 n).
        acting: held efforts of each state (k, n).
        h: step [s].
        counts: numbers of steps of each state (k,).
        order: order of the method: 1, semi-implicit Euler, or 4, Runge-Kutta.
        stopped: set where a joint came within two steps of its stop (k,).
    """
    _, _, _, _, held = forces
    for i in range(states.shape[0]):
        y, effort, count = states[i], acting[i], counts[i]
        held[:] = effort
        if count > 0 and advance_twin(bodies, forces, y, effort, h, count, order, limits):
            stopped[i] = True


@kernel
def advance_twin(bodies, forces, y, acting, h, count, order, limits):
    """Take `count` steps of a state y, in place; return whether a joint came near its stop.

    Near is within two steps of its rate. Arguments are those of `advance_twins`, of one state.
    """
    n, size = acting.shape[0], y.shape[0]
    rates = Q + n  # index of the base's velocities; those of the joints are 6 behind
    joint_rates, base_yaw_rate = rates + 6, rates + 5
    scratch = np.zeros(6), np.empty((6, 6)), np.empty(6)
    slope, mean, stage, start = np.zeros(size), np.empty(size), np.empty(size), np.empty(size)
    stopped = False
    for _ in range(count):
        stopped = stopped or _is_near_stop(y, n, 2.0 * h, limits)
        _fill_slope(bodies, forces, scratch, y, acting, slope)
        # Semi-implicit Euler: v' = v + h a, then x' = x + h v'; `slope` gets v', and 0 for rates.
        if order == 1:
            for i in range(rates, size):
                y[i] += h * slope[i]
            slope[:3] = y[rates : rates + 3]
            slope[Q:rates] = y[joint_rates:]
            slope[rates:] = 0.0
            start[:] = y
            _move(y, slope, start, h, y)
            continue
        # Runge-Kutta: the mean of four slopes with weights 1/6, 1/3, 1/3, 1/6. The base turns at
        # the mean rate of yaw, summed in `yaw_rate`.
        for i in range(size):
            mean[i], start[i] = slope[i] / 6.0, y[i]
        yaw_rate = y[base_yaw_rate] / 6.0
        for k in range(3):
            fraction = 1.0 if k == 2 else 0.5
            _move(y, slope, start, fraction * h, stage)
            y[:] = stage
            _fill_slope(bodies, forces, scratch, y, acting, slope)
            weight = 1.0 / 6.0 if k == 2 else 1.0 / 3.0
            for i in range(size):
                mean[i] += weight * slope[i]
            yaw_rate += weight * y[base_yaw_rate]
        stage[base_yaw_rate] = yaw_rate
        _move(stage, mean, start, h, y)
    return stopped or _is_near_stop(y, n, 2.0 * h, limits)


@kernel
def _fill_slope(bodies, forces, scratch, y, acting, slope):
    """Fill `slope` with the derivative of a state y, under held efforts and the table's forces.

    Args:
        bodies, forces: as of this module.
        scratch: wrench on the base, torque first (6,), and work space (6, 6) and (6,) of `slopes`.
        y: state (13 + 2 n,).
        acting: held efforts (n,).
        slope: filled (13 + 2 n,).
    """
    tree, body, free, work = bodies
    table, positions, velocities, generalised, _ = forces
    wrench, matrix, rhs = scratch
    n = acting.shape[0]
    effort = acting
    if table.shape[0] > 0:
        base_size, rates = positions.shape[0] - n, Q + n
        # x, y and yaw of a planar base, and their rates.
        if base_size == 3:
            qx, qy, qz, qw = y[3], y[4], y[5], y[6]
            positions[0], positions[1] = y[0], y[1]
            positions[2] = np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
            velocities[0], velocities[1], velocities[2] = y[rates], y[rates + 1], y[rates + 5]
        for j in range(n):
            positions[base_size + j], velocities[base_size + j] = y[Q + j], y[rates + 6 + j]
        apply_forces(table, positions, velocities, generalised)
        # The wrench of `slopes` has its torque first.
        if base_size == 3:
            wrench[3], wrench[4], wrench[2] = generalised[0], generalised[1], generalised[2]
        effort = generalised[base_size:]
    slopes(tree, body, free, work, y, effort, wrench, matrix, rhs, slope)


@kernel
def _move(y, slope, start, h, end):
    """Fill `end` with the state h [s] after `start`; the base turns about z alone.

    Args:
        y: state whose rate of yaw the base turns at.
        slope: derivative of the state, except for the quaternion.
        start, end: states (13 + 2 n,), of which the second is filled.
        h: time [s].
    """
    for i in range(y.shape[0]):
        end[i] = start[i] + h * slope[i]
    # The quaternion of the turn, (0, 0, s, c), times that of the start.
    joint_count = (y.shape[0] - 13) // 2
    half_angle = 0.5 * h * y[Q + joint_count + 5]
    c, s = np.cos(half_angle), np.sin(half_angle)
    qx, qy, qz, qw = start[3], start[4], start[5], start[6]
    end[3], end[4] = c * qx - s * qy, c * qy + s * qx
    end[5], end[6] = c * qz + s * qw, c * qw - s * qz


@kernel
def _is_near_stop(y, n, ahead, limits):
    """Return whether one of n joints is beyond its stop, or would be after `ahead` [s]."""
    lower, upper = limits
    for j in range(n):
        q = y[Q + j]
        later = q + ahead * y[Q + n + 6 + j]  # the rate is behind those of the base
        if q > upper[j] or q < lower[j] or later > upper[j] or later < lower[j]:
            return True
    return False
