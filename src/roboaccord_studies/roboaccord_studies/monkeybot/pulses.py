"""Gaits of short pulses: many schedules closed at once, each by Newton's method.

The MonkeyBot is a brachiating robot: two links, a motor at the elbow and a switchable magnet at
each hand, by which it swings along a wall. In a gait of pulses the motor is on for a few short
intervals after each change of hands, and hands change by the clock. If such a gait is horizontal,
each step begins with both hands level, th2 = -pi - 2 th1. So three numbers of the start are
unknown, and a factor on all torques; the gait repeats, P(x) = x, if four equations hold. `close`
solves them for many schedules together, with one simulation for the values and the differences of
all (monkeybot/model/ensemble.py, so without friction and for links of equal length);
`spectral_radii` tells which of these gaits are stable. `orbits.find_orbit` makes one exact.

STEPS, LONGEST_STEP and GATES trade speed against how many starts lead to a gait.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from monkeybot.gaits.gait import full_starts, wrap
from monkeybot.model import hybrid
from monkeybot.model.parameters import MonkeyBotParameters
from roboaccord.contract import Array

TOLERANCE = 1e-10  # of the integrator, a thousandth of CLOSED
# rad, rad/s, 1: step of forward differences. Their error, 1e-5, only slows Newton's method.
DIFFERENCE_STEP = 1e-5
# rad, rad/s: step of the central differences for the multipliers: errors of 1e-8 by truncation, and
# of TOLERANCE / 1e-4 = 1e-6.
CENTRAL_STEP = 1e-4
CLOSED = 1e-7  # rad, rad/s: largest residual of a gait that repeats
STEPS = 12  # of Newton's method
# rad, rad/s, 1: longer steps are shortened, as in find.py.
LONGEST_STEP = 0.3
# Largest residual after a number of steps, beyond which a start is given up. Without any, 15 to
# 20 % more random starts lead to a gait.
GATES = {5: 1.0, 8: 0.1}
LARGEST_RATE = 15.0  # rad/s: beyond it a start is given up; the report's gait reaches 11
LARGEST_FACTOR = 3.0  # on the torques; beyond it a start is given up
SINGULAR = 1e-10  # determinant below which the derivative has no inverse


class Closed(NamedTuple):
    """What Newton's method made of k guesses.

    Args:
        unknowns: th1, w1, w2 right after a change of hands, and the factor on the torques (k, 4).
        residuals: norm of P(x) - x (k,); infinite or NaN where the motion failed.
        strides: to the right [m] (k,).
    """

    unknowns: Array
    residuals: Array
    strides: Array


def phases_of(period: Array, pulses: Array) -> Array:
    """Return k schedules as the kernels take them (k, 2 n + 1, 11).

    Args:
        period: from one change of hands to the next (k,) [s].
        pulses: start [s], stop [s] and torque [N m] of n pulses after the change (k, n, 3).
    """
    k, n, _ = pulses.shape
    edges = np.column_stack([np.zeros(k), pulses[:, :, :2].reshape(k, 2 * n), period])
    phases = np.tile(hybrid.Phase().row, (k, 2 * n + 1, 1))
    phases[:, :, hybrid.DURATION] = np.diff(edges)
    phases[:, 1::2, hybrid.TORQUE] = pulses[:, :, 2]
    phases[:, -1, hybrid.THEN] = hybrid.CHANGE
    return phases


def starts_of(unknowns: Array) -> Array:
    """Return the starts (th1, th2, w1, w2) with both hands level (k, 4)."""
    th1, w1, w2, _ = unknowns.T
    return np.column_stack([th1, -math.pi - 2.0 * th1, w1, w2])


def close(parameters: MonkeyBotParameters, phases: Array, unknowns: Array) -> Closed:
    """Look for a horizontal gait near each guess, by Newton's method.

    Args:
        parameters: of the robot.
        phases: of each schedule (k, n, 11).
        unknowns: guesses, as in `Closed` (k, 4).
    """
    z = np.array(unknowns)
    residuals, strides = np.full((2, len(z)), np.inf)
    trying = np.arange(len(z))
    shifts = DIFFERENCE_STEP * np.vstack([np.zeros(4), np.eye(4)])
    for count in range(STEPS):
        at = z[trying] + shifts[:, None]  # (5, k, 4)
        values = np.array(_changes(parameters, phases[trying], at))
        change, norms = values[0, :, :4], np.linalg.norm(values[0, :, :4], axis=1)
        residuals[trying], strides[trying] = norms, values[0, :, 4]
        slopes = ((values[1:, :, :4] - change) / DIFFERENCE_STEP).transpose(1, 2, 0)
        goes_on = np.isfinite(slopes).all((1, 2)) & (norms > 1e-2 * CLOSED)
        goes_on &= (norms < GATES.get(count, math.inf)) & (at[0, :, 3] < LARGEST_FACTOR)
        goes_on &= (np.abs(at[0, :, 1:3]) < LARGEST_RATE).all(axis=1)
        goes_on[goes_on] = np.abs(np.linalg.det(slopes[goes_on])) > SINGULAR
        trying = trying[goes_on]
        if not len(trying):
            break
        steps = np.linalg.solve(slopes[goes_on], -change[goes_on][..., None])[..., 0]
        lengths = np.linalg.norm(steps, axis=1, keepdims=True)
        z[trying] += steps * np.minimum(1.0, LONGEST_STEP / np.maximum(lengths, CLOSED))
    residuals[trying] = math.inf  # their last step is untried
    return Closed(z, residuals, strides)


def spectral_radii(parameters: MonkeyBotParameters, phases: Array, unknowns: Array) -> Array:
    """Return the spectral radius of gaits that repeat (k,); NaN where a motion beside one fails."""
    shifts = CENTRAL_STEP * np.vstack([np.eye(4), -np.eye(4)])
    starts = starts_of(unknowns) + shifts[:, None]  # (8, k, 4)
    ends = _ends(parameters, _scaled(phases, unknowns), starts)
    slopes = ends[:4, :, :4] - ends[4:, :, :4]
    slopes[..., :2] = wrap(slopes[..., :2])
    slopes = (slopes / (2.0 * CENTRAL_STEP)).transpose(1, 2, 0)
    radii = np.full(len(unknowns), np.nan)
    whole = np.isfinite(slopes).all((1, 2))
    radii[whole] = np.abs(np.linalg.eigvals(slopes[whole])).max(axis=1)
    return radii


def _changes(parameters: MonkeyBotParameters, phases: Array, unknowns: Array) -> Array:
    """Return P(x) - x, and the stride, of unknowns (m, k, 4) of k schedules (m, k, 5)."""
    starts = np.array([starts_of(z) for z in unknowns])
    scaled = np.concatenate([_scaled(phases, z) for z in unknowns])
    ends = _ends(parameters, scaled, starts)
    change = ends[..., :4] - starts
    change[..., :2] = wrap(change[..., :2])
    return np.concatenate([change, ends[..., 4:5]], axis=-1)


def _scaled(phases: Array, unknowns: Array) -> Array:
    """Return schedules whose torques have the factors of the unknowns (k, n, 11)."""
    scaled = np.array(phases)
    scaled[:, :, hybrid.TORQUE] *= unknowns[:, 3:]
    return scaled


def _ends(parameters: MonkeyBotParameters, phases: Array, starts: Array) -> Array:
    """Return the states (m, k, 8) after a step from starts (m, k, 4).

    Args:
        parameters: of the robot.
        phases: of each of the m k starts, or of k, which are then repeated (m k or k, n, 11).
        starts: (th1, th2, w1, w2).
    """
    from monkeybot.model.ensemble import run_ensemble  # imports numba

    full = full_starts(starts.reshape(-1, 4))
    count = len(full)
    phases = np.tile(phases, (count // len(phases), 1, 1))
    hands, counts = np.zeros((2, count), dtype=np.int64)
    times, ends = np.empty(phases.shape[:2]), np.empty((count, 8))
    never = hybrid.NEVER_ROW
    run_ensemble(parameters.rows, full, hands, phases, never, TOLERANCE, times, ends, counts)
    return ends.reshape(*starts.shape[:2], 8)
