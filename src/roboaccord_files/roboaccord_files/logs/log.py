"""A log: samples at their stamps, in stretches without gaps, their units checked.

The bounds below may be tuned: FEWEST_SAMPLES, SHORTEST_STRETCH, SLOWEST and ASTRAY decide what is
refused, GAP where a log is cut, EVEN and APART what is noted. ASTRAY must lie between what a joint
overshoots and 57, degrees to radians. What columns hold is guessed in columns.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from roboaccord.contract.checks import FAST, divergence
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from roboaccord_files.logs.columns import FACTORS, Column, assigned, unit_of
from roboaccord_files.logs.tables import read_table

SI = {"time": "s", "q": "rad or m", "qd": "rad/s or m/s", "effort": "N m or N"}
GAP = 2.5  # periods
EVEN = 0.02  # of the period, by which stamps may differ
FEWEST_SAMPLES = 100  # samples, of all stretches without a gap
SHORTEST_STRETCH = 30  # of one of them
SLOWEST = 0.5  # s: a longer period is none of seconds
ASTRAY = 5.0  # times a hinge's limit: farther than any overshoot, nearer than degrees
UNLIMITED: Mapping[str, float] = {}
APART = 0.1  # of the rates: more is noted


@dataclass(frozen=True)
class Log:
    """Hold the samples of a log, at their stamps.

    Args:
        joints: names of the columns.
        time: (k,) [s].
        q, effort: positions and efforts (k, n), SI.
        period: the median of those between samples [s].
        segments: stretches without gaps.
        columns: what was taken for what.
        notes: on what was read.
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    effort: Array
    period: float
    segments: Sequence[slice]
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def read_log(
    path: Path,
    joints: Sequence[str],
    given: Mapping[str, str],
    limits: Mapping[str, float] = UNLIMITED,
) -> Log:
    """Read a log.

    Args:
        path: CSV, NPZ, or a bag.
        joints: of the robot.
        given: columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`, where a guess would be
            wrong: a name, with `-` before it for the other sign and `[UNIT]` behind it.
        limits: of hinges that have some: the largest angles [rad].

    Raises:
        AccordError: if it cannot be read, columns are missing, or the units cannot be right.
    """
    table = read_table(path)
    found = assigned([*table], joints, given)
    need = ["time", *(f"q/{joint}" for joint in joints)]
    if missing := [key for key in need if key not in found]:
        raise AccordError(
            f"{path.name}: no column for {', '.join(missing)} among {', '.join(table)}: "
            f"--map {missing[0]}=COLUMN"
        )
    driven = [joint for joint in joints if f"effort/{joint}" in found]
    if not driven:
        raise AccordError(
            f"{path.name}: no efforts among {', '.join(table)}: --map effort/{joints[0]}=COLUMN"
        )
    scaled, columns = {}, {}
    for key, (name, unit, sign) in found.items():
        unit = unit or unit_of(name)
        scaled[key] = sign * FACTORS.get(unit, 1.0) * table[name]
        shown = unit or SI[key.partition("/")[0]] + ", assumed"
        columns[key] = f"{'-' if sign < 0 else ''}{name} [{shown}]"
    passive = [joint for joint in joints if joint not in driven]
    notes = [f"no effort of {joint}: taken for 0" for joint in passive]
    zero = np.zeros(len(scaled["time"]))
    q, effort = (
        np.column_stack([scaled.get(f"{kind}/{joint}", zero) for joint in joints])
        for kind in ("q", "effort")
    )
    log = in_stretches(tuple(joints), scaled["time"], q, effort, columns, notes)
    rates = {joint: scaled[f"qd/{joint}"] for joint in joints if f"qd/{joint}" in scaled}
    notes = [*_rate_notes(scaled["time"], q, rates, joints)]
    return _checked(path.name, log, found, notes, limits)


def in_stretches(
    joints: tuple[str, ...],
    time: Array,
    q: Array,
    effort: Array,
    columns: Mapping[str, str],
    notes: Iterable[str],
) -> Log:
    """Return samples as a log, in stretches between gaps.

    Raises:
        AccordError: if they are too few.
    """
    remarks = list(notes)
    good = np.asarray(np.isfinite(np.column_stack([time, q, effort])).all(axis=1))
    latest = np.maximum.accumulate(np.where(good, time, -np.inf))
    good[1:] &= time[1:] > latest[:-1]
    if not good.all():
        remarks.append(
            f"{(~good).sum()} rows left out: no number, or not later than the row before"
        )
    time, q, effort = time[good], q[good], effort[good]
    if len(time) < FEWEST_SAMPLES:
        raise AccordError(f"the log is too short: {len(time)} samples, {FEWEST_SAMPLES} are needed")
    steps = np.diff(time)
    period = float(np.median(steps))
    ends = [0, *(np.flatnonzero(steps > GAP * period) + 1).tolist(), len(time)]
    parts = [slice(a, b) for a, b in pairwise(ends) if b - a >= SHORTEST_STRETCH]
    count = sum(part.stop - part.start for part in parts)
    if count < FEWEST_SAMPLES:
        raise AccordError(f"between gaps there are {count} samples, {FEWEST_SAMPLES} are needed")
    remarks.append(
        f"{len(time)} samples every {1e3 * period:.4g} ms from {time[0]:g} to {time[-1]:g} s"
    )
    if len(ends) > 2:
        remarks.append(
            f"{len(ends) - 2} gaps longer than {GAP:g} periods; {len(parts)} stretches kept"
        )
    inner = np.concatenate([np.diff(time[part]) for part in parts])
    if (uneven := np.mean(np.abs(inner - period) > EVEN * period)) > 0.0:
        remarks.append(
            f"{100 * uneven:.2g} % of the periods are uneven: stamps as they are, no resampling"
        )
    return Log(joints, time, q, effort, period, parts, columns, remarks)


def _rate_notes(
    time: Array, q: Array, rates: Mapping[str, Array], joints: Sequence[str]
) -> Iterable[str]:
    """Yield where rates are not those of the positions; they are not used."""
    with np.errstate(all="ignore"):
        middle = np.diff(q, axis=0) / np.diff(time)[:, None]
    for joint, rate in rates.items():
        own, given = middle[:, list(joints).index(joint)], 0.5 * (rate[1:] + rate[:-1])
        good = np.isfinite(own) & np.isfinite(given)
        size = np.sqrt(np.mean(given[good] ** 2)) if good.any() else 0.0
        apart = np.sqrt(np.mean((own - given)[good] ** 2)) if good.any() else 0.0
        if apart > APART * size:
            yield f"rates of {joint} are {apart:.2g} rad/s off d(position)/dt; they are not used"


def _checked(
    name: str,
    log: Log,
    found: Mapping[str, Column],
    notes: Iterable[str],
    limits: Mapping[str, float],
) -> Log:
    """Return a log with notes.

    Raises:
        AccordError: if its units cannot be right.
    """
    if log.period > SLOWEST:
        clock = found["time"].name
        raise AccordError(
            f"{name}: samples {log.period:g} s apart; in ms or ns? --map 'time={clock}[ms]'"
        )
    rates = np.diff(log.q, axis=0) / np.diff(log.time)[:, None]
    if diverges := divergence(log.joints, log.time[:-1], rates):
        raise AccordError(f"{name}: {diverges}; there are no units to guess, and nothing to judge")
    speeds = np.abs(rates)
    largest = np.abs(log.q).max(axis=0)
    for joint, speed, angle in zip(log.joints, np.median(speeds, axis=0), largest):
        column, limit = found[f"q/{joint}"], limits.get(joint, 0.0)
        cure = f"--map 'q/{joint}={column.name}[deg]'"
        if speed > FAST:
            raise AccordError(
                f"{name}: {joint} moves at {speed:.3g} rad/s; in degrees, or the time in another "
                f"unit? {cure}"
            )
        if angle > ASTRAY * limit > 0.0 and not (column.unit or unit_of(column.name)):
            raise AccordError(
                f"{name}: {joint} reaches {angle:.3g} rad, its limit is {limit:.3g} rad; in "
                f"degrees? {cure}"
            )
    return replace(log, notes=[*log.notes, *notes])
