"""Columns of a log, recognised by name: what each holds, its unit and its sign.

For logs with other names words may be added to WORDS (kinds are tried in its order), units with
their factor to SI to FACTORS, and to ENDINGS if names end with them behind _. `--map
KEY=COLUMN[UNIT]` takes the units of FACTORS, too. What test_own_log.py guesses of several programs
must stay.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from roboaccord.contract.errors import AccordError

WORDS = {
    "qd": "qd dq qvel vel velocity velocities rate rates omega qdot speed thetadot dtheta",
    "effort": "effort efforts tau torque torques ctrl u force forces motor trq qfrc actuator",
    "q": "q qpos pos position positions angle angles theta phi",
    "time": "time t timestamp stamp secs seconds",
}
"""By which columns are known, in this order."""
FACTORS = {
    "deg": np.pi / 180, "degree": np.pi / 180, "degrees": np.pi / 180, "rev": 2 * np.pi,
    "mm": 1e-3, "cm": 1e-2, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "rpm": np.pi / 30, "mnm": 1e-3,
    "deg/s": np.pi / 180, "mm/s": 1e-3,
    "rad": 1.0, "rad/s": 1.0, "m": 1.0, "m/s": 1.0, "s": 1.0, "nm": 1.0, "n": 1.0,
}  # fmt: skip
ENDINGS = ("deg", "ms", "us", "ns", "rad", "rpm", "mm", "nm")  # of a name, behind _


class Column(NamedTuple):
    """Name a column, its unit, and whether its sign is reversed."""

    name: str
    unit: str = ""
    sign: float = 1.0


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
    if match and match[1] in names and match[2].lower() in FACTORS:
        return Column(match[1], match[2].lower(), sign)
    if match and match[1] in names:
        raise AccordError(f"--map {key}={text}: no unit {match[2]} among {', '.join(FACTORS)}")
    raise AccordError(f"--map {key}={text}: no such column among {', '.join(names)}")


def unit_of(column: str) -> str:
    """Return the unit that a column's name ends with, "" where there is none.

    Raises:
        AccordError: for one that is not known.
    """
    bracket = re.search(r"[\[(]([^\])]*)[\])]\s*$", column)
    if bracket and not bracket[1].isdigit():
        unit = re.sub(r"[\s*.]", "", bracket[1]).lower()
        if unit not in FACTORS:
            raise AccordError(f"column {column}: no unit {bracket[1]} among {', '.join(FACTORS)}")
        return unit
    last = column.lower().rpartition("_")[2]
    return last if "_" in column and last in ENDINGS else ""
