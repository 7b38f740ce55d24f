"""How the columns of a log are printed, in notes and hints to the user.

log.py asks for these texts: which column was taken for what, which columns are not used, and what
to state if the efforts are missing. MOST_NAMED may be tuned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from roboaccord_files.logs.columns import Column
from roboaccord_files.logs.table import Table

# Units of columns that state none, by their kind: the part of a key such as `q/elbow` before /.
ASSUMED_UNITS = {"time": "s", "q": "rad or m", "qd": "rad/s or m/s", "effort": "N m or N"}
# Units that columns state, in lower case, as they are printed; others are printed as they are.
PRINTED_UNITS = {"nm": "Nm", "n": "N", "mnm": "mNm", "a": "A", "ma": "mA"}
MOST_NAMED = 8  # unused columns that a note names, which is two lines; further ones are counted


def note_of_unused(table: Table, used: Mapping[str, Column]) -> Iterable[str]:
    """Yield a note on columns that are not used, if there are any."""
    used_names = {column.name for column in used.values()}
    if names := [name for name in table.columns if name and name not in used_names]:
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        yield f"not used: {', '.join(names[:MOST_NAMED])}{more}"


def hint_on_efforts(table: Table, joints: Sequence[str]) -> str:
    """Return the hint for a log without efforts: the options that state them, or their absence."""
    column = table.further[0] if table.further else "COLUMN"
    return f"--map effort/{joints[0]}={column}, or --passive if nothing drives the robot"


def printed(key: str, column: Column) -> str:
    """Return a column as it is printed: sign or factor, name, and unit, which may be assumed.

    Args:
        key: what it was taken for, such as `q/elbow`.
        column: with its unit, in lower case.
    """
    unit = PRINTED_UNITS.get(column.unit, column.unit)
    unit = unit or f"{ASSUMED_UNITS[key.partition('/')[0]]}, assumed"
    factor = {1.0: "", -1.0: "-"}.get(column.scale, f"{column.scale:g}*")
    name = column.name.removesuffix(f"[{unit}]").rstrip()
    return f"{factor}{name} [{unit}]"
