"""Search of gaits: minimise the error, and refine to one that repeats exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from roboaccord.errors import AccordError
from roboaccord.state import Array
from scipy.optimize import minimize

from monkeybot.gaits import Evaluation, Gait, evaluate, wrap
from monkeybot.parameters import MonkeyBotParameters

FINE = 1e-12  # tolerance of the integrator where digits count
NEWTON_STEPS = 30
PERIODIC = 1e-9  # rad, rad/s: a gait that repeats to this is periodic


@dataclass(frozen=True)
class Minimum:
    """Hold a minimum of a gait's error: rates (2,) [rad/s], and how many evaluations it took."""

    rates: Array
    evaluation: Evaluation
    evaluations: int


def minimise(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Minimum:
    """Minimise a gait's error over the rates at the start, by Nelder and Mead as in the report.

    Raises:
        AccordError: for a start that misses an event.
    """

    def error(x: Array) -> float:
        found = float(evaluate(gait, parameters, x, tolerance=tolerance).error[0])
        return found if np.isfinite(found) else np.inf

    if not np.isfinite(error(np.asarray(rates))):
        raise AccordError(missed(rates))
    best = minimize(
        error, rates, method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-18, "maxiter": 4000, "maxfev": 8000},
    )  # fmt: skip
    found = evaluate(gait, parameters, best.x, tolerance=tolerance)
    return Minimum(best.x, found, int(best.nfev) + 1)


def missed(rates: Array) -> str:
    """Return the line that says that a start comes to nothing."""
    w1, w2 = (float(rate) for rate in rates)
    return (
        f"from rates {w1:g} and {w2:g} rad/s the free hand never rises to the line, or no further"
    )


@dataclass(frozen=True)
class Periodic:
    """Hold a gait that repeats: rates (2,) [rad/s], how far it is off, and its evaluation."""

    rates: Array
    residual: float
    evaluation: Evaluation


def refine(
    gait: Gait, parameters: MonkeyBotParameters, rates: Array, *, tolerance: float = FINE
) -> Periodic:
    """Find the rates near by from which a gait repeats exactly, by Gauss and Newton.

    Three conditions (th2, w1, w2 return) for two rates: where energy is restored the third follows.

    Raises:
        AccordError: if none is found.
    """
    x = np.asarray(rates, dtype=float)
    r = _residual(gait, parameters, x, tolerance)
    if not np.isfinite(r).all():
        raise AccordError(missed(rates))
    for _ in range(NEWTON_STEPS):
        if np.linalg.norm(r) < 1e-13:
            break
        slope = _slope(gait, parameters, x, tolerance)
        step = -np.asarray(np.linalg.lstsq(slope, r, rcond=None)[0], dtype=np.float64)
        if not np.isfinite(step).all():
            break
        x, r, moved = _damped(gait, parameters, x, r, step, tolerance)
        if not moved:
            break
    residual = float(np.linalg.norm(r))
    if not residual < PERIODIC:
        raise AccordError(
            f"no gait that repeats was found near rates {rates[0]:g} and {rates[1]:g} rad/s: "
            f"it is still {residual:.2g} off at {x[0]:.5f} and {x[1]:.5f}; try another torque"
        )
    return Periodic(x, residual, evaluate(gait, parameters, x, tolerance=tolerance))


def _residual(gait: Gait, parameters: MonkeyBotParameters, x: Array, tolerance: float) -> Array:
    final = evaluate(gait, parameters, x, tolerance=tolerance).final[0]
    return np.array([float(wrap(final[1])), *(final[2:] - x)])


def _slope(gait: Gait, parameters: MonkeyBotParameters, x: Array, tolerance: float) -> Array:
    small = 1e-6
    columns = [
        _residual(gait, parameters, x + small * side, tolerance)
        - _residual(gait, parameters, x - small * side, tolerance)
        for side in np.eye(2)
    ]
    return np.array(columns).T / (2.0 * small)


def _damped(
    gait: Gait, parameters: MonkeyBotParameters, x: Array, r: Array, step: Array, tolerance: float
) -> tuple[Array, Array, bool]:
    """Return where a step leads, halved until the residual falls, and whether it did."""
    for _ in range(30):
        new = _residual(gait, parameters, x + step, tolerance)
        if np.isfinite(new).all() and np.linalg.norm(new) < np.linalg.norm(r):
            return x + step, new, True
        step = 0.5 * step
    return x, r, False
