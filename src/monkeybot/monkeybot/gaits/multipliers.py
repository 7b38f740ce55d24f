"""Poincare maps of gaits: their monodromy matrices and Floquet multipliers.

From one gait to the next the state, seen from the hand that is held, goes x -> P(x). The gait is
stable if all eigenvalues of dP/dx, its multipliers, are inside the unit circle. The derivative is
taken by central differences of fourth order, on motions integrated far more tightly than usual.

STEP and FINE may be tuned together: the differences lose digits to the tolerance divided by the
step. test_gaits compares multipliers with those of the linearised motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import AccordError, Array

from monkeybot.gaits.gait import Gait, evaluate, timed, wrap
from monkeybot.model.parameters import MonkeyBotParameters

STEP = 1e-4  # rad, rad/s: of the differences, whose error is of its fourth power, 1e-16
FINE = 1e-13  # tolerance of the integrator: 1e-9 of a derivative by such steps

Multipliers = NDArray[np.complex128]


def multipliers(
    gait: Gait, parameters: MonkeyBotParameters, start: Array, moved: Sequence[int] = (1, 2, 3)
) -> Multipliers:
    """Return the Floquet multipliers of a gait, from the section where it starts.

    Args:
        gait: repeats from `start`.
        parameters: of the robot.
        start: (th1, th2, w1, w2).
        moved: those of which the map is; with a gait that ends at an event of th1 alone three.

    Raises:
        AccordError: where the map has no derivative.
    """
    slope = map_slope(gait, parameters, np.asarray(start, dtype=float))
    return eigenvalues(slope[np.ix_(moved, moved)])


def all_multipliers(
    gait: Gait, parameters: MonkeyBotParameters, start: Array
) -> dict[str, Multipliers]:
    """Return the multipliers of a gait under three modes of control.

    `state_triggered`: by its events; `timed`: by the clock, which starts again at its last event;
    `clock`: by the clock alone, four multipliers of (th1, th2, w1, w2). With the first, energy is
    restored to that of each start, so one of them is 1.
    """
    start = np.asarray(start, dtype=float)
    times = evaluate(gait, parameters, start, tolerance=FINE).times[0]
    by_clock = timed(gait, times, clock="pure")
    return {
        "state_triggered": multipliers(gait, parameters, start),
        "timed": multipliers(timed(gait, times), parameters, start),
        "clock": multipliers(by_clock, parameters, start, range(4)),
    }


def map_slope(gait: Gait, parameters: MonkeyBotParameters, start: Array) -> Array:
    """Return the monodromy matrix of a gait (4, 4), by fourth-order finite differences.

    Raises:
        AccordError: where it has none.
    """
    shifts = np.array([-2.0, -1.0, 1.0, 2.0])
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * STEP)
    starts = start + STEP * (np.eye(4)[:, None] * shifts[None, :, None]).reshape(-1, 4)
    final = evaluate(gait, parameters, starts, tolerance=FINE).final
    middle = evaluate(gait, parameters, start, tolerance=FINE).final[0]
    final[:, :2] = wrap(final[:, :2] - middle[:2])
    if not np.isfinite(final).all():
        raise AccordError(
            "beside its start the gait misses an event that it only grazes: its return map has "
            "no derivative there"
        )
    return np.asarray(np.einsum("s,msd->dm", weights, final.reshape(4, 4, 4)))


def eigenvalues(matrix: Array) -> Multipliers:
    """Return the eigenvalues of a matrix, the largest first."""
    values = np.linalg.eigvals(matrix)
    return np.asarray(values[np.argsort(-np.abs(values))], dtype=complex)
