"""Logs as text: separator, decimal sign, names and units are recognised, and `ros2 topic echo`.

A format without a line of names may be added beside `_echoed`. Numbers far from 0 are subtracted
from the first of their column as decimal text: times since 1970 keep their nanoseconds.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import chain, islice

import numpy as np

from roboaccord_files.logs.columns import UNITS
from roboaccord_files.logs.messages import Messages
from roboaccord_files.logs.table import FAR, Table

NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?|nan|[-+]?inf", re.IGNORECASE)
SEPARATORS = (";", "\t", ",", "")  # the last: blanks
HEAD = 200  # lines, within which a table begins
LOOKED_AT = 20  # lines, by which the separator is recognised
Row = Sequence[str]


def read_text(data: bytes) -> Table:
    """Return the columns of a text.

    Raises:
        ValueError: if there are none, or a row has another number of cells than the names.
    """
    rows = _rows(_decoded(data))
    above: list[Row] = []
    for row in rows:
        if _is_data(row):
            break
        above.append(row)
        if len(above) > HEAD:
            raise ValueError(f"no rows of numbers in the first {HEAD} lines")
    else:
        raise ValueError("no rows of numbers")
    names = _names([row for row in above if any(row)], len(row))
    rows = chain([row], rows)
    return _numbers(names, rows, len(above) + 1) if names else _echoed(rows)


def _decoded(data: bytes) -> str:
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _rows(text: str) -> Iterator[Row]:
    """Yield the cells of each line, by the separator that makes most numbers."""
    lines = [*islice(io.StringIO(text, None), HEAD)][-LOOKED_AT:]
    numbers = [sum(map(_count, _cut(lines, each))) for each in SEPARATORS]
    return _cut(io.StringIO(text, None), SEPARATORS[numbers.index(max(numbers))])


def _cut(lines: Iterable[str], separator: str) -> Iterator[Row]:
    cut = csv.reader(lines, delimiter=separator) if separator else map(str.split, lines)
    return ([cell.strip() for cell in row] for row in cut)


def _count(row: Row) -> int:
    return sum(NUMBER.fullmatch(cell) is not None for cell in row)


def _is_data(row: Row) -> bool:
    return _count(row) > min(1.0, 0.5 * sum(map(bool, row)))


def _names(above: Sequence[Row], width: int) -> Row:
    """Return the names of columns, with their units where a line states them; none if no line does.

    Raises:
        ValueError: if there are as many as no row has cells.
    """
    heads = []
    for row in above:
        first = row[0].lstrip("#%/ ") if row else ""
        heads.append([*([first] if first or not row[0] else []), *row[1:]])
    if not heads:
        return ()
    *_, last = [[], *heads]
    before = heads[-2] if len(heads) > 1 else []
    units = [cell.strip("[]()").lower() for cell in last]
    if len(before) == len(last) and {*units} <= {*UNITS, "", "-"}:
        last = [f"{name} [{unit}]" if unit in UNITS else name for name, unit in zip(before, units)]
    if len(last) not in (width, width - 1):
        raise ValueError(f"row {len(above) + 1} has {width} columns, the header {len(last)}")
    return last


def _numbers(names: Row, rows: Iterable[Row], first: int) -> Table:
    """Return the numbers of rows; text is none, and a last row that was cut is left out."""
    width, values, cut = len(names), array("d"), 0
    origins, texts = dict[int, Decimal](), [""] * width
    read: list[Callable[[str], float]] = [float] * width
    started = [False] * width
    for number, row in enumerate(rows, first):
        if len(row) == width + 1 and not row[-1]:
            row = row[:-1]
        if row and (cut or len(row) > width):
            raise ValueError(f"row {cut or number} has {len(row)} columns, the header {width}")
        if len(row) < width:
            cut = number if row else cut
            continue
        for j, cell in enumerate(row):
            try:
                value = read[j](cell.replace(",", "."))
            except (ValueError, InvalidOperation):
                value, texts[j] = np.nan, texts[j] or cell
            if not started[j] and np.isfinite(value):
                started[j] = True
                if abs(value) >= FAR:
                    origins[j] = origin = Decimal(cell.replace(",", "."))
                    read[j] = lambda text, origin=origin: float(Decimal(text) - origin)
                    value = 0.0
            values.append(value)
    columns = dict(zip(names, np.array(values).reshape(-1, width).T))
    text = [name for name, one, cell in zip(names, started, texts) if cell and not one]
    notes = [f"no numbers, and left out: {', '.join(text)}"] if text else []
    notes += [f"row {cut} is cut, and left out"] if cut else []
    kept = {name: column for name, column in columns.items() if name not in text}
    return Table(kept, {names[j]: float(each) for j, each in origins.items()}, notes=notes)


def _echoed(rows: Iterable[Row]) -> Table:
    """Return the joint states that `ros2 topic echo --csv` has written: a row each, no names.

    Raises:
        ValueError: for a row that is none.
    """
    found = Messages()
    for number, row in enumerate(rows, 1):
        count = next((i for i, cell in enumerate(row[3:]) if NUMBER.fullmatch(cell)), 0)
        if not count or not (row[0] + row[1]).isdigit():
            raise ValueError(
                f"no line of names, and row {number} is no joint state of `topic echo`"
            )
        left, parts = row[3 + count :], []
        for _ in range(3):
            size = count if left and left[0] else 1
            parts.append([float(cell) for cell in left[:size] if cell])
            left = left[size:]
        stamp = int(row[0]) * 1_000_000_000 + int(row[1])
        found.add_state(stamp, stamp, row[3 : 3 + count], parts)
    return found.table()
