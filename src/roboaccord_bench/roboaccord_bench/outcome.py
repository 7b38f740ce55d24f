"""What errors at falling steps show: an order, a constant, or no limit.

The error of a figure at steps h, h/2, h/4 is L + c h^p (Richardson): p is the order, and L what is
left at step 0. check.py computes both, where halving the step shrinks the differences.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from roboaccord_bench.check import SHRINKS, TOLERANCE, limit

# Least difference between phases that counts. By choice: coefficients of restitution are hardly
# known better.
SPREAD = 0.02
# Largest distance of a constant from the law that explains it: two laws of a problem are 0.054
# apart or more (`pairs`, e = 0.8 and 0.4: geometric and harmonic mean), so less than half of that.
LAW = 0.01
# Share of the last correction by which the limit may be wrong, that of the next power of the step:
# ASYMPTOTIC_SHARE of crosscheck/extrapolation.py.
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
    (left, order), sizes = limit(means), np.abs(means)
    if left is None and sizes[-1] < TOLERANCE and sizes.max() < 10.0 * TOLERANCE:
        left = means[-1]  # small, though by no law
    if left is None:
        grows = sizes[-1] > TOLERANCE and bool(np.all(sizes[1:] > 1.05 * sizes[:-1]))
        return Outcome("worse with a smaller step" if grows else "no limit")
    right = abs(left) <= max(DOUBT * abs(left - means[-1]), TOLERANCE)
    if right and not convention:
        law, name = "", "exact" if order is None else "order"
    else:
        far = {law: abs(1.0 + left - ratio) for law, ratio in (laws or {}).items() if exact}
        law = min((law for law in far if far[law] < LAW), key=far.__getitem__, default="")
        name = "a convention" if convention else "constant"
    return Outcome(name, order, 1.0 + left if exact else None, left if exact else left * scale, law)
