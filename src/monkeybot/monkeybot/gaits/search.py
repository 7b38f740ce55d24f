"""Search of gaits near a guess: the lowest error, and gaits that repeat exactly.

`minimise` is the report's method: Nelder and Mead's simplex on the error over the rates at the
start. `refine` solves for a gait that repeats, by the method of Gauss and Newton. The error is
small along a narrow valley in the plane of both rates; if the guess leads to nothing, `refine`
starts again from other points along the valley.

NEWTON_STEPS to DIFFERENCE_STEP may be tuned: larger values find gaits from worse guesses, and take
longer. PERIODIC defines which gaits are called periodic, and stays. So do the fields of Minimum,
for `accord monkeybot gait` prints them as JSON keys.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import INLINE, AccordError, Array, Quantity
from roboaccord.numerics import central_slope, newton_steps

from monkeybot.gaits.gait import Evaluation, Figures, Gait, evaluate, wrap
from monkeybot.model.parameters import MonkeyBotParameters

FINE = 1e-12  # tolerance of the integrator in searches: a thousandth of PERIODIC
# The next four constants were measured on 15 guesses, (0.63, 11.21), (0.9, 10.9) and (0.3, 11.8)
# rad/s at 6 to 14 N m, four of which lead to a gait.
#
# Largest number of steps from a start: 10, 25 and 100 find the same gaits, in 1.6, 3.2 and 10 s.
# From 24 guesses at 1 to 15 N m, 10 steps find 3 gaits and 25 find 4.
NEWTON_STEPS = 25
# rad/s: longer steps of Newton's method are shortened, to stay in the valley: 0.05 and 0.15 find
# the same gaits, 0.5 one more.
LONGEST_STEP = 0.15
# rad/s: distances along the valley from the guess at which the method starts, the nearest first,
# for guesses that are off by up to 1 rad/s. The four gaits are found from the first of them.
ALONG_VALLEY = (0.0, 0.2, -0.2, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8, 1.0, -1.0)
# rad/s: step of the central differences, the root of FINE; 1e-4 and 1e-8 do the same.
DIFFERENCE_STEP = 1e-6
# rad, rad/s: a gait whose residual is below this is called periodic: a thousand times the error of
# the integrator, and far below what a motion shows
PERIODIC = 1e-9


@dataclass(frozen=True)
class Minimum:
    """A minimum of a gait's error: rates (2,), figures, and the number of evaluations."""

    rates: Annotated[Array, Quantity("rad/s", form=".8f")]
    figures: Figures = field(metadata=INLINE)
    evaluations: Annotated[int, Quantity("")]


def minimise(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Minimum:
    """Minimise a gait's error over the rates at the start, by Nelder and Mead as in the report.

    Raises:
        AccordError: for a start that misses an event.
    """

    def error(x: Array) -> float:
        """Return the error from rates x (2,) [rad/s], infinite if an event is missed."""
        value = float(evaluate(gait, parameters, x, tolerance=tolerance).error[0])
        return value if np.isfinite(value) else np.inf

    if not np.isfinite(error(np.asarray(rates))):
        raise AccordError(missed(rates))
    options = {"xatol": 1e-10, "fatol": 1e-18, "maxiter": 4000, "maxfev": 8000}
    best = scipy.optimize.minimize(error, rates, method="Nelder-Mead", options=options)
    lowest = evaluate(gait, parameters, best.x, tolerance=tolerance)
    return Minimum(best.x, lowest.figures, int(best.nfev) + 1)


def missed(rates: Array) -> str:
    """Return the message for a start from which the gait misses an event."""
    w1, w2 = (float(rate) for rate in rates)
    failure = "the free hand never rises to the line, or no further"
    return f"from rates {w1:g} and {w2:g} rad/s {failure}"


@dataclass(frozen=True)
class Periodic:
    """A gait that repeats: rates (2,) [rad/s], residual [rad, rad/s], and its evaluation."""

    rates: Array
    residual: float
    evaluation: Evaluation


def refine(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Periodic:
    """Find the rates near a guess from which a gait repeats exactly, by Gauss and Newton.

    There are three conditions, that th2, w1 and w2 return to their values, for two rates; if the
    gait restores the energy, the third condition follows from the others. The norm of the residual
    has a narrow valley with local minima. If the guess leads into one, the search starts again
    along the valley, the nearest points first.

    Raises:
        AccordError: if no gait is found.
    """
    guess = np.asarray(rates, dtype=float)

    def residual_at(x: Array) -> Array:
        """Return what does not repeat from rates x (2,): th2 [rad], w1 and w2 [rad/s]."""
        final = evaluate(gait, parameters, x, tolerance=tolerance).final[0]
        return np.array([float(wrap(final[1])), *(final[2:] - x)])

    slope = central_slope(residual_at, guess, DIFFERENCE_STEP)
    if not np.isfinite(slope).all():
        raise AccordError(missed(rates))
    # The valley's direction is that in which the residual changes least, the last singular vector.
    valley = np.linalg.svd(slope)[2][-1]
    nearest, least_residual = guess, math.inf
    for shift in ALONG_VALLEY:
        x, residual = _newton(residual_at, guess + shift * valley)
        if residual < PERIODIC:
            return Periodic(x, residual, evaluate(gait, parameters, x, tolerance=tolerance))
        if residual < least_residual:
            nearest, least_residual = x, residual
    rates_text = f"rates {guess[0]:g} and {guess[1]:g} rad/s"
    best = f"{nearest[0]:.5f} and {nearest[1]:.5f}, is {least_residual:.2g} off; try another torque"
    raise AccordError(f"no gait that repeats was found near {rates_text}: the best, {best}")


def _newton(residual_at: Callable[[Array], Array], x: Array) -> tuple[Array, float]:
    """Return the best point that Newton's steps reach from x, and the residual's norm there."""
    best_point, least_residual = x, math.inf
    slope = partial(central_slope, residual_at, steps=DIFFERENCE_STEP)
    # Steps may also increase the residual: steps that only decrease it stay in a local minimum.
    steps = newton_steps(residual_at, slope, x, longest=LONGEST_STEP, steps=NEWTON_STEPS)
    for point, residuals in steps:
        residual = float(np.linalg.norm(residuals))
        if least_residual < PERIODIC and not residual < least_residual:
            break
        if residual < least_residual:
            best_point, least_residual = point, residual
    return best_point, least_residual
