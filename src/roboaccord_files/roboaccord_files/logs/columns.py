"""Columns of a log, recognised by name: what each holds, its unit and its sign.

For logs with other names words may be added to WORDS (kinds are tried in its order), units with
their factor to SI to FACTORS, those of an effort that have none to RAW, and to ENDINGS if names end
with them behind _. `--map KEY=COLUMN[UNIT]` takes the units of FACTORS, too. What test_own_log.py
and test_log_readers.py guess of several programs must stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.contract.errors import AccordError

WORDS = {
    "qd": "qd dq qvel vel velocity velocities rate rates omega qdot speed thetadot dtheta",
    "effort": "effort efforts tau torque torques ctrl u force forces motor trq qfrc actuator "
    "current currents",
    "q": "q qpos pos position positions angle angles theta phi",
    "time": "time t timestamp stamp sec secs seconds receipt",
}
"""By which columns are known, in this order."""
WANTED = {*"ref reference des desired cmd command commands target setpoint goal error".split()}
"""Words of columns that somebody wanted: taken where nothing was measured, efforts alone."""
FACTORS = {
    "deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "rev": 2 * np.pi,
    "mm": 1e-3, "cm": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "rpm": np.pi / 30, "mnm": 1e-3,
    "deg/s": np.pi / 180, "mm/s": 1e-3, "°": np.pi / 180, "°/s": np.pi / 180,
    "rad": 1.0, "rad/s": 1.0, "m": 1.0, "m/s": 1.0, "s": 1.0, "nm": 1.0, "n": 1.0,
}  # fmt: skip
RAW = ("a", "ma", "counts", "count", "raw", "ticks", "lsb", "%")
"""What drives report that is no effort until it is scaled."""
UNITS = (*FACTORS, *RAW)
ENDINGS = ("deg", "ms", "us", "ns", "rad", "rpm", "mm", "nm", "counts", "ma")  # of a name, after _
UNIT = re.compile(r"[\[(]([^\])]*)[\])]\s*$")
BASES = {"base", "root", "pelvis", "trunk", "torso", "floating"}


class Column(NamedTuple):
    """Name a column, its unit, and what it is multiplied by: -1 for the other sign."""

    name: str
    unit: str = ""
    scale: float = 1.0


def assigned(
    names: Sequence[str], joints: Sequence[str], given: Mapping[str, str], prefix: str = ""
) -> dict[str, Column]:
    """Return columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`, as far as they are known.

    A column names its kind by a word, and its joint by its name, else by its turn among those that
    are numbered alike. What was measured comes before what was wanted.

    Args:
        names: of the columns.
        joints: of the robot.
        given: columns by key, as of `read_log`.
        prefix: before the names of joints in the log.

    Raises:
        AccordError: for a given column that does not exist.
    """
    by_key = {key: _given(key, text, names, joints) for key, text in given.items()}
    taken = {column.name for column in by_key.values()}
    of = dict[str, dict[str, str]]()
    for name in sorted(names, key=_wanted):
        joint = joint_of(name, joints, prefix)
        kind = kind_of(name, prefix + joint)
        if kind == "time" or (name not in taken and (kind == "effort" or not _wanted(name))):
            of.setdefault(kind, {})[name] = joint
    for name in of.pop("time", {}):
        by_key.setdefault("time", Column(name))
    of.pop("", None)
    for kind, columns in of.items():
        for name, joint in columns.items():
            if joint:
                by_key.setdefault(f"{kind}/{joint}", Column(name))
        loose = [name for name, joint in columns.items() if not joint]
        remaining = [joint for joint in joints if f"{kind}/{joint}" not in by_key]
        stems = [re.sub(r"\d+", "", name) for name in loose]
        alike = {stem: tuple(n for n, s in zip(loose, stems) if s == stem) for stem in stems}
        fit = [each for each in (*alike.values(), tuple(loose)) if len(each) == len(remaining) > 0]
        first = [each for each in fit if not _wanted(each[0])] or fit
        if len({*first}) == 1:
            by_key |= {f"{kind}/{joint}": Column(name) for joint, name in zip(remaining, first[0])}
    return by_key


def _wanted(name: str) -> bool:
    return not WANTED.isdisjoint(words_of(name))


def words_of(name: str) -> list[str]:
    """Return the words of a name without its unit, those of camelCase together and apart."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", bare := UNIT.sub("", name))
    return re.findall(r"[a-z]+", f"{bare} {apart}".lower())


def joint_of(name: str, joints: Sequence[str], prefix: str = "") -> str:
    """Return the joint whose name, with a prefix, is in a column's; "" where none is."""
    bare = UNIT.sub("", name)
    return max((j for j in joints if _holds(bare, prefix + j)), key=len, default="")


def kind_of(name: str, joint: str = "") -> str:
    """Return what the column of a joint holds, "" where no word states it."""
    rest = re.sub(re.escape(joint), " ", name, flags=re.IGNORECASE) if joint else name
    words = {*words_of(rest)}
    return next((kind for kind, known in WORDS.items() if words & {*known.split()}), "")


def base_columns(names: Iterable[str], joints: Sequence[str]) -> dict[str, Column]:
    """Return the columns of a base's pose, by `base/x`, y, z, qw, qx, qy and qz."""
    by_key = dict[str, Column]()
    for name in names:
        words = words_of(name)
        parts = [w for w in words if re.fullmatch(r"[xyz]|q[wxyz]", w)]
        other = joint_of(name, joints) or kind_of(name) in ("qd", "effort")
        if parts and not BASES.isdisjoint(words) and not other:
            by_key[f"base/{parts[-1]}"] = Column(name, unit_of(name))
    return by_key


def _holds(text: str, joint: str) -> bool:
    """Return whether a name has a joint's in it, which no letter or digit follows or leads."""
    return bool(
        re.search(rf"(?<![A-Za-z0-9]){re.escape(joint)}(?![A-Za-z0-9])", text, re.IGNORECASE)
    )


def _given(key: str, text: str, names: Sequence[str], joints: Sequence[str]) -> Column:
    """Return the column of `[-][FACTOR*]COLUMN[UNIT]`.

    Raises:
        AccordError: for a column, joint or unit that does not exist.
    """
    kind, _, joint = key.partition("/")
    if key != "time" and (kind not in WORDS or joint not in joints):
        keys = ", ".join(["time", *(f"{kind}/{joints[0]}" for kind in ("q", "qd", "effort"))])
        raise AccordError(f"--map {key}: no such quantity; {keys}, ... of {', '.join(joints)}")
    scaled = re.fullmatch(r"([-+]?)(?:(\d*\.?\d+(?:e[-+]?\d+)?)\*)?(.+)", text, re.IGNORECASE)
    sign, factor, name = scaled.groups() if scaled and text not in names else ("", None, text)
    scale = float(factor or 1.0) * (-1.0 if sign == "-" else 1.0)
    if name in names:
        return Column(name, "", scale)
    match = re.fullmatch(r"(.+)\[([^\]]+)\]", name)
    if match and match[1] in names and match[2].lower() in UNITS:
        return Column(match[1], match[2].lower(), scale)
    if match and match[1] in names:
        raise AccordError(f"--map {key}={text}: no unit {match[2]} among {', '.join(UNITS)}")
    raise AccordError(f"--map {key}={text}: no such column among {', '.join(names)}")


def unit_of(column: str, joint: str = "") -> str:
    """Return the unit that the name of a joint's column ends with, "" where there is none.

    Raises:
        AccordError: for one that is not known.
    """
    bracket = UNIT.search(column)
    if bracket and not bracket[1].isdigit():
        unit = re.sub(r"[\s*.·]", "", bracket[1]).lower()
        if unit not in UNITS:
            raise AccordError(f"column {column}: no unit {bracket[1]} among {', '.join(UNITS)}")
        return unit
    last = re.search(r"([/_])([a-z%]+(?:/s)?)\s*$", column.lower())
    if not last or (joint and column.lower().endswith(joint.lower())):
        return ""
    if column.rstrip().endswith("_A"):  # amperes; a small a is more often a joint's name
        return "a"
    return last[2] if last[2] in (UNITS if last[1] == "/" else ENDINGS) else ""
