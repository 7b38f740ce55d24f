"""The search for what explains residuals: one hypothesis, two, three, the best of each fitted.

Hypotheses are ranked by what a linear regression on their slopes explains; the best are fitted.
TRIED, ALWAYS and REACH limit the work; SURE and COST may be tuned as long as test_naming,
test_scheme and test_own_log, which plant errors, find the same names. Fits must be ranked by
`score` alone, so that names are the same on every CPU (test_round_off).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import combinations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted, independent, stacked
from roboaccord.crosscheck.causes.hypotheses import Group, telling
from roboaccord.numerics.ranking import ranked

TRIED = 8  # hypotheses by regression that are then fitted, besides those that explain the same
ALWAYS = 3  # of those: fitted even without hope
REACH = 2  # errors without a size, or two causes, to which another is added
SAME, ROUND_OFF = 1e-3, 1e-14  # squares of the noise, and of all residuals, that are the same
CANCELLED = 1e-12  # of the squared residuals: round-off in what hypotheses explain of them
UNSEEN = 1e-6  # of the effect of a quantity's other axes
LIKELY = 2.0  # squares of the noise: what leaves less may be it
SURE = 4.0  # of a size, of which 95 of 100 by chance alone are within 2
COST = 10.0  # of a parameter, in squares of the noise
VAGUE = 100.0  # spread of what is fitted beside: nothing is known of it
Linear = tuple[list[Group], list[list[int]], Array, Array]


class Search:
    """Search for what explains the residuals of a problem.

    Args:
        problem: whose residuals.

    Attributes:
        plain: fit without a cause.
        same: by how much costs differ that are the same.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem, self.plain = problem, fitted(problem)
        self.same = max(SAME, ROUND_OFF * self.plain.cost)
        self._started = [*problem.starts()] if problem.searches(self.plain) else []

    def stages(self) -> Iterator[list[Fit]]:
        """Yield the fits of one cause, of two and of three that can be."""
        ones = self.ranked([*self._begun(), *self.near(self.plain, 1)])
        if not (ones and is_noise(ones[0])):
            ones = self.ranked([*self._undone(), *ones])
        yield ones
        far = [(group,) for group, _ in self._started]
        mixed = [fit for fit in ones if fit.variant or fit.groups in far][:REACH]
        more = (fit for each in mixed for fit in self.near(each, 1))
        yield (two := self.ranked([*self.near(self.plain, 2), *more]))
        yield self.ranked([fit for each in two[:REACH] for fit in self.near(each, 1)])

    def ranked(self, fits: Sequence[Fit]) -> list[Fit]:
        """Return the fits that can be and are sure, the best first, those alike in their order."""
        return ranked([f for f in fits if np.isfinite(score(f)) and is_sure(f)], score, self.same)

    def _undone(self) -> Iterator[Fit]:
        """Yield what errors without a size leave, of those that leave less of a few blocks."""
        before = squares(self._problem.few().residuals(self.plain.sizes))
        for cause, other in self._problem.variants():
            try:
                if squares(other.few().residuals(self.plain.sizes)) < before:
                    yield fitted(other, variant=cause)
            except AccordError:  # states in which the robot cannot be
                continue

    def _begun(self) -> list[Fit]:
        """Return the best fits of hypotheses that begin at one of some sizes."""
        few = self._problem.few()
        base = {
            one: self.plain.sizes[one] if prior.spread > VAGUE else prior.mean
            for one, prior in self._problem.beside.items()
        }
        before, best_starts = squares(few.residuals(base)), list[tuple[float, Group, float]]()
        for group, sizes in self._started:
            tried = [(squares(few.residuals({**base, group[0]: s})), group, s) for s in sizes]
            best_starts.append(min(tried, key=lambda each: each[0]))
        most = self._problem.most_begun
        best = ranked(best_starts, lambda each: each[0], CANCELLED * before)[:most]
        best = [each for each in best_starts if each in best and each[0] < before]
        return [fitted(self._problem, (group,), {group[0]: size}) for _, group, size in best]

    def near(self, anchor: Fit, count: int) -> list[Fit]:
        """Return fits of so many hypotheses more than an anchor's, the best by regression."""
        groups, of, columns, target = self._linear if anchor is self.plain else linear(anchor)
        products, along = columns @ columns.T, columns @ target
        same = CANCELLED * float(target @ target)

        def gain(chosen: tuple[int, ...]) -> float:
            rows = [row for i in chosen for row in of[i]]
            sizes = np.linalg.lstsq(products[np.ix_(rows, rows)], along[rows], rcond=1e-10)[0]
            return float(sizes @ along[rows])

        sets: list[tuple[int, ...]] = [(i,) for i in range(len(of))]
        tried = ranked(sets, lambda each: -gain(each), same, 0.0)
        if count == 2:
            first = {i for (i,) in tried[:TRIED]}
            sets = [each for each in combinations(range(len(of)), 2) if first & {*each}]
            tried = ranked(sets, lambda each: -gain(each), same, 0.0)
        best = [
            each for i, each in enumerate(tried)
            if i < TRIED
            or (gain(each) >= gain(tried[0]) - same and within(columns, of, tried[0], each))
        ]  # fmt: skip
        fits, least = dict[tuple[int, ...], Fit](), np.inf
        for each in best:
            left = float(target @ target) - gain(each)
            if len(fits) >= ALWAYS and not anchor.problem.worth(left, least, self.plain.cost):
                continue
            own = (*anchor.groups, *(groups[i] for i in each))
            fits[each] = fitted(anchor.problem, own, anchor.sizes, anchor.variant)
            least = min(least, fits[each].cost)
        return [fits[each] for each in sorted(fits)]

    @cached_property
    def _linear(self) -> Linear:
        return linear(self.plain)


def linear(anchor: Fit) -> Linear:
    """Return hypotheses with what they do linearly, beside what is fitted already.

    Returns:
        hypotheses with the components that do anything; rows of each; columns of unit length
        (p, m); residuals (m,).
    """
    problem, taken = anchor.problem, {one[:2] for one in anchor.ones}
    groups = [g for g in problem.groups() if not taken & {one[:2] for one in g}]
    beside = [*anchor.ones, *problem.beside]
    slopes = problem.slopes([*dict.fromkeys(o for g in groups for o in g), *beside], anchor.sizes)
    size = {one: float(np.linalg.norm(slope)) for one, slope in slopes.items()}
    most = [max(size.get(one, 0.0) for one in group) for group in groups]
    groups = [
        tuple(one for one in group if size.get(one, 0.0) > UNSEEN * least)
        for group, least in zip(groups, most) if least
    ]  # fmt: skip
    ones = [*dict.fromkeys(one for group in groups for one in group)]
    prior = [(anchor.sizes[one] - p.mean) / p.spread for one, p in problem.beside.items()]
    columns, target = stacked(anchor, ones, slopes), np.r_[anchor.left.ravel(), prior]
    if own := [one for one in beside if one in slopes]:
        fixed = stacked(anchor, own, slopes)
        basis = np.linalg.qr(fixed[independent(fixed)].T)[0]
        columns, target = (x - (x @ basis) @ basis.T for x in (columns, target))
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1), 1e-300)[:, None]
    return groups, [[ones.index(one) for one in group] for group in groups], columns, target


def within(
    columns: Array, of: Sequence[Sequence[int]], one: tuple[int, ...], other: tuple[int, ...]
) -> bool:
    """Return whether the columns of some groups span those of others: nothing tells them apart."""
    own, more = ([row for i in each for row in of[i]] for each in (one, other))
    return len(independent(columns[own + more])) == len(independent(columns[own]))


def squares(residuals: Array) -> float:
    """Return the sum of squares; infinite where anything is not finite."""
    found = float((residuals**2).sum())
    return found if np.isfinite(found) else np.inf


def is_noise(fit: Fit) -> bool:
    """Return whether what a fit leaves may be noise."""
    return fit.cost <= LIKELY * fit.left.size


def score(fit: Fit) -> float:
    """Return the cost of a fit, and of its parameters; infinite where no robot can be like that."""
    for one in fit.ones:
        (low, high), size = one.bounds, fit.sizes.get(one, 0.0)
        if not (low < size < high and size > fit.problem.least(one)):
            return np.inf
    return fit.cost + COST * fit.unit * len(fit.ones)


def is_sure(fit: Fit) -> bool:
    """Return whether of each hypothesis some size is surely not 0: of many tried, some seem so.

    Few blocks say less [t distribution, Peiser 1943].
    """
    free = max(len(fit.left) - len(fit.deviations), 1)
    least = (SURE + (SURE**3 + SURE) / (4.0 * free)) * np.sqrt(len(fit.left) / free)
    return all(
        any(abs(fit.sizes[one]) > least * fit.deviations.get(one, 0.0) for one in telling(group))
        for group in fit.groups
    )
