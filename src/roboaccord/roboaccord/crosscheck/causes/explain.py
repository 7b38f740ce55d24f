"""Which causes explain residuals: the fewest hypotheses, each tried on a half that it never saw.

LEFT, HELD, QUIET, SIGNIFICANT and BEATEN may be tuned as long as test_naming, test_scheme and
test_own_log, which plant errors, find the same names. A member of `Conclusion` may be added, with
its words in words.py; verdicts hang on codes.

What explains as much as the noise tells apart is one finding, with all its names. A cause whose
interval contains 0, or that does not explain the held-out half, is never named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.fit import Fit, Problem, fitted
from roboaccord.crosscheck.causes.search import ROUND_OFF, Search, is_noise, score, squares
from roboaccord.engines.deviations import EVERY

MOST = 3  # causes at once
LEFT = 0.1  # share of the squared residuals: what leaves more explains nothing
HELD = 4.0  # times what a cause may leave: of the held-out half
QUIET = 0.1  # squares of the noise: what leaves less is below what is known of it
SIGNIFICANT = 5.0  # standard errors
BEATEN = 1.5  # times what is left: by the next best, unless noise is all that is left
SMALL = 0.05  # of the largest component: such others are not reported
LATE, WHOLE = ("delay", "lag"), 1e-6  # by ticks; of a number, how near to a whole one


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
    """What explains residuals.

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
    candidates = [fit for fit in fits if score(fit) <= most and least[fit.places] is fit]
    candidates = [
        fit for fit in candidates if not any({*fit.places} > {*each.places} for each in candidates)
    ]
    candidates = [fit for fit in candidates if is_sizeless(fit)] or candidates
    single = {fit.places[0][0] for fit in candidates if fit.places[0][1] != EVERY}
    return [f for f in candidates if f.places[0][1] != EVERY or f.places[0][0] not in single]


def is_sizeless(fit: Fit) -> bool:
    """Return whether nothing was fitted: an error without a size, or late by a whole number.

    That a fitted delay comes to a whole number of ticks is no chance.
    """
    late = [size for one, size in fit.sizes.items() if one in fit.ones and one.quantity in LATE]
    whole = all(abs(size - round(size)) < WHOLE * abs(size) for size in late)
    return bool(fit.variant) or (0 < len(late) == len(fit.ones) and whole)


def held_out(problem: Problem, fit: Fit) -> float | None:
    """Return the share that a fit of one half leaves of the other; None where it is too much."""
    fits = list[Fit]()
    for each, groups, variant in ((problem, (), None), (fit.problem, fit.groups, fit.variant)):
        if (halves := each.halves(len(fit.left))) is None:
            return None
        half, rest = fitted(halves[0], groups, fit.sizes, variant), halves[1]
        try:
            left = rest.residuals(half.sizes)
        except AccordError:
            return None
        fits.append(Fit(rest, variant, groups, half.sizes, {}, squares(left), left))
    plain, own = fits
    better = own.cost < plain.cost and problem.explains(plain, own, HELD)
    return own.cost / plain.cost if better else None


def causes_of(fit: Fit) -> tuple[Cause, ...]:
    """Return what is off by a fit: of components those that matter."""
    causes = [fit.variant] if fit.variant else []
    for one in fit.ones:
        size = abs(fit.sizes[one])
        most = max(abs(fit.sizes[other]) for other in fit.ones if other.whole == one.whole)
        if one.composite or size == most or size > max(SMALL * most, fit.half_width(one)):
            causes.append(fit.problem.cause(fit, one))
    return tuple(causes)


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
    places = {fit.places for fit in others}
    rivals = [fit for fit in fits if fit.places not in places]
    if not is_noise(now) and any(fit.cost < BEATEN * now.cost for fit in rivals):
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
    following = next(map(share, rivals), np.nan)
    found = Explanation(code, causes_of(fit), instead, (), share(fit), following, held)
    return found, search.plain, fit
