"""Which causes explain residuals: the fewest hypotheses, each tried on a half that it never saw.

LEFT, HELD, LIKELY, SIGNIFICANT and COST may be tuned as long as test_naming, test_scheme and
test_own_log, which plant errors, find the same names. TRIED and REACH limit the work. Fits must be
ranked by `score` alone, so that names are the same on every CPU (test_round_off). A `Code` may be
added, with its words in words.py; verdicts hang on codes.

Hypotheses are ranked by what a linear regression on their slopes explains; the best are fitted.
What explains as much as the noise tells apart is one finding, with all its names. A cause whose
interval contains 0, or that does not explain the held-out half, is never named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import combinations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted, independent, stacked
from roboaccord.crosscheck.causes.hypotheses import LIMIT, MOTOR, Group
from roboaccord.engines.deviations import EVERY
from roboaccord.numerics.ranking import ranked

MOST = 3  # causes at once
FIRST = 3  # control periods of a first look
TRIED = 8  # hypotheses by regression that are then fitted, besides those that explain the same
SAME, ROUND_OFF = 1e-3, 1e-14  # squares of the noise, and of all residuals, that are the same
CANCELLED = 1e-12  # of the squared residuals: round-off in what hypotheses explain of them
UNSEEN = 1e-6  # of the effect of a quantity's other axes
LEFT = 0.1  # share of the squared residuals: what leaves more explains nothing
HELD = 4.0  # times what a cause may leave: of the held-out half
LIKELY = 2.0  # squares of the noise: what leaves less may be it
SIGNIFICANT = 5.0  # standard errors
COST = 10.0  # of a parameter, in squares of the noise
REACH = 2  # errors without a size, or two causes, to which another is added
SMALL = 0.05  # of the largest component: such others are not reported
MOST_HEAVY, NONE = 20.0, 0.1  # parts of a mass or inertia; of a gear or gravity, which is as none
REVERSED = 0.2  # near -2, by which a gear is an effort of the other sign


class Code(Enum):
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

    code: Code = Code.NOT_ASKED
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
    def cause(self) -> Cause:
        """What is off: of several together the first; where alone, if that alone is known."""
        if self.code in (Code.NAMED, Code.TOGETHER, Code.EVENTS):
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

    def stages(self) -> Iterator[list[Fit]]:
        """Yield the fits of one cause, of two and of three."""
        ones = [*self._begun(), *self.near(self.plain, 1)]
        best = ranked(ones, score, self.same)[:1]
        if not (best and is_noise(best[0]) and not is_reversed(best[0])):
            ones = [*self._undone(), *ones]
        yield ones
        mixed = [each for each in ranked(ones, score, self.same) if each.variant or self._far(each)]
        two = [*self.near(self.plain, 2)]
        yield (two := two + [fit for each in mixed[:REACH] for fit in self.near(each, 1)])
        yield [fit for each in ranked(two, score, self.same)[:REACH] for fit in self.near(each, 1)]

    def _far(self, fit: Fit) -> bool:
        return any(group in fit.groups for group, _ in self._problem.starts())

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
        few, found = self._problem.few(), list[tuple[float, Group, float]]()
        before = squares(few.residuals(self.plain.sizes))
        for group, sizes in self._problem.starts():
            tried = [squares(few.residuals({**self.plain.sizes, group[0]: s})) for s in sizes]
            least = min(tried)
            if least < before:
                found.append((least, group, sizes[tried.index(least)]))
        best = ranked(found, lambda each: each[0], CANCELLED * before)[:TRIED]
        return [
            fitted(self._problem, (group,), {group[0]: size})
            for _, group, size in found
            if group in [each[1] for each in best]
        ]

    def near(self, anchor: Fit, count: int) -> list[Fit]:
        """Return fits of so many hypotheses more than an anchor's, the best by regression."""
        if not np.isfinite(anchor.cost):
            return []
        groups, of, columns, target = self._plainly if anchor is self.plain else linear(anchor)
        products, along = columns @ columns.T, columns @ target

        def gain(rows: Sequence[int]) -> float:
            part = products[np.ix_(rows, rows)]
            return float(np.linalg.lstsq(part, along[rows], rcond=1e-10)[0] @ along[rows])

        same = CANCELLED * float(target @ target)
        order = ranked([*range(len(of))], lambda i: -gain(of[i]), same, 0.0)
        if count == 1:
            first = of[order[0]]
            alike = [i for i in order if gain(of[i]) >= gain(first) - same]
            alike = [i for i in alike if _within(columns, first, of[i])]
            tried: list[tuple[int, ...]] = [(i,) for i in {*order[:TRIED], *alike}]
        else:
            pairs = [(i, j) for i, j in combinations(range(len(of)), 2) if {i, j} & {*order[:TRIED]}]
            tried = ranked([*pairs], lambda p: -gain([*of[p[0]], *of[p[1]]]), same, 0.0)[:TRIED]
        return [
            fitted(
                anchor.problem,
                (*anchor.groups, *(groups[i] for i in each)),
                anchor.sizes,
                anchor.variant,
            )
            for each in sorted(tried)
        ]

    @cached_property
    def _plainly(self) -> tuple[list[Group], list[list[int]], Array, Array]:
        return linear(self.plain)


def linear(anchor: Fit) -> tuple[list[Group], list[list[int]], Array, Array]:
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
        for group, least in zip(groups, most)
        if least
    ]
    known = [*dict.fromkeys(one for group in groups for one in group)]
    prior = [(anchor.sizes[one] - p.mean) / p.spread for one, p in problem.beside.items()]
    columns, target = stacked(anchor, known, slopes), np.r_[anchor.left.ravel(), prior]
    if own := [one for one in beside if one in slopes]:
        fixed = stacked(anchor, own, slopes)
        basis = np.linalg.qr(fixed[independent(fixed)].T)[0]
        columns, target = (x - (x @ basis) @ basis.T for x in (columns, target))
    columns = columns / np.maximum(np.linalg.norm(columns, axis=1), 1e-300)[:, None]
    return groups, [[known.index(one) for one in group] for group in groups], columns, target


def _within(columns: Array, one: Sequence[int], other: Sequence[int]) -> bool:
    """Return whether some columns span what others do, so that nothing tells them apart."""
    count = len(independent(columns[[*one]]))
    return len(independent(columns[[*one, *other]])) == count


def squares(residuals: Array) -> float:
    """Return the sum of squares; infinite where anything is not finite."""
    found = float((residuals**2).sum())
    return found if np.isfinite(found) else np.inf


def is_noise(fit: Fit) -> bool:
    """Return whether what a fit leaves may be noise."""
    return fit.cost <= LIKELY * fit.left.size


def is_reversed(fit: Fit) -> bool:
    """Return whether an effort seems to have the other sign."""
    return any(one.quantity == "gear" and abs(fit.sizes[one] + 2.0) < REVERSED for one in fit.ones)


def score(fit: Fit) -> float:
    """Return the cost of a fit, and of its parameters; infinite where no robot can be like that."""
    for one in fit.ones:
        size = fit.sizes.get(one, 0.0)
        possible = {
            "mass": -1.0 < size < MOST_HEAVY, "inertia": -1.0 < size < MOST_HEAVY,
            "gear": abs(1.0 + size) > NONE, "gravity": abs(1.0 + size) > NONE,
            MOTOR: size > 0.0, LIMIT: size > 0.0,
        }  # fmt: skip
        if not possible.get(one.quantity, True):
            return np.inf
    return fit.cost + COST * len(fit.ones)


def alike(fits: Sequence[Fit], same: float) -> list[Fit]:
    """Return the best of fits and those that the noise does not tell apart from it, in their order.

    Of several fits of the same hypotheses the best. What has no size to fit goes before what has,
    and single joints before all of them.
    """
    best = ranked(fits, score, same)
    most = score(best[0]) + SIGNIFICANT**2 * best[0].unit
    found = [fit for fit in fits if score(fit) <= most]
    least = {fit.places: fit for fit in reversed(ranked(found, score, same))}
    found = [fit for fit in found if least[fit.places] is fit]
    if any(fit.variant for fit in found):
        found = [fit for fit in found if fit.variant]
    single = {fit.places[0][0] for fit in found if fit.places[0][1] != EVERY}
    return [f for f in found if f.places[0][1] != EVERY or f.places[0][0] not in single]


def held_out(problem: Problem, fit: Fit) -> tuple[float, bool]:
    """Return the share of the held-out half that is left, and whether it is small enough."""
    count = len(fit.left)
    if count < 2:
        return np.nan, False
    first, last = slice(0, (count + 1) // 2), slice((count + 1) // 2, count)
    parts = [(problem, (), None), (fit.problem, fit.groups, fit.variant)]
    plain, found = (
        _of(each.part(last), fitted(each.part(first), groups, fit.sizes, variant))
        for each, groups, variant in parts
    )
    return found.cost / plain.cost, problem.explains(plain, found, HELD)


def _of(problem: Problem, fit: Fit) -> Fit:
    """Return what a fit leaves of another problem."""
    try:
        left = problem.residuals(fit.sizes) if np.isfinite(fit.cost) else np.array([np.inf])
    except AccordError:
        left = np.array([np.inf])
    return Fit(problem, fit.variant, fit.groups, fit.sizes, {}, squares(left), left)


def is_sure(fit: Fit) -> bool:
    """Return whether of each hypothesis some size is not 0 by its interval."""
    return all(
        any(abs(fit.sizes[one]) > fit.half_width(one) for one in group) for group in fit.groups
    )


def causes_of(fit: Fit) -> tuple[Cause, ...]:
    """Return what is off by a fit: of components those that matter."""
    found = [fit.variant] if fit.variant else []
    for one in fit.ones:
        size = abs(fit.sizes[one])
        most = max(abs(fit.sizes[other]) for other in fit.ones if other.whole == one.whole)
        if size == most or size > max(SMALL * most, fit.half_width(one)):
            found.append(fit.problem.cause(fit, one))
    return tuple(found)


def explain(problem: Problem) -> tuple[Explanation, Fit]:
    """Return what explains the residuals of a problem, and the fit that does, or one of none."""
    search = Search(problem)
    now, others, most, every = search.plain, list[Fit](), search.plain, list[Fit]()
    for fits in search.stages():
        fits = [fit for fit in fits if np.isfinite(score(fit))]
        if not fits:
            break
        best = ranked(fits, score, search.same)[0]
        if not problem.adds(now, best):
            break
        most = best if most is search.plain else most
        now, others, every = best, alike(fits, search.same), fits
        if is_noise(now):
            break

    def share(fit: Fit) -> float:  # the last bits are not shown
        return max(fit.cost, float(fit.left.size), ROUND_OFF * total) / total

    total = search.plain.cost
    named = others if problem.explains(search.plain, now, 1.0) else []
    named = [fit for fit in named if is_sure(fit)]
    halves = [(fit, *held_out(problem, fit)) for fit in named]
    halves = [each for each in halves if each[2]]
    if not halves:
        none = Code.NOTHING_EXPLAINS if now.cost > LEFT * total else Code.NO_SINGLE_CAUSE
        closest = causes_of(most) if most is not search.plain else ()
        return Explanation(none, most=closest, left=share(now)), search.plain
    fit, held, _ = halves[0]
    alternatives = tuple(causes_of(each) for each, *_ in halves[1:])
    code = Code.ALIKE if alternatives else Code.TOGETHER if len(fit.places) > 1 else Code.NAMED
    known = [each.places for each in others]
    rest = [share(each) for each in ranked(every, score, search.same) if each.places not in known]
    following = min(rest, default=np.nan)
    found = Explanation(code, causes_of(fit), alternatives, (), share(fit), following, held)
    return found, fit
