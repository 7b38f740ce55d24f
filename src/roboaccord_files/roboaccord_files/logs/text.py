"""Read logs that are text: CSV in its many forms, and the output of `ros2 topic echo --csv`.

Separator, decimal point or comma, the line of names, and a line of units below it are recognised. A
table begins at the first line with enough numbers; the lines above have the names. Text without
names is read as joint states of `ros2 topic echo`. Columns that begin far from 0, as times since
1970, are kept as decimals, which have more digits than floats.
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
DATE = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?")  # date and time in UTC
SEPARATORS = (";", "\t", ",", "")  # "" stands for blanks
# Lines; the numbers must begin within these: programs write their settings above, at most a few
# screens.
MAX_HEAD = 200
# Lines by which the separator is recognised. Numbers outweigh the header's words in them.
SAMPLE_LINES = 20
# A column whose first number is larger is kept as decimals. Floats below have steps of 2e-12, finer
# than ns.
DECIMALS_FROM = 1e4
Row = Sequence[str]


def read_text(data: bytes) -> Table:
    """Return the table of a text.

    Raises:
        ValueError: if it has no numbers, or a row has more or fewer cells than there are names.
    """
    is_utf16 = data[:2] in (b"\xff\xfe", b"\xfe\xff")
    above = list[Row]()  # lines above the first row of numbers
    rows = _rows(data.decode("utf-16" if is_utf16 else "utf-8-sig", "replace"))
    for row in rows:
        # The first row of numbers: it has two at least, or its only cell is one.
        if _count_numbers(row) > min(1.0, 0.5 * sum(map(bool, row))):
            names, number = _names(above, row), len(above) + 1
            return _numbers(names, row, rows, number) if names else _echoed(chain([row], rows))
        if any(row):
            above.append(row)
        if len(above) > MAX_HEAD:
            break
    raise ValueError("no rows of numbers")


def _rows(text: str) -> Iterator[Row]:
    """Yield the cells of each line, by the separator that gives the most numbers."""
    lines = [*islice(io.StringIO(text, None), MAX_HEAD)][-SAMPLE_LINES:]
    numbers = [sum(map(_count_numbers, _split(lines, separator))) for separator in SEPARATORS]
    return _split(io.StringIO(text, None), SEPARATORS[numbers.index(max(numbers))])


def _split(lines: Iterable[str], separator: str) -> Iterator[Row]:
    """Return the cells of lines by a separator, "" for blanks."""
    rows = csv.reader(lines, delimiter=separator) if separator else map(str.split, lines)
    return ([cell.strip() for cell in row] for row in rows)


def _count_numbers(row: Row) -> int:
    """Return how many cells of a row are numbers."""
    return sum(NUMBER.fullmatch(cell) is not None for cell in row)


def _names(above: Sequence[Row], first: Row) -> Row:
    """Return the names of columns, with units as `name [unit]` if a line has them.

    Args:
        above: the lines above the numbers; without any there are no names.
        first: the first row of numbers.

    Raises:
        ValueError: if there are not as many names as numbers.
    """
    # Signs of a comment before the names are no name.
    heads = [row[1:] if row[0] and not row[0].strip("#%/ ") else row for row in above]
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
    """Return the numbers of rows as a table, NaN for text.

    A last row that is incomplete, as of a program that was stopped, is left out with a note.

    Args:
        names: of the columns.
        first, rows: the first row, and the others.
        number: of the first row in the file, for messages.
    """
    width, values = len(names), array("d")
    # Columns that begin far from 0, by their index; what is wrong with an incomplete row.
    exact = {j: list[Decimal]() for j in range(width) if abs(_value(first[j])) >= DECIMALS_FROM}
    incomplete = ""
    for i, row in enumerate(filter(any, chain([first], rows)), number):
        cells = row if any(row[width:]) else row[:width]
        if incomplete or len(cells) != width:
            fault = f"row {i} has {len(cells)} columns, the header {width}"
            if incomplete or len(cells) > width:
                raise ValueError(incomplete or fault)
            incomplete = fault
            continue
        values.extend(map(_value, cells))
        # Of the row that was just added, values[j - width] is the number in column j.
        for j, decimals in exact.items():
            decimals.append(Decimal(_digits(cells[j]) if np.isfinite(values[j - width]) else "nan"))
    columns: dict[str, Any] = dict(zip(names, np.array(values).reshape(-1, width).T))
    columns |= {names[j]: np.array(decimals) for j, decimals in exact.items()}
    return Table(columns, [f"the last {incomplete}: left out"] if incomplete else [])


def _digits(cell: str) -> str:
    """Return the text of a number with a decimal point; of a date its nanoseconds since 1970."""
    if cell[4:5] == "-" and DATE.fullmatch(cell):
        return str(np.datetime64(cell.rstrip("Z").replace(" ", "T"), "ns").astype(np.int64))
    return cell.replace(",", ".")


def _value(cell: str) -> float:
    """Return the number in a cell, NaN if it is none."""
    try:
        return float(_digits(cell))
    except ValueError:
        return np.nan


def _echoed(rows: Iterable[Row]) -> Table:
    """Return the joint states that `ros2 topic echo --csv` has written, a row each.

    The cells of a row are seconds, nanoseconds and frame of the header, the names of the joints,
    and their positions, rates and efforts; an empty sequence is one empty cell.

    Raises:
        ValueError: for a row that is no joint state.
    """
    states = []
    for number, row in enumerate(rows, 1):
        count = next((i for i, cell in enumerate(row[3:]) if NUMBER.fullmatch(cell)), 0)
        if not count or not (row[0] + row[1]).isdigit():
            raise ValueError(f"no names above, and row {number} is no joint state of topic echo")
        cells, parts = row[3 + count :], list[list[float]]()
        while len(parts) < len(PARTS):
            size = count if cells and cells[0] else 1
            parts.append([float(cell) for cell in cells[:size] if cell])
            cells = cells[size:]
        stamp = int(row[0]) * NANOSECONDS + int(row[1])
        states.append(joint_state("", stamp, stamp, row[3 : 3 + count], parts))
    return table_of(states)
