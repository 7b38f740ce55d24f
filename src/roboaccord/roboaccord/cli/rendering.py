"""Results whose fields carry unit and meaning, printed as lines and tables.

A result of a command is a dataclass; a field that is annotated with a `Quantity`
(contract/results.py) has a unit, heading, number format and meaning. `rendered` makes the printed
form of a whole result: quantities as lines (`lines_of`), lists of dataclasses as tables
(`tables_of`), mappings of mappings as grids (`grid_of`). How one value looks is decided in
`text_of`. Units, headings and decimals are changed at the field; the layout, within 80 columns,
here (test_results).
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

CellValue: TypeAlias = "bool | int | float | complex | str | Iterable[CellValue] | None"
NONE = "–"  # printed for a value that is missing
EMPTY = "none"  # printed for a list without elements
# Number of columns from which on a table has units without brackets: these would take 2 of the 8
# characters that each of 10 columns has on a line of 80.
WIDE_TABLE = 10


def lines_of(result: DataclassInstance, *names: str) -> list[str]:
    """Return one line for each quantity of a result, with its unit and meaning.

    A quantity that is a mapping has a line for each of its values.

    Args:
        result: that is shown.
        names: of the fields and properties to show; all quantities by default.
    """
    rows = {}
    for name, quantity in _named_quantities(type(result), names).items():
        value = _value(result, name)
        heading = heading_of(name, quantity)
        unit = quantity.shown or quantity.unit
        meaning = f": {quantity.meaning}" if quantity.meaning else ""
        values = value if isinstance(value, Mapping) else {"": value}
        for key, item in values.items():
            text = text_of(item, quantity)
            has_unit = unit not in ("", "1") and text not in (NONE, EMPTY)
            line = (text, unit + meaning) if has_unit else (text + meaning, "")
            rows[f"{heading}, {key}" if key else heading] = line
            meaning = ""  # only in the first line
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
        kind: class of the rows; needed where there may be none.
        labels: of the rows, printed in a first column.
    """
    # Quantities by name of the field, and headings of the columns, with units.
    columns = _named_quantities(kind or type(rows[0]), names)
    unit_form = "[{}]" if len(columns) < WIDE_TABLE else "{}"
    bare_headings = [heading_of(*column) for column in columns.items()]
    headings = {n: _column_heading(n, q, unit_form, bare_headings) for n, q in columns.items()}
    word_headings = [headings[name] for name, q in columns.items() if q.form == "s"]
    sentence_headings = [headings[name] for name, q in columns.items() if q.form == "text"]
    row_labels = list(labels)
    all_headings = [*([""] if row_labels else []), *headings.values()]
    table = make_table(*all_headings, title=title, words=word_headings, text=sentence_headings)
    # Cells, and below the table the meaning of each column.
    for number, row in enumerate(rows):
        cells = (text_of(_value(row, name), quantity) for name, quantity in columns.items())
        table.add_row(*row_labels[number : number + 1], *cells)
    explained = [f"{heading_of(name, q)}: {q.meaning}" for name, q in columns.items() if q.meaning]
    meanings = dict.fromkeys(line.replace("\n", " ") for line in explained)
    return [table, Text("; ".join(meanings))] if meanings else [table]


def grid_of(
    headings: Sequence[str],
    rows: Mapping[str, Iterable[CellValue]],
    quantity: Quantity,
    title: str = "",
) -> Table:
    """Return a table of values of one quantity, with a labelled row for each entry of `rows`.

    Args:
        headings: of the column of labels, and of each column of values.
        rows: values by label.
        quantity: unit and format of all values.
        title: above the table.
    """
    table = make_table(*headings, title=title)
    for label, values in rows.items():
        table.add_row(label, *(text_of(value, quantity) for value in values))
    return table


def rendered(result: DataclassInstance) -> list[RenderableType]:
    """Return a whole result: its quantities as lines, then tables, then its files.

    A list of dataclasses, or a mapping of mappings, becomes a table, whose title is the meaning of
    the field, or else its name. Several fields that are dataclasses of one class share a table with
    a row for each; a single one is printed below its name like a result. Fields that are not in the
    JSON are not shown.
    """
    values = dict[str, object]()
    for field in fields(result):
        value = getattr(result, field.name)
        if value is not None or "if_any" not in field.metadata:
            values[field.name] = value
    names = _names_of_lines(result, values)
    output: list[RenderableType] = [*lines_of(result, *names)] if names else []
    for by_heading in _inner_results(result, values):
        if len(by_heading) > 1:
            output += tables_of([*by_heading.values()], labels=by_heading)
        else:
            ((heading, inner),) = by_heading.items()
            output += [heading, *rendered(inner)]
    by_name = quantities(type(result))
    for name, value in values.items():
        output += _as_table(value, name, by_name.get(name, Quantity("")))
    return output


def _names_of_lines(result: DataclassInstance, values: Mapping[str, object]) -> list[str]:
    """Return the names of the quantities that are printed as lines, because no table has them."""
    inline_fields = inline(type(result))
    missing = {field.name for field in fields(result)} - values.keys()
    in_tables = {n for n, v in values.items() if _rows_in(v) or _grid_in(v) or is_dataclass(v)}
    names = []
    for name in quantities(type(result)):
        field_name = name.partition(".")[0]
        is_line = field_name == name and name not in in_tables
        if field_name not in missing and (is_line or field_name in inline_fields):
            names.append(name)
    return names


def _inner_results(
    result: DataclassInstance, values: Mapping[str, object]
) -> Iterable[Mapping[str, DataclassInstance]]:
    """Return the fields that are dataclasses, by heading, grouped by their class."""
    by_name = quantities(type(result))
    hidden = {field.name for field in fields(result) if "left_out" in field.metadata}
    hidden |= inline(type(result))
    groups: dict[type[DataclassInstance], dict[str, DataclassInstance]] = {}
    for name, value in values.items():
        if not is_dataclass(value) or isinstance(value, type) or name in hidden:
            continue
        if _named_quantities(type(value), ()):
            heading = heading_of(name, by_name.get(name, Quantity("")))
            groups.setdefault(type(value), {})[heading] = value
    return groups.values()


def _as_table(value: object, name: str, quantity: Quantity) -> Iterable[RenderableType]:
    """Return a field as a table, or files as a line; nothing for any other value."""
    title = quantity.meaning or heading_of(name, quantity)
    if results := _rows_in(value):
        return tables_of(results, title=title, labels=value if isinstance(value, Mapping) else ())
    if isinstance(value, list) and value and isinstance(value[0], Path):
        return [file_line(value)]
    if grid := _grid_in(value):
        unit = quantity.shown or quantity.unit
        title += f" [{unit}]" if unit not in ("", "1") else ""
        values_by_label = {label: row.values() for label, row in grid.items()}
        return [grid_of(["", *next(iter(grid.values()))], values_by_label, quantity, title)]
    return []


def _rows_in(value: object) -> list[DataclassInstance]:
    """Return the dataclasses in a field's value, one for each row; [] for any other value."""
    items = [*value.values()] if isinstance(value, Mapping) else value
    return items if isinstance(items, list) and items and is_dataclass(items[0]) else []


def _grid_in(value: object) -> Mapping[str, Mapping[str, CellValue]]:
    """Return a field's value if it is a mapping of mappings, the rows of a grid; else {}."""
    rows = value if isinstance(value, Mapping) else {}
    return rows if all(isinstance(row, Mapping) for row in rows.values()) else {}


def text_of(value: CellValue, quantity: Quantity) -> str:
    """Return a value as text: a dash where it is missing, and no sign before 0.

    A tuple of two numbers is an interval, "a to b"; semicolons separate rows of a matrix and pairs.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        items = [f"{key} {text_of(item, quantity)}" for key, item in value.items()]
        return ", ".join(items) or EMPTY
    if isinstance(value, Iterable):
        elements = list(value)
        separator = ", "
        if any(isinstance(e, Iterable) and not isinstance(e, str) for e in elements):
            separator = "; "
        elif isinstance(value, tuple) and len(elements) == 2 and not isinstance(elements[0], str):
            separator = " to "
        return separator.join(text_of(element, quantity) for element in elements) or EMPTY
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
    """Return the printed name of a quantity: its own, or that of its field."""
    return quantity.name or name.rpartition(".")[2].replace("_", " ")


def _column_heading(name: str, quantity: Quantity, unit_form: str, bare: Sequence[str]) -> str:
    """Return the heading of a column, with the unit below it.

    Args:
        name: of the field, dotted where it is one of an inner result.
        quantity: unit and heading of the field.
        unit_form: how the unit is written, such as "[{}]".
        bare: headings of all columns, without units. Where two are the same, the names of the
            enclosing fields stand above the heading.
    """
    unit = quantity.shown or quantity.unit
    heading = heading_of(name, quantity)
    if bare.count(heading) > 1:
        heading = "\n".join(filter(None, [*name.split(".")[:-1], heading]))
    return heading + ("\n" + unit_form.format(unit) if unit not in ("", "1") else "")


def _named_quantities(kind: type[DataclassInstance], names: Sequence[str]) -> dict[str, Quantity]:
    """Return the named quantities of a class; without names, all but those of inner classes."""
    by_name, inline_fields = quantities(kind), inline(kind)
    if not names:
        names = [n for n in by_name if "." not in n or n.partition(".")[0] in inline_fields]
    return {name: by_name[name] for name in names}


def _value(result: DataclassInstance, name: str) -> CellValue:
    """Return the attribute at a dotted name; None where an attribute on the way is None."""
    field_name, _, inner_name = name.partition(".")
    value = getattr(result, field_name, None)
    return _value(value, inner_name) if inner_name and value is not None else value
