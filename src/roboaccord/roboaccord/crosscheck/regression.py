"""One regressor: residuals of single ticks, regressed on hypotheses by joint and link.

LEFT, LEFT_BY_TWO, BETTER and ALIKE may be tuned as long as test_naming and test_scheme, which plant
errors, find the same names: they decide which cause is named, and when several cannot be
distinguished. MOST, TRIED, FIRST and ROUNDS may be tuned: they limit the work. Trials must be
ranked by `by_left` alone, so that names are the same on every CPU (test_round_off). What is tried
is listed in hypotheses.py.

A hypothesis is tried by predicting the ticks with it in force: what it leaves of the squared
residuals is the confidence in it, held against what the next best leaves. Where no one error
explains them, two are tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array
from roboaccord.crosscheck.differences import Name
from roboaccord.crosscheck.hypotheses import (
    AXES,
    UNSEEN,
    Hypothesis,
    Mix,
    Predictor,
    components,
    spread,
)
from roboaccord.crosscheck.ticks import names
from roboaccord.engines.twin import EVERY
from roboaccord.numerics.ranking import first_largest, ranked

LEFT = 0.1  # share of the squared residuals that an error may leave to be named
LEFT_BY_TWO = 1e-2
BETTER = 1e-3  # times what one error leaves: two are named
ALIKE = 4.0  # times what the best leaves: such hypotheses cannot be distinguished from it
ROUND_OFF = 1e-14  # of the squared residuals, which nothing explains
MOST = 6  # hypotheses that cannot be distinguished
TRIED = 8  # hypotheses by regression that are then tried, besides those that explain the same
CANCELLED = 1e-12  # of the squared residuals: round-off in what hypotheses explain of them
FIRST = 3  # ticks at which errors without a size are tried first
ROUNDS = 8  # of the regression, for what is not linear
NOTHING = 0.95  # of the squared residuals: what leaves more explains nothing
STALLED = 0.9  # of what the round before left
PROBABLE = 1e-3  # what is left by what is named alone
SMALL = 0.05  # of the largest component: such others are not reported


@dataclass(frozen=True)
class Trial:
    """Hold what is tried, and the share of the squared residuals that it leaves."""

    left: float
    sizes: Mapping[Hypothesis, float] = field(default_factory=dict)
    mix: Mix | None = None

    @property
    def places(self) -> tuple[tuple[str, str], ...]:
        """Quantities, and their joints or links."""
        mixed = [(self.mix.quantity, self.mix.where)] if self.mix else []
        return tuple(dict.fromkeys([*mixed, *((one.quantity, one.where) for one in self.sizes)]))

    def __str__(self) -> str:
        words = [self.mix.text] if self.mix else []
        for whole in dict.fromkeys(one.whole for one in self.sizes):
            own = {one: size for one in components(whole) if (size := self.sizes.get(one, 0.0))}
            most = max(map(abs, own.values()), default=0.0)
            shown = [
                f"{axis_of(one)}{one.sized(size)}"
                for one, size in own.items()
                if abs(size) >= SMALL * most
            ]
            words.append(f"{whole} is {', '.join(shown)} off")
        return " and ".join(words)


def by_left(found: Sequence[Trial]) -> list[Trial]:
    """Return trials by what they leave, the least first."""
    return ranked(found, lambda each: each.left, ROUND_OFF)


def axis_of(one: Hypothesis) -> str:
    """Return the name of a component, with a space behind it; "" where there is one."""
    return f"{AXES[one.quantity][one.axis]} " if one.quantity in AXES else ""


class Regression:
    """Regress residuals of a few ticks on hypotheses.

    Args:
        predictor: of these ticks.
        floor: of residuals, by group of columns (6,).
    """

    def __init__(self, predictor: Predictor, floor: Array) -> None:
        self._predictor = predictor
        self._weight = 1.0 / spread(floor, 2 * len(predictor.run.joints) + 12)
        self._target = self._weighted(predictor.residuals())
        self._total = float(self._target @ self._target)
        self._known = dict[Mix | None, dict[Hypothesis, Array]]()

    def name(self) -> Name:
        """Name the error or the two errors that explain the residuals, or report that none does."""
        ones = [*self._mixed(), *self._regressed(None, 1)]  # in the order of hypotheses
        left = by_left(ones)[0].left if ones else 1.0
        if left > ALIKE * self._least:
            two = [*self._regressed(None, 2)]
            for mixed in [each.mix for each in by_left(ones) if each.mix][:2]:
                two += self._regressed(mixed, 1)
            if two and by_left(two)[0].left <= min(LEFT_BY_TWO, BETTER * left):
                return self._named(two)
        if left > LEFT:
            return Name("", *self._largest("no one or two known errors explain it"))
        return self._named(ones)

    def _named(self, found: Sequence[Trial]) -> Name:
        best, *others = by_left(found)
        left = max(best.left, self._least)
        alike = [each for each in found if each.left <= ALIKE * left]
        if any(each.mix for each in alike):  # which has no size to fit
            alike = [each for each in alike if each.mix]
        least = {each.places: each for each in reversed(by_left(alike))}
        alike = [each for each in alike if least[each.places] is each]
        single = {each.places[0][0] for each in alike if each.places[0][1] != EVERY}
        alike = [e for e in alike if e.places[0][1] != EVERY or e.places[0][0] not in single]
        text = str(alike[0])
        if len(alike) > 1:
            more = f"; and {len(alike) - MOST} more" if len(alike) > MOST else ""
            text = f"cannot be distinguished: {'; '.join(map(str, alike[:MOST]))}{more}"
        elif left <= PROBABLE:
            most = "at most " if left > best.left else ""  # the last bits are not shown
            text += f", which leaves {most}{left:.0g} of it"
            rest = [each.left for each in others if each.places != alike[0].places]
            if rest and rest[0] < NOTHING:
                text += f" and the next best {rest[0]:.1g}"
        if left > PROBABLE:
            text = f"no known error explains all but {left:.1g} of it; closest: {text}"
            return Name("", *self._largest(text))
        return Name(text=text) if len(alike) > 1 else Name(*alike[0].places[0], text)

    @property
    def _least(self) -> float:
        """Share of the squared residuals that the floor makes, or round-off."""
        return max(len(self._target) / self._total, ROUND_OFF)

    def _largest(self, text: str) -> tuple[str, str]:
        """Return the joint or link of the largest residual, and a text with it."""
        size = np.abs(self._target.reshape(-1, len(self._weight))).max(axis=0)
        quantity, where = names(self._predictor.run.joints)[first_largest(size)]
        return where, f"{text}; look at the {quantity} of {where}"

    def _weighted(self, residuals: Array) -> Array:
        return np.asarray((residuals * self._weight).ravel())

    def _share(self, residuals: Array) -> float:
        rest = self._weighted(residuals)
        share = float(rest @ rest) / self._total
        return share if math.isfinite(share) else math.inf

    def _mixed(self) -> Iterator[Trial]:
        """Yield the errors without a size that leave less of the first ticks than there is."""
        few = replace(
            self._predictor,
            ticks=self._predictor.ticks[:FIRST],
            rest=self._predictor.rest[:FIRST] if self._predictor.rest.ndim > 1 else np.zeros(1),
        )
        before = self._weighted(few.residuals())
        for mix in self._predictor.mixes():
            try:
                after = self._weighted(few.residuals(mix=mix))
                if after @ after < before @ before:
                    yield Trial(self._share(self._predictor.residuals(mix=mix)), mix=mix)
            except AccordError:  # states in which the robot cannot be
                continue

    def _slopes(self, mix: Mix | None) -> dict[Hypothesis, Array]:
        known = self._known
        if mix not in known:
            found = self._predictor.slopes(mix=mix)
            known[mix] = {one: self._weighted(slope) for one, slope in found.items()}
        return known[mix]

    def _regressed(self, mix: Mix | None, count: int) -> Iterator[Trial]:
        """Yield the groups of so many parameters that are best by regression, as tried."""
        slopes = self._slopes(mix)
        if not slopes:
            return
        start = self._weighted(self._predictor.residuals(mix=mix))
        columns = np.array([*slopes.values()])
        size = np.linalg.norm(columns, axis=1)
        columns = columns / size[:, None]
        of = dict[Hypothesis, list[int]]()
        for row, one in enumerate(slopes):
            most = max(size[i] for i, other in enumerate(slopes) if other.whole == one.whole)
            if size[row] > UNSEEN * most:
                of.setdefault(one.whole, []).append(row)
        products, along = columns @ columns.T, columns @ start

        def gain(rows: list[int]) -> float:
            found = np.linalg.lstsq(products[np.ix_(rows, rows)], along[rows], rcond=1e-10)[0]
            return float(found @ along[rows])

        same = CANCELLED * float(start @ start)
        groups = ranked([*of.values()], lambda rows: -gain(rows), same, 0.0)
        tried = max(TRIED, sum(gain(rows) >= gain(groups[0]) - same for rows in groups))
        if count == 2:
            pairs = combinations(enumerate(groups), 2)
            both = [sorted([*a, *b]) for (i, a), (_, b) in pairs if i < TRIED]
            groups, tried = ranked(both, lambda rows: -gain(rows), same, 0.0), TRIED
        known = list(slopes)
        for rows in sorted(groups[:tried]):
            yield self._tried([known[row] for row in rows], mix)

    def _tried(self, ones: Sequence[Hypothesis], mix: Mix | None) -> Trial:
        """Return what parameters leave at the sizes that explain most (Gauss and Newton)."""
        sizes = np.zeros(len(ones))
        best = Trial(math.inf, {}, mix)
        for _ in range(ROUNDS):
            now = dict(zip(ones, sizes.tolist(), strict=True))
            try:
                rest = self._predictor.residuals(now, mix)
                slopes = self._predictor.slopes(ones, mix, now)
            except (AccordError, ArithmeticError):
                break
            left = self._share(rest)
            if not left < STALLED * best.left or len(slopes) < len(ones):
                break
            best = Trial(left, now, mix)
            columns = np.array([self._weighted(slopes[one]) for one in ones])
            norm = np.linalg.norm(columns, axis=1)
            unit = (columns / norm[:, None]).T
            sizes = sizes - np.linalg.lstsq(unit, self._weighted(rest), rcond=1e-8)[0] / norm
        return best
