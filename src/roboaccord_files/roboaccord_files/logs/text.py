"""Logs as text: separator, decimal sign, names and units are recognised, and `ros2 topic echo`.

A format without a line of names may be added beside `_echoed`. Columns that begin far from 0 keep
their decimals: times since 1970 have more digits than a float.
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import chain, islice
from typing import Any

import numpy as np
from roboaccord.cdr.wire import NANOSECONDS

from roboaccord_files.logs.columns import UNITS
from roboaccord_files.logs.messages import PARTS, joint_state, table_of
from roboaccord_files.logs.table import Table

NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?|nan|[-+]?inf", re.IGNORECASE)
DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?")  # of UTC
SEPARATORS = (";", "\t", ",", "")  # the last: blanks
HEAD = 200  # lines, within which a table begins
LOOKED_AT = 20  # lines, by which the separator is recognised
FAR = 1e4  # of a first number: from there on a column keeps its decimals
Row = Sequence[str]


def read_text(data: bytes) -> Table:
    """Return the columns of a text.

    Raises:
        ValueError: if there are none, or a row has another number of cells than the names.
    """
    utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    above = list[Row]()
    rows = _rows(data.decode("utf-16" if utf16 else "utf-8-sig", "replace"))
    for row in rows:
        if _count(row) > min(1.0, 0.5 * sum(map(bool, row))):
            names = _names(above, row)
            below = len(above) + 1
            return _numbers(names, row, rows, below) if names else _echoed(chain([row], rows))
        above += [row] if any(row) else []
        if len(above) > HEAD:
            break
    raise ValueError("no rows of numbers")


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


def _names(above: Sequence[Row], first: Row) -> Row:
    """Return the names of columns, with units where a line has them; none where no line is above.

    Raises:
        ValueError: if there are as many as no row has cells.
    """
    heads = [(row if row[0].strip("#%/ ") else row[1:]) if row[0] else row for row in above]
    if not heads:
        return ()
    last = [heads[-1][0].lstrip("#%/ "), *heads[-1][1:]]
    units = [cell.strip("[]()").lower() for cell in last]
    if len(heads) > 1 and len(heads[-2]) == len(last) and {*units} <= {*UNITS, "", "-"}:
        last = [f"{n} [{unit}]" if unit in UNITS else n for n, unit in zip(heads[-2], units)]
    if len(last) != len(first) and (len(last) != len(first) - 1 or first[-1]):
        raise ValueError(f"row {len(above) + 1} has {len(first)} columns, the header {len(last)}")
    return last


def _numbers(names: Row, first: Row, rows: Iterable[Row], number: int) -> Table:
    """Return the numbers of rows, NaN for text; a last row that was cut is left out."""
    width, values, cut = len(names), array("d"), ""
    far = {j: list[Decimal]() for j in range(width) if abs(_value(first[j])) >= FAR}
    for at, row in enumerate(filter(any, chain([first], rows)), number):
        row = row if any(row[width:]) else row[:width]
        if cut or len(row) > width:
            raise ValueError(cut or f"row {at} has {len(row)} columns, the header {width}")
        if len(row) < width:
            cut = f"row {at} has {len(row)} columns, the header {width}"
            continue
        values.extend(map(_value, row))
        for j, decimals in far.items():
            decimals.append(Decimal(_plain(row[j]) if np.isfinite(values[j - width]) else "nan"))
    columns: dict[str, Any] = dict(zip(names, np.array(values).reshape(-1, width).T))
    columns |= {names[j]: np.array(decimals) for j, decimals in far.items()}
    return Table(columns, [f"the last {cut}: left out"] if cut else [])


def _plain(cell: str) -> str:
    """Return a number with a point, for a date and time the nanoseconds since 1970."""
    if cell[4:5] == "-" and DATE.fullmatch(cell):
        return str(np.datetime64(cell.rstrip("Z").replace(" ", "T"), "ns").astype(np.int64))
    return cell.replace(",", ".")


def _value(cell: str) -> float:
    try:
        return float(_plain(cell))
    except ValueError:
        return np.nan


def _echoed(rows: Iterable[Row]) -> Table:
    """Return the joint states that `ros2 topic echo --csv` has written: a row each, no names.

    Raises:
        ValueError: for a row that is none.
    """
    states = []
    for number, row in enumerate(rows, 1):
        count = next((i for i, cell in enumerate(row[3:]) if NUMBER.fullmatch(cell)), 0)
        if not count or not (row[0] + row[1]).isdigit():
            raise ValueError(f"no names above, and row {number} is no joint state of topic echo")
        left, parts = row[3 + count :], list[list[float]]()
        while len(parts) < len(PARTS):  # an empty sequence is an empty cell
            size = count if left and left[0] else 1
            parts, left = [*parts, [float(cell) for cell in left[:size] if cell]], left[size:]
        stamp = int(row[0]) * NANOSECONDS + int(row[1])
        states.append(joint_state("", stamp, stamp, row[3 : 3 + count], parts))
    return table_of(states)
