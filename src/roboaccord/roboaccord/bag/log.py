"""Logs of somebody's own simulator or robot: CSV, NPZ or a bag, their columns guessed."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from roboaccord.bag.reader import read_run
from roboaccord.contract.errors import AccordError
from roboaccord.contract.state import Array

KINDS = {
    "q": "q qpos pos position positions angle angles theta phi joint_pos",
    "qd": "qd dq qvel vel velocity velocities rate rates omega qdot speed thetadot dtheta",
    "effort": "effort efforts tau torque torques ctrl u force forces motor trq",
    "time": "time t timestamp stamp secs seconds",
}
"""Words by which columns are known."""
UNITS = {
    "deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "rev": 2 * np.pi,
    "mm": 1e-3, "cm": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "rpm": np.pi / 30,
    "deg/s": np.pi / 180, "mnm": 1e-3, "mm/s": 1e-3,
    "": 1, "rad": 1, "rad/s": 1, "m": 1, "m/s": 1, "s": 1, "nm": 1, "n": 1, "1": 1,
}  # fmt: skip
SI = {"time": "s", "q": "rad or m", "qd": "rad/s or m/s", "effort": "N m or N"}
GAP = 1.5  # periods
JITTER = 0.01  # of the period
FEWEST = 100  # samples of a stretch without a gap


@dataclass(frozen=True)
class Log:
    """Hold a log on a uniform grid of time.

    Args:
        joints: names of the columns.
        time: (k,) [s].
        q, effort: positions and efforts (k, n), SI.
        period: between samples [s].
        segments: stretches without gaps.
        columns: what was taken for what.
        notes: what was done to it.
    """

    joints: tuple[str, ...]
    time: Array
    q: Array
    effort: Array
    period: float
    segments: Sequence[slice]
    columns: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


def read_log(path: Path, joints: Sequence[str], given: Mapping[str, str]) -> Log:
    """Read a log.

    Args:
        path: CSV, NPZ, or a bag.
        joints: of the robot.
        given: columns by `time`, `q/JOINT`, `effort/JOINT`, where a guess would be wrong.

    Raises:
        AccordError: if it cannot be read, or columns are missing.
    """
    table = _table(path)
    found = assigned([*table], joints, given)
    need = ["time", *(f"q/{joint}" for joint in joints)]
    if missing := [key for key in need if key not in found]:
        raise AccordError(
            f"{path.name}: no column for {', '.join(missing)} among {', '.join(table)}; "
            f"--map {missing[0]}=COLUMN"
        )
    notes = [
        f"no column for the effort of {joint}: taken for 0"
        for joint in joints
        if f"effort/{joint}" not in found
    ]
    scaled, columns = {}, {}
    for key, column in found.items():
        unit = _unit(column)
        scaled[key] = UNITS[unit] * table[column]
        columns[column] = f"{key} [{unit or SI[key.partition('/')[0]] + ', assumed'}]"
    zero = np.zeros(len(scaled["time"]))
    rows = {
        kind: np.column_stack([scaled.get(f"{kind}/{joint}", zero) for joint in joints])
        for kind in ("q", "effort")
    }
    return on_grid(tuple(joints), scaled["time"], rows["q"], rows["effort"], columns, notes)


def on_grid(
    joints: tuple[str, ...],
    time: Array,
    q: Array,
    effort: Array,
    columns: Mapping[str, str],
    notes: Iterable[str],
) -> Log:
    """Return samples as a log: on a uniform grid, in stretches between gaps."""
    said = list(notes)
    good = np.isfinite(np.column_stack([time, q, effort])).all(axis=1)
    good[1:] &= time[1:] > np.maximum.accumulate(np.where(good, time, -np.inf))[:-1]
    if not good.all():
        said.append(f"{(~good).sum()} rows left out: no number, or not later than the row before")
    time, q, effort = time[good], q[good], effort[good]
    if len(time) < FEWEST:
        raise AccordError(f"the log has {len(time)} samples: {FEWEST} are needed at least")
    steps = np.diff(time)
    period = float(np.median(steps))
    ends = [0, *(np.flatnonzero(steps > GAP * period) + 1).tolist(), len(time)]
    parts = [slice(a, b) for a, b in zip(ends, ends[1:]) if b - a >= FEWEST]
    if len(ends) > 2:
        said.append(f"{len(ends) - 2} gaps; {len(parts)} stretches of {FEWEST} samples or more")
    if not parts:
        raise AccordError(f"no stretch of {FEWEST} samples without a gap")
    inner = np.concatenate([np.diff(time[s]) for s in parts])
    period = float(inner.mean())
    said.append(f"{len(time)} samples, one each {1e3 * period:.4g} ms, from {time[0]:g} s to {time[-1]:g} s")
    if np.abs(inner - period).max() <= JITTER * period:
        rows = [(time[s], q[s], effort[s]) for s in parts]
    else:
        from scipy.interpolate import CubicSpline

        most = 100 * np.abs(inner - period).max() / period
        said.append(f"periods differ by up to {most:.2g} %: resampled, positions by cubic splines")
        rows = []
        for s in parts:
            grid = np.arange(time[s][0], time[s][-1], period)
            held = np.clip(np.searchsorted(time[s], grid, "right") - 1, 0, None)
            rows.append((grid, CubicSpline(time[s], q[s])(grid), effort[s][held]))
    lengths = np.cumsum([0, *(len(row[0]) for row in rows)]).tolist()
    whole = [np.concatenate(each) for each in zip(*rows)]
    segments = [slice(a, b) for a, b in zip(lengths, lengths[1:])]
    return Log(joints, whole[0], whole[1], whole[2], period, segments, columns, said)


def assigned(
    names: Sequence[str], joints: Sequence[str], given: Mapping[str, str]
) -> dict[str, str]:
    """Return columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`, as far as they are known.

    A column names its kind by a word, its joint by name, else by a number, else by its turn.

    Raises:
        AccordError: for a given column that there is not.
    """
    found = dict(given)
    for key, column in given.items():
        if column not in names:
            raise AccordError(f"--map {key}={column}: the log has {', '.join(names)}")
    of = dict[str, list[tuple[str, str]]]()
    for name in names:
        bare = re.sub(r"[\[(][^\])]*[\])]\s*$", "", name).strip()
        joint = max((j for j in joints if j.lower() in bare.lower()), key=len, default="")
        rest = re.sub(re.escape(joint), " ", bare, flags=re.IGNORECASE) if joint else bare
        words = re.findall(r"[a-z]+", rest.lower())
        kinds = [k for k in ("qd", "effort", "q", "time") if {*words} & {*KINDS[k].split()}]
        if kinds and name not in given.values():
            of.setdefault(kinds[0], []).append((name, joint))
    if "time" in of:
        found.setdefault("time", of.pop("time")[0][0])
    for kind, columns in of.items():
        for name, joint in columns:
            if joint:
                found.setdefault(f"{kind}/{joint}", name)
        loose = [name for name, joint in columns if not joint]
        left = [joint for joint in joints if f"{kind}/{joint}" not in found]
        if len(loose) == len(left):
            found |= {f"{kind}/{joint}": name for joint, name in zip(left, loose)}
    return found


def _unit(column: str) -> str:
    """Return the unit that a column's name ends with.

    Raises:
        AccordError: for one that is not known.
    """
    if bracket := re.search(r"[\[(]([^\])]*)[\])]\s*$", column):
        unit = re.sub(r"[\s*.]", "", bracket[1]).lower()
        if bracket[1].isdigit():
            return ""
        if unit not in UNITS:
            raise AccordError(f"column {column}: no unit {bracket[1]}: {', '.join(filter(None, UNITS))}")
        return unit
    last = column.lower().rpartition("_")[2]
    return last if last in ("deg", "ms", "us", "ns", "rad", "rpm") else ""


def _table(path: Path) -> dict[str, Array]:
    """Return the columns of a file by name.

    Raises:
        AccordError: if it cannot be read.
    """
    try:
        if path.suffix.lower() == ".npz":
            return _arrays(path)
        if path.suffix.lower() in (".csv", ".txt", ".tsv"):
            text = path.read_text("utf-8-sig").lstrip("# ")
            dialect = csv.Sniffer().sniff(text[:2000], ",;\t ")
            head, *rows = [row for row in csv.reader(text.splitlines(), dialect) if row]
            values = np.array([[float(x) if x.strip() else np.nan for x in row] for row in rows])
            return {name.strip(): column for name, column in zip(head, values.T, strict=True)}
    except (OSError, ValueError, csv.Error) as error:
        raise AccordError(f"{path}: cannot be read: {error}") from None
    run = read_run(path).trajectory
    found = {"time": run.time}
    for kind in ("q", "qd", "effort"):
        found |= {f"{kind}/{j}": c for j, c in zip(run.joints, getattr(run, kind).T)}
    return found


def _arrays(path: Path) -> dict[str, Array]:
    with np.load(path) as data:
        arrays = {name: data[name] for name in data.files}
    joints = [str(each) for each in arrays.get("joints", ())]
    found = {}
    for name, values in arrays.items():
        if values.dtype.kind not in "fiu" or values.ndim not in (1, 2):
            continue
        columns = values.T if values.ndim == 2 else [values]
        for i, column in enumerate(columns):
            more = joints[i] if len(joints) == len(columns) > 1 else f"[{i}]"
            found[f"{name}/{more}" if values.ndim == 2 else name] = column.astype(float)
    length = len(found.get("time", next(iter(found.values()), ())))
    return {name: column for name, column in found.items() if len(column) == length}
