"""Results whose fields carry unit and meaning: JSON, lines, tables and CSV."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from rich.table import Table
from roboaccord.cli.rendering import lines_of, tables_of, text_of
from roboaccord.contract.results import IF_ANY, INLINE, Json, Quantity, quantities, to_json


@dataclass(frozen=True)
class Place:
    """A place."""

    x: Annotated[float, Quantity("m", "from the middle", form=".1f", shown="mm")]
    name: str = "here"


@dataclass(frozen=True)
class Found:
    """What was found."""

    mass: Annotated[float, Quantity("kg", form=".3g")]
    place: Place = field(metadata=INLINE)
    far: Place | None = field(default=None, metadata=IF_ANY)

    @property
    def heavy(self) -> Annotated[bool, Quantity("", form="s")]:
        return self.mass > 1.0


def test_json_has_the_keys_of_inline_parts_and_none_for_what_is_not_there() -> None:
    assert to_json(Found(2.0, Place(0.1))) == {"mass": 2.0, "x": 0.1, "name": "here"}
    more: Json = {"x": None, "name": "there"}
    assert to_json(Found(2.0, Place(0.1), Place(math.nan, "there")))["far"] == more  # type: ignore
    assert to_json([1 + 2j, np.float64(0.5)]) == [[1.0, 2.0], 0.5]


def test_quantities_of_parts_and_properties_are_known_by_their_names() -> None:
    assert list(quantities(Found)) == ["mass", "place.x", "far.x", "heavy"]


def test_a_line_has_its_unit_and_a_table_its_meaning(capsys: object) -> None:
    """Lines and columns leave out the parts that are not inline."""
    found = Found(0.25, Place(-1e-9))
    assert lines_of(found) == ["mass   0.25 kg", "x      0.0 mm: from the middle", "heavy  no"]
    table, explained = tables_of([found, Found(3.0, Place(0.2))])
    assert isinstance(table, Table)
    assert [str(column.header) for column in table.columns] == ["mass\n[kg]", "x\n[mm]", "heavy"]
    assert [*table.columns[1].cells] == ["0.0", "200.0"]
    assert str(explained) == "x: from the middle"


def test_a_value_is_shown_by_its_quantity() -> None:
    """No sign before 0, a dash for none, a tuple of two is an interval."""
    metre = Quantity("m", form=".2f")
    assert text_of(-0.001, metre) == "0.00"
    assert text_of(None, metre) == text_of(math.nan, metre) == "–"
    assert text_of((1.0, 2.0), metre) == "1.00 to 2.00"
    assert text_of(np.array([1.0, 2.0]), metre) == "1.00, 2.00"
    assert text_of(1.5 - 0.5j, metre) == "1.50-0.50i"
    assert text_of(math.pi, Quantity("rad", form=".1f", shown="deg")) == "180.0"
