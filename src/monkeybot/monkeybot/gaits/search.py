"""Search of gaits: the least error, and gaits that repeat exactly.

`minimise` is the report's method: Nelder and Mead on the error over the rates at the start.
`refine` solves for a periodic gait by Gauss and Newton's steps, from a guess and then from others
along the valley in which the error is small.

NEWTON_STEPS to SMALL may be tuned: wider ones find more from bad guesses, and take longer. PERIODIC
defines what is called periodic and stays. Fields of Minimum, JSON keys of `accord monkeybot gait`,
stay. test_gaits tests the report's numbers, and others computed separately.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

import numpy as np
import scipy
from roboaccord.contract import INLINE, AccordError, Array, Quantity
from roboaccord.numerics import central_slope, newton_steps

from monkeybot.gaits.gait import (
    Evaluation,
    Figures,
    Gait,
    evaluate,
    wrap,
)
from monkeybot.model.parameters import MonkeyBotParameters

FINE = 1e-12  # tolerance of the integrator where digits count
NEWTON_STEPS = 25  # at most, from each guess
LONGEST_STEP = 0.15  # rad/s: what a step of Newton's is cut to, so that it stays in the valley
# rad/s: how far along the valley from the guess Newton's method starts anew, the nearest first.
ALONG_VALLEY = (0.0, 0.2, -0.2, 0.4, -0.4, 0.6, -0.6, 0.8, -0.8, 1.0, -1.0)
SMALL = 1e-6  # rad/s: of the differences; the root of FINE
PERIODIC = 1e-9  # rad, rad/s: a gait that repeats to this is periodic


@dataclass(frozen=True)
class Minimum:
    """A minimum of a gait's error: rates (2,), and how many evaluations it took."""

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
        value = float(evaluate(gait, parameters, x, tolerance=tolerance).error[0])
        return value if np.isfinite(value) else np.inf

    if not np.isfinite(error(np.asarray(rates))):
        raise AccordError(missed(rates))
    best = scipy.optimize.minimize(
        error, rates, method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-18, "maxiter": 4000, "maxfev": 8000},
    )  # fmt: skip
    lowest = evaluate(gait, parameters, best.x, tolerance=tolerance)
    return Minimum(best.x, lowest.figures, int(best.nfev) + 1)


def missed(rates: Array) -> str:
    """Return the message for a start that comes to nothing."""
    w1, w2 = (float(rate) for rate in rates)
    return (
        f"from rates {w1:g} and {w2:g} rad/s the free hand never rises to the line, or no further"
    )


@dataclass(frozen=True)
class Periodic:
    """A gait that repeats: rates (2,) [rad/s], how far it is off, and its evaluation."""

    rates: Array
    residual: float
    evaluation: Evaluation


def refine(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Periodic:
    """Find the rates near by from which a gait repeats exactly, by Gauss and Newton.

    Three conditions (th2, w1, w2 return) for two rates: where energy is restored the third follows.
    The residual has a narrow valley with minima of its own, so if the guess comes to nothing,
    others along the valley are tried, the nearest first.

    Raises:
        AccordError: if none is found.
    """
    guess = np.asarray(rates, dtype=float)

    def residual_at(x: Array) -> Array:
        final = evaluate(gait, parameters, x, tolerance=tolerance).final[0]
        return np.array([float(wrap(final[1])), *(final[2:] - x)])

    slope = central_slope(residual_at, guess, SMALL)
    if not np.isfinite(slope).all():
        raise AccordError(missed(rates))
    valley = np.linalg.svd(slope)[2][1]
    nearest, least = guess, math.inf
    for shift in ALONG_VALLEY:
        x, residual = _newton(residual_at, guess + shift * valley)
        if residual < PERIODIC:
            return Periodic(x, residual, evaluate(gait, parameters, x, tolerance=tolerance))
        if residual < least:
            nearest, least = x, residual
    raise AccordError(
        f"no gait that repeats was found near rates {guess[0]:g} and {guess[1]:g} rad/s: the best, "
        f"{nearest[0]:.5f} and {nearest[1]:.5f}, is {least:.2g} off; try another torque"
    )


def _newton(residual_at: Callable[[Array], Array], x: Array) -> tuple[Array, float]:
    """Return where Newton's steps lead, and the residual there."""
    best, least = x, math.inf
    slope = partial(central_slope, residual_at, steps=SMALL)
    # Steps may lead uphill: downhill alone never leaves the valley's floor.
    for point, r in newton_steps(residual_at, slope, x, longest=LONGEST_STEP, steps=NEWTON_STEPS):
        residual = float(np.linalg.norm(r))
        if least < PERIODIC and not residual < least:
            break
        if residual < least:
            best, least = point, residual
    return best, least
