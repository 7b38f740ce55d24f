"""Check whether samples can be in the units that were assumed, and refuse or note what cannot.

Positions in degrees that are taken for radians are 57 times too large, and times in ms 1000 times:
joints then pass their limits, or move impossibly fast. Recorded rates are not used, but a note says
where they are not the derivatives of the positions. The bounds may be tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from roboaccord.contract import AccordError, Array
from roboaccord.contract.checks import FAST_RATE, divergence

from roboaccord_files.logs.columns import Column

MAX_PERIOD = 0.5  # s; with a longer period the time is taken to be in ms or ns
# Of a hinge's limit; an angle beyond is in degrees. No joint overshoots so far, and degrees are 57
# times as large as radians.
MAX_LIMIT_RATIO = 5.0
# Relative; a larger difference between rates and derivatives of positions is noted. By differencing
# alone, a sine of 1/6 of the sampling rate has as much.
RATE_ERROR = 0.1
DEGREES = 180.0 / np.pi
RATE_UNITS = {"rpm": np.pi / 30.0, "deg/s": np.pi / 180.0}
# Relative; a factor this near to that of a unit is taken for the unit, and no two units are alike.
# Differencing changes the factor of a sine of 13 samples a period or more by less.
UNIT_ERROR = 0.02


def check_units(
    time: Array, q: Mapping[str, Array], columns: Mapping[str, Column], limits: Mapping[str, float]
) -> None:
    """Refuse samples whose units cannot be right.

    Args:
        time: increasing (k,) [s].
        q: positions (k,) by joint.
        columns: that are used, by key.
        limits: largest angle of each hinge [rad], by joint.

    Raises:
        AccordError: if a unit cannot be right, with what may be wrong and the cure.
    """
    period = float(np.median(np.diff(time)))
    if period > MAX_PERIOD:
        cure = f"in ms or ns? --map 'time={columns['time'].name}[ms]'"
        raise AccordError(f"samples {period:g} s apart; {cure}")
    rates = np.column_stack([np.diff(positions) / np.diff(time) for positions in q.values()])
    if diverges := divergence([*q], time[:-1], rates):
        raise AccordError(f"{diverges}; there are no units to guess, and nothing to judge")
    for (joint, positions), speed in zip(q.items(), np.median(np.abs(rates), axis=0)):
        column, limit = columns[f"q/{joint}"], limits.get(joint, 0.0)
        angle = np.abs(positions).max()
        cure = f"--map 'q/{joint}={column.name}[deg]'"
        if speed > FAST_RATE:
            moves = f"{joint} moves at {speed:.3g} rad/s"
            raise AccordError(f"{moves}; in degrees, or the time in another unit? {cure}")
        if angle > MAX_LIMIT_RATIO * limit > 0.0 and not column.unit:
            reaches = f"{joint} reaches {angle:.3g} rad, its limit is {limit:.3g} rad"
            raise AccordError(f"{reaches}; in degrees? {cure}")


def rate_notes(time: Array, q: Mapping[str, Array], qd: Mapping[str, Array]) -> Iterable[str]:
    """Yield a note for each joint whose recorded rates are not the derivatives of its positions.

    Args:
        time: increasing (k,) [s].
        q, qd: positions and recorded rates (k,) by joint.

    Raises:
        AccordError: if positions are in degrees and rates in radians.
    """
    for joint, rates in qd.items():
        # Difference quotients of the positions, and recorded rates in the middle of each step.
        slopes, means = np.diff(q[joint]) / np.diff(time), 0.5 * (rates[1:] + rates[:-1])
        derived, recorded = (values[np.isfinite(means)] for values in (slopes, means))
        size = float(np.linalg.norm(recorded))
        difference = float(np.linalg.norm(derived - recorded))
        if difference <= RATE_ERROR * size:
            continue
        # The factor between the two, by least squares, may be that of a unit.
        scale = float(derived @ recorded) / size**2 if size else 0.0
        if abs(scale - DEGREES) < UNIT_ERROR * DEGREES:
            cure = f"--map 'q/{joint}=COLUMN[deg]'"
            raise AccordError(f"{joint}: positions in degrees beside rates in radians? {cure}")
        near = [u for u, factor in RATE_UNITS.items() if abs(scale - factor) < UNIT_ERROR * factor]
        deviation = f"{difference / np.sqrt(len(recorded)):.2g} rad/s off d(position)/dt"
        description = f"in {near[0]} by d(position)/dt" if near else deviation
        yield f"rates of {joint} are {description}; they are not used"
