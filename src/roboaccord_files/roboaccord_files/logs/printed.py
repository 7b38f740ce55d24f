"""How columns of a log are printed, in notes and hints; NAMED may be tuned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from roboaccord_files.logs.columns import Column
from roboaccord_files.logs.table import Table

SI = {"time": "s", "q": "rad or m", "qd": "rad/s or m/s", "effort": "N m or N"}  # of each kind
WRITTEN = {"nm": "Nm", "n": "N", "mnm": "mNm", "a": "A", "ma": "mA"}  # units as they are printed
NAMED = 8  # unused columns that a note names; further ones are counted; two lines hold as many


def note_of_unused(table: Table, used: Mapping[str, Column]) -> Iterable[str]:
    """Yield a note on columns that are not used, if there are any."""
    used_names = {column.name for column in used.values()}
    if names := [name for name in table.columns if name and name not in used_names]:
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        yield f"not used: {', '.join(names[:NAMED])}{more}"


def cure_of(table: Table, joints: Sequence[str]) -> str:
    """Return the hint for a log without efforts."""
    column = table.more[0] if table.more else "COLUMN"
    return f"--map effort/{joints[0]}={column}, or --passive if nothing drives the robot"


def printed(key: str, column: Column) -> str:
    """Return a column as it is printed: sign or factor, name, and unit, which may be assumed."""
    unit = WRITTEN.get(column.unit, column.unit) or SI[key.partition("/")[0]] + ", assumed"
    scale = "-" if column.scale == -1.0 else f"{column.scale:g}*" if column.scale != 1.0 else ""
    name = column.name.removesuffix(f"[{unit}]").rstrip()
    return f"{scale}{name} [{unit}]"
