"""What a reader of logs gives: columns of numbers by name, whose times keep all their digits.

A reader may be added (tables.py lists them). Columns may hold integers or decimals: differences are
taken before they become floats (clock.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray
from roboaccord.contract.state import Array

Columns = Mapping[str, NDArray[Any]]


class Table(NamedTuple):
    """Columns of a log; a row may lack some of them.

    Args:
        columns: (k,) each, of floats, integers or decimals; NaN where a row has no number.
        notes: on what was read.
        published: whether rows are joint states, where zeros may stand for efforts nobody measured.
        more: names that may be asked for beside the columns.
    """

    columns: Columns
    notes: Sequence[str] = ()
    published: bool = False
    more: Sequence[str] = ()

    def numbers(self, name: str) -> Array:
        """Return a column as floats (k,)."""
        return self.columns[name].astype(float)
