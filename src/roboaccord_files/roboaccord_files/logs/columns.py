"""Recognise the columns of a log by their names: what each holds, of which joint, in which unit.

A name is split into words: `elbow_velocity [deg/s]` has the word `velocity`, so it holds rates; the
name of a joint, `elbow`; and a unit in brackets. Columns without a joint's name are given to the
joints in their order, if there are as many. The user corrects a guess by
`--map KEY=[-][FACTOR*]COLUMN[UNIT]`.

For logs of other programs words are added to WORDS, units to FACTORS or RAW, and to ENDINGS if
names end with them. test_own_log.py and test_log_readers.py hold what is guessed for several
programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.contract.errors import AccordError

# Words by which a kind of column is recognised; the first kind with a word in the name counts.
WORDS = {
    "qd": "qd dq qvel vel velocity velocities rate rates omega qdot speed thetadot dtheta",
    "effort": "effort efforts tau torque torques ctrl u force forces motor trq qfrc actuator "
    "current currents",
    "q": "q qpos pos position positions angle angles theta phi",
    "time": "time t timestamp stamp sec secs seconds receipt",
}
# Words of columns with commanded values, which are used for efforts that were not measured.
COMMANDED = {*"ref reference des desired cmd command commands target setpoint goal error".split()}
# Units, with their factors to SI.
FACTORS = {
    "deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "rev": 2 * np.pi,
    "mm": 1e-3, "cm": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "rpm": np.pi / 30, "mnm": 1e-3,
    "deg/s": np.pi / 180, "mm/s": 1e-3, "°": np.pi / 180, "°/s": np.pi / 180,
    "rad": 1.0, "rad/s": 1.0, "m": 1.0, "m/s": 1.0, "s": 1.0, "nm": 1.0, "n": 1.0,
}  # fmt: skip
# Units of drives, whose numbers are no efforts until they are scaled.
RAW = ("a", "ma", "counts", "count", "raw", "ticks", "lsb", "%")
UNITS = (*FACTORS, *RAW)
ENDINGS = ("deg", "ms", "us", "ns", "rad", "rpm", "mm", "nm", "counts", "ma")  # of a name, behind _
UNIT = re.compile(r"[\[(]([^\])]*)[\])]\s*$")  # a unit in brackets at the end of a name
BASES = {"base", "root", "pelvis", "trunk", "torso", "floating"}  # words for the root link


class Column(NamedTuple):
    """A column of a log: its name, its unit ("" if unknown), and a factor; -1 turns the sign."""

    name: str
    unit: str = ""
    scale: float = 1.0


def assigned(
    names: Sequence[str], joints: Sequence[str], given: Mapping[str, str], prefix: str = ""
) -> dict[str, Column]:
    """Return the recognised columns by `time`, `q/JOINT`, `qd/JOINT` and `effort/JOINT`.

    A word in its name says which kind a column is. It belongs to the joint whose name it has; else
    columns that differ in a number only, as q1 and q2, are given to the remaining joints in order.
    Measured columns are preferred to commanded ones.

    Args:
        names: of the columns.
        joints: names of the robot's joints.
        given: columns that the user states by key, as for `read_log`.
        prefix: text before the names of joints in the log.

    Raises:
        AccordError: if a column that the user states does not exist.
    """
    by_key = {key: _stated_column(key, text, names, joints) for key, text in given.items()}
    stated = {column.name for column in by_key.values()}
    # Kind and joint of each column, measured ones before commanded ones.
    joints_by_kind = dict[str, dict[str, str]]()  # by kind and column, "" for no joint
    for name in sorted(names, key=_is_commanded):
        joint = joint_of(name, joints, prefix)
        kind = kind_of(name, prefix + joint)
        is_usable = kind == "effort" or not _is_commanded(name)
        if kind == "time" or (name not in stated and is_usable):
            joints_by_kind.setdefault(kind, {})[name] = joint
    for name in joints_by_kind.pop("time", {}):
        by_key.setdefault("time", Column(name))
    joints_by_kind.pop("", None)
    for kind, columns in joints_by_kind.items():
        for name, joint in columns.items():
            if joint:
                by_key.setdefault(f"{kind}/{joint}", Column(name))
        unnamed = [name for name, joint in columns.items() if not joint]
        remaining = [joint for joint in joints if f"{kind}/{joint}" not in by_key]
        in_order = zip(remaining, _in_order(unnamed, len(remaining)))
        by_key |= {f"{kind}/{joint}": Column(name) for joint, name in in_order}
    return by_key


def _in_order(unnamed: Sequence[str], count: int) -> Sequence[str]:
    """Return columns without a joint's name that belong to `count` joints in order, else none.

    They differ in a number only, or are all such columns; measured ones are preferred.
    """
    groups = dict[str, list[str]]()
    for name in unnamed:
        groups.setdefault(re.sub(r"\d+", "", name), []).append(name)
    fitting = [group for group in (*groups.values(), [*unnamed]) if len(group) == count > 0]
    preferred = [group for group in fitting if not _is_commanded(group[0])] or fitting
    is_unique = bool(preferred) and all(group == preferred[0] for group in preferred)
    return preferred[0] if is_unique else ()


def _is_commanded(name: str) -> bool:
    """Return whether the name of a column says that its values are commanded."""
    return not COMMANDED.isdisjoint(words_of(name))


def words_of(name: str) -> list[str]:
    """Return the words of a name without its unit; camelCase gives the whole and its parts."""
    bare = UNIT.sub("", name)
    split = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", bare)  # at the humps of camelCase
    return re.findall(r"[a-z]+", f"{bare} {split}".lower())


def joint_of(name: str, joints: Sequence[str], prefix: str = "") -> str:
    """Return the joint whose name, after a prefix, is in that of a column; "" if there is none."""
    bare = UNIT.sub("", name)
    return max((j for j in joints if _contains_joint(bare, prefix + j)), key=len, default="")


def kind_of(name: str, joint: str = "") -> str:
    """Return what the column of a joint holds, a key of WORDS; "" if no word of its name says it.

    The joint's own name is left out: a joint may be called `position_lock`.
    """
    remainder = re.sub(re.escape(joint), " ", name, flags=re.IGNORECASE) if joint else name
    words = {*words_of(remainder)}
    return next((kind for kind, terms in WORDS.items() if words & {*terms.split()}), "")


def base_columns(names: Iterable[str], joints: Sequence[str]) -> dict[str, Column]:
    """Return the columns of the base's pose, by `base/x`, y, z, qw, qx, qy and qz."""
    by_key = dict[str, Column]()
    for name in names:
        words = words_of(name)
        components = [word for word in words if re.fullmatch(r"[xyz]|q[wxyz]", word)]
        of_joint = joint_of(name, joints) or kind_of(name) in ("qd", "effort")
        if components and not BASES.isdisjoint(words) and not of_joint:
            by_key[f"base/{components[-1]}"] = Column(name, unit_of(name))
    return by_key


def _contains_joint(text: str, joint: str) -> bool:
    """Return whether a text has the name of a joint, with no letter or digit next to it."""
    pattern = rf"(?<![A-Za-z0-9]){re.escape(joint)}(?![A-Za-z0-9])"
    return bool(re.search(pattern, text, re.IGNORECASE))


def _stated_column(key: str, text: str, names: Sequence[str], joints: Sequence[str]) -> Column:
    """Return the column that the text `[-][FACTOR*]COLUMN[UNIT]` of `--map` describes.

    Raises:
        AccordError: if the column, joint or unit does not exist.
    """
    kind, _, joint = key.partition("/")
    if key != "time" and (kind not in WORDS or joint not in joints):
        keys = ", ".join(["time", *(f"{kind}/{joints[0]}" for kind in ("q", "qd", "effort"))])
        raise AccordError(f"--map {key}: no such quantity; {keys}, ... of {', '.join(joints)}")
    # Sign, factor before *, and name; unless the whole text is the name of a column.
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
    """Return the unit at the end of a column's name: in brackets, or after _ or /; else "".

    Raises:
        AccordError: if a unit in brackets is not known.
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
