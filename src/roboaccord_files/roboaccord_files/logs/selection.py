"""The fewest errors that explain a log: hypotheses added as long as they explain more.

All bounds below may be tuned, and each states in what it is measured; docs/own_log.md gives the
rates of detection and of false alarms that `make own-logs` measured with them. SAME must stay above
round-off: test_own_log.py shakes the last bits of a log, and the causes must stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.crosscheck.hypotheses import Hypothesis
from roboaccord.crosscheck.regression import LEFT, LEFT_BY_TWO
from roboaccord.numerics.ranking import ranked

from roboaccord_files.logs.parameters import DRY
from roboaccord_files.logs.regression import Fit, Group, LogRegression

BOUND = 2e-3  # of what efforts do in a window: what an error explains at least
NEARLY = 0.3  # of the residuals, and of the bound: a cause that leaves less may be that small
NOISY = 0.05  # of what efforts do in a window: most that noise may be
TOGETHER = 3  # errors at once, at most
SIGNIFICANT = 5.0  # standard errors
LIKELY = 2.0  # squares of the noise: what leaves less may be it
UNKNOWN = 5.0 * BOUND  # of what efforts do in a window: residuals without a name
NOTHING = 0.1  # of a gear or of gravity, which is as if there were none
MOST_HEAVY = 20.0  # parts by which a mass or an inertia may be larger
COST = 10.0  # of a parameter, in squares of the noise
SAME = 1e-3  # squares of the noise: costs that differ by less are the same
REFINED = 5  # hypotheses that are then fitted where they are not linear
OF_DRIVES = ("armature", "damping", DRY)  # what descriptions of real robots lack


class Choice(NamedTuple):
    """Hold what was selected: the fit, others instead of it, and the best of one hypothesis."""

    fit: Fit
    alike: Sequence[Fit]
    most: Fit


def selected(work: LogRegression, plain: Fit) -> Choice:
    """Return the fewest errors that explain the residuals: at last with whole drives among them."""
    singles = [*work.groups()]
    drives = [
        tuple(Hypothesis(each, joint) for each in OF_DRIVES) for joint in work.windows.log.joints
    ]
    for candidates in (singles, [*drives, *singles]):
        found = grown(work, plain, candidates)
        fit, count = found.fit, len(found.fit.groups)
        part = LEFT if count == 1 else LEFT_BY_TWO
        little = fit.cost <= max(part * plain.cost, LIKELY * fit.left.size)
        most = np.hypot(NOISY if count == 1 else UNKNOWN, LIKELY * work.windows.share.max())
        little &= work.share(fit.left).max() < most
        if not count or little:
            return found if count == 1 else found._replace(alike=())
    return Choice(plain, (), found.most)


def grown(work: LogRegression, plain: Fit, candidates: Sequence[Group]) -> Choice:
    """Return a fit to which hypotheses are added as long as they explain more."""
    now, others, most = plain, list[Fit](), plain
    while len(now.groups) < TOGETHER:
        tried = [work.more(now, group) for group in candidates if free(group, now)]
        refined = ranked(tried, score, SAME)[: max(REFINED, len(alike(tried, score)))]
        tried = [work.fit(each.groups, each.shift) for each in refined]
        first, *rest = alike(tried, score)
        count = max(len(first.sizes) - len(now.sizes), 1)
        enough = SIGNIFICANT**2 * first.unit * count
        if now.cost - first.cost < enough or not explains(work, now, first):
            break
        if not now.groups:
            others, most = [each for each in rest if free(each.groups[0], first)], first
        now = first
        if first.cost <= LIKELY * first.left.size:
            break
    return Choice(now, others, most)


def alike(fits: Sequence[Fit], cost: Callable[[Fit], float]) -> list[Fit]:
    """Return the best of fits and those that the noise does not distinguish from it.

    The best comes first; those that differ by less than any noise are in the order of hypotheses.
    """
    found = ranked(fits, cost, SAME)
    most = cost(found[0]) + SIGNIFICANT**2 * found[0].unit
    return [fit for fit in found if cost(fit) <= most]


def explains(work: LogRegression, now: Fit, more: Fit) -> bool:
    """Return whether a fit leaves so much less than another that schemes do not explain it."""
    explained = float(work.share(now.left - more.left).max())
    nearly_all = more.cost < NEARLY**2 * now.cost
    return explained > (NEARLY * BOUND if nearly_all else BOUND)


def free(group: Group, fit: Fit) -> bool:
    """Return whether a hypothesis is not in a fit yet."""
    taken = {one[:2] for other in fit.groups for one in other}
    return all(one[:2] not in taken for one in group)


def score(fit: Fit) -> float:
    """Return the cost of a fit, and of its parameters; infinite where no body can be like that."""
    parts = [size for one, size in zip(fit.ones, fit.sizes) if one.quantity in ("mass", "inertia")]
    possible = all(-1.0 < size < MOST_HEAVY for size in parts)
    whole = [size for one, size in zip(fit.ones, fit.sizes) if one.quantity in ("gear", "gravity")]
    possible &= all(abs(1.0 + size) > NOTHING for size in whole)  # else 0 = 0 would explain all
    return fit.cost + COST * (len(fit.ones) + fit.late) if possible else np.inf
