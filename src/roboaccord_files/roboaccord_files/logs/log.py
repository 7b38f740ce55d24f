"""A log: samples at their stamps, in stretches without gaps, their units checked.

The bounds below may be tuned: FEWEST_SAMPLES and SHORTEST_STRETCH decide what is refused, GAP where
a log is cut, EVEN what is noted, NAMED how many columns are listed. What columns hold is guessed in
columns.py, rows become samples in merge.py, and units are checked in units.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

from roboaccord_files.logs.clock import chosen_run, evened, seconds
from roboaccord_files.logs.columns import (
    FACTORS,
    RAW,
    Column,
    assigned,
    base_columns,
    kind_of,
    unit_of,
    words_of,
)
from roboaccord_files.logs.floating import FloatingBase, continuous
from roboaccord_files.logs.merge import merged
from roboaccord_files.logs.table import Table
from roboaccord_files.logs.tables import read_table
from roboaccord_files.logs.units import check_units, rate_notes

SI = {"time": "s", "q": "rad or m", "qd": "rad/s or m/s", "effort": "N m or N"}
WRITTEN = {"nm": "Nm", "n": "N", "mnm": "mNm", "a": "A", "ma": "mA"}
CURRENT = {"current", "currents"}
MILLI = 1e-3  # A in a mA
MOTORS = ("current", "motor")  # of what efforts are taken for, as they are written
GAP = 2.5  # periods
EVEN = 0.02  # of the period, by which stamps may differ
FEWEST_SAMPLES = 100  # samples, of all stretches without a gap
SHORTEST_STRETCH = 30  # of one of them
UNLIMITED: Mapping[str, float] = {}
NAMED = 8  # columns that are not used


@dataclass(frozen=True)
class Choice:
    """State what of a log is read, and what its efforts are.

    Args:
        topic: of the joint states of a bag; "" for the one that has most of the joints.
        names: before the names of joints in the log, as of one of several robots.
        run: of the file, from 1; 0 for the last that is long enough.
        passive: whether nothing drives the robot: efforts may lack, or be 0.
        effort: what efforts are taken for; "" for N m or N, so that other units are refused.
        factors: of efforts by joint, by which they become torques at the joint.
    """

    topic: str = ""
    names: str = ""
    run: int = 0
    passive: bool = False
    effort: str = ""
    factors: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Log:
    """Samples of a log, at their stamps.

    Args:
        joints: names of the columns.
        time: (k,), since the first sample [s].
        q, effort: positions and efforts (k, n), SI; efforts in A or counts as they were written.
        period: the median of those between samples [s].
        segments: stretches without gaps.
        columns: what was taken for what.
        notes: on what was read.
        measured: unit of each joint's efforts as written, such as Nm, A or counts; "" if unknown.
        passive: joints whose efforts are 0 or lack.
        qd: rates (k, n), SI, NaN where there are none; None where no joint has any.
        base: whose six joints stand before those of the robot; None where it does not move.
        swings: those of the stretches in which the origin of the base is a pivot.
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    effort: Array
    period: float
    segments: Sequence[slice]
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    measured: Mapping[str, str] = field(default_factory=dict)
    passive: tuple[str, ...] = ()
    qd: Array | None = None
    base: FloatingBase | None = None
    swings: Sequence[slice] = ()

    @property
    def driven(self) -> tuple[str, ...]:
        """The joints of the robot, without those of its base."""
        return self.joints[len(self.base.joints) if self.base else 0 :]


def read_log(
    path: Path,
    joints: Sequence[str],
    given: Mapping[str, str],
    limits: Mapping[str, float] = UNLIMITED,
    choice: Choice = Choice(),
) -> Log:
    """Read a log.

    Args:
        path: text, NPZ, MAT, Parquet, or a bag.
        joints: of the robot.
        given: columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`, where a guess would be
            wrong: a name, with `-` or a factor and `*` before it and `[UNIT]` behind it; of a bag
            also a topic of numbers, as `/TOPIC[0]`.
        limits: of hinges: the largest angles [rad], infinite for those without any.
        choice: of topic, robot and run.

    Raises:
        AccordError: if it cannot be read, columns are missing, or the units cannot be right.
    """
    names = [choice.names + joint for joint in joints]
    table = read_table(path, names, choice.topic, given.values())
    try:
        return _log_of(table, tuple(joints), given, limits, choice)
    except AccordError as error:
        raise AccordError(f"{path.name}: {error}") from None


def _log_of(
    table: Table,
    joints: tuple[str, ...],
    given: Mapping[str, str],
    limits: Mapping[str, float],
    choice: Choice,
) -> Log:
    """Return a table as a log; arguments and what is raised are those of `read_log`."""
    taken = _taken(table, joints, given, choice)
    time, unit, digit = seconds(table.columns[taken["time"].name], taken["time"])
    taken["time"] = taken["time"]._replace(unit=unit)
    rows, runs = chosen_run(time, choice.run, FEWEST_SAMPLES)
    columns = {key: _scaled(table, each)[rows] for key, each in taken.items() if key != "time"}
    pose = base_columns(table.columns, joints)
    columns |= continuous({key: _scaled(table, each)[rows] for key, each in pose.items()})
    samples = merged(time[rows], columns, [joint for joint in joints if joint in limits])
    base, place = FloatingBase.of(samples.columns)
    lacking = [joint for joint in joints if f"effort/{joint}" not in taken]
    q, qd, effort = (samples.of(kind, joints) for kind in ("q", "qd", "effort"))
    effort[:, [joint in lacking for joint in joints]] = 0.0
    passive = tuple(joint for joint, each in zip(joints, effort.T) if not each.any())
    if len(passive) == len(joints) and table.published and not choice.passive:
        zero = "the efforts are all zero: this publisher does not measure them"
        raise AccordError(f"{zero}; {_cure(table, joints)}")
    shown = {key: _shown(key, column) for key, column in taken.items()}
    clock, none = (
        evened(samples.time - samples.time[:1], digit),
        np.full(place.shape, np.nan),
    )
    every = (*base.joints, *joints) if base else joints
    q, effort, qd = map(np.column_stack, ([place, q], [0.0 * place, effort], [none, qd]))
    log = replace(in_stretches(every, clock, q, effort, shown, (), qd), base=base)
    angles = dict(zip(joints, log.q[:, -len(joints) :].T))
    rates = dict(zip(joints, log.qd[:, -len(joints) :].T)) if log.qd is not None else {}
    check_units(log.time, angles, taken, limits)
    notes = [*log.notes, *table.notes, *runs, *samples.notes]
    notes += [f"no effort of {joint}: taken for 0" for joint in lacking]
    used = taken | pose if base else taken
    notes += [*rate_notes(log.time, angles, rates), *_unused(table, used)]
    units = {joint: taken.get(f"effort/{joint}", Column("")).unit for joint in joints}
    written = {joint: WRITTEN.get(unit, unit) for joint, unit in units.items()}
    return replace(log, notes=notes, measured=written, passive=passive)


def _scaled(table: Table, column: Column) -> Array:
    return column.scale * FACTORS.get(column.unit, 1.0) * table.numbers(column.name)


def _taken(
    table: Table, joints: Sequence[str], given: Mapping[str, str], choice: Choice
) -> dict[str, Column]:
    """Return what is taken from which column, with its unit.

    Raises:
        AccordError: if time, positions or efforts are missing, or efforts are not what they should.
    """
    numbers = {name: table.numbers(name) for name in table.columns if name}
    there = {n: v for n, each in numbers.items() if (v := each[np.isfinite(each)]).size}
    clocks = [name for name in there if kind_of(name) == "time"]
    clocks.sort(key=lambda n: (np.ptp(there[n]) == 0.0, -len(there[n]), "stamp" not in words_of(n)))
    by_key = assigned([*dict.fromkeys([*clocks[:1], *there])], joints, given, choice.names)
    need, among = ["time", *(f"q/{joint}" for joint in joints)], ", ".join(numbers)
    if missing := [key for key in need if key not in by_key]:
        cure = f"--map {missing[0]}=COLUMN"
        raise AccordError(f"no column for {', '.join(missing)} among {among}: {cure}")
    if not (choice.passive or any(f"effort/{joint}" in by_key for joint in joints)):
        raise AccordError(f"no efforts among {among}: {_cure(table, joints)}")
    for key, column in by_key.items():
        kind, _, joint = key.partition("/")
        unit = column.unit or unit_of(column.name, joint)
        if kind == "effort" and not unit and not CURRENT.isdisjoint(words_of(column.name)):
            unit = "a"
        factor = choice.factors.get(joint) if kind == "effort" else None
        scaled = "*" in given.get(key, "") or factor is not None
        current = kind == "effort" and choice.effort in MOTORS
        if unit in RAW and not (scaled or current):
            asked = ", --effort current asks for the factor" if kind == "effort" else ""
            cure = f"--map '{key}=FACTOR*{column.name}' scales it{asked}"
            raise AccordError(f"{column.name} is in {WRITTEN.get(unit, unit)}: {cure}")
        scale = column.scale * (factor or 1.0) * (MILLI if factor and unit == "ma" else 1.0)
        by_key[key] = column._replace(unit="" if scaled and unit in RAW else unit, scale=scale)
    return by_key


def _unused(table: Table, found: Mapping[str, Column]) -> Iterable[str]:
    """Yield a note on columns that are not used, if there are any."""
    taken = {column.name for column in found.values()}
    if unused := [name for name in table.columns if name and name not in taken]:
        more = f" and {len(unused) - NAMED} more" if len(unused) > NAMED else ""
        yield f"not used: {', '.join(unused[:NAMED])}{more}"


def _cure(table: Table, joints: Sequence[str]) -> str:
    """Return what to do where there are no efforts."""
    column = table.more[0] if table.more else "COLUMN"
    return f"--map effort/{joints[0]}={column}, or --passive if nothing drives the robot"


def _shown(key: str, column: Column) -> str:
    """Return a column as it was taken."""
    unit = WRITTEN.get(column.unit, column.unit) or SI[key.partition("/")[0]] + ", assumed"
    scale = "-" if column.scale == -1.0 else f"{column.scale:g}*" if column.scale != 1.0 else ""
    name = column.name.removesuffix(f"[{unit}]").rstrip()
    return f"{scale}{name} [{unit}]"


def in_stretches(
    joints: tuple[str, ...],
    time: Array,
    q: Array,
    effort: Array,
    columns: Mapping[str, str],
    notes: Iterable[str],
    qd: Array | None = None,
) -> Log:
    """Return samples as a log, in stretches between gaps; arguments are its fields.

    Raises:
        AccordError: if they are too few.
    """
    remarks = list(notes)
    good = np.asarray(np.isfinite(np.column_stack([time, q, effort])).all(axis=1))
    latest = np.maximum.accumulate(np.where(good, time, -np.inf))
    good[1:] &= time[1:] > latest[:-1]
    if not good.all():
        why = "no number, or not later than the row before"
        remarks.append(f"{(~good).sum()} rows left out: {why}")
    time, q, effort = time[good], q[good], effort[good]
    qd = qd[good] if qd is not None and np.isfinite(qd).any() else None
    if len(time) < FEWEST_SAMPLES:
        raise AccordError(f"the log is too short: {len(time)} samples, {FEWEST_SAMPLES} are needed")
    steps = np.diff(time)
    period = float(np.median(steps))
    ends = [0, *(np.flatnonzero(steps > GAP * period) + 1).tolist(), len(time)]
    parts = [slice(a, b) for a, b in pairwise(ends) if b - a >= SHORTEST_STRETCH]
    count = sum(stretch.stop - stretch.start for stretch in parts)
    if count < FEWEST_SAMPLES:
        raise AccordError(f"between gaps there are {count} samples, {FEWEST_SAMPLES} are needed")
    span = f"from {time[0]:g} to {time[-1]:g} s"
    remarks.append(f"{len(time)} samples every {1e3 * period:.4g} ms {span}")
    if len(ends) > 2:
        gaps = f"{len(ends) - 2} gaps longer than {GAP:g} periods"
        remarks.append(f"{gaps}; {len(parts)} stretches kept")
    inner = np.concatenate([np.diff(time[stretch]) for stretch in parts])
    if (uneven := np.mean(np.abs(inner - period) > EVEN * period)) > 0.0:
        share = f"{100 * uneven:.2g} % of the periods are uneven"
        remarks.append(f"{share}: stamps as they are, no resampling")
    return Log(joints, time, q, effort, period, parts, columns, remarks, qd=qd)
