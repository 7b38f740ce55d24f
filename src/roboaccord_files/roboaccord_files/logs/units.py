"""Whether samples can be what they are taken for: units and rates.

The bounds may be tuned: SLOWEST and ASTRAY decide what is refused, APART what is noted. ASTRAY must
lie between what a joint overshoots and 57, degrees to radians.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from roboaccord.contract.checks import FAST, divergence
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from roboaccord_files.logs.columns import Column

SLOWEST = 0.5  # s: a longer period is none of seconds
ASTRAY = 5.0  # times a hinge's limit: farther than any overshoot, nearer than degrees
APART = 0.1  # of the rates: more is noted
DEGREES = 180.0 / np.pi
RATE_UNITS = {"rpm": np.pi / 30.0, "deg/s": np.pi / 180.0}
NEAR = 0.02  # of that, by which rates of positions are those given


def check_units(
    time: Array, q: Mapping[str, Array], columns: Mapping[str, Column], limits: Mapping[str, float]
) -> None:
    """Refuse samples whose units cannot be right.

    Args:
        time: increasing (k,) [s].
        q: positions (k,) by joint.
        columns: that were taken, by key.
        limits: the largest angles of hinges [rad], by joint.

    Raises:
        AccordError: naming what may be wrong, and the cure.
    """
    if (period := float(np.median(np.diff(time)))) > SLOWEST:
        cure = f"in ms or ns? --map 'time={columns['time'].name}[ms]'"
        raise AccordError(f"samples {period:g} s apart; {cure}")
    rates = np.column_stack([np.diff(each) / np.diff(time) for each in q.values()])
    if diverges := divergence([*q], time[:-1], rates):
        raise AccordError(f"{diverges}; there are no units to guess, and nothing to judge")
    for (joint, each), speed in zip(q.items(), np.median(np.abs(rates), axis=0)):
        column, limit, angle = columns[f"q/{joint}"], limits.get(joint, 0.0), np.abs(each).max()
        cure = f"--map 'q/{joint}={column.name}[deg]'"
        if speed > FAST:
            moves = f"{joint} moves at {speed:.3g} rad/s"
            raise AccordError(f"{moves}; in degrees, or the time in another unit? {cure}")
        if angle > ASTRAY * limit > 0.0 and not column.unit:
            reaches = f"{joint} reaches {angle:.3g} rad, its limit is {limit:.3g} rad"
            raise AccordError(f"{reaches}; in degrees? {cure}")


def rate_notes(time: Array, q: Mapping[str, Array], qd: Mapping[str, Array]) -> Iterable[str]:
    """Yield where rates (k,) are not those of the positions; they are not used.

    Raises:
        AccordError: where positions are in degrees, rates in radians.
    """
    for joint, rates in qd.items():
        a, b = np.diff(q[joint]) / np.diff(time), 0.5 * (rates[1:] + rates[:-1])
        mine, given = (each[np.isfinite(b)] for each in (a, b))
        size, difference = (float(np.linalg.norm(each)) for each in (given, mine - given))
        if difference <= APART * size:
            continue
        if abs(mine @ given / size**2 - DEGREES) < NEAR * DEGREES if size else False:
            cure = f"--map 'q/{joint}=COLUMN[deg]'"
            raise AccordError(f"{joint}: positions in degrees beside rates in radians? {cure}")
        scale = float(mine @ given) / size**2 if size else 0.0
        near = [unit for unit, x in RATE_UNITS.items() if abs(scale - x) < NEAR * x]
        off = f"{difference / np.sqrt(len(given)):.2g} rad/s off d(position)/dt"
        what = f"in {near[0]} by d(position)/dt" if near else off
        yield f"rates of {joint} are {what}; they are not used"
