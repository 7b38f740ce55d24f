"""Search for hypotheses that explain residuals: one cause, then two, then three at once.

A hypothesis is a parameter that may be wrong, and its fit the size of the error that explains the
residuals best (fit.py, which defines the terms). Hypotheses are ranked by what a linear regression
on their slopes (derivatives of the residuals by their sizes) explains, and only the best are
fitted. Hypotheses whose fit must begin at a size other than 0, such as an effort limit, and errors
without a size (variants), such as a swapped column, are tried on a few blocks first. Fits are
ranked by `score` alone, so that names are the same on every CPU (test_round_off). explain.py takes
the fits of each stage from `Search.stages`.

MOST_FITTED, ALWAYS_FITTED and MOST_EXTENDED limit the work; SIGNIFICANT_SIZE and PARAMETER_PENALTY
may be tuned while test_naming, test_scheme and test_own_log, which plant errors, find the same
names. In the three errors of explain.py names stay with the former three halved and doubled, and
with the others a fifth and five times as large, but SIGNIFICANT_SIZE = 20 misses a mass and a gear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations
from typing import NamedTuple

import numpy as np

from roboaccord.contract import AccordError, Array
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted, independent, stacked
from roboaccord.crosscheck.causes.hypotheses import LIMIT, Group, Hypothesis, tested_components
from roboaccord.numerics.ranking import ranked

# Number of the best sets of hypotheses by regression that are fitted, with all that explain the
# same: limits the work. Half and twice as many lead to the same names (above).
MOST_FITTED = 8
# Number of these that are fitted whatever regression predicts, for it is linear: limits the work.
# Half and twice as many lead to the same names (above).
ALWAYS_FITTED = 3
# Number of the best fits of a stage that are extended by another cause, each by all hypotheses:
# limits the work. Half and twice as many lead to the same names (above).
MOST_EXTENDED = 2
# Difference of costs that count as equal, in squared noise: a thousandth tells nothing.
EQUAL_COST = 1e-3
# The same relative to the cost without a cause, of which each of some hundred terms rounds 1e-16.
ROUND_OFF = 1e-14
# Round-off of the squared residuals that a regression explains, relative to all of them: 1e-16 in
# sums of some thousand squares.
REGRESSION_ROUND_OFF = 1e-12
# Effect of an axis, relative to the largest one of the axes of its quantity, below which it has
# none. Where there is none, finite differences leave 1e-12 of a coordinate (PROBE, hypotheses.py).
MIN_EFFECT = 1e-6
# Mean square over that of the noise: residuals up to it may be noise alone. Of 100 independent
# residuals of noise it is larger by chance in 1 of 8e7 cases (chi^2 above 200), of 50 in 1 of 3e4.
NOISE_RATIO = 2.0
# Size in standard errors that is no chance: 6 of 100 000 sizes of nothing are larger.
SIGNIFICANT_SIZE = 4.0
# Penalty of each fitted parameter in the score [squared noise]. The ln(n) of Schwarz's criterion
# (1978) is below it for n up to 22 000 residuals.
PARAMETER_PENALTY = 10.0
# Standard deviation of a prior from which on it says nothing: as BEYOND_ANY_ERROR of resolution.py.
VAGUE_SPREAD = 100.0


class Search:
    """Search for the causes that explain the residuals of a problem.

    Args:
        problem: whose residuals are explained.

    Attributes:
        problem: as above.
        plain: fit without a cause.
        margin: difference up to which two costs count as equal.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.plain = problem, fitted(problem)
        self.margin = max(EQUAL_COST, ROUND_OFF * self.plain.cost)
        # Hypotheses whose fit must not begin at 0, with the sizes to begin at.
        self._starts = [*problem.starts()] if problem.searches(self.plain) else []

    def stages(self) -> Iterator[list[Fit]]:
        """Yield the possible fits of one cause, then of two, then of three, the best first."""
        yield self.single
        # Two causes: pairs by regression, one more beside the best fit of a variant or from a
        # start, and one from a start beside the best fits.
        started = [(group,) for group, _ in self._starts]
        mixed = [fit for fit in self.single if fit.variant or fit.groups in started][:1]
        extended = self._extended(mixed[0], 1) if mixed else []
        for best in self.single[:MOST_EXTENDED]:
            extended += self._from_starts(best)
        pairs = self._ranked([*self._extended(self.plain, 2), *extended])
        yield pairs
        anchors = pairs[:MOST_EXTENDED]
        triples = [[*self._extended(best, 1), *self._from_starts(best)] for best in anchors]
        yield self._ranked([*chain(*triples)])

    @cached_property
    def single(self) -> list[Fit]:
        """The possible fits of one cause, the best first.

        Errors without a size are tried only where no other fit leaves just noise.
        """
        single = self._ranked([*self._from_starts(self.plain), *self._extended(self.plain, 1)])
        if not (single and is_noise(single[0])):
            single = self._ranked([*self._variants(), *single])
        return single

    def _ranked(self, fits: Sequence[Fit]) -> list[Fit]:
        """Return fits of finite score with significant sizes, the best first."""
        return ranked([f for f in fits if np.isfinite(score(f)) and is_sure(f)], score, self.margin)

    def _variants(self) -> Iterator[Fit]:
        """Yield fits with an error without a size undone, if that leaves less of a few blocks."""
        before = sum_of_squares(self.problem.trial().residuals(self.plain.sizes))
        for cause, undone in self.problem.variants():
            try:
                after = sum_of_squares(undone.trial().residuals(self.plain.sizes))
                if after < before:
                    yield fitted(undone, variant=cause)
            except AccordError:  # states in which the robot cannot be
                continue

    def _from_starts(self, anchor: Fit) -> list[Fit]:
        """Return the best fits with one more hypothesis, of those that do not begin at 0.

        Each hypothesis is tried at its starts on a few blocks, where the residuals are replaced by
        their part orthogonal to the slopes of what the anchor fits; the best are fitted to all.

        Args:
            anchor: fit to which the hypothesis is added.
        """
        blocks, problem = self.problem.trial(), self.problem
        # A limit beside another cause clips a few samples, and so would explain any difference.
        excluded = {LIMIT, *(h.quantity for h in anchor.components)} if anchor.groups else {""}
        # Of a variant the samples are others; of few blocks the effects need not add up.
        if anchor.variant or not self._starts or (anchor.groups and blocks is not problem):
            return []
        sizes, free = self._sizes_beside(anchor)
        slopes = [slope.ravel() for slope in blocks.slopes(free, sizes).values()]
        residuals = blocks.residuals(sizes).ravel()
        basis = orthonormal_basis(slopes, residuals.size)
        residuals = orthogonal_part(residuals, basis)
        # The best start of each hypothesis, by what a few blocks leave; linear sizes are free.
        cost_without = float(residuals @ residuals)
        costs, best_sizes = dict[Group, float](), dict[Group, float]()
        for start in self._start_effects:
            remainder = orthogonal_part(residuals + start.effect, basis)
            if len(start.other_slopes):
                others = orthogonal_part(start.other_slopes, basis)
                remainder = orthogonal_part(remainder, orthonormal_basis(others, residuals.size))
            cost = sum_of_squares(remainder)
            is_better = cost < min(cost_without, costs.get(start.group, np.inf))
            if is_better and start.group[0].quantity not in excluded:
                costs[start.group], best_sizes[start.group] = cost, start.size
        # Fit the best of those that leave less than the anchor.
        best = ranked([*best_sizes], costs.__getitem__, REGRESSION_ROUND_OFF * cost_without)
        return [
            fitted(problem, (*anchor.groups, group), {**sizes, group[0]: size})
            for group, size in best_sizes.items()
            if group in best[: problem.most_begun]
        ]

    def _sizes_beside(self, anchor: Fit) -> tuple[dict[Hypothesis, float], list[Hypothesis]]:
        """Return sizes at which the fit of more hypotheses begins, and which of them are free.

        They are those of an anchor, but means of nuisance parameters whose prior says something.
        """
        means = {h: p.mean for h, p in self.problem.nuisance.items() if not p.spread > VAGUE_SPREAD}
        return {**anchor.sizes, **means}, [h for h in anchor.sizes if h not in means]

    @cached_property
    def _start_effects(self) -> list[StartEffect]:
        """Effects of all hypotheses of `starts` on the residuals of a few blocks."""
        blocks = self.problem.trial()
        plain_sizes, _ = self._sizes_beside(self.plain)
        before, effects = blocks.residuals(plain_sizes).ravel(), list[StartEffect]()
        for group, start_sizes in self._starts:
            for size in start_sizes:
                begin = {**plain_sizes, group[0]: size}
                slopes = [slope.ravel() for slope in blocks.slopes(group[1:], begin).values()]
                other_slopes = np.reshape(slopes, (-1, before.size))
                effect = blocks.residuals(begin).ravel() - before
                effects.append(StartEffect(group, size, effect, other_slopes))
        return effects

    def _extended(self, anchor: Fit, count: int) -> list[Fit]:
        """Return fits with `count` hypotheses added to those of a fit, the best by regression.

        Args:
            anchor: fit to which they are added.
            count: 1 or 2.
        """
        effects = self._effects_on_plain if anchor is self.plain else linear_effects(anchor)
        total = float(effects.target @ effects.target)
        round_off = REGRESSION_ROUND_OFF * total
        # Sets of groups, by index: each hypothesis, or each pair with one of the best.
        sets: list[tuple[int, ...]] = [(i,) for i in range(len(effects.groups))]
        # Gain of a set: the part of the squared residuals that it explains.
        gains = {chosen: effects.explained(chosen) for chosen in sets}
        by_gain = ranked(sets, lambda chosen: -gains[chosen], round_off, 0.0)
        if count == 2:
            top = {i for (i,) in by_gain[:MOST_FITTED]}  # the best hypotheses by themselves
            # Two of the same quantity and joint or link could cancel each other.
            pairs = combinations(enumerate(effects.groups), 2)
            sets = [(i, j) for (i, a), (j, b) in pairs if top & {i, j} and a[0][:2] != b[0][:2]]
            gains = {chosen: effects.explained(chosen) for chosen in sets}
            by_gain = ranked(sets, lambda chosen: -gains[chosen], round_off, 0.0)
        # The best sets, and all that explain the same as the best within round-off.
        best = by_gain[:MOST_FITTED]
        for chosen in by_gain[MOST_FITTED:]:
            is_equal = gains[chosen] >= gains[best[0]] - round_off
            if is_equal and effects.explain_the_same(best[0], chosen):
                best.append(chosen)
        # Fit the best sets, but not those that would leave too much.
        problem, fits, lowest = anchor.problem, dict[tuple[int, ...], Fit](), np.inf
        for chosen in best:
            is_worth = problem.worth(total - gains[chosen], lowest, self.plain.cost)
            if len(fits) < ALWAYS_FITTED or is_worth:
                groups = (*anchor.groups, *(effects.groups[i] for i in chosen))
                fit = fitted(problem, groups, anchor.sizes, anchor.variant, anchor.residuals)
                lowest = min(lowest, fit.cost)
                fits[chosen] = fit
        return [fits[chosen] for chosen in sorted(fits)]

    @cached_property
    def _effects_on_plain(self) -> LinearEffects:
        """Linear effects of all hypotheses on the residuals of the fit without a cause."""
        return linear_effects(self.plain)


class StartEffect(NamedTuple):
    """Effect of a hypothesis, at a size to begin at, on m residuals of a few blocks.

    Args:
        group: its components, of which the first has the size.
        size: at which its fit may begin.
        effect: change of the residuals by that size (m,).
        other_slopes: slopes of the other components there (p, m).
    """

    group: Group
    size: float
    effect: Array
    other_slopes: Array


@dataclass(frozen=True)
class LinearEffects:
    """Linear effects of the hypotheses that may be added to a fit.

    Args:
        groups: components of each hypothesis that has an effect.
        rows: rows of `columns` of each group.
        columns: effect of each component on m residuals and prior deviations, of unit length
            (p, m).
        target: residuals of the fit and prior deviations (m,).
    """

    groups: Sequence[Group]
    rows: Sequence[Sequence[int]]
    columns: Array
    target: Array

    @cached_property
    def _products(self) -> tuple[Array, Array]:
        """Products of the columns with each other (p, p) and with the target (p,)."""
        return self.columns @ self.columns.T, self.columns @ self.target

    def rows_of(self, chosen: Sequence[int]) -> list[int]:
        """Return the rows of some groups, given by index."""
        return [row for i in chosen for row in self.rows[i]]

    def explained(self, chosen: Sequence[int]) -> float:
        """Return the part of the squared residuals that some groups explain, by regression."""
        rows, (normal, along) = self.rows_of(chosen), self._products
        sizes = np.linalg.lstsq(normal[np.ix_(rows, rows)], along[rows], rcond=1e-10)[0]
        return float(sizes @ along[rows])

    def explain_the_same(self, chosen: Sequence[int], others: Sequence[int]) -> bool:
        """Return whether the columns of chosen groups span those of other groups."""
        rows, other_rows = self.rows_of(chosen), self.rows_of(others)
        rank = len(independent(self.columns[rows]))
        return len(independent(self.columns[rows + other_rows])) == rank


def linear_effects(anchor: Fit) -> LinearEffects:
    """Return the linear effects of the hypotheses that may be added to a fit.

    What the parameters of the fit explain is removed from columns and residuals.

    Args:
        anchor: fit to which they are added.
    """
    problem, fitted_parameters = anchor.problem, {h.parameter for h in anchor.components}
    groups = [g for g in problem.groups() if not fitted_parameters & {h.parameter for h in g}]
    present = [*anchor.components, *problem.nuisance]
    added = dict.fromkeys(h for group in groups for h in group)
    slopes = problem.slopes([*added, *present], anchor.sizes)
    # Of each group the components that have an effect; a group without any is omitted.
    norms = {h: float(np.linalg.norm(slope)) for h, slope in slopes.items()}
    effective = list[Group]()
    for group in groups:
        largest = max(norms.get(h, 0.0) for h in group)
        if largest:
            effective.append(tuple(h for h in group if norms.get(h, 0.0) > MIN_EFFECT * largest))
    # Residuals and columns, less what the parameters fitted already explain of them.
    hypotheses = [*dict.fromkeys(h for group in effective for h in group)]
    prior = [(anchor.sizes[h] - p.mean) / p.spread for h, p in problem.nuisance.items()]
    columns, target = stacked(anchor, hypotheses, slopes), np.r_[anchor.residuals.ravel(), prior]
    acting = [h for h in present if h in slopes]
    if acting:
        basis = orthonormal_basis(stacked(anchor, acting, slopes), target.size)
        columns, target = orthogonal_part(columns, basis), orthogonal_part(target, basis)
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1), np.finfo(float).tiny)[:, None]
    rows = [[hypotheses.index(h) for h in group] for group in effective]
    return LinearEffects(effective, rows, columns, target)


def orthonormal_basis(columns: Sequence[Array] | Array, size: int) -> Array:
    """Return an orthonormal basis (m, q) of the span of columns (p, m) of a size m."""
    rows = np.reshape(columns, (-1, size))
    return np.linalg.qr(rows[independent(rows)].T)[0]


def orthogonal_part(columns: Array, basis: Array) -> Array:
    """Return columns (..., m) less their part in the span of an orthonormal basis (m, q)."""
    return np.asarray(columns - (columns @ basis) @ basis.T)


def sum_of_squares(residuals: Array) -> float:
    """Return the sum of squares of residuals; infinite if any of them is not finite."""
    total = float((residuals**2).sum())
    return total if np.isfinite(total) else np.inf


def is_noise(fit: Fit) -> bool:
    """Return whether the residuals of a fit may be noise alone."""
    return fit.cost <= NOISE_RATIO * fit.residuals.size


def score(fit: Fit) -> float:
    """Return the cost of a fit with a penalty for each parameter.

    It is infinite if a size is beyond its physical bounds.
    """
    for hypothesis in fit.components:
        (low, high), size = hypothesis.bounds, fit.sizes.get(hypothesis, 0.0)
        if not (low < size < high and size > fit.problem.least(hypothesis)):
            return np.inf
    return fit.cost + PARAMETER_PENALTY * fit.unit * len(fit.components)


def is_sure(fit: Fit) -> bool:
    """Return whether each hypothesis of a fit has a size that significantly differs from 0.

    Many hypotheses are tried, so some sizes seem to differ by chance. With f degrees of freedom the
    quantile z becomes z + (z^3 + z) / (4 f) [t distribution, Peiser 1943].
    """
    free = max(len(fit.residuals) - len(fit.deviations), 1)
    quantile = SIGNIFICANT_SIZE + (SIGNIFICANT_SIZE**3 + SIGNIFICANT_SIZE) / (4.0 * free)
    threshold = quantile * np.sqrt(len(fit.residuals) / free)
    return all(
        any(abs(fit.sizes[h]) > threshold * fit.deviations.get(h, 0.0) for h in tested)
        for tested in map(tested_components, fit.groups)
    )
