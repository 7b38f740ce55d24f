"""What is tried on a log: parameters, sizes from which fits begin, signs and orders of columns.

An error may be added to `groups_of`, or to `starts_of` where a fit must begin near its size, with a
case of `LogBody.varied` or of problem.py. Sizes from which fits begin may be tuned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from roboaccord.contract.outcome import Cause
from roboaccord.contract.state import Array
from roboaccord.crosscheck.causes.hypotheses import (
    BACKLASH,
    FILTER,
    PAYLOAD,
    SPRING,
    Group,
    Hypothesis,
    Sizes,
    components,
)  # fmt: skip
from roboaccord.crosscheck.causes.samples import exchanges, starts
from roboaccord.crosscheck.causes.search import UNSEEN
from roboaccord.description.tree import Tree
from roboaccord.engines.deviations import EVERY, OF_JOINTS, OF_LINKS, PRODUCTS, UPWARDS
from roboaccord.numerics.ranking import ranked

from roboaccord_files.logs.body import DRY, OFFSET, SPEEDS, TILT, LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.windows import Windows

LATEST = 20  # samples by which efforts are tried to act late, or early
DELAY = Hypothesis("delay")  # samples, from the one before the stamp
FILTERS = (0.5, 2.0, 8.0)  # periods: of a filter
CARRIED = (0.05, 0.3, 1.5)  # of a link's mass: payloads
FEW_TIMES, LIKELIEST = 60, 6  # at which signs and orders are tried, and how many are fitted
Slopes = Callable[[Sequence[Hypothesis], Sizes], Mapping[Hypothesis, Array]]


def groups_of(log: Log, tree: Tree, scaled: bool) -> list[Group]:
    """Return the hypotheses, in the order of names; no gear where efforts have factors."""
    links = [link.name for link in tree.links[1:] if link.mass]
    crossed = [link.name for link in tree.links[1:] if np.triu(link.inertia, 1).any()]
    driven = () if scaled else ("gear",)
    kinds = (*driven, *OF_JOINTS[1:], "axis", "zero", OFFSET, FILTER, SPRING, BACKLASH)
    every = [EVERY] if len(log.driven) > 1 else []
    groups: list[Group] = [
        (Hypothesis(DRY, joint, i),) for joint, i in product(log.driven, range(1, len(SPEEDS)))
    ]
    groups += [components(Hypothesis(*each)) for each in product(OF_LINKS, links)]
    groups += [(Hypothesis(PRODUCTS, each),) for each in [*crossed, *every] if crossed]
    groups += [components(Hypothesis(*each)) for each in product(kinds, log.driven)]
    groups += [(Hypothesis(*each),) for each in product(driven, every)]
    groups += [(Hypothesis("gravity", "", UPWARDS),), (Hypothesis("clock"),)]
    groups += [tuple(Hypothesis(TILT, "", axis) for axis in (0, 1))]
    return groups


def starts_of(log: Log, tree: Tree, slopes: Slopes) -> Iterator[tuple[Group, Sequence[float]]]:
    """Yield a delay by whole samples, a filter, a payload of the last link, and what drives do."""
    latest = min(LATEST, min(s.stop - s.start for s in log.segments) // 10)
    yield (DELAY,), [float(1 + each) for each in range(-latest, latest + 1)]
    for quantity, where, sizes in starts(log):
        if where in (*log.driven, EVERY):
            yield (Hypothesis(quantity, where),), sizes
    every = EVERY if len(log.driven) > 1 else log.driven[0]
    yield (Hypothesis(FILTER, every),), [log.period * x for x in FILTERS]
    for link in [link for link in tree.links[1:] if link.mass][-1:]:
        mass, *place = components(Hypothesis(PAYLOAD, link.name))
        moved = slopes(place, {mass: link.mass})
        size = {one: float(np.linalg.norm(slope)) for one, slope in moved.items()}
        seen = [one for one in place if size.get(one, 0.0) > UNSEEN * max(size.values())]
        yield (mass, *seen), [x * link.mass for x in CARRIED]


def likely(windows: Windows, body: LogBody, efforts: Array) -> list[tuple[Cause, list[str], Array]]:
    """Return signs and orders with which accelerations at a few times need efforts like these.

    Args:
        windows: of a log, with its motion.
        body: that the efforts move.
        efforts: of all samples (k, n).
    """
    unit, driven = np.eye(windows.joints), windows.log.driven
    first = windows.joints - len(driven)  # behind the joints of a base
    at = np.linspace(0, len(windows.qd) - 1, FEW_TIMES).astype(int)
    motion = np.stack([x[at] for x in (windows.q, windows.qd, windows.qdd)])
    acting = efforts[windows.samples.repeat(2, axis=1)[:, 1:].ravel()[at]]
    size = np.maximum(acting.std(axis=0), 1e-9)

    def off(names: Sequence[str], change: Array) -> float:
        q, qd, qdd = motion @ (change if "q" in names else unit)
        needed = body.efforts(q, qd, qdd) + body.friction(qd)
        undone = acting @ (change if "effort" in names else unit)
        return float((((undone - needed) / size) ** 2).sum())

    every, plain = list(exchanges(driven, ("q", "effort"))), off((), unit)
    for i, (cause, names, change) in enumerate(every):
        whole = unit.copy()
        whole[first:, first:] = change
        every[i] = cause, names, whole
    offs = [off(names, change) for _, names, change in every]
    least = ranked(range(len(every)), offs.__getitem__)[:LIKELIEST]
    return [every[i] for i in sorted(least) if offs[i] < plain]
