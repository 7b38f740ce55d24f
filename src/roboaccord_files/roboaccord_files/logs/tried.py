"""List the errors that are tried as causes of a log's residuals.

An error is a `Hypothesis`: a quantity, the joint or link where it is wrong, and an axis. There are
three lists: `groups_of` has errors whose effect is nearly linear in their size, so that a fit can
begin at 0; `starts_of` has those whose fit must begin near the right size, with sizes to begin at;
`likely` has wrong signs and exchanged columns.

An error is added to one of them, with its effect in `LogBody.varied` or in predicted.py. Starting
sizes may be tuned.
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
)
from roboaccord.crosscheck.causes.samples import exchanges, starts
from roboaccord.crosscheck.causes.search import MIN_EFFECT
from roboaccord.description.tree import Tree
from roboaccord.engines.deviations import EVERY, OF_JOINTS, OF_LINKS, PRODUCTS, UPWARDS
from roboaccord.numerics.ranking import ranked

from roboaccord_files.logs.body import DRY, OFFSET, SPEEDS, TILT, LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.windows import Windows

# Samples; efforts are tried this late, and this early: 20 ms at 1 kHz, 0.2 s at 100 Hz, more than
# buses and drivers take.
LATEST = 20
DELAY = Hypothesis("delay")  # samples; 1 is an effort that acts from its stamp on
# Periods; time constants of filters that are tried, a factor of 4 apart, so that one is within a
# factor of 2 of any from 0.25 to 16.
FILTERS = (0.5, 2.0, 8.0)
# Of a link's mass; payloads that are tried. One is within a factor of 1.5 of any payload from 3 %
# to 960 %.
CARRIED = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
# Times of the log at which signs and orders are compared: each sign or order has 60 equations a
# joint.
FEW_TIMES = 60
# Signs and orders that are fitted, of all that are compared, as many as three joints have signs of
# q and effort.
LIKELIEST = 6
Slopes = Callable[[Sequence[Hypothesis], Sizes], Mapping[Hypothesis, Array]]


def groups_of(log: Log, tree: Tree, scaled: bool) -> list[Group]:
    """Return the groups of errors that are tried from size 0; those of a group are fitted together.

    Args:
        log: with the joints that are driven.
        tree: of the robot.
        scaled: whether efforts have unknown factors, from which a gear could not be told.
    """
    links = [link.name for link in tree.links[1:] if link.mass]
    with_products = [link.name for link in tree.links[1:] if np.triu(link.inertia, 1).any()]
    gear = () if scaled else ("gear",)
    kinds = (*gear, *OF_JOINTS[1:], "axis", "zero", OFFSET, FILTER, SPRING, BACKLASH)
    every = [EVERY] if len(log.driven) > 1 else []
    groups: list[Group] = [
        (Hypothesis(DRY, joint, i),) for joint, i in product(log.driven, range(1, len(SPEEDS)))
    ]
    groups += [components(Hypothesis(*pair)) for pair in product(OF_LINKS, links)]
    groups += [
        (Hypothesis(PRODUCTS, where),) for where in [*with_products, *every] if with_products
    ]
    groups += [components(Hypothesis(*pair)) for pair in product(kinds, log.driven)]
    groups += [(Hypothesis(*pair),) for pair in product(gear, every)]
    groups += [(Hypothesis("gravity", "", UPWARDS),), (Hypothesis("clock"),)]
    groups += [tuple(Hypothesis(TILT, "", axis) for axis in (0, 1))]
    return groups


def starts_of(log: Log, tree: Tree, slopes: Slopes) -> Iterator[tuple[Group, Sequence[float]]]:
    """Yield groups of errors with starting sizes: delay, drives, filter, payload of the last link.

    Args:
        log: of which the segments bound the delay.
        tree: of the robot.
        slopes: returns derivatives of the residuals; axes along which a payload's position does not
            change them are left out.
    """
    latest = min(LATEST, min(stretch.stop - stretch.start for stretch in log.segments) // 10)
    yield (DELAY,), [float(1 + samples) for samples in range(-latest, latest + 1)]
    for quantity, where, sizes in starts(log):
        if where in (*log.driven, EVERY):
            yield (Hypothesis(quantity, where),), sizes
    every = EVERY if len(log.driven) > 1 else log.driven[0]
    yield (Hypothesis(FILTER, every),), [log.period * periods for periods in FILTERS]
    for link in [link for link in tree.links[1:] if link.mass][-1:]:
        mass, *position = components(Hypothesis(PAYLOAD, link.name))
        position_slopes = slopes(position, {mass: link.mass})
        effect = {axis: float(np.linalg.norm(slope)) for axis, slope in position_slopes.items()}
        visible = [
            axis for axis in position if effect.get(axis, 0.0) > MIN_EFFECT * max(effect.values())
        ]
        yield (mass, *visible), [share * link.mass for share in CARRIED]


def likely(windows: Windows, body: LogBody, efforts: Array) -> list[tuple[Cause, list[str], Array]]:
    """Return the wrong signs and exchanged columns with which efforts best fit the motion.

    At a few times the efforts are compared with those that the motion needs by the robot's
    equations, for each way in which columns of positions or efforts may be changed. Each is
    returned as the cause, the fields of the log that it changes, and the matrix (n, n) that undoes
    it: columns @ matrix.

    Args:
        windows: of a log, with its motion.
        body: robot that the efforts move.
        efforts: of all samples (k, n).
    """
    unit, driven = np.eye(windows.joints), windows.log.driven
    first = windows.joints - len(driven)  # the joints of a moving base come before
    # Motion and efforts at a few times; `samples.repeat` is the sample of each time of a window.
    at = np.linspace(0, len(windows.qd) - 1, FEW_TIMES).astype(int)
    motion = np.stack([values[at] for values in (windows.q, windows.qd, windows.qdd)])
    acting = efforts[windows.samples.repeat(2, axis=1)[:, 1:].ravel()[at]]
    size = np.maximum(acting.std(axis=0), 1e-9)

    def misfit(names: Sequence[str], change: Array) -> float:
        q, qd, qdd = motion @ (change if "q" in names else unit)
        needed = body.efforts(q, qd, qdd) + body.friction(qd)
        corrected = acting @ (change if "effort" in names else unit)
        return float((((corrected - needed) / size) ** 2).sum())

    candidates, as_recorded = list(exchanges(driven, ("q", "effort"))), misfit((), unit)
    # Matrices of all joints, with those of the base unchanged.
    for i, (cause, names, change) in enumerate(candidates):
        full = unit.copy()
        full[first:, first:] = change
        candidates[i] = cause, names, full
    misfits = [misfit(names, change) for _, names, change in candidates]
    best = ranked(range(len(candidates)), misfits.__getitem__)[:LIKELIEST]
    return [candidates[i] for i in sorted(best) if misfits[i] < as_recorded]
