"""Results whose fields carry unit and meaning, as lines and tables.

The layout that all results share may be changed: dashes (NONE), lines, tables, NARROW, within 80
columns. Unit, heading and decimals of a figure are not here: they are in the `Quantity` of its
field, and are changed there. What a small result looks like is fixed by test_results.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from roboaccord.cli.console import figure_lines, file_line, make_table
from roboaccord.contract.results import SCALES, Quantity, inline, quantities

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value: TypeAlias = "bool | int | float | complex | str | Iterable[Value] | None"
NONE, NOTHING = "–", "none"  # for no value, and for an empty list
NARROW = 10  # columns: a table with so many has units without brackets, to fit 80 characters


def lines_of(result: DataclassInstance, *names: str) -> list[str]:
    """Return the quantities of a result, one a line with its unit and meaning.

    A mapping has a line for each of its values.

    Args:
        result: whose quantities are shown.
        names: of the fields and properties to show; all quantities by default.
    """
    rows = {}
    for name, quantity in _chosen(type(result), names).items():
        value, heading = _value(result, name), heading_of(name, quantity)
        more = f": {quantity.meaning}" if quantity.meaning else ""
        for key, item in value.items() if isinstance(value, Mapping) else [("", value)]:
            text = text_of(item, quantity)
            unit = quantity.shown or quantity.unit
            unit = "" if text in (NONE, NOTHING) or unit == "1" else unit
            line = (text, unit + more) if unit else (text + more, "")
            rows[f"{heading}, {key}" if key else heading], more = line, ""
    return figure_lines(rows)


def tables_of(
    rows: Sequence[DataclassInstance],
    *names: str,
    title: str = "",
    kind: type[DataclassInstance] | None = None,
    labels: Iterable[str] = (),
) -> list[RenderableType]:
    """Return a table with a line for each result, and below it what its columns mean.

    Args:
        rows: results of one class.
        names: of the fields and properties to show; all quantities by default.
        title: above the table.
        kind: the class, where there may be no rows.
        labels: of the rows, in a first column.
    """
    chosen = _chosen(kind or type(rows[0]), names)
    form = "[{}]" if len(chosen) < NARROW else "{}"
    names_shown = [heading_of(*item) for item in chosen.items()]
    headings = {name: _column(name, q, form, names_shown) for name, q in chosen.items()}
    first = list(labels)
    table = make_table(
        *([""] if first else ()), *headings.values(), title=title,
        words=[headings[name] for name, q in chosen.items() if q.form == "s"],
        text=[headings[name] for name, q in chosen.items() if q.form == "text"],
    )  # fmt: skip
    for number, row in enumerate(rows):
        cells = (text_of(_value(row, name), quantity) for name, quantity in chosen.items())
        table.add_row(*first[number : number + 1], *cells)
    told = [f"{heading_of(name, q)}: {q.meaning}" for name, q in chosen.items() if q.meaning]
    meanings = dict.fromkeys(line.replace("\n", " ") for line in told)
    return [table, *([Text("; ".join(meanings))] if meanings else [])]


def grid_of(
    headings: Sequence[str],
    rows: Mapping[str, Iterable[Value]],
    quantity: Quantity,
    title: str = "",
) -> Table:
    """Return a table of values of one quantity: a labelled row for each entry.

    Args:
        headings: of the labels, and of each column.
        rows: values by label.
        quantity: what the values are.
        title: above the table.
    """
    table = make_table(*headings, title=title)
    for label, values in rows.items():
        table.add_row(label, *(text_of(value, quantity) for value in values))
    return table


def rendered(result: DataclassInstance) -> list[RenderableType]:
    """Return a whole result: its quantities, a table for each list of dataclasses, and its files.

    The title of a table is the meaning of its field, or else the field's name. Fields that are
    dataclasses of one class share a table, with a line for each by name; a single one is shown
    below its name as a result is. Fields that are left out of the JSON are not shown, nor those
    left out because they are None. A mapping of mappings is a table, too.
    """
    values = {
        field.name: value for field in fields(result)
        if (value := getattr(result, field.name)) is not None or "if_any" not in field.metadata
    }  # fmt: skip
    names = _in_lines(result, values)
    shown: list[RenderableType] = [*lines_of(result, *names)] if names else []
    for group in _inner(result, values):
        if len(group) > 1:
            shown += tables_of([*group.values()], labels=group)
        else:
            ((title, inner),) = group.items()
            shown += [title, *rendered(inner)]
    by_name = quantities(type(result))
    for name, value in values.items():
        shown += _tabled(value, name, by_name.get(name, Quantity("")))
    return shown


def _in_lines(result: DataclassInstance, values: Mapping[str, object]) -> list[str]:
    """Return the names of the quantities that are shown in lines: those in no table."""
    beside = inline(type(result))
    missing = {field.name for field in fields(result)} - values.keys()
    in_tables = {n for n, v in values.items() if _rows(v) or _cells(v) or is_dataclass(v)}
    return [
        name for name in quantities(type(result))
        if (first := name.partition(".")[0]) not in missing
        and (first in beside or not ("." in name or name in in_tables))
    ]  # fmt: skip


def _inner(
    result: DataclassInstance, values: Mapping[str, object]
) -> Iterable[Mapping[str, DataclassInstance]]:
    """Return the fields that are dataclasses, by heading; those of one class together."""
    by_name = quantities(type(result))
    hidden = {field.name for field in fields(result) if "left_out" in field.metadata}
    hidden |= inline(type(result))
    groups: dict[type[DataclassInstance], dict[str, DataclassInstance]] = {}
    for name, value in values.items():
        if not is_dataclass(value) or isinstance(value, type) or name in hidden:
            continue
        if _chosen(type(value), ()):
            heading = heading_of(name, by_name.get(name, Quantity("")))
            groups.setdefault(type(value), {})[heading] = value
    return groups.values()


def _tabled(value: object, name: str, quantity: Quantity) -> Iterable[RenderableType]:
    """Return a field's rows or grid as a table, its files as a line; nothing of other values."""
    title = quantity.meaning or heading_of(name, quantity)
    if rows := _rows(value):
        return tables_of(rows, title=title, labels=value if isinstance(value, Mapping) else ())
    if isinstance(value, list) and value and isinstance(value[0], Path):
        return [file_line(value)]
    if cells := _cells(value):
        unit = quantity.shown or quantity.unit
        title += f" [{unit}]" if unit not in ("", "1") else ""
        values_of = {label: row.values() for label, row in cells.items()}
        return [grid_of(["", *next(iter(cells.values()))], values_of, quantity, title)]
    return []


def _rows(value: object) -> list[DataclassInstance]:
    """Return a field's value as the rows of a table; none if it is not a list of dataclasses."""
    items = [*value.values()] if isinstance(value, Mapping) else value
    return items if isinstance(items, list) and items and is_dataclass(items[0]) else []


def _cells(value: object) -> Mapping[str, Mapping[str, Value]]:
    """Return a field's value as the rows of a grid; none if it is not a mapping of mappings."""
    rows = value if isinstance(value, Mapping) else {}
    return rows if all(isinstance(row, Mapping) for row in rows.values()) else {}


def text_of(value: Value, quantity: Quantity) -> str:
    """Return a value of a quantity as it is shown: a dash for none, no sign before 0.

    A tuple of two numbers is an interval; semicolons separate rows of a matrix, and pairs.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        items = [f"{key} {text_of(item, quantity)}" for key, item in value.items()]
        return ", ".join(items) or NOTHING
    if isinstance(value, Iterable):
        parts = list(value)
        deep = any(isinstance(part, Iterable) and not isinstance(part, str) for part in parts)
        ends = isinstance(value, tuple) and len(parts) == 2 and not isinstance(parts[0], Iterable)
        between = "; " if deep else " to " if ends else ", "
        return between.join(text_of(part, quantity) for part in parts) or NOTHING
    if isinstance(value, complex):
        imaginary = f"{value.imag:+{quantity.form}}i" if value.imag else ""
        return f"{value.real:{quantity.form}}{imaginary}"
    if value is None or math.isnan(value):
        return NONE
    if isinstance(value, int):
        return str(value)
    scale = SCALES[quantity.unit, quantity.shown] if quantity.shown else 1.0
    text = format(scale * value, quantity.form)
    return text.removeprefix("-") if float(text) == 0.0 else text


def heading_of(name: str, quantity: Quantity) -> str:
    """Return what a quantity is called on screen."""
    return quantity.name or name.rpartition(".")[2].replace("_", " ")


def _column(name: str, quantity: Quantity, form: str, others: Sequence[str]) -> str:
    """Return the heading of a column, after the name of its part where several are called alike."""
    unit, heading = quantity.shown or quantity.unit, heading_of(name, quantity)
    if others.count(heading) > 1:
        heading = "\n".join(filter(None, [*name.split(".")[:-1], heading]))
    return heading + ("\n" + form.format(unit) if unit not in ("", "1") else "")


def _chosen(kind: type[DataclassInstance], names: Sequence[str]) -> dict[str, Quantity]:
    known, parts = quantities(kind), inline(kind)
    own = [name for name in known if "." not in name or name.partition(".")[0] in parts]
    return {name: known[name] for name in names or own}


def _value(found: DataclassInstance, name: str) -> Value:
    """Return what is at a name with dots; None where a part is None."""
    first, _, rest = name.partition(".")
    value = getattr(found, first, None)
    return _value(value, rest) if rest and value is not None else value
