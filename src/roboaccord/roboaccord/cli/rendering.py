"""Results whose fields carry unit and meaning, as lines and tables; `write_table` makes CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from rich.console import RenderableType
from rich.text import Text

from roboaccord.cli.console import figure_lines, make_table
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
        unit = "" if text == NONE or quantity.unit == "1" else quantity.shown or quantity.unit
        more = f": {quantity.meaning}" if quantity.meaning else ""
        rows[heading_of(name, quantity)] = (text, unit + more) if unit else (text + more, "")
    return figure_lines(rows)


def tables_of(
    rows: Sequence[DataclassInstance],
    *names: str,
    title: str = "",
    kind: type[DataclassInstance] | None = None,
) -> list[RenderableType]:
    """Return a table with a line for each result, and below it what its columns mean.

    Args:
        rows: results of one class.
        names: of the fields and properties to show; all quantities by default.
        title: above the table.
        kind: the class, where there may be no rows.
    """
    chosen = _chosen(kind or type(rows[0]), names)
    form = "[{}]" if len(chosen) < NARROW else "{}"
    headings = {name: _column(name, quantity, form) for name, quantity in chosen.items()}
    table = make_table(
        *headings.values(), title=title,
        words=[headings[name] for name, q in chosen.items() if q.form == "s"],
        text=[headings[name] for name, q in chosen.items() if q.form == "text"],
    )  # fmt: skip
    for row in rows:
        table.add_row(*(text_of(_value(row, name), each) for name, each in chosen.items()))
    meanings = [
        f"{heading_of(name, quantity)}: {quantity.meaning}".replace("\n", " ")
        for name, quantity in chosen.items()
        if quantity.meaning
    ]
    return [table, *([Text("; ".join(meanings))] if meanings else [])]


def text_of(value: Value, quantity: Quantity) -> str:
    """Return a value of a quantity as it is shown: a dash for none, no sign before 0.

    A tuple of two is an interval.
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, Iterable):
        between = " to " if isinstance(value, tuple) and len(value) == 2 else ", "
        return between.join(text_of(item, quantity) for item in value)
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
