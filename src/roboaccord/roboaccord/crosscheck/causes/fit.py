"""Least squares: sizes of hypotheses that explain residuals, and their intervals.

ROUNDS and SETTLED may be tuned: they limit the work. DEPENDENT must tell a column that depends on
others from one that does not. LAGS may be tuned: over so many blocks residuals may be correlated.

Residuals stand in blocks, of one control period or one window of a log each, in units of what noise
and round-off explain. Columns of the regression, by QR [Gautier 1991], that depend on those before
them are left out: such sizes cannot be told apart. Intervals are those of 95 %, by residuals that
may be correlated within a block and with the next ones [Newey and West 1987].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.hypotheses import BENT, Group, Hypothesis, Sizes

ROUNDS = 8  # of Gauss and Newton
SHORTENED = 3  # of their steps, where residuals bend
SETTLED = 1e-2, 1e-4  # of a square of the noise, and of what is left: less is no progress
DEPENDENT = 1e-7  # of a column: what those before it leave
FAR = 1.0  # m or rad: no such error is larger
LAGS = 3
MOST_BEGUN = 8  # hypotheses
INTERVAL = 1.96  # of 95 % of a normal distribution, in standard errors


class Prior(NamedTuple):
    """What is known of a size beforehand: mean and spread, and bounds."""

    mean: float
    spread: float
    low: float
    high: float


class Problem(ABC):
    """Predict residuals under hypotheses; it never changes, and another is made of it instead."""

    @property
    def beside(self) -> Mapping[Hypothesis, Prior]:
        """What is fitted beside any hypothesis."""
        return {}

    @property
    @abstractmethod
    def independent(self) -> int:
        """Number of residuals that are independent of each other."""

    @abstractmethod
    def residuals(self, sizes: Sizes) -> Array:
        """Return residuals over what noise explains (b, r), with sizes in force.

        Raises:
            AccordError: for a model that cannot be.
        """

    @abstractmethod
    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> Mapping[Hypothesis, Array]:
        """Return how residuals change with sizes (b, r); none that do nothing."""

    @abstractmethod
    def groups(self) -> list[Group]:
        """Return the hypotheses, in the order of names."""

    @abstractmethod
    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        """Yield hypotheses of which a fit must begin at one of some sizes."""

    @abstractmethod
    def variants(self) -> Iterator[tuple[Cause, Self]]:
        """Yield problems in which an error without a size is undone."""

    @abstractmethod
    def part(self, which: slice) -> Self:
        """Return the problem of some of its blocks."""

    def halves(self, count: int) -> tuple[Self, Self] | None:
        """Return the problems of both halves of so many blocks; None where there is one alone."""
        middle = (count + 1) // 2
        return (self.part(slice(middle)), self.part(slice(middle, count))) if count > 1 else None

    def few(self) -> Self:
        """Return the problem of the blocks at which variants and starts are tried first."""
        return self

    @abstractmethod
    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit leaves so little, or so many times that, that it may be named."""

    @abstractmethod
    def adds(self, before: Fit, fit: Fit) -> bool:
        """Return whether a fit with more causes leaves so much less that these matter."""

    @property
    def most_begun(self) -> int:
        """How many hypotheses that begin at one of some sizes are fitted."""
        return MOST_BEGUN

    def least(self, one: Hypothesis) -> float:
        """Return what a size is more than, in any robot."""
        return -np.inf

    def searches(self, plain: Fit) -> bool:
        """Return whether hypotheses that begin at one of some sizes are tried."""
        return True

    def worth(self, left: float, least: float, plain: float) -> bool:
        """Return whether a fit is worth its time.

        Args:
            left: squared residuals that it leaves, by regression.
            least, plain: cost of fits so far, and without a cause.
        """
        return True

    def cause(self, fit: Fit, one: Hypothesis) -> Cause:
        """Return what is off by a component of a fit."""
        size, half, axis = fit.sizes[one], fit.half_width(one), one.component
        return Cause(one.quantity, one.where, size, (size - half, size + half), one.unit, axis)


@dataclass(frozen=True)
class Fit:
    """A least-squares fit.

    Args:
        problem: with what has no size undone.
        variant: that error; None where there is none.
        groups: hypotheses, each with its components.
        sizes, deviations: of all components, and of what is fitted beside.
        cost: squared residuals, and what is known beforehand of sizes.
        left: residuals (b, r).
    """

    problem: Problem
    variant: Cause | None = None
    groups: tuple[Group, ...] = ()
    sizes: Sizes = field(default_factory=dict)
    deviations: Sizes = field(default_factory=dict)
    cost: float = np.inf
    left: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def ones(self) -> Group:
        """All components of its hypotheses."""
        return tuple(one for group in self.groups for one in group)

    @property
    def unit(self) -> float:
        """Square of a residual that counts as noise."""
        return max(1.0, self.cost / self.problem.independent)

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Quantities, and their joints or links."""
        mixed = [(self.variant.quantity, self.variant.where)] if self.variant else []
        return tuple(dict.fromkeys([*mixed, *(one[:2] for one in self.ones)]))

    def half_width(self, one: Hypothesis) -> float:
        """Return half the width of the interval of 95 % of a size."""
        return INTERVAL * self.deviations.get(one, 0.0)


def fitted(
    problem: Problem,
    groups: tuple[Group, ...] = (),
    start: Sizes | None = None,
    variant: Cause | None = None,
) -> Fit:
    """Return the fit of hypotheses, by Gauss and Newton; of infinite cost where there is none.

    Args:
        problem: whose residuals.
        groups: hypotheses.
        start: sizes with which it begins; 0 for others.
        variant: of the problem.
    """
    best, beside = Fit(problem, variant, groups), problem.beside
    ones = [*best.ones, *beside]
    known = start or {}
    sizes = {one: known.get(one, beside[one].mean if one in beside else 0.0) for one in ones}
    bends, shortened = any(one.quantity in BENT for one in best.ones), SHORTENED
    for _ in range(ROUNDS + SHORTENED):
        try:
            residuals = problem.residuals(sizes)
            cost = float((residuals**2).sum() + sum(each**2 for each in _prior(beside, sizes)))
            if not cost < best.cost:
                if not (shortened and best.sizes and bends):
                    break
                shortened -= 1
                sizes = {o: 0.5 * (size + best.sizes.get(o, size)) for o, size in sizes.items()}
                continue
            least, share = SETTLED
            settled = best.cost - cost < max(least * max(1.0, cost / residuals.size), share * cost)
            slopes = problem.slopes(ones, sizes)
        except (AccordError, ArithmeticError):
            break
        moved = [one for one in ones if one in slopes]
        if not settled and any(one not in slopes for one in best.ones if sizes[one] == 0.0):
            break
        best = Fit(problem, variant, groups, sizes, {}, cost, residuals)
        if not moved:
            break
        change, inverse = _step(residuals, slopes, best, moved)
        spread = _deviations(np.array([slopes[one] for one in moved]), residuals, inverse)
        best = replace(best, deviations=dict(zip(moved, spread.tolist())))
        if settled:
            break
        sizes = dict(sizes)
        for one, more in zip(moved, change.tolist()):
            far = FAR if one.quantity in BENT and one.unit != "kg" else np.inf
            sizes[one] = float(np.clip(sizes[one] + more, -far, far))
    return best


def _prior(beside: Mapping[Hypothesis, Prior], sizes: Sizes) -> list[float]:
    return [(sizes[one] - prior.mean) / prior.spread for one, prior in beside.items()]


def stacked(fit: Fit, ones: Sequence[Hypothesis], slopes: Mapping[Hypothesis, Array]) -> Array:
    """Return columns (p, m) of slopes, with rows for what is known of sizes beforehand."""
    beside = fit.problem.beside
    rows = [[(one is other) / p.spread for other, p in beside.items()] for one in ones]
    return np.array([np.r_[slopes[one].ravel(), row] for one, row in zip(ones, rows)])


def independent(columns: Array) -> list[int]:
    """Return which columns (p, m) do not depend on those before them, by QR."""
    basis, kept = np.zeros((0, columns.shape[1])), []
    for i, column in enumerate(columns):
        size = float(np.linalg.norm(column))
        for _ in range(2):  # once more for round-off
            column = column - basis.T @ (basis @ column)
        rest = float(np.linalg.norm(column))
        if rest > DEPENDENT * size:
            basis = np.vstack([basis, column / rest])
            kept.append(i)
    return kept


def _step(
    residuals: Array, slopes: Mapping[Hypothesis, Array], fit: Fit, ones: Sequence[Hypothesis]
) -> tuple[Array, Array]:
    """Return the change (p,) of sizes that leaves least, and the inverse of the normal matrix.

    What would go beyond its bounds stands there.
    """
    beside, change = fit.problem.beside, np.zeros(len(ones))
    columns, target = (
        stacked(fit, ones, slopes),
        np.r_[residuals.ravel(), _prior(beside, fit.sizes)],
    )
    free, normal, inverse = independent(columns), columns @ columns.T, np.zeros((len(ones),) * 2)
    size = np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
    while free:
        own = np.ix_(free, free)
        inverse[:] = 0.0
        inverse[own] = np.linalg.pinv((normal / np.outer(size, size))[own], hermitian=True)
        inverse[own] /= np.outer(size, size)[own]
        change[free] = 0.0
        change[free] = (inverse @ -(columns @ target + normal @ change))[free]
        bounds = {i: beside[ones[i]] for i in free if ones[i] in beside}
        now = {i: fit.sizes[ones[i]] + change[i] for i in bounds}
        beyond = [i for i, prior in bounds.items() if not prior.low <= now[i] <= prior.high]
        if not beyond:
            break
        i = beyond[0]
        change[i] += min(max(now[i], bounds[i].low), bounds[i].high) - now[i]
        free.remove(i)
    return change, inverse


def _deviations(columns: Array, residuals: Array, inverse: Array) -> Array:
    """Return standard errors (p,) by residuals that are correlated over blocks, at least by unit.

    Args:
        columns: slopes (p, b, r).
        left: residuals (b, r).
        inverse: of the normal matrix (p, p).
    """
    scores = np.einsum("pbr,br->bp", columns, residuals)
    covariance = scores.T @ scores
    for lag in range(1, min(LAGS, len(scores))):
        both = scores[lag:].T @ scores[:-lag]
        covariance += (1.0 - lag / LAGS) * (both + both.T)
    robust = np.diag(inverse @ covariance @ inverse)
    unit = max(1.0, float((residuals**2).mean()))
    return np.sqrt(np.maximum(robust, unit * np.diag(inverse)))
