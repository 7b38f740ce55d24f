"""Read a log into samples: positions, rates and efforts of the joints, in SI units.

`read_log` reads the table of the file (tables.py), recognises its columns (columns.py), takes one
run of it (clock.py), merges rows into samples (merge.py), checks units (units.py), and cuts the
samples into stretches: parts without a gap in time. Whatever is assumed or left out becomes a note
for the user.

The constants may be tuned: FEWEST_SAMPLES and SHORTEST_STRETCH decide what is refused, MAX_GAP
where a log is cut, UNEVEN_PERIOD what is noted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
from roboaccord.contract.errors import AccordError, listed
from roboaccord.contract.state import Array

from roboaccord_files.logs import columns as column_names
from roboaccord_files.logs.clock import chosen_run, evened, seconds
from roboaccord_files.logs.columns import FACTORS, RAW, Column, unit_of, words_of
from roboaccord_files.logs.floating import FloatingBase, continuous
from roboaccord_files.logs.merge import merged
from roboaccord_files.logs.printed import PRINTED_UNITS, hint_on_efforts, note_of_unused, printed
from roboaccord_files.logs.table import Table
from roboaccord_files.logs.tables import read_table
from roboaccord_files.logs.units import check_units, rate_notes

# Words of a column whose efforts are in A, unless it has a unit.
CURRENT_WORDS = {"current", "currents"}
MILLI = 1e-3  # A in a mA; factors of the user are by A
# Words of `--effort` with which efforts in A or counts are accepted.
MOTOR_WORDS = ("current", "motor")
# Longest time between the samples of a stretch [periods]; a longer one cuts the log. One lost
# sample makes 2, and jitter up to 0.5.
MAX_GAP = 2.5
# Deviation of a period from the median above which it is uneven, as a share of it. Below it the
# effect of a step, the square of its length, is 4 % off at most.
UNEVEN_PERIOD = 0.02
FEWEST_SAMPLES = 100  # samples of all stretches together: 14 windows of the shortest length
# Fewest samples of a stretch; shorter ones are left out. 30 are four windows, and four spans of the
# differences of noise.py.
SHORTEST_STRETCH = 30
# Samples; efforts are tried this late, and this early: 20 ms at 1 kHz, 0.2 s at 100 Hz, more than
# buses and drivers take.
MAX_DELAY = 20
UNLIMITED: Mapping[str, float] = {}


@dataclass(frozen=True)
class Choice:
    """What the user says of a log: which part of it is read, and what its efforts mean.

    Args:
        topic: of the joint states of a bag; "" for the one that has most of the joints.
        names: prefix of the names of joints in the log, which may be of several robots.
        run: number of the run, from 1; 0 for the last that is long enough.
        passive: whether nothing drives the robot: efforts may be absent or 0.
        effort: a word of `--effort`; with "" efforts must be in N m or N.
        factors: by joint, what efforts are multiplied by to become torques at the joint.
    """

    topic: str = ""
    names: str = ""
    run: int = 0
    passive: bool = False
    effort: str = ""
    factors: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Log:
    """The samples of a log.

    Args:
        joints: names of the n joints, in the order of the columns; those of a moving base first.
        time: (k,), since the first sample [s].
        q, effort: positions and efforts (k, n), SI; efforts in A or counts as they were written.
        period: median time between samples [s].
        segments: stretches without gaps, as slices of the samples.
        columns: by key such as `q/elbow`, the column that was taken for it, as it is printed.
        notes: remarks on what was read, for the user.
        effort_units: by joint, as written, such as Nm, A or counts; "" if unknown.
        passive: joints whose efforts are 0 or absent.
        qd: recorded rates (k, n), SI, NaN where there are none; None if no joint has any.
        base: joints that stand for a moving base; None if it is fixed.
        swings: those of the stretches in which the base turns about a pivot (flight.py).
        commanded: whether the efforts are commands, and none were measured.
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    effort: Array
    period: float
    segments: Sequence[slice]
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    effort_units: Mapping[str, str] = field(default_factory=dict)
    passive: tuple[str, ...] = ()
    qd: Array | None = None
    base: FloatingBase | None = None
    swings: Sequence[slice] = ()
    commanded: bool = False

    @property
    def driven(self) -> tuple[str, ...]:
        """The joints of the robot, without those of its base."""
        return self.joints[len(self.base.joints) if self.base else 0 :]

    @property
    def latest(self) -> int:
        """Samples by which efforts are tried late, at most a tenth of the shortest stretch."""
        return int(min(MAX_DELAY, *((part.stop - part.start) // 10 for part in self.segments)))


def read_log(
    path: Path,
    joints: Sequence[str],
    given: Mapping[str, str],
    limits: Mapping[str, float] = UNLIMITED,
    choice: Choice = Choice(),
) -> Log:
    """Return the samples of a log.

    Args:
        path: of a text, NPZ, MAT or Parquet file, or of a bag.
        joints: names of the robot's joints.
        given: columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`, where a guess would be
            wrong: the name, with `-` or `FACTOR*` before it and `[UNIT]` after it; of a bag also a
            topic of numbers, as `/TOPIC[0]`.
        limits: largest angle of each hinge [rad], infinite if it has no limit.
        choice: of topic, robot and run.

    Raises:
        AccordError: if the log cannot be read, columns are missing, or units cannot be right.
    """
    prefixed = [choice.names + joint for joint in joints]
    table = read_table(path, prefixed, choice.topic, given.values())
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
    # Columns of one run, in SI, by key such as `q/elbow`; those of a base's pose as `base/x`.
    used = _used_columns(table, joints, given, choice)
    pose = column_names.base_columns(table.columns, joints)
    time, time_unit, resolution = seconds(table.columns[used["time"].name], used["time"])
    used["time"] = used["time"]._replace(unit=time_unit)
    rows, run_notes = chosen_run(time, choice.run, FEWEST_SAMPLES)
    columns = {
        key: column.scale * FACTORS.get(column.unit, 1.0) * table.numbers(column.name)[rows]
        for key, column in (used | pose).items()
        if key != "time"
    }
    columns |= continuous({key: columns[key] for key in pose})
    # Samples: a row for each stamp. Absent efforts are 0.
    samples = merged(time[rows], columns, [joint for joint in joints if joint in limits])
    q, qd, effort = (samples.of(kind, joints) for kind in ("q", "qd", "effort"))
    lacking = [joint for joint in joints if f"effort/{joint}" not in used]
    effort[:, [joint in lacking for joint in joints]] = 0.0
    passive = tuple(joint for joint, column in zip(joints, effort.T) if not column.any())
    if len(passive) == len(joints) and table.published and not choice.passive:
        zero = "the efforts are all zero: this publisher does not measure them"
        raise AccordError(f"{zero}; {hint_on_efforts(table, joints)}")
    # A moving base: six joints without efforts and rates, before the others.
    base, base_q = FloatingBase.of(samples.columns)
    q = np.column_stack([base_q, q])
    effort = np.column_stack([np.zeros_like(base_q), effort])
    qd = np.column_stack([np.full_like(base_q, np.nan), qd])
    # Stretches without gaps.
    clock = evened(samples.time - samples.time[:1], resolution)
    all_joints = (*base.joints, *joints) if base else joints
    log = in_stretches(all_joints, clock, q, effort, qd)
    # Units, and notes on all that was assumed.
    angles = dict(zip(joints, log.q[:, -len(joints) :].T))
    rates = dict(zip(joints, log.qd[:, -len(joints) :].T)) if log.qd is not None else {}
    check_units(log.time, angles, used, limits)
    notes = [*log.notes, *table.notes, *run_notes, *samples.notes]
    notes += [f"no effort of {joint}: taken for 0" for joint in lacking]
    notes += rate_notes(log.time, angles, rates)
    notes += note_of_unused(table, used | pose if base else used)
    units = {joint: used.get(f"effort/{joint}", Column("")).unit for joint in joints}
    effort_units = {joint: PRINTED_UNITS.get(unit, unit) for joint, unit in units.items()}
    shown = {key: printed(key, column) for key, column in used.items()}
    log = replace(log, base=base, passive=passive, commanded=table.commanded)
    return replace(log, columns=shown, notes=notes, effort_units=effort_units)


def _used_columns(
    table: Table, joints: Sequence[str], given: Mapping[str, str], choice: Choice
) -> dict[str, Column]:
    """Return the columns that are used, by key such as `q/elbow`, with unit and factor.

    Raises:
        AccordError: if time, positions or efforts are missing, or efforts are in a unit such as A
            or counts, and nothing says how they become torques.
    """
    by_key = column_names.assigned(_candidates(table), joints, given, choice.names)
    required = ["time", *(f"q/{joint}" for joint in joints)]
    among = listed(filter(None, table.columns))
    if missing := [key for key in required if key not in by_key]:
        cure = f"--map {missing[0]}=COLUMN"
        raise AccordError(f"no column for {', '.join(missing)} among {among}: {cure}")
    if not (choice.passive or any(f"effort/{joint}" in by_key for joint in joints)):
        raise AccordError(f"no efforts among {among}: {hint_on_efforts(table, joints)}")
    for key, column in by_key.items():
        by_key[key] = _with_unit(key, column, choice, "*" in given.get(key, ""))
    return by_key


def _candidates(table: Table) -> list[str]:
    """Return the names of the columns that have numbers, that of the clock before the others."""
    numbers = {name: table.numbers(name) for name in table.columns if name}
    finite = {name: column[np.isfinite(column)] for name, column in numbers.items()}
    candidates = [name for name in finite if finite[name].size]

    def clock_rank(name: str) -> tuple[bool, int, bool]:
        """Order columns of times: not constant, in most rows, and a stamp."""
        values = finite[name]
        return bool(np.ptp(values) == 0.0), -len(values), "stamp" not in words_of(name)

    clocks = [name for name in candidates if column_names.kind_of(name) == "time"]
    clocks.sort(key=clock_rank)
    return [*dict.fromkeys([*clocks[:1], *candidates])]


def _with_unit(key: str, column: Column, choice: Choice, has_factor: bool) -> Column:
    """Return a column with its unit, and the factor by which its numbers are multiplied.

    Args:
        key: such as `effort/elbow`.
        column: with the unit that the user states, if any.
        choice: with factors of efforts; raw units need one, or a word of MOTOR_WORDS.
        has_factor: whether the user states a factor for this column.

    Raises:
        AccordError: for a raw unit without a factor.
    """
    kind, _, joint = key.partition("/")
    unit = column.unit or unit_of(column.name, joint)
    scale, factor = column.scale, None
    if kind == "effort":
        factor = choice.factors.get(joint)
        if not unit and not CURRENT_WORDS.isdisjoint(words_of(column.name)):
            unit = "a"
    if factor is not None:
        scale = scale * factor * (MILLI if unit == "ma" else 1.0)
    if unit in RAW and (has_factor or factor is not None):
        unit = ""
    elif unit in RAW and not (kind == "effort" and choice.effort in MOTOR_WORDS):
        hint = ", --effort current asks for the factor" if kind == "effort" else ""
        cure = f"--map '{key}=FACTOR*{column.name}' scales it{hint}"
        raise AccordError(f"{column.name} is in {PRINTED_UNITS.get(unit, unit)}: {cure}")
    return column._replace(unit=unit, scale=scale)


def in_stretches(
    joints: tuple[str, ...], time: Array, q: Array, effort: Array, qd: Array | None = None
) -> Log:
    """Return samples as a log, cut into stretches at gaps.

    Args:
        joints: names of the n joints.
        time, q, effort, qd: samples in their order, which may have gaps and NaN: times (k,) [s],
            positions, efforts and rates (k, n), SI.

    Raises:
        AccordError: if there are too few samples.
    """
    notes = list[str]()
    # Rows with a number in each column, later than all rows before.
    is_valid = np.asarray(np.isfinite(np.column_stack([time, q, effort])).all(axis=1))
    latest = np.maximum.accumulate(np.where(is_valid, time, -np.inf))
    is_valid[1:] &= time[1:] > latest[:-1]
    if not is_valid.all():
        why = "no number, or not later than the row before"
        notes.append(f"{(~is_valid).sum()} rows left out: {why}")
    time, q, effort = time[is_valid], q[is_valid], effort[is_valid]
    qd = qd[is_valid] if qd is not None and np.isfinite(qd).any() else None
    if len(time) < FEWEST_SAMPLES:
        raise AccordError(f"the log is too short: {len(time)} samples, {FEWEST_SAMPLES} are needed")
    # Stretches between gaps.
    steps = np.diff(time)
    period = float(np.median(steps))
    ends = [0, *(np.flatnonzero(steps > MAX_GAP * period) + 1).tolist(), len(time)]
    stretches = [slice(i, k) for i, k in pairwise(ends) if k - i >= SHORTEST_STRETCH]
    count = sum(stretch.stop - stretch.start for stretch in stretches)
    if count < FEWEST_SAMPLES:
        raise AccordError(f"between gaps there are {count} samples, {FEWEST_SAMPLES} are needed")
    span = f"from {time[0]:g} to {time[-1]:g} s"
    notes.append(f"{len(time)} samples every {1e3 * period:.4g} ms {span}")
    if len(ends) > 2:
        gaps = f"{len(ends) - 2} gaps longer than {MAX_GAP:g} periods"
        notes.append(f"{gaps}; {len(stretches)} stretches kept")
    periods = np.concatenate([np.diff(time[stretch]) for stretch in stretches])
    uneven = np.mean(np.abs(periods - period) > UNEVEN_PERIOD * period)
    if uneven > 0.0:
        share = f"{100 * uneven:.2g} % of the periods are uneven"
        notes.append(f"{share}: stamps as they are, no resampling")
    return Log(joints, time, q, effort, period, stretches, notes=notes, qd=qd)
