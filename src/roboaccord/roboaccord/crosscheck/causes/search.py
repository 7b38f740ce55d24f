"""Search for hypotheses that explain residuals: one cause, then two, then three at once.

Hypotheses are ranked by what a linear regression on their slopes (derivatives of the residuals by
their sizes) explains, and only the best are fitted. Hypotheses whose fit must begin at a size other
than 0, such as an effort limit, and errors without a size, such as a swapped column, are tried on
a few blocks first. Fits are ranked by `score` alone, so that names are the same on every CPU
(test_round_off). TRIED, ALWAYS and REACH limit the work; SURE and COST may be tuned while
test_naming, test_scheme and test_own_log, which plant errors, find the same names. In the three
errors of explain.py names stay with TRIED, ALWAYS and REACH halved and doubled, and with the others
a fifth and five times as large, but SURE = 20 misses a mass and a gear.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted, independent, stacked
from roboaccord.crosscheck.causes.hypotheses import LIMIT, Group, Hypothesis, telling
from roboaccord.numerics.ranking import ranked

# best hypotheses by regression that are fitted, with all that explain the same: limits the work
TRIED = 8
# of those: number that is fitted whatever regression predicts, for it is linear: limits the work
ALWAYS = 3
# best fits of a stage to which another cause is added: limits the work, each by all hypotheses
REACH = 2
# Costs alike: squared noise (a thousandth tells nothing), and share of the cost without cause, of
# which each of some hundred terms rounds 1e-16.
SAME, ROUND_OFF = 1e-3, 1e-14
# share of the squared residuals: round-off (1e-16) in sums of some thousand squares
CANCELLED = 1e-12
# Share of the largest effect of a quantity's axes: an axis below has none. Where there is none,
# finite differences leave 1e-12 of a coordinate (PROBE of hypotheses.py).
UNSEEN = 1e-6
LIKELY = 2.0  # mean square over that of the noise: residuals up to it may be noise alone
SURE = 4.0  # standard errors: of sizes by chance alone, 6 of 100 000 are larger
# Squared noise: penalty of each fitted parameter in the score. The ln(n) of Schwarz's criterion
# (1978) is below it for n up to 22 000 residuals.
COST = 10.0
# standard deviation of a prior from which on it says nothing: as BEYOND of resolution.py
VAGUE = 100.0
Linear = tuple[list[Group], list[list[int]], Array, Array]  # as returned by `linear`


class Search:
    """Search for what explains the residuals of a problem.

    Args:
        problem: whose residuals are explained.

    Attributes:
        problem: as above.
        plain: fit without a cause.
        same: difference up to which two costs count as equal.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem, self.plain = problem, fitted(problem)
        self.same = max(SAME, ROUND_OFF * self.plain.cost)
        self._started = [*problem.starts()] if problem.searches(self.plain) else []

    def stages(self) -> Iterator[list[Fit]]:
        """Yield the possible fits of one cause, then of two, then of three, the best first."""
        yield (single := self.single)
        # Two causes: pairs by regression, one more beside the best variant or started fit, and a
        # started one beside the best.
        started = [(group,) for group, _ in self._started]
        mixed = [fit for fit in single if fit.variant or fit.groups in started][:1]
        extended = [fit for best in mixed for fit in self.near(best, 1)]
        extended += [fit for best in single[:REACH] for fit in self._begun(best)]
        yield (pairs := self.ranked([*self.near(self.plain, 2), *extended]))
        added = ([*self.near(best, 1), *self._begun(best)] for best in pairs[:REACH])
        yield self.ranked([fit for fits in added for fit in fits])

    @cached_property
    def single(self) -> list[Fit]:
        """The possible fits of one cause, the best first.

        Errors without a size are tried only where no other fit leaves just noise.
        """
        single = self.ranked([*self._begun(self.plain), *self.near(self.plain, 1)])
        if not (single and is_noise(single[0])):
            single = self.ranked([*self._undone(), *single])
        return single

    def ranked(self, fits: Sequence[Fit]) -> list[Fit]:
        """Return fits of finite score whose sizes surely differ from 0, the best first."""
        return ranked([f for f in fits if np.isfinite(score(f)) and is_sure(f)], score, self.same)

    def _undone(self) -> Iterator[Fit]:
        """Yield fits with an error without a size undone, if that leaves less of a few blocks."""
        before = squares(self.problem.few().residuals(self.plain.sizes))
        for cause, undone in self.problem.variants():
            try:
                if squares(undone.few().residuals(self.plain.sizes)) < before:
                    yield fitted(undone, variant=cause)
            except AccordError:  # states in which the robot cannot be
                continue

    def _begun(self, anchor: Fit) -> list[Fit]:
        """Return the best fits with one more hypothesis, of those that begin at one of some sizes.

        Args:
            anchor: fit to which it is added.
        """
        blocks, problem = self.problem.few(), self.problem
        # Beside another cause a limit, which clips few samples, explains what is off in any.
        taken = {LIMIT, *(h.quantity for h in anchor.ones)} if anchor.groups else {""}
        # Of a variant the samples are others; of few blocks the effects need not add up.
        if anchor.variant or not self._started or (anchor.groups and blocks is not problem):
            return []
        at, free = self._begin(anchor)
        left, columns = blocks.residuals(at).ravel(), blocks.slopes(free, at).values()
        basis = spanned([column.ravel() for column in columns], left.size)
        left = without(left, basis)
        # The best start of each hypothesis, by what a few blocks leave; what is linear is free.
        costs, best_starts = dict[Group, float]({(): float(left @ left)}), dict[Group, float]()
        for group, size, effect, others in self._effects:
            rest = without(left + effect, basis)
            if len(others):
                rest = without(rest, spanned(without(others, basis), left.size))
            better = squares(rest) < min(costs[()], costs.get(group, np.inf))
            if better and group[0].quantity not in taken:
                costs[group], best_starts[group] = squares(rest), size
        # Fit the best of those that leave less than the anchor.
        best = ranked([*best_starts], costs.__getitem__, CANCELLED * costs[()])
        return [
            fitted(problem, (*anchor.groups, group), {**at, group[0]: size})
            for group, size in best_starts.items() if group in best[: problem.most_begun]
        ]  # fmt: skip

    def _begin(self, anchor: Fit) -> tuple[dict[Hypothesis, float], list[Hypothesis]]:
        """Return sizes at which more fits begin than that of an anchor, and which of them are free.

        Of others a prior says something, and they begin at its mean.
        """
        means = {h: p.mean for h, p in self.problem.beside.items() if not p.spread > VAGUE}
        return {**anchor.sizes, **means}, [h for h in anchor.sizes if h not in means]

    @cached_property
    def _effects(self) -> list[tuple[Group, float, Array, Array]]:
        """Hypotheses with sizes to begin at, and what each does to the residuals of a few blocks.

        The last are the slopes (p, m) of its further components.
        """
        blocks, (at, _) = self.problem.few(), self._begin(self.plain)
        before, effects = blocks.residuals(at).ravel(), list[tuple[Group, float, Array, Array]]()
        for group, size in ((group, size) for group, sizes in self._started for size in sizes):
            begin = {**at, group[0]: size}
            others = [slope.ravel() for slope in blocks.slopes(group[1:], begin).values()]
            effect = blocks.residuals(begin).ravel() - before
            effects.append((group, size, effect, np.reshape(others, (-1, before.size))))
        return effects

    def near(self, anchor: Fit, count: int) -> list[Fit]:
        """Return fits with `count` hypotheses added to those of a fit, the best by regression.

        Args:
            anchor: fit to which they are added.
            count: 1 or 2.
        """
        groups, parts, columns, target = self._linear if anchor is self.plain else linear(anchor)
        products, along = columns @ columns.T, columns @ target
        same = CANCELLED * float(target @ target)

        # What a set of hypotheses explains of the squared residuals, by linear regression.
        @cache
        def gain(chosen: tuple[int, ...]) -> float:
            rows = [row for i in chosen for row in parts[i]]
            sizes = np.linalg.lstsq(products[np.ix_(rows, rows)], along[rows], rcond=1e-10)[0]
            return float(sizes @ along[rows])

        # The best sets, and all that explain the same as the best within round-off.
        sets: list[tuple[int, ...]] = [(i,) for i in range(len(parts))]
        tried = ranked(sets, lambda picked: -gain(picked), same, 0.0)
        # Of pairs only those with one of the best single hypotheses.
        if count == 2:
            first = {i for (i,) in tried[:TRIED]}
            sets = [pair for pair in combinations(range(len(parts)), 2) if first & {*pair}]
            tried = ranked(sets, lambda picked: -gain(picked), same, 0.0)
        best = [
            picked for i, picked in enumerate(tried)
            if i < TRIED
            or (gain(picked) >= gain(tried[0]) - same and within(columns, parts, tried[0], picked))
        ]  # fmt: skip
        # Fit the best sets, but not those that would leave too much.
        fits, lowest = dict[tuple[int, ...], Fit](), np.inf
        for picked in best:
            remaining = float(target @ target) - gain(picked)
            if len(fits) >= ALWAYS and not anchor.problem.worth(remaining, lowest, self.plain.cost):
                continue
            chosen = (*anchor.groups, *(groups[i] for i in picked))
            fits[picked] = fitted(anchor.problem, chosen, anchor.sizes, anchor.variant, anchor.left)
            lowest = min(lowest, fits[picked].cost)
        return [fits[picked] for picked in sorted(fits)]

    @cached_property
    def _linear(self) -> Linear:
        return linear(self.plain)


def linear(anchor: Fit) -> Linear:
    """Return the hypotheses that may be added to a fit, and their linear effect on its residuals.

    What the parameters of the fit explain is removed from columns and residuals.

    Args:
        anchor: fit to which they are added.

    Returns:
        groups of components that have an effect; the columns of each group; columns of unit length
        (p, m); residuals (m,).
    """
    problem, taken = anchor.problem, {h[:2] for h in anchor.ones}
    groups = [g for g in problem.groups() if not taken & {h[:2] for h in g}]
    present = [*anchor.ones, *problem.beside]
    slopes = problem.slopes([*dict.fromkeys(h for g in groups for h in g), *present], anchor.sizes)
    size = {h: float(np.linalg.norm(slope)) for h, slope in slopes.items()}
    largest = [max(size.get(h, 0.0) for h in group) for group in groups]
    groups = [
        tuple(h for h in group if size.get(h, 0.0) > UNSEEN * largest_effect)
        for group, largest_effect in zip(groups, largest) if largest_effect
    ]  # fmt: skip
    # Residuals and columns, less what the parameters fitted already explain of them.
    hypotheses = [*dict.fromkeys(h for group in groups for h in group)]
    prior = [(anchor.sizes[h] - p.mean) / p.spread for h, p in problem.beside.items()]
    columns, target = stacked(anchor, hypotheses, slopes), np.r_[anchor.left.ravel(), prior]
    if acting := [h for h in present if h in slopes]:
        basis = spanned(stacked(anchor, acting, slopes), target.size)
        columns, target = without(columns, basis), without(target, basis)
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1), 1e-300)[:, None]
    return groups, [[hypotheses.index(h) for h in group] for group in groups], columns, target


def spanned(columns: Sequence[Array] | Array, size: int) -> Array:
    """Return an orthonormal basis (m, q) of columns (p, m) of a size m."""
    rows = np.reshape(columns, (-1, size))
    return np.linalg.qr(rows[independent(rows)].T)[0]


def without(columns: Array, basis: Array) -> Array:
    """Return columns (..., m) less their part in the span of an orthonormal basis (m, q)."""
    return np.asarray(columns - (columns @ basis) @ basis.T)


def within(
    columns: Array, of: Sequence[Sequence[int]], base: tuple[int, ...], added: tuple[int, ...]
) -> bool:
    """Return whether the columns of some groups span those of others: they explain the same.

    Args:
        columns: (p, m).
        of: columns of each group.
        base: groups whose columns span.
        added: groups whose columns are spanned.
    """
    spanning, spanned = ([row for i in chosen for row in of[i]] for chosen in (base, added))
    return len(independent(columns[spanning + spanned])) == len(independent(columns[spanning]))


def squares(residuals: Array) -> float:
    """Return the sum of squares of residuals; infinite if any of them is not finite."""
    total = float((residuals**2).sum())
    return total if np.isfinite(total) else np.inf


def is_noise(fit: Fit) -> bool:
    """Return whether the residuals of a fit may be noise alone."""
    return fit.cost <= LIKELY * fit.left.size


def score(fit: Fit) -> float:
    """Return the cost of a fit with a penalty for each parameter.

    It is infinite if a size is beyond its physical bounds.
    """
    for hypothesis in fit.ones:
        (low, high), size = hypothesis.bounds, fit.sizes.get(hypothesis, 0.0)
        if not (low < size < high and size > fit.problem.least(hypothesis)):
            return np.inf
    return fit.cost + COST * fit.unit * len(fit.ones)


def is_sure(fit: Fit) -> bool:
    """Return whether of each hypothesis some size surely differs from 0.

    Many hypotheses are tried, so some sizes seem to differ by chance. With f degrees of freedom the
    quantile z becomes z + (z^3 + z) / (4 f) [t distribution, Peiser 1943].
    """
    free = max(len(fit.left) - len(fit.deviations), 1)
    threshold = (SURE + (SURE**3 + SURE) / (4.0 * free)) * np.sqrt(len(fit.left) / free)
    return all(
        any(abs(fit.sizes[h]) > threshold * fit.deviations.get(h, 0.0) for h in telling(group))
        for group in fit.groups
    )
