"""Steps of a twin as one kernel, for bases that do not tilt; `Twin` takes others in Python.

Nothing here may be tuned: each line must stay equal to its counterpart in twin.py and
twin_coordinates.py, and test_scheme compares the two. A new scheme is either written here, too, or
excluded by `Twin._compiles`.

The coordinates are those of `articulated.slopes`: position, quaternion and joints of the tree, then
linear and angular velocity in the world and the joints' rates.
"""

from __future__ import annotations

import numpy as np

from roboaccord.description.articulated import slopes
from roboaccord.description.bodies import Q
from roboaccord.engines.compiled import apply_forces
from roboaccord.numerics.jit import kernel


@kernel
def _fill_slope(tree, body, free, work, table, places, y, acting, wrench, matrix, right, slope):
    """Fill the rates of a state, under held efforts and the forces of a table, if it has any."""
    n = acting.shape[0]
    effort = acting
    if table.shape[0] > 0:
        positions, velocities, forces, _ = places
        size, v = positions.shape[0] - n, Q + n
        if size == 3:
            x, y_, z, w = y[3], y[4], y[5], y[6]
            positions[0], positions[1] = y[0], y[1]
            positions[2] = np.arctan2(2.0 * (w * z + x * y_), 1.0 - 2.0 * (y_ * y_ + z * z))
            velocities[0], velocities[1], velocities[2] = y[v], y[v + 1], y[v + 5]
        for j in range(n):
            positions[size + j], velocities[size + j] = y[Q + j], y[v + 6 + j]
        apply_forces(table, positions, velocities, forces)
        if size == 3:
            wrench[3], wrench[4], wrench[2] = forces[0], forces[1], forces[2]
        effort = forces[size:]
    slopes(tree, body, free, work, y, effort, wrench, matrix, right, slope)


@kernel
def _move(y, slope, start, h, end):
    """Fill a state h [s] after a start, at the rates of another one; the base turns about z."""
    for i in range(y.shape[0]):
        end[i] = start[i] + h * slope[i]
    half = 0.5 * h * y[Q + (y.shape[0] - 13) // 2 + 5]
    c, s = np.cos(half), np.sin(half)
    a, b, k, r = start[3], start[4], start[5], start[6]
    end[3], end[4], end[5], end[6] = c * a - s * b, c * b + s * a, c * k + s * r, c * r - s * k


@kernel
def _look_ahead(y, n, ahead, lower, upper):
    """Return whether a joint is beyond its stop, or would be after `ahead` [s]."""
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
        others: as of `advance_twin`.
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
        places: arrays of positions, velocities and forces that it works on, 0 or 3 of the base.
        y: state (13 + 2 n,).
        acting: held efforts (n,).
        h: step [s].
        count: of steps.
        order: 1 or 4.
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
