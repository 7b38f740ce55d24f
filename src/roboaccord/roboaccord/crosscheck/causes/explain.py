"""Which causes explain residuals: the fewest that leave little, each confirmed on unseen blocks.

`explain` takes the fits of search.py stage by stage (one cause, two, three) and stops where another
cause adds nothing or noise alone is left. All causes that explain equally well, within the noise,
form one finding. A cause is named only if, fitted on one half of the blocks, it also explains the
other half, and if its interval does not contain 0.

LEFT, HELD, QUIET, SIGNIFICANT, BEATEN and SMALL may be tuned while test_naming, test_scheme and
test_own_log, which plant errors, find the same names. Measured on three errors of test_naming in a
finger of three joints (a centre; a mass and a gear; gravity and a gear): each constant a fifth and
five times as large gives the same names. A new member of `Conclusion` needs its words
in report/words.py; verdicts depend on the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.fit import Fit, fitted
from roboaccord.crosscheck.causes.search import ROUND_OFF, Search, is_noise, score, squares
from roboaccord.engines.deviations import EVERY

MOST = 3  # causes that are named at once: as many as `Search` has stages, each of which takes time
# share of the squared residuals: what leaves more, a fit or the ticks with events, explains nothing
LEFT = 0.1
# times what a fit may usually leave: allowed on the held-out half, twice in each residual
HELD = 4.0
# mean square over that of the noise: less is below what is known of the noise, by a tenth
QUIET = 0.1
# Standard errors: fits whose scores differ by less are alike. Of 1000 hypotheses, one is so much
# better by chance in 1 of 2000 checks (5.7e-7 each).
SIGNIFICANT = 5.0
BEATEN = 1.5  # times what the named cause leaves: other causes must leave more
# of the largest component: smaller components are not reported, as below a direction's 3 degrees
SMALL = 0.05
# Errors in ticks; relative distance from a whole number: a delay of one tick is fitted to 4e-16
# (test_naming), while a fitted fraction comes so near in 2 of a million.
LATE, WHOLE = ("delay", "lag"), 1e-6


class Conclusion(StrEnum):
    """How an explanation ends."""

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
        code: how the search ended.
        causes: named ones, which act together.
        instead: other causes that explain as much, each a group that acts together.
        most: causes that explain most, if none explains enough.
        left: share of the squared residuals that the named causes leave.
        following: share that the next best causes leave.
        held: share that the named causes leave of the held-out half.
        quantity, where: coordinate of the largest residual, and its joint or link.
        counted: number of control periods that are off, and of all; empty if most are.
        kinds: of events, if the residuals lie in their control periods.
        since: time when motions part [s]; None if that is not asked.
        near: kind and subject of an event near that time; empty without one.
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
        """Whether an explanation was sought."""
        return self.code is not Conclusion.NOT_ASKED

    @property
    def cause(self) -> Cause:
        """First named cause; of others only the place, if that is known."""
        if self.code in (Conclusion.NAMED, Conclusion.TOGETHER, Conclusion.EVENTS):
            return self.causes[0]
        return Cause("", "" if self.causes else self.where)


def alike(fits: Sequence[Fit]) -> list[Fit]:
    """Return the best of ranked fits, and those that the noise does not tell apart from it.

    Of fits with the same places (quantity and joint or link) only the best remains, and none whose
    places include all those of another. Errors without a fitted size go before others, and single
    joints before all joints together. Among fits that leave less than is known of the noise, only
    those with the fewest sizes remain.
    """
    # Fits below the known noise: only those with the fewest sizes.
    quiet = [fit for fit in fits if fit.cost < QUIET * fit.left.size]
    fewest = min((len(fit.ones) for fit in quiet), default=0)
    fits = [fit for fit in quiet if len(fit.ones) == fewest] or fits
    # Fits with a score near the best: the best of each set of places, and no larger set.
    highest = score(fits[0]) + SIGNIFICANT**2 * fits[0].unit
    best_of = {fit.places: fit for fit in reversed(fits)}
    candidates = [fit for fit in fits if score(fit) <= highest and best_of[fit.places] is fit]
    candidates = [
        fit for fit in candidates if not any({*fit.places} > {*kept.places} for kept in candidates)
    ]
    # Errors without a fitted size go first, and single joints before all joints.
    candidates = [fit for fit in candidates if is_sizeless(fit)] or candidates
    single = {fit.places[0][0] for fit in candidates if fit.places[0][1] != EVERY}
    return [f for f in candidates if f.places[0][1] != EVERY or f.places[0][0] not in single]


def is_sizeless(fit: Fit) -> bool:
    """Return whether the error has no fitted size, or is a delay by a whole number of ticks.

    A fitted delay that comes out as a whole number of ticks is no coincidence.
    """
    late = [size for h, size in fit.sizes.items() if h in fit.ones and h.quantity in LATE]
    whole = all(abs(size - round(size)) < WHOLE * abs(size) for size in late)
    return bool(fit.variant) or (0 < len(late) == len(fit.ones) and whole)


def held_out(plain: Fit, fit: Fit) -> float | None:
    """Return the share of the squared residuals of one half that a fit of the other half leaves.

    It is None if that is too much to name the causes, or if there is only one block.

    Args:
        plain: fit without a cause, whose share is 1.
        fit: with the causes.
    """
    fits = list[Fit]()
    for tested in (plain, fit):
        if (halves := tested.problem.halves(len(tested.left))) is None:
            return None
        groups, variant = tested.groups, tested.variant
        half, unseen = fitted(halves[0], groups, fit.sizes, variant), halves[1]
        try:
            residuals = unseen.residuals(half.sizes)
        except AccordError:
            return None
        fits.append(Fit(unseen, variant, groups, half.sizes, {}, squares(residuals), residuals))
    before, explained = fits
    better = explained.cost < before.cost and plain.problem.explains(before, explained, HELD)
    return explained.cost / before.cost if better else None


def causes_of(fit: Fit) -> tuple[Cause, ...]:
    """Return the causes that a fit stands for, without components that do not matter."""
    causes = [fit.variant] if fit.variant else []
    for part in fit.ones:
        size = abs(fit.sizes[part])
        largest = max(abs(fit.sizes[other]) for other in fit.ones if other.whole == part.whole)
        if part.composite or size == largest or size > max(SMALL * largest, fit.half_width(part)):
            causes.append(fit.problem.cause(fit, part))
    return tuple(causes)


def explain(search: Search) -> tuple[Explanation, Fit, Fit]:
    """Return what explains the residuals of the problem of a search.

    Returns:
        the explanation, the fit without a cause, and the fit with the named causes.
    """
    best, fits = search.plain, list[Fit]()
    # Add causes until another one adds nothing, or only noise is left.
    for tried in search.stages():
        if not tried or not search.problem.adds(best, tried[0]):
            break
        before, best, fits = best, tried[0], tried
        if is_noise(best) or not search.problem.promises(search.plain, before, best):
            break
    total = search.plain.cost

    def share(fit: Fit) -> float:  # without the last bits
        return max(fit.cost, float(fit.left.size), ROUND_OFF * total) / total

    # Fits that explain enough and equally well, unless fits of other causes come near.
    others = alike(fits) if fits and search.problem.explains(search.plain, best, 1.0) else []
    places = {fit.places for fit in others}
    rivals = [fit for fit in fits if fit.places not in places]
    if not is_noise(best) and any(fit.cost < BEATEN * best.cost for fit in rivals):
        others = []  # errors that are not modelled may favour either
    others = sorted(others, key=lambda fit: fit.places)
    # Those that also explain the half that they were not fitted on.
    halves = [(fit, held_out(search.plain, fit)) for fit in others]
    named = [(fit, held) for fit, held in halves if held is not None]
    if not named:
        much = best.cost > LEFT * total
        none = Conclusion.NOTHING_EXPLAINS if much else Conclusion.NO_SINGLE_CAUSE
        return Explanation(none, most=causes_of(best), left=share(best)), search.plain, search.plain
    (fit, held), *rest = named
    code = Conclusion.TOGETHER if len(fit.places) > 1 else Conclusion.NAMED
    code = Conclusion.ALIKE if rest else code
    instead = tuple(causes_of(alternative) for alternative, _ in rest)
    following = next(map(share, rivals), np.nan)
    explanation = Explanation(code, causes_of(fit), instead, (), share(fit), following, held)
    return explanation, search.plain, fit
