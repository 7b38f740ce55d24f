"""The regression of what a robot's file leaves in the windows of a log on the hypotheses.

`groups` yields what is tried: errors may be added, a hypothesis there and a case of `varied` in
parameters.py. PRIOR, BOUNDS, LATEST and LAGS may be tuned, and `make own-logs` measures what they
find; the order of a, b, c and the delay must be that of PRIOR, of `sizes` and of the scheme's
columns.

Time step and scheme of the log are unknown. To first order a scheme takes q, qd and friction from
times that are late by a, b and c: forward Euler's steps of h have a = h and b = c = h/2,
semi-implicit ones a = 0 [Hairer, Lubich and Wanner 2006, IX], and those of a higher order 0. All
three are fitted beside each hypothesis, and when efforts act: from their stamp on, up to it, or
between. Intervals are of 95 %, by residuals that may be correlated within windows and with the next
ones [Newey and West 1987], and wider by what windows of twice the length change (causes.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from roboaccord.contract.state import Array
from roboaccord.crosscheck.hypotheses import Hypothesis, components
from roboaccord.engines.twin import OF_JOINTS, OF_LINKS
from roboaccord.numerics.ranking import ranked

from roboaccord_files.logs.noise import noise_of
from roboaccord_files.logs.parameters import (
    DRY,
    OFFSET,
    PROBE,
    SPEEDS,
    TILT,
    DynamicParameters,
    varied,
)
from roboaccord_files.logs.windows import Windows

LATEST = 20  # samples by which efforts are tried to act late
BENT = ("centre", "zero", "origin", "axis", "clock")  # not linear
FAR = 1.0  # m or rad: no such error is larger
ROUNDS, SETTLED = 5, 1e-4  # of Gauss and Newton, and change of sizes that ends them
PRIOR = [(0.0, 0.7), (0.0, 0.5), (0.0, 0.5), (0.5, 0.7)]  # a, b, c, part of the delay [samples]
BOUNDS = [(-1.1, 1.1)] * 3 + [(-0.6, 1.6)]  # samples: no scheme is later, and more is a delay
SURE = 1e-9  # samples
LAGS = 3  # windows over which residuals may be correlated
DELAY = Hypothesis("delay")
Group = tuple[Hypothesis, ...]


class Fit(NamedTuple):
    """Hold a least-squares fit.

    Args:
        groups: hypotheses, each with its components.
        sizes, deviations: theirs, then of a, b, c and the part of the delay.
        cost: squared residuals over the noise's, and the prior's.
        left: residuals over the noise (w, (k + 1) n).
        shift: whole samples of the delay.
    """

    groups: tuple[Group, ...]
    sizes: Array
    deviations: Array
    cost: float
    left: Array
    shift: int

    @property
    def ones(self) -> Group:
        """All components of the hypotheses, a delay apart."""
        return tuple(one for group in self.groups for one in group if one != DELAY)

    @property
    def late(self) -> bool:
        """Whether efforts act late."""
        return (DELAY,) in self.groups

    @property
    def unit(self) -> float:
        """Square of a residual that counts as noise."""
        return max(1.0, float((self.left**2).mean()))


class LogRegression:
    """Regress what a robot's file leaves in the windows of a log on hypotheses.

    Args:
        windows: of the log.
        dry: joints with dry friction: windows in which they turn back, and may stick, are left out.
    """

    def __init__(self, windows: Windows, dry: Iterable[str] = ()) -> None:
        self.windows, self.dry = windows, frozenset(dry)
        self.kept = windows.moving(self.dry)
        self.measured, self.scheme = windows.measured[self.kept], windows.scheme[self.kept]
        self._slopes = dict[Hypothesis, Array]()
        self._driven = dict[int, Array]()
        shortest = min(s.stop - s.start for s in windows.log.segments)
        self.latest = min(LATEST, shortest // 10)

    def driven(self, shift: int) -> Array:
        """Return what the efforts of each joint do, late by whole samples (w, (k + 1) n, n)."""
        if shift not in self._driven:
            efforts = self.windows.applied(shift)
            columns = self.windows.driven(efforts[..., None] * np.eye(efforts.shape[-1]))
            self._driven[shift] = columns[self.kept]
        return self._driven[shift]

    def slope(self, one: Hypothesis, shift: int, body: DynamicParameters | None = None) -> Array:
        """Return how residuals change with a parameter (w, (k + 1) n)."""
        if one.quantity == "gear":
            return -self.driven(shift)[..., self.windows.log.joints.index(one.where)]
        if body is None and one in self._slopes:
            return self._slopes[one]
        plain = self.windows.plain if body is None else self.windows.needed(body)
        changed = self.windows.needed(varied(body or self.windows.body, {one: PROBE}))
        found = self._made_by((changed - plain) / PROBE)
        if body is None:
            self._slopes[one] = found
        return found

    def _made_by(self, efforts: Array) -> Array:
        return np.asarray(self.windows.made_by(efforts[..., None])[self.kept, :, 0])

    def fit(self, groups: tuple[Group, ...], shift: int = -1, rounds: int = ROUNDS) -> Fit:
        """Fit hypotheses beside scheme and delay, in so many rounds where they are not linear."""
        ones = tuple(one for group in groups for one in group if one != DELAY)
        count = len(ones)
        part = (self.driven(shift) - self.driven(shift + 1)).sum(axis=-1)
        beside = [*np.moveaxis(self.scheme, -1, 0), part]
        slopes = np.array([*(self.slope(one, shift) for one in ones), *beside])
        start = self.measured - self.driven(shift).sum(axis=-1)
        means, spreads = np.array(PRIOR).T
        sizes = np.r_[np.zeros(count), means]
        bent = any(one.quantity in BENT for one in ones)
        for turn in range(rounds if bent else 1):
            now = start
            if turn:
                body = varied(self.windows.body, dict(zip(ones, sizes.tolist())))
                more = self.windows.needed(body) - self.windows.plain
                now = start + self._made_by(more)
                for i, one in enumerate(ones):
                    if one.quantity == "gear":
                        now = now + sizes[i] * slopes[i]
                    else:
                        slopes[i] = self.slope(one, shift, body)
            now = now + np.tensordot(sizes[count:], slopes[count:], 1)
            change, inverse = bounded(slopes, now, sizes)
            sizes = sizes + change
            moved, size = (np.abs(x[:count]).max(initial=0.0) for x in (change, sizes))
            sizes[:count] = [
                np.clip(size, -FAR, FAR) if one.quantity in BENT else size
                for one, size in zip(ones, sizes)
            ]
            if moved < SETTLED * size:
                break
        left = now + np.tensordot(change, slopes, 1)
        cost = float((left**2).sum() + (((sizes[-4:] - means) / spreads) ** 2).sum())
        scores = np.einsum("pwr,wr->wp", slopes, left)
        robust = np.diag(inverse @ long_run(scores) @ inverse)
        fit = Fit(groups, sizes, np.empty(0), cost, left, shift)
        deviations = np.sqrt(np.maximum(robust, fit.unit * np.diag(inverse)))
        return fit._replace(deviations=deviations)

    def more(self, now: Fit, group: Group) -> Fit:
        """Return the best linear fit of a hypothesis more, by the delay."""
        shifts = [now.shift]
        if group == (DELAY,):
            shifts = [*range(self.latest + 1)]
        elif now.late:
            shifts = [*range(max(now.shift - 1, 0), now.shift + 2)]
        groups = (*now.groups, group)
        fits = [self.fit(groups, each, 1) for each in shifts]
        return ranked(fits, lambda each: each.cost)[0]

    def groups(self) -> Iterator[Group]:
        """Yield the hypotheses that change anything."""
        log, tree = self.windows.log, self.windows.body.tree
        links = [link.name for link in tree.links[1:] if link.mass]
        wholes = [Hypothesis(*each) for each in product(OF_LINKS, links)]
        kinds = (*OF_JOINTS, "axis", "zero", OFFSET)
        wholes += [Hypothesis(*each) for each in product(kinds, log.joints)]
        yield (DELAY,)
        for joint, i in product(log.joints, range(1, len(SPEEDS))):
            yield (Hypothesis(DRY, joint, i),)
        for parts in (
            *map(components, wholes),
            [Hypothesis("gravity")],
            [Hypothesis("clock")],
            [Hypothesis(TILT, "", axis) for axis in (0, 1)],
        ):
            sizes = {one: float(np.linalg.norm(self.slope(one, -1))) for one in parts}
            most = max(sizes.values())
            if found := tuple(one for one in parts if sizes[one] > 1e-6 * most):
                yield found

    @property
    def effort_share(self) -> Array:
        """Noise of the efforts in windows, as `share` has residuals (n,)."""
        log, rng = self.windows.log, np.random.default_rng(0)
        noise = noise_of(log, log.effort) * rng.standard_normal(log.effort.shape)
        noisy = self.windows.applied(0, noise)
        return self.share(self.windows.driven(noisy[..., None])[self.kept, :, 0])

    def share(self, left: Array) -> Array:
        """Return rms residuals over what the efforts do (n,)."""
        rms = np.sqrt((left.reshape(-1, len(self.windows.scale)) ** 2).mean(axis=0))
        return np.asarray(rms * self.windows.scale / self.windows.reach)


def solved(
    slopes: Array, now: Array, sizes: Array, prior: Sequence[tuple[float, float]]
) -> tuple[Array, Array]:
    """Return the change (p,) of sizes that leaves least, and the inverse of the normal matrix."""
    means, spreads = np.array(prior).T
    flat = slopes.reshape(len(slopes), -1)
    normal, right = flat @ flat.T, -flat @ now.ravel()
    weights = spreads**-2.0
    normal[-4:, -4:] += np.diag(weights)
    right[-4:] += weights * (means - sizes[-4:])
    norm = np.sqrt(np.maximum(np.diag(normal), 1e-300))
    inverse = np.linalg.pinv(normal / np.outer(norm, norm), rcond=1e-10, hermitian=True)
    inverse = inverse / np.outer(norm, norm)
    return inverse @ right, inverse


def bounded(slopes: Array, now: Array, sizes: Array) -> tuple[Array, Array]:
    """Return what `solved` does, with a, b, c and the part of the delay within their bounds."""
    prior = list(PRIOR)
    while True:
        change, inverse = solved(slopes, now, sizes, prior)
        found = sizes[-4:] + change[-4:]
        for i, (value, (low, high)) in enumerate(zip(found.tolist(), BOUNDS)):
            if prior[i][1] != SURE and not low <= value <= high:
                prior[i] = (min(max(value, low), high), SURE)
                break
        else:
            return change, inverse


def long_run(scores: Array) -> Array:
    """Return the covariance (p, p) of the sum of correlated scores (w, p)."""
    found = scores.T @ scores
    for lag in range(1, min(LAGS, len(scores))):
        both = scores[lag:].T @ scores[:-lag]
        found += (1.0 - lag / LAGS) * (both + both.T)
    return np.asarray(found)
