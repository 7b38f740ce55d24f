"""Steps of a twin (see twin.py) as one compiled kernel, for bases that do not tilt.

`advance_twins` steps many states one after another, and `advance_twin` one state, by semi-implicit
Euler or the classical Runge-Kutta method of order 4, under held efforts and compiled forces
(compiled.py). Each line must stay equal to its counterpart in twin.py and twin_coordinates.py:
test_scheme compares the two. A new scheme is written here, too, or excluded by `Twin._compiles`.

A state y (13 + 2 n,) is that of `articulated.slopes`: position (3), quaternion x y z w (4) and
joints (n) of the tree, then linear (3) and angular velocity (3) in the world and the joints' rates
(n). Joints begin at index Q = 7, rates at Q + n.
"""

from __future__ import annotations

import numpy as np

from roboaccord.description.articulated import slopes
from roboaccord.description.bodies import Q
from roboaccord.engines.compiled import apply_forces
from roboaccord.numerics.jit import kernel


@kernel
def _fill_slope(tree, body, free, work, table, places, y, acting, wrench, matrix, right, slope):
    """Fill `slope` with the derivative of a state y, under held efforts and the table's forces.

    Arguments as of `advance_twin`, `slopes` and, for `matrix` and `right`, its work space.
    """
    n = acting.shape[0]
    effort = acting
    if table.shape[0] > 0:
        positions, velocities, forces, _ = places
        base_size, rates = positions.shape[0] - n, Q + n
        # x, y and yaw of a planar base, and their rates.
        if base_size == 3:
            qx, qy, qz, qw = y[3], y[4], y[5], y[6]
            positions[0], positions[1] = y[0], y[1]
            positions[2] = np.arctan2(2.0 * (qw * qz + qx * qy), 1.0 - 2.0 * (qy * qy + qz * qz))
            velocities[0], velocities[1], velocities[2] = y[rates], y[rates + 1], y[rates + 5]
        for j in range(n):
            positions[base_size + j], velocities[base_size + j] = y[Q + j], y[rates + 6 + j]
        apply_forces(table, positions, velocities, forces)
        # The wrench of `slopes` has its torque first.
        if base_size == 3:
            wrench[3], wrench[4], wrench[2] = forces[0], forces[1], forces[2]
        effort = forces[base_size:]
    slopes(tree, body, free, work, y, effort, wrench, matrix, right, slope)


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
    half_angle = 0.5 * h * y[Q + (y.shape[0] - 13) // 2 + 5]
    c, s = np.cos(half_angle), np.sin(half_angle)
    qx, qy, qz, qw = start[3], start[4], start[5], start[6]
    end[3], end[4], end[5], end[6] = (
        c * qx - s * qy, c * qy + s * qx, c * qz + s * qw, c * qw - s * qz,
    )  # fmt: skip


@kernel
def _look_ahead(y, n, ahead, lower, upper):
    """Return whether one of n joints is beyond its stop, or would be after `ahead` [s]."""
    for j in range(n):
        q = y[Q + j]
        later = q + ahead * y[Q + n + 6 + j]
        if q > upper[j] or q < lower[j] or later > upper[j] or later < lower[j]:
            return True
    return False


@kernel
def advance_twins(
    tree, body, free, work, table, places, rows, acting, h, counts, order, lower, upper, stopped
):
    """Take steps of semi-implicit Euler or of Runge and Kutta on k states, in place.

    Args:
        places: as of `advance_twin`, with the efforts that the table holds (n,).
        rows, acting, counts: of each state (k, ...).
        stopped: set where a joint came within two steps of its stop (k,).
        tree, body, free, work, table, h, order, lower, upper: as of `advance_twin`.
    """
    held = places[3]
    for i in range(rows.shape[0]):
        held[:] = acting[i]
        if counts[i] > 0 and advance_twin(
            tree, body, free, work, table, places, rows[i], acting[i], h, counts[i], order, lower,
            upper,
        ):  # fmt: skip
            stopped[i] = True


@kernel
def advance_twin(tree, body, free, work, table, places, y, acting, h, count, order, lower, upper):
    """Take steps of a state in place; return whether a joint came within two steps of its stop.

    Args:
        tree, body, free, work: as `slopes` has them.
        table: of `CompiledForces`; empty where efforts alone act.
        places: arrays of positions, velocities and forces for the table, each with 0 or 3 numbers
            of the base and n of the joints; and the held efforts that the table names.
        y: state (13 + 2 n,).
        acting: held efforts (n,).
        h: step [s].
        count: of steps.
        order: of the method: 1, semi-implicit Euler, or 4, Runge-Kutta.
        lower, upper: limits of the joints (n,).
    """
    n, size = acting.shape[0], y.shape[0]
    rates = Q + n
    wrench, matrix, right = np.zeros(6), np.empty((6, 6)), np.empty(6)
    slope, mean, stage, now = np.zeros(size), np.empty(size), np.empty(size), np.empty(size)
    stopped = False
    for _ in range(count):
        stopped = stopped or _look_ahead(y, n, 2.0 * h, lower, upper)
        _fill_slope(tree, body, free, work, table, places, y, acting, wrench, matrix, right, slope)
        # Semi-implicit Euler: v' = v + h a, then x' = x + h v'; `slope` gets v', and 0 for rates.
        if order == 1:
            for i in range(rates, size):
                y[i] += h * slope[i]
            for i in range(3):
                slope[i] = y[rates + i]
            for j in range(n):
                slope[Q + j] = y[rates + 6 + j]
            for i in range(rates):
                now[i] = y[i]
            for i in range(rates, size):
                slope[i], now[i] = 0.0, y[i]
            _move(now, slope, now, h, y)
            continue
        # Runge-Kutta: the mean of four slopes with weights 1/6, 1/3, 1/3, 1/6. The base turns at
        # the mean rate of yaw, summed in `spin`.
        for i in range(size):
            mean[i], now[i] = slope[i] / 6.0, y[i]
        spin = y[rates + 5] / 6.0
        for k in range(3):
            fraction = 1.0 if k == 2 else 0.5
            _move(y, slope, now, fraction * h, stage)
            for i in range(size):
                y[i] = stage[i]
            _fill_slope(
                tree, body, free, work, table, places, y, acting, wrench, matrix, right, slope
            )
            weight = 1.0 / 6.0 if k == 2 else 1.0 / 3.0
            for i in range(size):
                mean[i] += weight * slope[i]
            spin += weight * y[rates + 5]
        stage[rates + 5] = spin
        _move(stage, mean, now, h, y)
    return stopped or _look_ahead(y, n, 2.0 * h, lower, upper)
