"""Which causes explain residuals: the fewest hypotheses, each tried on a half that it never saw.

LEFT, HELD, LIKELY, SIGNIFICANT and COST may be tuned as long as test_naming, test_scheme and
test_own_log, which plant errors, find the same names. TRIED and REACH limit the work. Fits must be
ranked by `score` alone, so that names are the same on every CPU (test_round_off). A member of
`Conclusion` may be added, with its words in words.py; verdicts hang on codes.

Hypotheses are ranked by what a linear regression on their slopes explains; the best are fitted.
What explains as much as the noise tells apart is one finding, with all its names. A cause whose
interval contains 0, or that does not explain the held-out half, is never named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted, independent, stacked
from roboaccord.crosscheck.causes.hypotheses import FILTER, LIMIT, MOTOR, PAYLOAD, Group
from roboaccord.engines.deviations import EVERY, PRODUCTS
from roboaccord.numerics.ranking import ranked

MOST = 3  # causes at once
TRIED = 8  # hypotheses by regression that are then fitted, besides those that explain the same
SAME, ROUND_OFF = 1e-3, 1e-14  # squares of the noise, and of all residuals, that are the same
CANCELLED = 1e-12  # of the squared residuals: round-off in what hypotheses explain of them
UNSEEN = 1e-6  # of the effect of a quantity's other axes
LEFT = 0.1  # share of the squared residuals: what leaves more explains nothing
HELD = 4.0  # times what a cause may leave: of the held-out half
QUIET = 0.1  # squares of the noise: what leaves less is below what is known of it
LIKELY = 2.0  # squares of the noise: what leaves less may be it
SIGNIFICANT = 5.0  # standard errors
ALWAYS = 3  # of those: fitted even without hope
BEATEN = 1.5  # times what is left: by the next best, unless noise is all that is left
SURE = 4.0  # of a size, of which 95 of 100 by chance alone are within 2
COST = 10.0  # of a parameter, in squares of the noise
REACH = 2  # errors without a size, or two causes, to which another is added
VAGUE = 100.0  # spread of what is fitted beside: nothing is known of it
SMALL = 0.05  # of the largest component: such others are not reported
LATE, WHOLE = ("delay", "lag"), 1e-6  # by ticks; of a number, how near to a whole one
HEAVY, WORKS, ACTS = (-1.0, 20.0), (-0.9, np.inf), (0.0, np.inf)
POSSIBLE = {
    "mass": HEAVY, "inertia": HEAVY, "gear": WORKS, "gravity": WORKS, MOTOR: ACTS, LIMIT: ACTS,
    FILTER: ACTS, PAYLOAD: ACTS, PRODUCTS: (-3.0, 3.0),
}  # fmt: skip
"""Sizes between which a robot can be; a gear of the other sign is another error."""
ANY = -np.inf, np.inf
Linear = tuple[list[Group], list[list[int]], Array, Array]


class Conclusion(StrEnum):
    """What an explanation comes to."""

    NOT_ASKED = "not_asked"
    NAMED = "named"
    ALIKE = "alike"
    TOGETHER = "together"
    NO_SINGLE_CAUSE = "no_single_cause"
    NOTHING_EXPLAINS = "nothing_explains"
    EVENTS = "events"


@dataclass(frozen=True)
class Explanation:
    """Hold what explains residuals.

    Args:
        code: what it comes to.
        causes: named ones, which act together.
        instead: others that explain as much, each of causes that act together.
        most: what explains most where nothing explains enough.
        left, following, held: shares of the squared residuals: left, by the next best, and left of
            the held-out half.
        quantity, where: the largest residual's, and its joint or link.
        counted: control periods that are off, and all; empty where that is all.
        kinds: of events in whose control periods the residuals lie.
        since: when motions part [s], None where that is not asked; near an event of a subject.
        near: that event, kind and subject.
    """

    code: Conclusion = Conclusion.NOT_ASKED
    causes: tuple[Cause, ...] = ()
    instead: tuple[tuple[Cause, ...], ...] = ()
    most: tuple[Cause, ...] = ()
    left: float = np.nan
    following: float = np.nan
    held: float = np.nan
    quantity: str = ""
    where: str = ""
    counted: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()
    since: float | None = None
    near: tuple[str, ...] = ()

    @property
    def asked(self) -> bool:
        """Whether anybody asked for an explanation."""
        return self.code is not Conclusion.NOT_ASKED

    @property
    def cause(self) -> Cause:
        """What is off: of several together the first; where alone, if that alone is known."""
        if self.code in (Conclusion.NAMED, Conclusion.TOGETHER, Conclusion.EVENTS):
            return self.causes[0]
        return Cause("", "" if self.causes else self.where)


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
        before, found = squares(few.residuals(base)), list[tuple[float, Group, float]]()
        for group, sizes in self._started:
            tried = [(squares(few.residuals({**base, group[0]: s})), group, s) for s in sizes]
            found.append(min(tried, key=lambda each: each[0]))
        most = self._problem.most_begun
        best = ranked(found, lambda each: each[0], CANCELLED * before)[:most]
        best = [each for each in found if each in best and each[0] < before]
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
        found, least = dict[tuple[int, ...], Fit](), np.inf
        for each in best:
            left = float(target @ target) - gain(each)
            if len(found) >= ALWAYS and not anchor.problem.worth(left, least, self.plain.cost):
                continue
            own = (*anchor.groups, *(groups[i] for i in each))
            found[each] = fitted(anchor.problem, own, anchor.sizes, anchor.variant)
            least = min(least, found[each].cost)
        return [found[each] for each in sorted(found)]

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
    known = [*dict.fromkeys(one for group in groups for one in group)]
    prior = [(anchor.sizes[one] - p.mean) / p.spread for one, p in problem.beside.items()]
    columns, target = stacked(anchor, known, slopes), np.r_[anchor.left.ravel(), prior]
    if own := [one for one in beside if one in slopes]:
        fixed = stacked(anchor, own, slopes)
        basis = np.linalg.qr(fixed[independent(fixed)].T)[0]
        columns, target = (x - (x @ basis) @ basis.T for x in (columns, target))
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1), 1e-300)[:, None]
    return groups, [[known.index(one) for one in group] for group in groups], columns, target


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
        place = one.quantity == PAYLOAD and one.axis
        low, high = ANY if place else POSSIBLE.get(one.quantity, ANY)
        size = fit.sizes.get(one, 0.0)
        if not (low < size < high and size > fit.problem.least(one)):
            return np.inf
    return fit.cost + COST * fit.unit * len(fit.ones)


def alike(fits: Sequence[Fit]) -> list[Fit]:
    """Return the best of ranked fits and those that the noise does not tell apart from it.

    Of several fits of the same hypotheses the best, and none with more than another has. What has
    no size to fit goes before what has, and single joints before all of them. Of those that leave
    less than the noise can be known, only those with the fewest sizes.
    """
    quiet = [fit for fit in fits if fit.cost < QUIET * fit.left.size]
    fewest = min((len(fit.ones) for fit in quiet), default=0)
    fits = [fit for fit in quiet if len(fit.ones) == fewest] or fits
    most = score(fits[0]) + SIGNIFICANT**2 * fits[0].unit
    least = {fit.places: fit for fit in reversed(fits)}
    found = [fit for fit in fits if score(fit) <= most and least[fit.places] is fit]
    found = [fit for fit in found if not any({*fit.places} > {*each.places} for each in found)]
    found = [fit for fit in found if is_sizeless(fit)] or found
    single = {fit.places[0][0] for fit in found if fit.places[0][1] != EVERY}
    return [f for f in found if f.places[0][1] != EVERY or f.places[0][0] not in single]


def is_sizeless(fit: Fit) -> bool:
    """Return whether nothing was fitted: an error without a size, or late by a whole number.

    That a fitted delay comes to a whole number of ticks is no chance.
    """
    late = [size for one, size in fit.sizes.items() if one in fit.ones and one.quantity in LATE]
    whole = all(abs(size - round(size)) < WHOLE * abs(size) for size in late)
    return bool(fit.variant) or (0 < len(late) == len(fit.ones) and whole)


def held_out(problem: Problem, fit: Fit) -> float | None:
    """Return the share that a fit of one half leaves of the other; None where it is too much."""
    found = list[Fit]()
    for each, groups, variant in ((problem, (), None), (fit.problem, fit.groups, fit.variant)):
        if (halves := each.halves(len(fit.left))) is None:
            return None
        half, rest = fitted(halves[0], groups, fit.sizes, variant), halves[1]
        try:
            left = rest.residuals(half.sizes)
        except AccordError:
            return None
        found.append(Fit(rest, variant, groups, half.sizes, {}, squares(left), left))
    plain, own = found
    better = own.cost < plain.cost and problem.explains(plain, own, HELD)
    return own.cost / plain.cost if better else None


def is_sure(fit: Fit) -> bool:
    """Return whether of each hypothesis some size is surely not 0: of many tried, some seem so.

    Few blocks say less [t distribution, Peiser 1943]. A payload at a link's centre is more mass.
    """
    free = max(len(fit.left) - len(fit.deviations), 1)
    least = (SURE + (SURE**3 + SURE) / (4.0 * free)) * np.sqrt(len(fit.left) / free)
    groups = [g[1:] if g[0].quantity == PAYLOAD else g for g in fit.groups]
    return all(
        any(abs(fit.sizes[o]) > least * fit.deviations.get(o, 0.0) for o in group)
        for group in groups
    )


def causes_of(fit: Fit) -> tuple[Cause, ...]:
    """Return what is off by a fit: of components those that matter."""
    found = [fit.variant] if fit.variant else []
    for one in fit.ones:
        size = abs(fit.sizes[one])
        most = max(abs(fit.sizes[other]) for other in fit.ones if other.whole == one.whole)
        if one.quantity == PAYLOAD or size == most or size > max(SMALL * most, fit.half_width(one)):
            found.append(fit.problem.cause(fit, one))
    return tuple(found)


def explain(problem: Problem) -> tuple[Explanation, Fit, Fit]:
    """Return what explains residuals, the fit without a cause, and the one with those named."""
    search = Search(problem)
    now, fits = search.plain, list[Fit]()
    for tried in search.stages():
        if not tried or not problem.adds(now, tried[0]):
            break
        now, fits = tried[0], tried
        if is_noise(now):
            break
    total = search.plain.cost

    def share(fit: Fit) -> float:  # the last bits are not shown
        return max(fit.cost, float(fit.left.size), ROUND_OFF * total) / total

    others = alike(fits) if fits and problem.explains(search.plain, now, 1.0) else []
    known = {fit.places for fit in others}
    if not is_noise(now) and any(f.cost < BEATEN * now.cost for f in fits if f.places not in known):
        others = []  # what is not known may favour either
    others = sorted(others, key=lambda fit: fit.places)
    halves = [(fit, held_out(problem, fit)) for fit in others]
    named = [(fit, held) for fit, held in halves if held is not None]
    if not named:
        none = (
            Conclusion.NOTHING_EXPLAINS if now.cost > LEFT * total else Conclusion.NO_SINGLE_CAUSE
        )
        return Explanation(none, most=causes_of(now), left=share(now)), search.plain, search.plain
    (fit, held), *rest = named
    code = (
        Conclusion.ALIKE
        if rest
        else Conclusion.TOGETHER
        if len(fit.places) > 1
        else Conclusion.NAMED
    )
    instead = tuple(causes_of(each) for each, _ in rest)
    following = next((share(each) for each in fits if each.places not in known), np.nan)
    found = Explanation(code, causes_of(fit), instead, (), share(fit), following, held)
    return found, search.plain, fit
