"""Which causes explain residuals: the fewest that leave little, each confirmed on unseen blocks.

Residuals are predicted less recorded states, in blocks of one control period or one window of a log
each (fit.py). `explain` takes the fits of search.py stage by stage (one cause, two, three) and
stops where another cause adds nothing or only noise remains. All causes that explain equally well,
within the noise, form one finding. A cause is named only if, fitted on one half of the blocks, it
also explains the other half (`held_out`), and if its interval does not contain 0.

UNEXPLAINED, HELD_OUT, NOISE_KNOWN, SIGNIFICANT, RIVAL and SMALLEST_COMPONENT may be tuned while
test_naming, test_scheme and test_own_log, which plant errors, find the same names. Measured on
three errors of test_naming in a finger of three joints (a centre; a mass and a gear; gravity and a
gear): each constant a fifth and five times as large gives the same names. A new member of
`Conclusion` needs its words in report/cause_words.py; verdicts depend on the codes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes.fit import Fit, fitted
from roboaccord.crosscheck.causes.search import ROUND_OFF, Search, is_noise, score, sum_of_squares
from roboaccord.engines.deviations import EVERY

# Largest number of causes that are named at once: as many as `Search` has stages, each of which
# takes time.
MOST_CAUSES = 3
# Share of the squared residuals above which a remainder means that a fit, or the ticks with events,
# explains nothing: a third in each residual. A fifth and five times as much name the same (above).
UNEXPLAINED = 0.1
# Factor on what a fit may usually leave that is allowed on the held-out half: twice in each
# residual. A fifth and five times as much name the same (above).
HELD_OUT = 4.0
# Mean squared residual over that of the noise below which fits are not compared: the noise is not
# known better than to a tenth.
NOISE_KNOWN = 0.1
# Difference of scores up to which fits are alike [standard errors]. Of 1000 hypotheses, one is so
# much better by chance in 1 of 2000 checks (5.7e-7 each).
SIGNIFICANT = 5.0
# Factor on the cost of the named cause that the cost of other causes must exceed. By choice; a
# fifth and five times as much name the same (above).
RIVAL = 1.5
# Size relative to the largest component below which a component is not reported: 3 degrees of a
# direction. By choice; a fifth and five times as much name the same (above).
SMALLEST_COMPONENT = 0.05
DELAYS = ("delay", "lag")  # quantities in ticks (control periods)
# Relative distance from a whole number of ticks up to which a delay counts as whole: a delay of one
# tick is fitted to 4e-16 (test_naming), while a fitted fraction comes so near in 2 of a million.
WHOLE = 1e-6


class Conclusion(StrEnum):
    """Result of the search for an explanation."""

    NOT_ASKED = "not_asked"  # nothing was searched for
    NAMED = "named"  # one cause
    ALIKE = "alike"  # several causes that cannot be distinguished
    TOGETHER = "together"  # two or three causes that act together
    NO_SINGLE_CAUSE = "no_single_cause"  # the best fit explains most, but not all
    NOTHING_EXPLAINS = "nothing_explains"
    EVENTS = "events"  # the residuals lie in ticks with events


@dataclass(frozen=True)
class Explanation:
    """Causes that explain residuals.

    Args:
        code: result of the search.
        causes: named causes, which act together.
        instead: other causes that explain as much, each a group that acts together.
        most: causes that explain most, if none explains enough.
        left: share of the squared residuals that the named causes leave.
        following: share that the next best causes leave.
        held: share that the named causes leave of the held-out half.
        quantity, where: coordinate of the largest residual, and its joint or link.
        counted: number of control periods (ticks) that differ, and of all; empty if most differ.
        kinds: of events, if the residuals lie in their ticks.
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
        """First named cause; of other conclusions only the joint or link, if that is known."""
        if self.code in (Conclusion.NAMED, Conclusion.TOGETHER, Conclusion.EVENTS):
            return self.causes[0]
        return Cause("", "" if self.causes else self.where)


def alike(fits: Sequence[Fit]) -> list[Fit]:
    """Return the best of ranked fits, and those that the noise does not tell apart from it.

    Of fits of the same parameters (quantity and joint or link) only the best is returned, and none
    whose parameters include all those of another. Errors without a fitted size are preferred to
    others, and single joints to all joints together. Among fits that leave less than is known of
    the noise, only those with the fewest sizes are returned.
    """
    # Fits below the known noise: only those with the fewest sizes.
    below_noise = [fit for fit in fits if fit.cost < NOISE_KNOWN * fit.residuals.size]
    fewest = min((len(fit.components) for fit in below_noise), default=0)
    fits = [fit for fit in below_noise if len(fit.components) == fewest] or fits
    # Fits with a score near the best: the best of each set of parameters, and no larger set.
    highest = score(fits[0]) + SIGNIFICANT**2 * fits[0].unit
    best_of = {fit.parameters: fit for fit in reversed(fits)}
    candidates = [fit for fit in fits if score(fit) <= highest and best_of[fit.parameters] is fit]
    sets = [{*fit.parameters} for fit in candidates]
    candidates = [fit for fit in candidates if not any({*fit.parameters} > other for other in sets)]
    # Errors without a fitted size are preferred, and single joints to all joints.
    candidates = [fit for fit in candidates if is_sizeless(fit)] or candidates
    single = {fit.parameters[0][0] for fit in candidates if not is_of_all(fit)}
    return [fit for fit in candidates if not (is_of_all(fit) and fit.parameters[0][0] in single)]


def is_of_all(fit: Fit) -> bool:
    """Return whether the first parameter of a fit is that of all joints or links together."""
    return fit.parameters[0][1] == EVERY


def is_sizeless(fit: Fit) -> bool:
    """Return whether the error has no fitted size, or is a delay by a whole number of ticks.

    A fitted delay that comes out as a whole number of ticks is no coincidence.
    """
    delays = [fit.sizes[h] for h in fit.components if h.quantity in DELAYS and h in fit.sizes]
    is_whole = all(abs(size - round(size)) < WHOLE * abs(size) for size in delays)
    return bool(fit.variant) or (0 < len(delays) == len(fit.components) and is_whole)


def held_out(plain: Fit, fit: Fit) -> float | None:
    """Return the share of the squared residuals of one half that a fit of the other half leaves.

    Args:
        plain: fit without a cause, whose share is 1.
        fit: with the causes that are tested.

    Returns:
        None if the fit leaves too much to name its causes, or if there is only one block.
    """
    fits = list[Fit]()
    for tested in (plain, fit):
        halves = tested.problem.halves(len(tested.residuals))
        if halves is None:
            return None
        seen, unseen = halves
        groups, variant = tested.groups, tested.variant
        sizes = fitted(seen, groups, fit.sizes, variant).sizes
        try:
            residuals = unseen.residuals(sizes)
        except AccordError:
            return None
        cost = sum_of_squares(residuals)
        fits.append(Fit(unseen, variant, groups, sizes, {}, cost, residuals))
    before, explained = fits
    is_better = explained.cost < before.cost and plain.problem.explains(before, explained, HELD_OUT)
    return explained.cost / before.cost if is_better else None


def causes_of(fit: Fit) -> tuple[Cause, ...]:
    """Return the causes that a fit stands for, without negligible components."""
    causes = [fit.variant] if fit.variant else []
    for one in fit.components:
        same = [other for other in fit.components if other.parameter == one.parameter]
        size, largest = abs(fit.sizes[one]), max(abs(fit.sizes[other]) for other in same)
        smallest = max(SMALLEST_COMPONENT * largest, fit.half_width(one))
        if one.is_composite or size == largest or size > smallest:
            causes.append(fit.problem.cause(fit, one))
    return tuple(causes)


def explain(search: Search) -> tuple[Explanation, Fit, Fit]:
    """Return the causes that explain the residuals of the problem of a search.

    Returns:
        the explanation, the fit without a cause, and the fit with the named causes.
    """
    # Add causes until another one adds nothing, or only noise remains; `plain` is without a cause.
    plain, best, fits = search.plain, search.plain, list[Fit]()
    for stage in search.stages():
        if not stage or not search.problem.adds(best, stage[0]):
            break
        before, best, fits = best, stage[0], stage
        if is_noise(best) or not search.problem.promises(plain, before, best):
            break
    # Fits that explain enough and equally well, unless fits of other causes come near.
    candidates = alike(fits) if fits and search.problem.explains(plain, best, 1.0) else []
    parameters = {fit.parameters for fit in candidates}
    rivals = [fit for fit in fits if fit.parameters not in parameters]
    if not is_noise(best) and any(fit.cost < RIVAL * best.cost for fit in rivals):
        candidates = []  # errors that are not modelled may favour either
    candidates = sorted(candidates, key=lambda fit: fit.parameters)
    # Those that also explain the half that they were not fitted on.
    shares = [(fit, held_out(plain, fit)) for fit in candidates]
    confirmed = [(fit, held) for fit, held in shares if held is not None]
    if not confirmed:
        nothing_explains = best.cost > UNEXPLAINED * plain.cost
        code = Conclusion.NOTHING_EXPLAINS if nothing_explains else Conclusion.NO_SINGLE_CAUSE
        left = _share(best, plain)
        return Explanation(code, most=causes_of(best), left=left), plain, plain
    (fit, held), *alternatives = confirmed
    code = Conclusion.TOGETHER if len(fit.parameters) > 1 else Conclusion.NAMED
    explanation = Explanation(
        code=Conclusion.ALIKE if alternatives else code,
        causes=causes_of(fit),
        instead=tuple(causes_of(alternative) for alternative, _ in alternatives),
        left=_share(fit, plain),
        following=_share(rivals[0], plain) if rivals else np.nan,
        held=held,
    )
    return explanation, plain, fit


def _share(fit: Fit, plain: Fit) -> float:
    """Return the share of the squared residuals that a fit leaves, at least noise and round-off."""
    return max(fit.cost, float(fit.residuals.size), ROUND_OFF * plain.cost) / plain.cost
