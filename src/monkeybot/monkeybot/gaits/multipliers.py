"""Stability of gaits: Poincare maps, their monodromy matrices and Floquet multipliers.

One gait maps the state at its start to that at its end, x -> P(x), each in the frame of the hand
that holds. For a gait that repeats, a small deviation dx becomes dP/dx dx after one gait. So the
gait is stable if all eigenvalues of the monodromy matrix dP/dx, its Floquet multipliers, are inside
the unit circle. The derivative is computed by central differences of fourth order, on motions that
are integrated with a much tighter tolerance than usual.

STEP and FINE may be tuned together: the error of the differences is about FINE / STEP.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from roboaccord.contract import AccordError, Array

from monkeybot.gaits.gait import Gait, evaluate, timed, wrap
from monkeybot.model.parameters import MonkeyBotParameters

STEP = 1e-4  # rad, rad/s: of the differences; their error is its fourth power, 1e-16
FINE = 1e-13  # tolerance of the integrator; divided by STEP an error of 1e-9 of the derivative

Multipliers = NDArray[np.complex128]


def multipliers(
    gait: Gait, parameters: MonkeyBotParameters, start: Array, moved: Sequence[int] = (1, 2, 3)
) -> Multipliers:
    """Return the Floquet multipliers of a gait, from the section where it starts.

    Args:
        gait: a gait that repeats from `start`.
        parameters: of the robot.
        start: (th1, th2, w1, w2) [rad, rad/s].
        moved: indices of the variables of the map. If the gait ends at an event of th1 alone, th1
            is the same at every end, and the other three remain.

    Raises:
        AccordError: if the map has no derivative.
    """
    slope = map_slope(gait, parameters, np.asarray(start, dtype=float))
    return eigenvalues(slope[np.ix_(moved, moved)])


def all_multipliers(
    gait: Gait, parameters: MonkeyBotParameters, start: Array
) -> dict[str, Multipliers]:
    """Return the multipliers of a gait under three modes of control.

    state_triggered   phases end at events. Since the energy at the start is restored in each gait,
                      one of the three multipliers is 1.
    timed             phases end at times of a clock, which starts again at the gait's last event
    clock             phases end at times of a clock alone: four multipliers, of (th1, th2, w1, w2)
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

    f'(x) = (f(x - 2h) - 8 f(x - h) + 8 f(x + h) - f(x + 2h)) / 12h, for each of the variables.

    Raises:
        AccordError: if a motion beside the start misses an event of the gait.
    """
    shifts = np.array([-2.0, -1.0, 1.0, 2.0])
    weights = np.array([1.0, -8.0, 8.0, -1.0]) / (12.0 * STEP)
    # Each of the variables in turn, shifted four times: rows of 16 starts.
    starts = start + STEP * (np.eye(4)[:, None] * shifts[None, :, None]).reshape(-1, 4)
    final = evaluate(gait, parameters, starts, tolerance=FINE).final
    middle = evaluate(gait, parameters, start, tolerance=FINE).final[0]
    final[:, :2] = wrap(final[:, :2] - middle[:2])  # angles may have jumped by a full turn
    if not np.isfinite(final).all():
        failure = "beside its start the gait misses an event that it only grazes"
        raise AccordError(f"{failure}: its return map has no derivative there")
    # Weighted over the shifts s: row d is a variable at the end, column m one at the start.
    return np.asarray(np.einsum("s,msd->dm", weights, final.reshape(4, 4, 4)))


def eigenvalues(matrix: Array) -> Multipliers:
    """Return the eigenvalues of a matrix, the largest first."""
    values = np.linalg.eigvals(matrix)
    return np.asarray(values[np.argsort(-np.abs(values))], dtype=complex)
