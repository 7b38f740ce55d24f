"""Comparison error and uncertainties of a trajectory, as ASME V&V 20 defines them.

GRID_... are fixed by the grid convergence index [Roache 1998; Eca and Hoekstra 2014]. Names of
`Uncertainty` are keys of summary.json and stay. test_outcomes tests the index.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from roboaccord.contract.results import Quantity

GRID_SAFETY, GRID_UNSURE = 1.25, 3.0  # factors, where the observed order fits or not [Roache 1998]
GRID_LEAST = 0.5  # smallest order; no power law holds below it [Eca and Hoekstra 2014]
GRID_ORDER = 0.9  # share of the scheme's order from which on it fits [Eca and Hoekstra 2014]


@dataclass(frozen=True)
class Uncertainty:
    """Comparison error and uncertainties at the scenario's physics step [ASME V&V 20].

    Args:
        comparison_error: largest distance of any link from the reference, E.
        numerical: effect of the physics step, by the grid convergence index: the extrapolated
            difference of the runs at h and h/2, times 1.25 where the order is the scheme's, else
            times 3.
        input: effect of parameters; 0, since engine and reference read the same description and
            level `acceleration` compares their models.
        data: error of the reference, and effect of round-off on both.
        order: observed order, at most the scheme's.
    """

    comparison_error: Annotated[float, Quantity("m", "comparison error E")]
    numerical: Annotated[float, Quantity("m", "numerical uncertainty")]
    input: Annotated[float, Quantity("m", "input uncertainty")]
    data: Annotated[float, Quantity("m", "data uncertainty")]
    order: Annotated[float, Quantity("1", "of convergence")]


NO_UNCERTAINTY = Uncertainty(np.nan, np.nan, np.nan, np.nan, np.nan)


def uncertainty_of(
    error: float, floor: float, change: float, order: float | None, expected_order: int
) -> Uncertainty:
    """Return comparison error and uncertainties.

    Args:
        error: largest distance of any link from the reference, at the largest step [m].
        floor: of the reference [m].
        change: largest distance of any link between the runs at the two largest steps [m].
        order: that was observed; None where the errors show none.
        expected_order: of the engine's integrator.
    """
    order = min(order or expected_order, expected_order)
    fits = order >= GRID_ORDER * expected_order
    power = 2.0 ** max(order, GRID_LEAST)
    factor = (GRID_SAFETY if fits else GRID_UNSURE) * power / (power - 1.0)
    return Uncertainty(error, factor * change, 0.0, floor, order)
