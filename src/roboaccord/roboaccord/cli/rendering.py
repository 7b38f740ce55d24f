"""Results whose fields carry unit and meaning, as lines and tables; `write_table` makes CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeGuard

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from roboaccord.cli.console import figure_lines, file_line, make_table
from roboaccord.contract.results import SCALES, Quantity, inline, quantities

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value: TypeAlias = "bool | int | float | complex | str | Iterable[Value] | None"
NONE = "–"
NARROW = 10  # columns of a table from which on units are without brackets


def lines_of(found: DataclassInstance, *names: str) -> list[str]:
    """Return the quantities of a result, one a line with its unit and meaning.

    Args:
        found: the result.
        names: of the fields and properties to show; all quantities by default.
    """
    rows = {}
    for name, quantity in _chosen(type(found), names).items():
        text = text_of(_value(found, name), quantity)
        unit = quantity.shown or quantity.unit
        unit = "" if text == NONE or unit == "1" else unit
        more = f": {quantity.meaning}" if quantity.meaning else ""
        rows[heading_of(name, quantity)] = (text, unit + more) if unit else (text + more, "")
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
    headings = {name: _column(name, quantity, form) for name, quantity in chosen.items()}
    first = list(labels)
    table = make_table(
        *([""] if first else ()), *headings.values(), title=title,
        words=[headings[name] for name, q in chosen.items() if q.form == "s"],
        text=[headings[name] for name, q in chosen.items() if q.form == "text"],
    )  # fmt: skip
    for number, row in enumerate(rows):
        cells = (text_of(_value(row, name), each) for name, each in chosen.items())
        table.add_row(*first[number : number + 1], *cells)
    meanings = [
        f"{heading_of(name, quantity)}: {quantity.meaning}".replace("\n", " ")
        for name, quantity in chosen.items()
        if quantity.meaning
    ]
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


def rendered(found: DataclassInstance) -> list[RenderableType]:
    """Return a whole result: its quantities, a table for each list of parts, and its files.

    The meaning of a field of parts, or else its name, is the title of their table. A mapping of
    mappings is a table, too, and a single part is shown below its title as a result is.
    """
    kind = type(found)
    known, parts = quantities(kind), inline(kind)
    values = {each.name: getattr(found, each.name) for each in fields(found)}
    absent = {f.name for f in fields(found) if "if_any" in f.metadata and values[f.name] is None}
    own = [
        name for name in known if name not in absent
        and (name.partition(".")[0] in parts or not ("." in name or _is_apart(values.get(name))))
    ]  # fmt: skip
    shown: list[RenderableType] = [*lines_of(found, *own)] if own else []
    for each in fields(found):
        value, quantity = values[each.name], known.get(each.name, Quantity(""))
        title = quantity.meaning or heading_of(each.name, quantity)
        if rows := _rows(value):
            shown += tables_of(
                rows, title=title, labels=value if isinstance(value, Mapping) else ()
            )
        elif isinstance(value, list) and value and isinstance(value[0], Path):
            shown.append(file_line(value))
        elif cells := _cells(value):
            unit = quantity.shown or quantity.unit
            headings = ["", *next(iter(cells.values()))]
            values_of = {label: row.values() for label, row in cells.items()}
            title += f" [{unit}]" if unit not in ("", "1") else ""
            shown.append(grid_of(headings, values_of, quantity, title))
        elif _is_part(value) and not {"inline", "left_out"} & each.metadata.keys():
            shown += [title, *rendered(value)]
    return shown


def _rows(value: object) -> list[DataclassInstance]:
    """Return a field's value as the rows of a table; none where it is no list of parts."""
    items = [*value.values()] if isinstance(value, Mapping) else value
    return items if isinstance(items, list) and items and is_dataclass(items[0]) else []


def _cells(value: object) -> Mapping[str, Mapping[str, Value]]:
    """Return a field's value as the rows of a grid; none where it is no mapping of mappings."""
    rows = value if isinstance(value, Mapping) else {}
    return rows if all(isinstance(row, Mapping) for row in rows.values()) else {}


def _is_part(value: object) -> TypeGuard[DataclassInstance]:
    return is_dataclass(value) and not isinstance(value, type)


def _is_apart(value: object) -> bool:
    """Return whether a field's value is shown below the lines."""
    return bool(_rows(value) or _cells(value)) or _is_part(value)


def text_of(value: Value, quantity: Quantity) -> str:
    """Return a value of a quantity as it is shown: a dash for none, no sign before 0.

    A tuple of two numbers is an interval; rows of a matrix, and pairs, are apart by semicolons.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {text_of(item, quantity)}" for key, item in value.items()) or NONE
    if isinstance(value, Iterable):
        items = list(value)
        deep = any(isinstance(item, Iterable) and not isinstance(item, str) for item in items)
        ends = isinstance(value, tuple) and len(items) == 2 and not isinstance(items[0], Iterable)
        between = "; " if deep else " to " if ends else ", "
        return between.join(text_of(item, quantity) for item in items) or NONE
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


def _column(name: str, quantity: Quantity, form: str) -> str:
    unit = quantity.shown or quantity.unit
    return heading_of(name, quantity) + ("\n" + form.format(unit) if unit not in ("", "1") else "")


def _chosen(kind: type[DataclassInstance], names: Sequence[str]) -> dict[str, Quantity]:
    known, parts = quantities(kind), inline(kind)
    own = [name for name in known if "." not in name or name.partition(".")[0] in parts]
    return {name: known[name] for name in names or own}


def _value(found: DataclassInstance, name: str) -> Value:
    """Return what is at a name with dots; None where a part is None."""
    first, _, rest = name.partition(".")
    value = getattr(found, first, None)
    return _value(value, rest) if rest and value is not None else value
