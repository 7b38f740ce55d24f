"""Logs of foreign simulators or robots: CSV, NPZ or a bag, their columns recognised by name."""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np

from roboaccord.contract.checks import FAST, divergence
from roboaccord.contract.errors import AccordError
from roboaccord.contract.files import LARGEST, read_bytes
from roboaccord.contract.state import Array

WORDS = {
    "qd": "qd dq qvel vel velocity velocities rate rates omega qdot speed thetadot dtheta",
    "effort": "effort efforts tau torque torques ctrl u force forces motor trq qfrc actuator",
    "q": "q qpos pos position positions angle angles theta phi",
    "time": "time t timestamp stamp secs seconds",
}
"""By which columns are known, in this order."""
UNITS = {
    "deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "rev": 2 * np.pi,
    "mm": 1e-3, "cm": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "rpm": np.pi / 30, "mnm": 1e-3,
    "deg/s": np.pi / 180, "mm/s": 1e-3,
    "rad": 1.0, "rad/s": 1.0, "m": 1.0, "m/s": 1.0, "s": 1.0, "nm": 1.0, "n": 1.0,
}  # fmt: skip
ENDINGS = ("deg", "ms", "us", "ns", "rad", "rpm", "mm", "nm")  # of a name, behind _
SI = {"time": "s", "q": "rad or m", "qd": "rad/s or m/s", "effort": "N m or N"}
TEXTS = (".csv", ".txt", ".tsv")
TABLES = (*TEXTS, ".npz")
GAP = 2.5  # periods
EVEN = 0.02  # of the period, by which stamps may differ
FEWEST = 100  # samples, of all stretches without a gap
SHORTEST = 30  # of one of them
SLOW = 0.5  # s: a longer period is none of seconds
ASTRAY = 5.0  # times a hinge's limit: farther than any overshoot, nearer than degrees
UNLIMITED: Mapping[str, float] = {}
APART = 0.1  # of the rates: more is noted


class Column(NamedTuple):
    """Name a column, its unit, and whether its sign is reversed."""

    name: str
    unit: str = ""
    sign: float = 1.0


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
    table = _table(path)
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
        scaled[key] = sign * UNITS.get(unit, 1.0) * table[name]
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
    if len(time) < FEWEST:
        raise AccordError(f"the log is too short: {len(time)} samples, {FEWEST} are needed")
    steps = np.diff(time)
    period = float(np.median(steps))
    ends = [0, *(np.flatnonzero(steps > GAP * period) + 1).tolist(), len(time)]
    parts = [slice(a, b) for a, b in pairwise(ends) if b - a >= SHORTEST]
    count = sum(part.stop - part.start for part in parts)
    if count < FEWEST:
        raise AccordError(f"between gaps there are {count} samples, {FEWEST} are needed")
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
    if log.period > SLOW:
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


def assigned(
    names: Sequence[str], joints: Sequence[str], given: Mapping[str, str]
) -> dict[str, Column]:
    """Return columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`, as far as they are known.

    A column names its kind by a word, and its joint by its name, else by its turn.

    Raises:
        AccordError: for a given column that does not exist.
    """
    found = {key: _given(key, text, names, joints) for key, text in given.items()}
    taken = {column.name for column in found.values()}
    of = dict[str, list[tuple[str, str]]]()
    for name in names:
        bare = re.sub(r"[\[(][^\])]*[\])]\s*$", "", name)
        joint = max((j for j in joints if _holds(bare, j)), key=len, default="")
        rest = re.sub(re.escape(joint), " ", bare, flags=re.IGNORECASE) if joint else bare
        words = {*re.findall(r"[a-z]+", rest.lower())}
        kinds = [kind for kind, known in WORDS.items() if words & {*known.split()}]
        if kinds and name not in taken:
            of.setdefault(kinds[0], []).append((name, joint))
    if "time" in of:
        found.setdefault("time", Column(of.pop("time")[0][0]))
    for kind, columns in of.items():
        for name, joint in columns:
            if joint:
                found.setdefault(f"{kind}/{joint}", Column(name))
        loose = [name for name, joint in columns if not joint]
        left = [joint for joint in joints if f"{kind}/{joint}" not in found]
        if len(loose) == len(left):
            found |= {f"{kind}/{joint}": Column(name) for joint, name in zip(left, loose)}
    return found


def _holds(text: str, joint: str) -> bool:
    """Return whether a name has a joint's in it, which no letter or digit follows or leads."""
    return bool(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(joint)}(?![A-Za-z0-9])", text, re.IGNORECASE)
    )


def _given(key: str, text: str, names: Sequence[str], joints: Sequence[str]) -> Column:
    """Return the column of `[-]COLUMN[UNIT]`.

    Raises:
        AccordError: for a column, joint or unit that does not exist.
    """
    kind, _, joint = key.partition("/")
    if key != "time" and (kind not in WORDS or joint not in joints):
        keys = ", ".join(["time", *(f"{kind}/{joints[0]}" for kind in ("q", "qd", "effort"))])
        raise AccordError(f"--map {key}: no such quantity; {keys}, ... of {', '.join(joints)}")
    sign, name = (-1.0, text[1:]) if text.startswith("-") and text not in names else (1.0, text)
    if name in names:
        return Column(name, "", sign)
    match = re.fullmatch(r"(.+)\[([^\]]+)\]", name)
    if match and match[1] in names and match[2].lower() in UNITS:
        return Column(match[1], match[2].lower(), sign)
    if match and match[1] in names:
        raise AccordError(f"--map {key}={text}: no unit {match[2]} among {', '.join(UNITS)}")
    raise AccordError(f"--map {key}={text}: no such column among {', '.join(names)}")


def unit_of(column: str) -> str:
    """Return the unit that a column's name ends with, "" where there is none.

    Raises:
        AccordError: for one that is not known.
    """
    bracket = re.search(r"[\[(]([^\])]*)[\])]\s*$", column)
    if bracket and not bracket[1].isdigit():
        unit = re.sub(r"[\s*.]", "", bracket[1]).lower()
        if unit not in UNITS:
            raise AccordError(f"column {column}: no unit {bracket[1]} among {', '.join(UNITS)}")
        return unit
    last = column.lower().rpartition("_")[2]
    return last if "_" in column and last in ENDINGS else ""


def _table(path: Path) -> dict[str, Array]:
    """Return the columns of a file by name.

    Raises:
        AccordError: if it cannot be read.
    """
    read = _arrays if path.suffix.lower() == ".npz" else _text
    if path.suffix.lower() in TABLES:
        data = read_bytes(path)
        try:
            return read(data)
        except Exception as error:  # noqa: BLE001 - NumPy raises whatever its readers do
            reason = (str(error).splitlines() or [type(error).__name__])[0]
            raise AccordError(f"{path}: cannot be read: {reason}") from None
    from roboaccord.bag.reader import read_run  # a table needs no library of bags

    run = read_run(path).trajectory
    found = {"time": run.time}
    for kind in ("q", "qd", "effort"):
        columns = getattr(run, kind).T
        found |= {f"{kind}/{j}": c for j, c in zip(run.joints, columns) if c.any()}
    return found


def _text(data: bytes) -> dict[str, Array]:
    text = data.decode("utf-8-sig").lstrip("# ")
    first, lines = text.partition("\n")[0], io.StringIO(text, None)
    delimiter = max(",;\t", key=first.count)
    cut = csv.reader(lines, delimiter=delimiter) if delimiter in first else map(str.split, lines)
    rows, values = filter(None, cut), array("d")
    head = [name.strip() for name in next(rows, [])]
    for number, row in enumerate(rows, 2):
        if len(row) != len(head):
            raise ValueError(f"row {number} has {len(row)} columns, the header {len(head)}")
        values.extend(float(x) if x.strip() else np.nan for x in row)
    if not values:
        raise ValueError("no rows below the header")
    return dict(zip(head, np.array(values).reshape(-1, len(head)).T))


def _arrays(packed: bytes) -> dict[str, Array]:
    """Return the columns of arrays: of two dimensions by joints, where `joints` names them."""
    with np.load(io.BytesIO(packed)) as data:
        if sum(each.file_size for each in data.zip.infolist()) > LARGEST:
            raise ValueError(f"it unpacks to more than {LARGEST // 1_000_000} MB")
        arrays = {name: data[name] for name in data.files}
    joints = [str(each) for each in np.atleast_1d(arrays.get("joints", ()))]
    found = {}
    for name, values in arrays.items():
        if values.dtype.kind not in "fiu" or values.ndim not in (1, 2):
            continue
        columns = values.T if values.ndim == 2 else [values]
        for i, column in enumerate(columns):
            more = joints[i] if len(joints) == len(columns) else f"[{i}]"
            found[name if values.ndim == 1 else f"{name}/{more}"] = column.astype(float)
    length = max(map(len, found.values()), default=0)
    return {name: column for name, column in found.items() if len(column) == length}
