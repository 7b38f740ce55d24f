"""Least-squares fit of hypotheses to residuals: sizes of errors and their 95 % intervals.

A hypothesis names one number that may be wrong, such as the mass of a link; its size is by how much
it is. A `Problem` predicts residuals for given sizes: predicted less recorded states, in units of
what noise and round-off explain. They come in b blocks, of one control period or one window of a
log each, with r residuals. `fitted` finds the sizes that minimise the cost, the sum of squared
residuals, by the method of Gauss and Newton. Columns of the regression that depend on those before
them, by QR [Gautier 1991], are omitted: their sizes cannot be told apart from the others'.
Intervals allow for residuals that are correlated within a block and with the next blocks [Newey and
West 1987].

search.py decides what is fitted. MAX_ITERATIONS, MAX_HALVINGS, SETTLED_... and CORRELATED_BLOCKS
may be tuned: in the three errors of explain.py names stay with these and MOST_BEGUN halved and
doubled, and with SETTLED_..., DEPENDENT_NORM and LARGEST_LENGTH a fifth and five times as large.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Self

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.hypotheses import NONLINEAR, Group, Hypothesis, Sizes

# Iterations of Gauss and Newton: each squares the error near a solution, so five settle it.
MAX_ITERATIONS = 8
# Halvings of a step in all, where residuals are not linear in the sizes: down to an eighth. Half
# and twice as many lead to the same names (above).
MAX_HALVINGS = 3
# Decrease of the cost below which a fit has settled, in squared noise, and relative to the cost: it
# moves a size by a tenth of its standard error.
SETTLED_NOISE, SETTLED_SHARE = 1e-2, 1e-4
# Promised decrease below which a step is not taken, relative to the one above: the step after it
# would promise about as much squared.
WORTHWHILE_GAIN = 1e-2
# Norm that the columns before leave of a column, relative to its norm, below which it depends on
# them. Above the square root of a rounding (1.5e-8), as normal matrices square the remainder.
DEPENDENT_NORM = 1e-7
LARGEST_LENGTH = 1.0  # bound of a fitted length or angle [m or rad]; no robot has a larger error
# Units of payloads and effort limits, whose size is that of the robot.
UNBOUNDED_UNITS = ("kg", "N m")
# Number of blocks over which residuals may be correlated, of 100: of n blocks it is
# 4 (n / 100)^(2/9), 2.5 of 12 ticks and 5 of 300 windows [Newey and West 1994].
CORRELATED_BLOCKS = 4.0
# Largest number of hypotheses whose fit begins at a size other than 0: limits the work, as
# MOST_FITTED of search.py. Half and twice as many lead to the same names (above).
MOST_BEGUN = 8
INTERVAL_95 = 1.96  # half the 95 % interval of a normal distribution [standard errors]


class Prior(NamedTuple):
    """Knowledge of a size before the fit, all in the unit of the size.

    Args:
        mean: most probable value.
        spread: standard deviation.
        low, high: bounds.
    """

    mean: float
    spread: float
    low: float
    high: float


class Problem(ABC):
    """Residuals to explain, and the hypotheses that may explain them; immutable.

    Attributes:
        most_begun: largest number of hypotheses that are fitted from a size other than 0.
    """

    most_begun: ClassVar[int] = MOST_BEGUN

    @property
    def nuisance(self) -> Mapping[Hypothesis, Prior]:
        """Nuisance parameters: fitted together with any hypothesis, with their priors."""
        return {}

    @property
    @abstractmethod
    def independent(self) -> int:
        """Number of residuals that are independent of each other."""

    @abstractmethod
    def residuals(self, sizes: Sizes) -> Array:
        """Return the residuals (b, r) of a model with errors of given sizes, over the noise.

        Args:
            sizes: size of each hypothesis; 0 of those that are missing.

        Raises:
            AccordError: for sizes of which no model can be made.
        """

    @abstractmethod
    def slopes(self, ones: Sequence[Hypothesis], at: Sizes) -> Mapping[Hypothesis, Array]:
        """Return the derivatives (b, r) of the residuals by the sizes of some hypotheses.

        Hypotheses that change nothing are missing.

        Args:
            ones: the hypotheses.
            at: sizes at which the derivatives are taken.
        """

    @abstractmethod
    def groups(self) -> list[Group]:
        """Return all hypotheses by groups of components, in the order in which they are named."""

    @abstractmethod
    def starts(self) -> Iterator[tuple[Group, Sequence[float]]]:
        """Yield hypotheses whose fit must not begin at 0, each with the sizes to begin at."""

    @abstractmethod
    def variants(self) -> Iterator[tuple[Cause, Self]]:
        """Yield errors without a size, such as swapped columns, and the problem with it undone."""

    @abstractmethod
    def subset(self, blocks: slice) -> Self:
        """Return the problem of a slice of the blocks."""

    def halves(self, count: int) -> tuple[Self, Self] | None:
        """Return the problems of both halves of `count` blocks; None for a single block."""
        if count < 2:
            return None
        middle = (count + 1) // 2
        return self.subset(slice(middle)), self.subset(slice(middle, count))

    def trial(self) -> Self:
        """Return the problem of the few blocks on which variants and starts are tried first."""
        return self

    @abstractmethod
    def explains(self, plain: Fit, fit: Fit, times: float) -> bool:
        """Return whether a fit explains enough to be named.

        Args:
            plain: fit without a cause.
            fit: fit with causes.
            times: factor by which the fit may leave more than usual, as on held-out blocks.
        """

    @abstractmethod
    def adds(self, before: Fit, fit: Fit) -> bool:
        """Return whether a fit with more causes leaves so much less that these matter."""

    def promises(self, plain: Fit, before: Fit, fit: Fit) -> bool:
        """Return whether another cause may explain what a fit leaves.

        Args:
            plain: fit without a cause.
            before: fit with one cause less.
            fit: with the causes so far.
        """
        return True

    def least(self, one: Hypothesis) -> float:
        """Return the smallest possible size of a hypothesis, beside its physical bounds."""
        return -np.inf

    def searches(self, plain: Fit) -> bool:
        """Return whether hypotheses of `starts` are tried, by the fit without a cause."""
        return True

    def worth(self, left: float, least: float, plain: float) -> bool:
        """Return whether a fit is worth its time.

        Args:
            left: squared residuals that linear regression predicts for the fit.
            least: smallest cost of the fits so far.
            plain: cost without a cause.
        """
        return True

    def cause(self, fit: Fit, one: Hypothesis) -> Cause:
        """Return the cause that a component of a fit stands for, with size and interval."""
        size, half, axis = fit.sizes[one], fit.half_width(one), one.component
        return Cause(one.quantity, one.where, size, (size - half, size + half), one.unit, axis)


@dataclass(frozen=True)
class Fit:
    """A least-squares fit of hypotheses.

    Args:
        problem: that was fitted; for a variant the problem with that error undone.
        variant: error without a size; None for none.
        groups: fitted hypotheses, each with its components.
        sizes: fitted sizes of all components and of the nuisance parameters.
        deviations: standard errors of those sizes.
        cost: sum of squared residuals and of squared deviations from prior means.
        residuals: that the fit leaves (b, r).
    """

    problem: Problem
    variant: Cause | None = None
    groups: tuple[Group, ...] = ()
    sizes: Sizes = field(default_factory=dict)
    deviations: Sizes = field(default_factory=dict)
    cost: float = np.inf
    residuals: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def components(self) -> Group:
        """All components of the fitted hypotheses."""
        return tuple(one for group in self.groups for one in group)

    @property
    def unit(self) -> float:
        """Squared residual that counts as noise: 1, or the mean square of the fit if larger."""
        return max(1.0, self.cost / self.problem.independent)

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Quantity and joint or link of each of its causes, without the axis."""
        of_variant = [(self.variant.quantity, self.variant.where)] if self.variant else []
        return tuple(dict.fromkeys([*of_variant, *[one.parameter for one in self.components]]))

    def half_width(self, one: Hypothesis) -> float:
        """Return half the width of the 95 % interval of a size."""
        return INTERVAL_95 * self.deviations.get(one, 0.0)


def fitted(
    problem: Problem,
    groups: tuple[Group, ...] = (),
    start: Sizes | None = None,
    variant: Cause | None = None,
    residuals: Array | None = None,
) -> Fit:
    """Return the fit of hypotheses by the method of Gauss and Newton.

    A step that does not lower the cost ends the fit; where residuals are not linear in a size, the
    step is halved first, up to MAX_HALVINGS times in all. The cost is infinite if no fit exists.

    Args:
        problem: whose residuals are fitted.
        groups: hypotheses.
        start: sizes at which the fit begins; 0 for others.
        variant: error without a size that is undone in the problem.
        residuals: at the start (b, r), if they are known.
    """
    best, priors = Fit(problem, variant, groups), problem.nuisance
    hypotheses = [*best.components, *priors]  # h below is one of them
    # Begin at `start`, else at the mean of a prior, else at 0.
    begin = {**{h: prior.mean for h, prior in priors.items()}, **(start or {})}
    sizes = {h: begin.get(h, 0.0) for h in hypotheses}
    is_nonlinear = any(h.quantity in NONLINEAR for h in best.components)
    halvings = MAX_HALVINGS  # that remain
    for _ in range(MAX_ITERATIONS + MAX_HALVINGS):
        try:
            # Cost at the present sizes; if it did not fall, halve the step or stop.
            residuals = problem.residuals(sizes) if residuals is None else residuals
            cost = float((residuals**2).sum() + sum(d**2 for d in _prior(priors, sizes)))
            if not cost < best.cost:
                if not (halvings and best.sizes and is_nonlinear):
                    break
                halvings, residuals = halvings - 1, None
                sizes = {h: 0.5 * (size + best.sizes.get(h, size)) for h, size in sizes.items()}
                continue
            mean_square = max(1.0, cost / residuals.size)
            small_decrease = max(SETTLED_NOISE * mean_square, SETTLED_SHARE * cost)
            is_settled = best.cost - cost < small_decrease
            slopes = problem.slopes(hypotheses, sizes)
        except (AccordError, ArithmeticError):
            break
        # A component without effect at size 0 cannot be fitted; others may stay as they are.
        acting = [h for h in hypotheses if h in slopes]
        if not is_settled and any(h not in slopes for h in best.components if sizes[h] == 0.0):
            break
        best = Fit(problem, variant, groups, sizes, {}, cost, residuals)
        if not acting:
            break
        # The next step, and the standard errors of the sizes so far.
        step = _step(residuals, slopes, best, acting)
        errors = _deviations(np.array([slopes[h] for h in acting]), residuals, step.inverse)
        best = replace(best, deviations=dict(zip(acting, errors.tolist())))
        if is_settled or step.gain < WORTHWHILE_GAIN * small_decrease:
            break
        sizes, residuals = dict(sizes), None
        for hypothesis, change in zip(acting, step.changes.tolist()):
            is_bounded = hypothesis.quantity in NONLINEAR and hypothesis.unit not in UNBOUNDED_UNITS
            bound = LARGEST_LENGTH if is_bounded else np.inf
            sizes[hypothesis] = float(np.clip(sizes[hypothesis] + change, -bound, bound))
    return best


def _prior(priors: Mapping[Hypothesis, Prior], sizes: Sizes) -> list[float]:
    """Return the deviations of sizes from their prior means, in prior standard deviations."""
    return [(sizes[h] - prior.mean) / prior.spread for h, prior in priors.items()]


def stacked(fit: Fit, group: Sequence[Hypothesis], slopes: Mapping[Hypothesis, Array]) -> Array:
    """Return the columns (p, m) of the regression: slopes, extended by rows for the priors.

    A prior counts as a further residual, the deviation from its mean in standard deviations.

    Args:
        fit: whose problem has the priors.
        group: hypotheses of the columns (p,).
        slopes: derivatives of the residuals (b, r), by hypothesis.
    """
    priors = fit.problem.nuisance
    rows = [[(h is known) / prior.spread for known, prior in priors.items()] for h in group]
    columns = [slopes[h].ravel() for h in group]
    return np.hstack([columns, np.reshape(rows, (len(group), len(priors)))])


def independent(columns: Array) -> list[int]:
    """Return indices of the columns (p, m) that do not depend on those before, by Gram-Schmidt."""
    basis, indices = np.zeros((0, columns.shape[1])), []
    for i, column in enumerate(columns):
        norm = float(np.linalg.norm(column))
        for _ in range(2):  # once more for round-off
            column = column - basis.T @ (basis @ column)
        remaining_norm = float(np.linalg.norm(column))
        if remaining_norm > DEPENDENT_NORM * norm:
            basis = np.vstack([basis, column / remaining_norm])
            indices.append(i)
    return indices


class GaussNewtonStep(NamedTuple):
    """A step of Gauss and Newton.

    Args:
        changes: of the sizes (p,).
        inverse: of the normal matrix (p, p).
        gain: decrease of the cost that the step promises.
    """

    changes: Array
    inverse: Array
    gain: float


def _step(
    residuals: Array, slopes: Mapping[Hypothesis, Array], fit: Fit, group: Sequence[Hypothesis]
) -> GaussNewtonStep:
    """Return the step of Gauss and Newton.

    A size that the step would move beyond the bounds of its prior stays at that bound. All follows
    from the factor R of a QR decomposition of the columns and the residuals.

    Args:
        residuals: (b, r).
        slopes: derivatives of the residuals (b, r), by hypothesis.
        fit: with the sizes before the step.
        group: hypotheses whose sizes change (p,).
    """
    priors, change = fit.problem.nuisance, np.zeros(len(group))
    target = np.r_[residuals.ravel(), _prior(priors, fit.sizes)]
    columns = np.asarray(np.linalg.qr(np.vstack([stacked(fit, group, slopes), target]).T, "r")).T
    columns, target = columns[:-1], columns[-1]
    free = independent(columns)  # rows of sizes that may still change
    normal = columns @ columns.T
    inverse = np.zeros_like(normal)
    norms = np.sqrt(np.maximum(np.diag(normal), np.finfo(float).tiny))
    while free:
        # Solve for the free sizes, with columns scaled to unit length.
        block = np.ix_(free, free)
        inverse[:] = 0.0
        inverse[block] = np.linalg.pinv((normal / np.outer(norms, norms))[block], hermitian=True)
        inverse[block] /= np.outer(norms, norms)[block]
        change[free] = 0.0
        change[free] = (inverse @ -(columns @ target + normal @ change))[free]
        # Fix the first size that would leave the bounds of its prior, and solve again for others.
        bounds = {row: priors[group[row]] for row in free if group[row] in priors}
        moved = {row: fit.sizes[group[row]] + change[row] for row in bounds}
        beyond = [row for row, prior in bounds.items() if not prior.low <= moved[row] <= prior.high]
        if not beyond:
            break
        row = beyond[0]
        change[row] += min(max(moved[row], bounds[row].low), bounds[row].high) - moved[row]
        free.remove(row)
    gain = -float(change @ (columns @ target + 0.5 * normal @ change) * 2.0)
    return GaussNewtonStep(change, inverse, gain)


def _deviations(columns: Array, residuals: Array, inverse: Array) -> Array:
    """Return standard errors (p,) of sizes, of residuals that are correlated over blocks.

    They are at least those of independent residuals. Source: Newey and West 1987, with Bartlett
    weights 1 - lag / lags.

    Args:
        columns: slopes (p, b, r).
        residuals: (b, r).
        inverse: of the normal matrix (p, p).
    """
    scores = np.einsum("pbr,br->bp", columns, residuals)
    covariance = scores.T @ scores
    lags = CORRELATED_BLOCKS * (len(scores) / 100.0) ** (2.0 / 9.0)
    for lag in range(1, min(int(np.ceil(lags)), len(scores))):
        products = scores[lag:].T @ scores[:-lag]
        covariance += (1.0 - lag / lags) * (products + products.T)
    variances = np.diag(inverse @ covariance @ inverse)
    noise = max(1.0, float((residuals**2).mean()))
    return np.sqrt(np.maximum(variances, noise * np.diag(inverse)))
