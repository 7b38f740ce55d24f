"""The table that every reader of logs returns: columns of numbers, by name.

A time since 1970 in nanoseconds has more digits than a float can hold, so columns may hold integers
or decimals as they were written. clock.py subtracts the first time before it converts to floats.
tables.py lists the readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from numpy.typing import NDArray
from roboaccord.contract.state import Array

# Arrays of one length by the name of the column.
Columns = Mapping[str, NDArray[Any]]


class Table(NamedTuple):
    """The columns of a log.

    Args:
        columns: (k,) each, of floats, integers or decimals; NaN where a row has no number. The name
            "" is that of numbers without a column's name.
        notes: remarks on what was read, for the user.
        published: whether rows are ROS joint states; publishers that measure no effort send zeros.
        further: names of further columns, such as topics of a bag, that are read when asked for.
        commanded: whether the efforts are commands, which act later.
    """

    columns: Columns
    notes: Sequence[str] = ()
    published: bool = False
    further: Sequence[str] = ()
    commanded: bool = False

    def numbers(self, name: str) -> Array:
        """Return a column as floats (k,)."""
        return self.columns[name].astype(float)
