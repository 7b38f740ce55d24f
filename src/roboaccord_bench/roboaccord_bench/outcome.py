"""What errors at falling steps show: an order, a constant, or no limit.

The error of a figure at steps h, h/2, h/4 is L + c h^p (Richardson): p is the order, and L what is
left at step 0. That is asked only where halving the step shrinks the differences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

ROUND_OFF = 1e-3  # of errors: differences below it show neither an order nor its lack
SHRINKS = 0.85  # largest ratio of successive differences from which a limit is computed
SPREAD = 0.02  # least difference between phases that counts
LAW = 0.01  # largest distance of a constant from the law that explains it
# Share of the last correction by which the limit may be wrong.
DOUBT = 0.5


class Outcome(NamedTuple):
    """Outcome of a problem in an engine.

    Attributes:
        outcome: `exact`, `order`, `constant`, `worse with a smaller step`, `depends on where the
            step falls`, `no limit`, `a convention`, or `refused`.
        order: of convergence; None where there is none.
        constant: figure over exact answer at step 0; None where that answer is 0, or there is no
            limit.
        limit: error at step 0, relative or in the problem's unit; None without a limit.
        law: which explains the constant; else "".
    """

    outcome: str
    order: float | None = None
    constant: float | None = None
    limit: float | None = None
    law: str = ""


def judge(
    figures: Sequence[Sequence[float]],
    exact: float,
    *,
    scale: float = 1.0,
    laws: Mapping[str, float] | None = None,
    convention: bool = False,
) -> Outcome:
    """Return the outcome of figures at falling steps, each half the one before.

    Args:
        figures: of each step, one for each phase at which the step may fall.
        exact: answer.
        scale: error that counts as 1 where the exact answer is 0.
        laws: ratios of figure and exact answer under laws that an engine may have instead.
        convention: whether there is no right answer.
    """
    errors = [np.array(row) / exact - 1.0 if exact else np.array(row) / scale for row in figures]
    means = [float(row.mean()) for row in errors]
    spreads = [float(np.ptp(row)) for row in errors]
    if spreads[-1] > max(SPREAD, SHRINKS * spreads[0]):
        return Outcome("depends on where the step falls")
    limit, order, doubt = limit_of(means)
    if limit is None:
        sizes = np.abs(means)
        if sizes[-1] < ROUND_OFF and sizes.max() < 10.0 * ROUND_OFF:
            return Outcome("exact", None, 1.0 + means[-1] if exact else None, means[-1])
        grows = sizes[-1] > ROUND_OFF and bool(np.all(sizes[1:] > 1.05 * sizes[:-1]))
        return Outcome("worse with a smaller step" if grows else "no limit")
    found = Outcome("", order, 1.0 + limit if exact else None, limit if exact else limit * scale)
    near = {law: abs(1.0 + limit - ratio) for law, ratio in (laws or {}).items() if exact}
    law = min(near, key=near.__getitem__) if near else ""
    law = law if law and near[law] < LAW else ""
    if convention:
        return found._replace(outcome="a convention", law=law)
    if abs(limit) > max(doubt, ROUND_OFF):
        return found._replace(outcome="constant", law=law)
    return found._replace(outcome="exact" if order is None else "order")


def limit_of(errors: Sequence[float]) -> tuple[float | None, float | None, float]:
    """Return the error at step 0, the order of convergence, and the doubt about the error.

    The first is None where halving does not shrink the differences; the second where they are too
    small to show an order.
    """
    first, second = (float(change) for change in np.diff(errors)[-2:])
    if not math.isfinite(first + second):
        return None, None, math.inf
    if max(abs(first), abs(second)) < ROUND_OFF:
        return errors[-1], None, ROUND_OFF
    if not 0.0 < second / first < SHRINKS:
        return None, None, math.inf
    order = math.log2(first / second)
    correction = second / (2.0**order - 1.0)
    return errors[-1] + correction, order, max(DOUBT * abs(correction), ROUND_OFF)
