"""Whether samples can be what they are taken for: units, rates, and a base that stays.

The bounds may be tuned: SLOWEST and ASTRAY decide what is refused, APART what is noted, MOVES what
a fixed base may seem to move. ASTRAY must lie between what a joint overshoots and 57, degrees to
radians. A quotient of positions and rates that stands for mixed units may be added to MIXED.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from roboaccord.contract.checks import FAST, divergence
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from roboaccord_files.logs.columns import FACTORS, Column, base_columns, unit_of
from roboaccord_files.logs.table import Table

SLOWEST = 0.5  # s: a longer period is none of seconds
ASTRAY = 5.0  # times a hinge's limit: farther than any overshoot, nearer than degrees
APART = 0.1  # of the rates: more is noted
MOVES = 0.01  # m, and of a quaternion
MIXED = {
    "positions in degrees, rates in rad/s": 180 / np.pi,
    "rates in degrees/s, positions in rad": np.pi / 180,
    "rates in rpm": np.pi / 30,
}  # rates of the positions over those given
NEAR = 0.02  # of such a quotient


def check_units(
    time: Array,
    q: Array,
    period: float,
    columns: Mapping[str, Column],
    limits: Mapping[str, float],
) -> None:
    """Refuse samples whose units cannot be right.

    Args:
        time: (k,) [s].
        q: positions (k, n), of the joints of `limits`, in their order.
        period: between samples [s].
        columns: that were taken, by key.
        limits: the largest angle of a hinge [rad], by joint; 0 where none is known.

    Raises:
        AccordError: naming what may be wrong, and the cure.
    """
    if period > SLOWEST:
        clock = columns["time"].name
        cure = f"--map 'time={clock}[ms]'"
        raise AccordError(f"samples {period:g} s apart; in ms or ns? {cure}")
    rates = np.diff(q, axis=0) / np.diff(time)[:, None]
    if diverges := divergence([*limits], time[:-1], rates):
        raise AccordError(f"{diverges}; there are no units to guess, and nothing to judge")
    largest = np.abs(q).max(axis=0)
    typical = np.median(np.abs(rates), axis=0)
    for (joint, limit), speed, angle in zip(limits.items(), typical, largest):
        column = columns[f"q/{joint}"]
        cure = f"--map 'q/{joint}={column.name}[deg]'"
        if speed > FAST:
            moves = f"{joint} moves at {speed:.3g} rad/s"
            raise AccordError(f"{moves}; in degrees, or the time in another unit? {cure}")
        if angle > ASTRAY * limit > 0.0 and not (column.unit or unit_of(column.name, joint)):
            reaches = f"{joint} reaches {angle:.3g} rad, its limit is {limit:.3g} rad"
            raise AccordError(f"{reaches}; in degrees? {cure}")


def rate_notes(
    time: Array, q: Array, rates: Mapping[str, Array], joints: Sequence[str]
) -> Iterable[str]:
    """Yield where rates (k,) are not those of the positions (k, n); they are not used."""
    with np.errstate(all="ignore"):
        middle = np.diff(q, axis=0) / np.diff(time)[:, None]
    for joint, rate in rates.items():
        own, given = middle[:, list(joints).index(joint)], 0.5 * (rate[1:] + rate[:-1])
        good = np.isfinite(own) & np.isfinite(given)
        if not good.any():
            continue
        own, given = own[good], given[good]
        size, apart = (np.sqrt(np.mean(each**2)) for each in (given, own - given))
        if apart > APART * size:
            quotient = own @ given / (given @ given) if size else 0.0
            near = (w for w, each in MIXED.items() if abs(quotient / each - 1.0) < NEAR)
            guess = f" ({name}?)" if (name := next(near, "")) else ""
            if guess and quotient > 1.0:
                raise AccordError(f"{joint}: {name}? --map 'q/{joint}=COLUMN[deg]'")
            off = f"{apart:.2g} rad/s off d(position)/dt{guess}"
            yield f"rates of {joint} are {off}; they are not used"


def check_base(table: Table, joints: Sequence[str]) -> None:
    """Refuse the log of a base that moves.

    Raises:
        AccordError: stating how far.
    """
    pose = dict(base_columns([*table.columns], joints))
    cure = "a log can be checked only for a robot whose base is fixed to the world"
    places = [name for part, name in pose.items() if part in "xyz"]
    scale = [FACTORS.get(unit_of(name), 1.0) for name in places]
    rows = np.column_stack([table.values(name) for name in places] or [[]]) * scale
    rows = rows[np.isfinite(rows).all(axis=1)] if places else rows[:0]
    far = np.sqrt(((rows - rows[:1]) ** 2).sum(axis=1)).max(initial=0.0)
    if far > MOVES:
        raise AccordError(f"the base moves {far:.3g} m; {cure}")
    turns = [table.values(name) for part, name in pose.items() if part[0] == "q"]
    if any(np.ptp(np.abs(each[np.isfinite(each)]), axis=0) > MOVES for each in turns if each.size):
        raise AccordError(f"the base turns; {cure}")
