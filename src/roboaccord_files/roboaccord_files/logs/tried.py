"""List the errors that are tried as causes of a log's residuals.

An error is a `Hypothesis`: a quantity, the joint or link where it is wrong, and an axis. There are
three lists: `groups_of` has errors whose effect is nearly linear in their size, so that a fit can
begin at 0; `starts_of` has those whose fit must begin near the right size, with sizes to begin at;
`likely_mistakes` has wrong signs, exchanged columns, and columns of motors instead of joints.

An error is added to one of them, with its effect in `LogBody.varied` or in acting.py and
predicted.py. Starting sizes may be tuned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
from roboaccord.contract import Array, Index
from roboaccord.contract.outcome import Cause
from roboaccord.crosscheck.causes import hypotheses as quantities
from roboaccord.crosscheck.causes.hypotheses import Group, Hypothesis, Sizes, components
from roboaccord.crosscheck.causes.samples import exchanges, starts
from roboaccord.crosscheck.causes.search import MIN_EFFECT
from roboaccord.description.tree import Tree
from roboaccord.engines.deviations import EVERY, OF_JOINTS, OF_LINKS, PRODUCTS, Z_INDEX
from roboaccord.numerics.ranking import ranked

from roboaccord_files.logs.body import DRY, DRY_SPEEDS, OFFSET, TILT, LogBody
from roboaccord_files.logs.log import Log
from roboaccord_files.logs.windows import Windows

# Quantities of drives that are tried for each joint, beside those of the core (OF_JOINTS).
OF_DRIVES = (quantities.FILTER, quantities.SPRING, quantities.BACKLASH)
DELAY = Hypothesis("delay")  # samples; 1 is an effort that acts from its stamp on
# Periods; time constants of filters that are tried, a factor of 4 apart, so that one is within a
# factor of 2 of any from 0.25 to 16.
FILTER_PERIODS = (0.5, 2.0, 8.0)
# Of a link's mass; payloads that are tried. One is within a factor of 1.5 of any payload from 3 %
# to 960 %.
PAYLOAD_SHARES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4)
# Times of the log at which signs and orders are compared, so that each has 60 equations a joint;
# and where ratios of gears are fitted, too: 20 times as many make these 4.5 times as exact.
FEW_TIMES, MANY_TIMES = 60, 1200
# Signs and orders that are fitted, of all that are compared, as many as three joints have signs of
# q and effort.
MAX_FITTED = 6
# rad; a joint that turns farther may be a motor before its gear. Its ratio is tried from 2 to 512,
# either way, by factors of 1.6, and then fitted; one that is nearer to 1 is no gear, but maybe a
# wrong sign.
MOTOR_RANGE, MIN_GEAR = np.pi, 1.6
GEARS = np.outer([1.0, -1.0], np.geomspace(2.0, 512.0, 13)).ravel()
# Fields of the log that may be those of motors, by the name of the cause.
MOTOR_FIELDS = {"gear of q": ["q"], "gear of axis": ["q", "effort"]}
# A cause, the fields of the log that it changes, and the matrix (n, n) that undoes it.
Mistake = tuple[Cause, list[str], Array]
# The derivatives of residuals by the sizes of hypotheses, as `slopes` of predicted.py.
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
    kinds = (*gear, *OF_JOINTS[1:], "axis", "zero", OFFSET, *OF_DRIVES)
    every = [EVERY] if len(log.driven) > 1 else []
    speeds = range(1, len(DRY_SPEEDS))
    # Friction; masses, centres and inertias; products of inertia; joints and drives; of all joints
    # together; gravity and clock.
    groups: list[Group] = [(Hypothesis(DRY, joint, i),) for joint, i in product(log.driven, speeds)]
    groups += [components(Hypothesis(*pair)) for pair in product(OF_LINKS, links)]
    groups += [(Hypothesis(PRODUCTS, link),) for link in [*with_products, *every] if with_products]
    groups += [components(Hypothesis(*pair)) for pair in product(kinds, log.driven)]
    groups += [(Hypothesis(*pair),) for pair in product(gear, every)]
    groups += [(Hypothesis("gravity", "", Z_INDEX),), (Hypothesis("clock"),)]
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
    yield (DELAY,), [float(1 + samples) for samples in range(-log.latest, log.latest + 1)]
    for quantity, where, sizes in starts(log):
        if where in (*log.driven, EVERY):
            yield (Hypothesis(quantity, where),), sizes
    every = EVERY if len(log.driven) > 1 else log.driven[0]
    slow_filter = Hypothesis(quantities.FILTER, every)
    yield (slow_filter,), [log.period * periods for periods in FILTER_PERIODS]
    # A payload of the last link that has a mass, if there is one.
    for link in [link for link in tree.links[1:] if link.mass][-1:]:
        mass, *position = components(Hypothesis(quantities.PAYLOAD, link.name))
        position_slopes = slopes(position, {mass: link.mass})
        effect = {axis: float(np.linalg.norm(slope)) for axis, slope in position_slopes.items()}
        least = MIN_EFFECT * max(effect.values())
        visible = [axis for axis in position if effect.get(axis, 0.0) > least]
        yield (mass, *visible), [share * link.mass for share in PAYLOAD_SHARES]


def likely_mistakes(windows: Windows, body: LogBody, efforts: Array) -> list[Mistake]:
    """Return the wrong signs, orders and gears of columns with which efforts best fit the motion.

    At a few times the efforts are compared with those that the motion needs by the robot's
    equations, for each way in which columns of positions or efforts may be changed. Each is
    returned as the cause, the fields of the log that it changes, and the matrix (n, n) that undoes
    it (`undone`).

    Args:
        windows: of a log, with its motion.
        body: robot that the efforts move.
        efforts: of all samples (k, n).
    """
    from scipy.linalg import block_diag

    unit, driven = np.eye(windows.joints), windows.log.driven
    first = windows.joints - len(driven)  # the joints of a moving base come before
    # Motion and efforts at a few times; `samples.repeat` is the sample of each time of a window.
    far = np.flatnonzero(np.ptp(windows.log.q, axis=0) > MOTOR_RANGE)
    far = far[far >= first]
    # Each joint that may be a motor, and all of them.
    motor_groups = [*far[:, None], far] if len(far) > 1 else [*far[:, None]]
    count = MANY_TIMES if far.size else FEW_TIMES
    at = np.linspace(0, len(windows.qd) - 1, count).astype(int)
    motion = np.stack([values[at] for values in (windows.q, windows.qd, windows.qdd)])
    acting = efforts[windows.samples.repeat(2, axis=1)[:, 1:].ravel()[at]]
    size = np.maximum(acting.std(axis=0), 1e-9)  # so that none divides by 0

    def misfits(names: Sequence[str], change: Array) -> Array:
        """Return the differences of efforts over their sizes, with columns changed (m,)."""
        q, qd, qdd = motion @ (change if "q" in names else unit)
        needed = body.efforts(q, qd, qdd) + body.friction(qd)
        corrected = undone("effort", acting, change) if "effort" in names else acting
        return np.asarray((corrected - needed) / size).ravel()

    candidates = [
        (cause, names, block_diag(np.eye(first), change))
        for cause, names, change in exchanges(driven, ("q", "effort"))
    ]
    for motors in motor_groups:
        candidates += [geared(kind, motors, windows.log.joints, misfits) for kind in MOTOR_FIELDS]
    squares = [float((misfits(names, change) ** 2).sum()) for _, names, change in candidates]
    as_recorded = float((misfits((), unit) ** 2).sum())
    best = ranked(range(len(candidates)), squares.__getitem__)[:MAX_FITTED]
    return [candidates[i] for i in sorted(best) if squares[i] < as_recorded]


def undone(name: str, columns: Any, change: Array) -> Any:
    """Return columns (k, n) of a field with a mistake undone, so that effort times rate stays."""
    return columns @ (np.linalg.inv(change).T if name == "effort" else change)


def geared(
    kind: str, motors: Index, joints: Sequence[str], misfits: Callable[..., Array]
) -> Mistake:
    """Return columns that are those of motors, before gears whose ratios fit best.

    Args:
        kind: key of MOTOR_FIELDS.
        motors: the columns of their joints (m,).
        joints: names of all joints (n,).
        misfits: returns the misfits of efforts, by fields and change, as in `likely_mistakes`.
    """
    from scipy.optimize import least_squares

    fields, of_motors = MOTOR_FIELDS[kind], np.eye(len(joints))[:, motors]
    equal = np.zeros(len(motors))  # logarithms of ratios that are all the same

    def change(logarithms: Array, ratio: float) -> Array:
        """Return the matrix that undoes ratios, by logarithms of their parts of a common one."""
        return np.diag(1.0 / (1.0 + of_motors @ (ratio * np.exp(logarithms) - 1.0)))

    ratio = min(GEARS, key=lambda ratio: float((misfits(fields, change(equal, ratio)) ** 2).sum()))
    bounds = np.log(MIN_GEAR / abs(ratio)), np.inf
    fit = least_squares(lambda x: misfits(fields, change(x, ratio)), equal, bounds=bounds)
    ratios = ratio * np.exp(fit.x)
    where = ", ".join(joints[j] for j in motors)
    text = ", ".join(f"{ratio:.4g}" for ratio in ratios)
    size = float(ratios[0]) if len(motors) == 1 else None
    return Cause(kind, where, size, axis=text), fields, change(fit.x, ratio)
